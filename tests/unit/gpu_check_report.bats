# SPDX-License-Identifier: GPL-2.0-or-later
# gpu-check report: what a person looks at first, of a node that is made up as files.
bats_require_minimum_version 1.5.0

setup()
{
	export PATH=${BUILD:?set BUILD to the folder in which the project was built}/gpu_check:$PATH
	node=$BATS_TEST_TMPDIR/node
	pci pci0000:c0/0000:c0:01.1/0000:c1:00.0/0000:c2:00.0/0000:c3:00.0 0x10de 0x030200	# behind a switch
	pci pci0000:c0/0000:c0:01.1/0000:c1:00.0/0000:c2:01.0/0000:c4:00.0 0x10de 0x030200	# behind the same
	pci pci0000:c0/0000:c0:03.1/0000:c9:00.0 0x10de 0x030200				# the same root
	pci pci0000:00/0000:00:01.1/0000:01:00.0 0x10de 0x030200				# another one
	pci pci0000:c0/0000:c0:01.1/0000:c1:00.0/0000:c2:02.0/0000:c5:00.0 0x15b3 0x020700
	mkdir -p "$node/sys/bus/pci/devices/0000:c5:00.0/infiniband/mlx5_0"
}

put()	{ mkdir -p "$(dirname "$node/$1")"; printf '%s\n' "${@:2}" >"$node/$1"; }

# pci PLACE VENDOR CLASS: the device and the bridges above it
pci()
{
	local at=$1

	put "sys/devices/$at/vendor" "$2"
	put "sys/devices/$at/class" "$3"
	mkdir -p "$node/sys/bus/pci/devices"
	for ((; ${#at} > 12; )); do
		ln -sfn "../../../devices/$at" "$node/sys/bus/pci/devices/${at##*/}"
		at=${at%/*}
	done
}

value() { gpu-check report --root "$node" -o json | jq -r "$1"; }

@test "how each GPU is linked to each other one, and the network card beside it" {
	[[ $(value '.gpus[] | select(.bus_id == "0000:c3:00.0").gpu_links | to_entries | map(.key + "=" + .value) | sort | join(" ")') == \
		"0000:01:00.0=elsewhere 0000:c4:00.0=switch 0000:c9:00.0=root" ]]
	[[ $(value '.gpus[] | select(.bus_id == "0000:c3:00.0") | .nic_name + " " + .nic_distance') == "mlx5_0 switch" ]]
	run gpu-check report --root "$node"
	[[ $status == 0 && $output == *"NEAREST NIC"*"mlx5_0, switch"* ]]
}

@test "IOMMU, huge pages, waiting for memory, stolen time and throttled CPUs" {
	[[ $(value '.host.iommu') == off ]]
	put sys/bus/pci/devices/0000:c3:00.0/iommu_group/type identity
	[[ $(value '.host.iommu') == passthrough ]]
	put sys/bus/pci/devices/0000:c4:00.0/iommu_group/type DMA-FQ
	[[ $(value '.host.iommu') == translating ]]
	put proc/meminfo "MemTotal: 1000 kB" "HugePages_Total:      16" "HugePages_Free:        4" "Hugepagesize:       2048 kB"
	put sys/kernel/mm/transparent_hugepage/enabled "always [madvise] never"
	put proc/pressure/memory "some avg10=12.34 avg60=1.00 avg300=0.50 total=9" "full avg10=3.00 avg60=0.20 avg300=2.05 total=5"
	put proc/stat "cpu  600 0 100 200 0 0 0 100 0 0" "cpu0 600 0 100 200 0 0 0 100 0 0"
	put sys/devices/system/cpu/online 0-3
	for cpu in 0 1 2 3; do
		put sys/devices/system/cpu/cpu$cpu/topology/physical_package_id $((cpu / 2))
		put sys/devices/system/cpu/cpu$cpu/thermal_throttle/package_throttle_count $((5 + cpu / 2))
	done
	put sys/devices/system/cpu/cpu0/cpufreq/scaling_governor performance
	[[ $(value '.host | [.huge_pages, .huge_pages_free, .huge_page_kib, .transparent_huge_pages, .memory_some_10s_percent, .memory_full_300s_percent, .steal_percent, .cpu_throttled, .governor] | join(" ")') == \
		"16 4 2048 madvise 12.34 2.05 10 11 performance" ]]
	run gpu-check report --root "$node"
	[[ $output == *"iommu=pt"* && $output == *"10.00 %"*"others use these CPUs"* && $output == *"jobs wait for memory"* && $output == *"11 times"* ]]
}

@test "what the kernel does not tell is null" {
	[[ $(value '.host | [.huge_pages, .memory_some_10s_percent, .steal_percent, .cpu_throttled, .governor] | map(tostring) | unique | join(" ")') == null ]]
	run gpu-check report --root "$node"
	[[ $status == 0 && $output == *"not told"* ]]
}
