# SPDX-License-Identifier: GPL-2.0-or-later
# A node's own faults on a real kernel: a link that is narrower than it was when the node was learned, and an error of the bus
# that QEMU injects. The same machine is booted twice: as it should be, and with the link of one card down-trained.
# time: 180 s
bats_require_minimum_version 1.5.0
load machine

setup_file()
{
	machine_up
	inside gpu-check node --learn
	inside cat /etc/slurm-gpubudget/gpu-baseline >"$BATS_FILE_TMPDIR/baseline"
	machine_down
	machine_up narrow
	inside mkdir -p /etc/slurm-gpubudget
	while read -r line; do inside "echo '$line' >>/etc/slurm-gpubudget/gpu-baseline"; done <"$BATS_FILE_TMPDIR/baseline"
	inside gpu-check node --acknowledge
}
teardown_file()	{ machine_down; }

# found STATUS: a look at the node ends with it; the findings, one "KIND SUBJECT EVIDENCE" a line, are in $output.
found()
{
	run --separate-stderr "-$1" inside gpu-check node -o json
	output=$(tail -n 1 <<<"$output" | jq -r '.findings[] | "\(.kind) \(.subject) \(.evidence)"')
	echo "$output"
}

@test "a link that has become narrow is found by what was learned of it, and the others are not accused" {
	grep -qx "link 0000:61:00.0 16.0 16" "$BATS_FILE_TMPDIR/baseline"
	found 7
	[[ $output == "link-width 0000:61:00.0 "*x1* && $(grep -c link-width <<<"$output") == 1 ]]
}

@test "an error of the bus is found by the kernel's counter and log, and is gone when it is acknowledged" {
	found 7
	[[ $output != *aer-* ]]
	monitor pcie_aer_inject_error gpu2 COMP_TIME
	inside 'until grep -q "TOTAL_ERR_NONFATAL 1" /sys/bus/pci/devices/0000:61:00.0/aer_dev_nonfatal; do usleep 100000; done'
	found 7
	[[ $output == *"aer-nonfatal 0000:61:00.0 1 nonfatal bus errors since the mark (all: CmpltTO 1)"* ]]
	inside gpu-check node --acknowledge
	found 7
	[[ $output != *aer-* ]]
}
