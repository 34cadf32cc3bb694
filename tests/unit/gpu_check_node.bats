# SPDX-License-Identifier: GPL-2.0-or-later
# gpu-check node: a tree of a node's files, learned when it is sound, and then broken in one way after the other.
bats_require_minimum_version 1.5.0

setup()
{
	export PATH=${BUILD:?set BUILD to the folder in which the project was built}/gpu_check:$PATH
	node=$BATS_TEST_TMPDIR/node port=pci0000:c0/0000:c0:01.1
	pci $port 0x1022 0x14ab 0x060400
	pci $port/0000:c1:00.0 0x10de 0x2330 0x030200
	pci pci0000:00/0000:00:03.0 0x1a03 0x2000 0x030000	# the management board's graphics
	put proc/sys/kernel/random/boot_id "first-boot"
	put proc/sys/kernel/osrelease "6.1.0-23-amd64"
	put proc/uptime "5000.00 100.00"
	put dev/kmsg "6,1,100,-;Linux version 6.1.0"
	put sys/module/nvidia/version 535.261.03
	mkdir -p "$node/usr/lib/x86_64-linux-gnu"
	ln -s libcuda.so.535.261.03 "$node/usr/lib/x86_64-linux-gnu/libcuda.so.1"
	gpu=sys/bus/pci/devices/0000:c1:00.0
}

put()	{ mkdir -p "$(dirname "$node/$1")"; printf '%s\n' "${@:2}" >"$node/$1"; }

# pci PLACE VENDOR DEVICE CLASS: a device, whose link is 32 GT/s x16
pci()
{
	local at=sys/devices/$1 end

	put "$at/vendor" "$2"
	put "$at/device" "$3"
	put "$at/class" "$4"
	for end in current max; do
		put "$at/${end}_link_speed" "32.0 GT/s PCIe"
		put "$at/${end}_link_width" 16
	done
	put "$at/aer_dev_correctable" "RxErr 0" "BadTLP 0" "TOTAL_ERR_COR 0"
	put "$at/aer_dev_nonfatal" "CmpltTO 0" "TOTAL_ERR_NONFATAL 0"
	put "$at/aer_dev_fatal" "DLP 0" "TOTAL_ERR_FATAL 0"
	mkdir -p "$node/sys/bus/pci/devices"
	ln -sf "../../../devices/$1" "$node/sys/bus/pci/devices/${1##*/}"
}

look()	{ run --separate-stderr gpu-check node --root "$node" "$@"; }
learn()	{ gpu-check --learn --root "$node" >/dev/null; }

# found STATUS WORDS: what the last look found
found()	{ [[ $status == "$1" && $output == *"$2"* ]] || { echo "$status, not $1: $output $stderr" >&2; return 1; }; }

@test "a sound node is learned, with its versions, and is then as its baseline" {
	look
	found 0 "ok node: 1 GPU, 1 link, 2 devices with error counters, 3 versions, no baseline"
	run gpu-check --learn --root "$node"
	[[ $status == 0 && $output == *"learned 1 GPUs, 1 links, 3 versions: /"*gpu-baseline* ]]
	grep -x "link 0000:c1:00.0 32.0 16" "$node"/*/slurm-gpubudget/gpu-baseline
	grep -x "version libcuda.so.1 libcuda.so.535.261.03" "$node"/*/slurm-gpubudget/gpu-baseline
	[[ $(stat -c %a "$node"/*/slurm-gpubudget/gpu-baseline) == 644 ]]
	look
	found 0 "as the baseline"
}

@test "a link that was trained down: a warning before anything was learned, then a reason to drain" {
	put $gpu/current_link_width 8
	look
	found 0 "warning link-width 0000:c1:00.0: the link to 0000:c0:01.1 runs at 32 GT/s x8, 32 GT/s x16 were possible"
	put $gpu/current_link_width 16
	learn
	put $gpu/current_link_width 8
	look
	found 7 "DRAIN link-width 0000:c1:00.0: the link to 0000:c0:01.1 runs at 32 GT/s x8, 32 GT/s x16 were learned. Cause: "
	[[ $output == *"To do: "* ]]
	look --drain-reason
	found 7 "gpubudget: gpu-check: link-width 0000:c1:00.0: the link to 0000:c0:01.1 runs at 32 GT/s x8"
	[[ ${#lines[@]} == 1 && $stderr == *"DRAIN link-width"* ]]
}

@test "a link that is narrow by design is said once, when it is learned" {
	put $gpu/current_link_width 2
	run gpu-check --learn --root "$node"
	[[ $status == 0 && $output == *"learned as it is: 0000:c1:00.0: "*"x2"* ]]
	look
	found 0 "as the baseline"
}

@test "an idle GPU may turn its speed down, one that works may not" {
	learn
	put $gpu/current_link_speed "2.5 GT/s PCIe"
	look
	found 0 "as the baseline"
	look --under-load
	found 0 "warning link-speed 0000:c1:00.0"
	put $gpu/gpu_busy_percent 97
	look
	found 0 "warning link-speed 0000:c1:00.0"
}

@test "errors of the bus count from the mark on, and what is known can be acknowledged" {
	learn
	put $gpu/aer_dev_fatal "DLP 1" "TOTAL_ERR_FATAL 1"
	look
	found 7 "DRAIN aer-fatal 0000:c1:00.0: 1 fatal bus errors since the mark (all: DLP 1)"
	gpu-check node --acknowledge --root "$node" >/dev/null
	look
	found 0 "as the baseline"
	put $gpu/aer_dev_nonfatal "CmpltTO 2" "TOTAL_ERR_NONFATAL 2"
	look
	found 6 "FAIL aer-nonfatal 0000:c1:00.0: 2 nonfatal bus errors"
	put sys/devices/$port/aer_dev_correctable "RxErr 500" "TOTAL_ERR_COR 500"
	look
	found 6 "warning aer-corrected 0000:c0:01.1: 500 corrected bus errors"
}

@test "the kernel's log counts from the mark on; of another boot all of it" {
	local xid="NVRM: Xid (PCI:0000:c1:00): 79, pid=1, GPU has fallen off the bus."

	put dev/kmsg "3,2,4000000000,-;$xid"
	look
	found 7 "DRAIN gpu-lost 0000:c1:00.0: the kernel logged \"$xid\""
	learn
	look
	found 0 "as the baseline"
	put dev/kmsg "3,2,4000000000,-;$xid" "3,3,5000000001,-;NVRM: Xid (PCI:0000:c1:00): 31, a program's own"
	look
	found 0 "as the baseline"
	put proc/sys/kernel/random/boot_id "second-boot"
	look
	found 7 "DRAIN gpu-lost"
	put dev/kmsg "[ 4000.000000] $xid"		# a log that dmesg printed
	look
	found 7 "DRAIN gpu-lost"
}

@test "a GPU that is gone, another driver and another kernel are found" {
	learn
	put sys/module/nvidia/version 550.54.14
	put proc/sys/kernel/osrelease "6.1.0-25-amd64"
	look
	found 0 "warning image driver-nvidia: is 550.54.14, 535.261.03 was learned"
	[[ $output == *"warning image kernel: is 6.1.0-25-amd64, 6.1.0-23-amd64 was learned"* ]]
	rm "$node/$gpu"
	look
	found 7 "DRAIN gpu-missing 0000:c1:00.0: the GPU 10de:2330 was learned here, now 0 of 1 GPUs are on the bus"
}

@test "the site says what is done about each kind of evidence" {
	learn
	put $gpu/current_link_width 8
	put policy "link-width off" "image fail"
	look --policy /policy
	found 0 "as the baseline"
	put proc/sys/kernel/osrelease "6.2.0"
	look --policy /policy
	found 6 "FAIL image kernel"
	put policy "link-width sometimes"
	look --policy /policy
	[[ $status == 1 && $stderr == *"policy:1:"* ]]
	put policy "link-width off"
	chmod 666 "$node/policy"
	look --policy /policy
	[[ $status == 1 && $stderr == *"only root may own and write it"* ]]
}

@test "who is not root may look, and drains nothing" {
	learn
	put $gpu/current_link_width 8
	chmod -R go+rX "$BATS_RUN_TMPDIR"
	run setpriv --reuid 65534 --regid 65534 --clear-groups gpu-check node --root "$node"
	found 6 "FAIL link-width 0000:c1:00.0"
	run setpriv --reuid 65534 --regid 65534 --clear-groups gpu-check node --drain-reason --root "$node"
	[[ $status == 6 && $output != *"gpubudget:"* ]]
	rm -r "$node"/*/slurm-gpubudget
	chmod go-w "$node" "$node"/etc 2>/dev/null || :
	run setpriv --reuid 65534 --regid 65534 --clear-groups gpu-check --learn --root "$node"
	[[ $status == 1 && $output == *"gpu-baseline.new: Permission denied"* ]]
}

@test "a pipe in a copied tree holds nobody up" {
	rm "$node/$gpu/vendor"
	mkfifo "$node/$gpu/vendor"
	for command in locality report node; do
		timeout 20 gpu-check "$command" --root "$node"
	done
}

@test "programs get one line of JSON, people the sentences" {
	learn
	look -o json
	[[ $(jq -r '.verdict, .gpus, .baseline, .mark, .reason, (.findings | length)' <<<"$output" | paste -sd' ') == "ok 1 true true null 0" ]]
	put $gpu/current_link_width 8
	look -o json
	[[ $status == 7 && ${#lines[@]} == 1 && $stderr == *"DRAIN link-width"* ]]
	[[ $(jq -r '.verdict, .findings[0].kind, .findings[0].policy, .findings[0].subject' <<<"$output" | paste -sd' ') == "drain link-width drain 0000:c1:00.0" ]]
	[[ $(jq -r .reason <<<"$output") == "gpubudget: gpu-check: link-width "* ]]
}

# --- what drivers tell themselves ---------------------------------------------------------------------

# nvml FAULT OPTION...: with a stub of NVIDIA's management library
nvml()
{
	[[ -e $BATS_FILE_TMPDIR/libnvidia-ml.so.1 ]] || ${CC:-cc} -std=gnu17 -D_GNU_SOURCE -shared -fPIC \
		"$BATS_TEST_DIRNAME/../stubs/libnvidia_ml_stub.c" -o "$BATS_FILE_TMPDIR/libnvidia-ml.so.1"
	NVML_STUB=$1 look --nvml "$BATS_FILE_TMPDIR/libnvidia-ml.so.1" "${@:2}"
}

@test "NVML tells of memory, rows, heat, and GPUs that are lost or want a reset" {
	learn
	nvml none
	found 0 "as the baseline"
	nvml ecc
	found 7 "DRAIN gpu-memory 0000:c1:00.0: 2 uncorrected errors of its memory."
	nvml rows
	found 7 "DRAIN gpu-memory 0000:c1:00.0: NVML: a row could not be remapped"
	nvml pending
	found 7 "DRAIN gpu-reset 0000:c1:00.0: NVML: a row is remapped at the next reset"
	nvml heat
	found 0 "warning throttle 0000:c1:00.0: slowed down by heat, in each of 4 looks"
	nvml heat-once
	found 0 "as the baseline"
	nvml lost
	found 7 "DRAIN gpu-lost 0000:c1:00.0: nvmlDeviceGetTotalEccErrors: NVML error 15"
	nvml reset
	found 7 "DRAIN gpu-reset 0000:c1:00.0: nvmlDeviceGetTotalEccErrors: NVML error 16"
}

@test "memory errors that are acknowledged are known; new ones are not" {
	learn
	nvml ecc --acknowledge
	nvml ecc
	found 0 "as the baseline"
	grep -x "memory 0000:c1:00.0 2" "$node"/run/slurm-gpubudget/gpu-check.mark || grep -rx "memory 0000:c1:00.0 2" "$node"
	sed -i 's/^memory 0000:c1:00.0 2/memory 0000:c1:00.0 1/' "$(grep -rlx "memory 0000:c1:00.0 2" "$node")"
	nvml ecc
	found 7 "1 uncorrected errors of its memory since the mark"
}

@test "what NVML does not answer is never taken for health; what it does not have is" {
	learn
	nvml unsupported
	found 0 "as the baseline"
	nvml no-answer
	found 6 "FAIL unread 0000:c1:00.0: nvmlDeviceGetTotalEccErrors: NVML error 999"
	nvml crash
	found 6 "ended with signal 11 in nvmlInit"
	NVML_STUB_INIT=18 nvml none
	found 6 ": nvmlInit gives error 18"
	nvml print -o json
	[[ $status == 0 && $(jq -r .verdict <<<"$output") == ok ]]
	nvml hang
	found 6 "does not come back: nvmlInit"
}

@test "the speed of a GPU's link counts while NVML says that it works" {
	learn
	put $gpu/current_link_speed "2.5 GT/s PCIe"
	nvml none
	found 0 "as the baseline"
	nvml busy
	found 0 "warning link-speed 0000:c1:00.0"
}

@test "a library that is not there is a warning, one without its functions a failure; the real one without a driver says so" {
	learn
	look --nvml libnot-there.so.1
	found 0 "warning unread NVML: libnot-there.so.1: cannot open shared object file"
	look --nvml libm.so.6
	found 6 "FAIL unread NVML: libm.so.6: nvmlInit_v2 is missing"
	look --nvml libnvidia-ml.so.1
	[[ $output == *"unread NVML: libnvidia-ml.so.1: nvmlInit gives error 9"* || $output == *"libnvidia-ml.so.1: cannot open shared object file"* ]]
}

@test "AMD's and Intel's drivers tell by files" {
	local zeros i

	put $gpu/vendor 0x1002
	put $gpu/ras/umc_err_count "ue: 0" "ce: 12"
	learn
	look
	found 0 "as the baseline"
	put $gpu/ras/umc_err_count "ue: 3" "ce: 12"
	look
	found 7 "DRAIN gpu-memory 0000:c1:00.0: 3 uncorrected errors of its memory"
	put $gpu/ras/umc_err_count "ue: 0" "ce: 12"
	# gpu_metrics 1.3, 120 bytes, bit 36 of the last 64: the hot spot
	{ printf '\x78\x00\x01\x03'; head -c 108 /dev/zero; printf '\x00\x00\x00\x00\x10\x00\x00\x00'; } >"$node/$gpu/gpu_metrics"
	look
	found 0 "warning throttle 0000:c1:00.0: slowed down by heat"
	put $gpu/vendor 0x8086
	look
	[[ $output != *throttle* ]]
	put $gpu/tile0/gt0/freq0/throttle/reason_prochot 1
	look
	[[ $output == *"warning throttle 0000:c1:00.0: slowed down by the power brake"* ]]
}

@test "a GPU whose clock was turned down, by a person or by a job, is found" {
	learn
	nvml slow
	found 0 "warning clock 0000:c1:00.0: it may run at 1200 MHz at most, 1980 MHz are possible. Cause: "
	put $gpu/vendor 0x1002
	put $gpu/power_dpm_force_performance_level auto
	look
	[[ $output != *" clock "* ]]
	put $gpu/power_dpm_force_performance_level profile_min_sclk
	look
	[[ $status == 0 && $output == *"warning clock 0000:c1:00.0: its performance level is profile_min_sclk"* ]]
	put policy "clock off"
	look --policy /policy
	[[ $output != *" clock "* ]]
	put $gpu/vendor 0x8086
	put $gpu/drm/card7/gt_max_freq_mhz 900
	put $gpu/drm/card7/gt_RP0_freq_mhz 1550
	put $gpu/drm/card7/gt/gt0/throttle_reason_thermal 1
	look
	[[ $output == *"warning clock 0000:c1:00.0: it may run at 900 MHz at most, 1550 MHz are possible"* ]]
	[[ $output == *"warning throttle 0000:c1:00.0: slowed down by heat"* ]]
	put $gpu/tile0/gt0/freq0/max_freq 1550
	put $gpu/tile0/gt0/freq0/rp0_freq 1550
	look
	[[ $output != *" clock "* ]]
}
