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

value() { gpu-check report --root "$node" -o json "${@:2}" | jq -r "$1"; }

# ways OPTION...: from the GPU on bus c3 to each other one
ways() { value '.gpus[] | select(.bus_id == "0000:c3:00.0").gpu_links | to_entries | map("\(.key)=\(.value.way)\(if .value.links then " x\(.value.links)" else "" end)\(if .value.switched then " switched" else "" end)") | sort | join(", ")' "$@"; }

has() { [[ $output == *"$1"* ]] || { echo "not there: $1"; echo "$output"; return 1; }; }

# kfd NODE LOCATION LINE...: of AMD's driver; each LINE is what one link has, "type 11, node_to 1"
kfd()
{
	local at=sys/class/kfd/kfd/topology/nodes/$1 n=0 line

	put "$at/gpu_id" 4711
	put "$at/properties" "cpu_cores_count $(($2 ? 0 : 64))" "location_id $2" "domain 0"
	for line in "${@:3}"; do
		put "$at/io_links/$((n++))/properties" "version_major 0" "${line//, /$'\n'}"
	done
}

@test "how each GPU is linked to each other one, and the network card beside it" {
	[[ $(ways) == "0000:01:00.0=elsewhere, 0000:c4:00.0=switch, 0000:c9:00.0=root" ]]
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

# --- links that are no PCIe -------------------------------------------------------------------------------

nvml_stub() { ${CC:-cc} -std=gnu17 -D_GNU_SOURCE -shared -fPIC "$BATS_TEST_DIRNAME/../stubs/libnvidia_ml_stub.c" -o "$BATS_TEST_TMPDIR/nvml.so"; }

@test "NVLink over bridges: as many as there are, and only between those that have them" {
	nvml_stub
	export NVML_STUB=bridges
	[[ $(ways --nvml "$BATS_TEST_TMPDIR/nvml.so") == "0000:01:00.0=elsewhere, 0000:c4:00.0=nvlink x4, 0000:c9:00.0=root" ]]
	[[ $(value '.gpus | map("\(.bus_id[5:7])=\(.nvlinks_up)/\(.nvlinks)") | join(" ")' --nvml "$BATS_TEST_TMPDIR/nvml.so") == "01=0/0 c3=4/6 c4=4/6 c9=0/0" ]]
	run gpu-check report --root "$node" --nvml "$BATS_TEST_TMPDIR/nvml.so"
	((status == 0))
	[[ $(grep -c 'nvlink x4' <<<"$output") == 2 ]]
	has "8 of 12 links are up"
	has "without a bridge, or trained down: \`nvidia-smi nvlink -s\`"
}

@test "NVLink over switches: all reach all, by the links of the one that has fewer" {
	nvml_stub
	export NVML_STUB=switches
	[[ $(ways --nvml "$BATS_TEST_TMPDIR/nvml.so") == "0000:01:00.0=nvlink x18 switched, 0000:c4:00.0=nvlink x18 switched, 0000:c9:00.0=nvlink x17 switched" ]]
	run gpu-check report --root "$node" --nvml "$BATS_TEST_TMPDIR/nvml.so"
	has "71 of 72 links are up"
}

@test "what NVML does not tell is said, and PCIe is told all the same" {
	nvml_stub
	NVML_STUB=crash run gpu-check report --root "$node" --nvml "$BATS_TEST_TMPDIR/nvml.so"
	((status == 0))
	has "not told: $BATS_TEST_TMPDIR/nvml.so ended with signal 11"
	has "elsewhere"
	NVML_STUB_INIT=9 run gpu-check report --root "$node" --nvml "$BATS_TEST_TMPDIR/nvml.so"
	has "nvmlInit gives error 9"
	run gpu-check report --root "$node" --nvml libnot-there.so.1
	has "not told: libnot-there.so.1: cannot open shared object file"
	run gpu-check report --root "$node" --nvml libm.so.6
	has "not told: libm.so.6: nvmlInit_v2 is missing"
	run gpu-check report --root "$node"
	has "NVML is not asked about a copied tree"
	[[ $(value '"\(.nvlink_not_told | length > 20) \(.gpus[0].nvlinks)"') == "true null" ]]
	NVML_STUB=none run gpu-check report --root "$node" --nvml "$BATS_TEST_TMPDIR/nvml.so"
	grep -qE '^NVLink +none' <<<"$output"
}

@test "AMD's links as its driver lists them: how many side by side, where it tells what one moves" {
	for bus in c3 c4 c9; do echo 0x1002 >"$node/sys/bus/pci/devices/0000:$bus:00.0/vendor"; done
	kfd 0 0
	kfd 1 $((0xc300)) "type 2, node_to 0, weight 20" "type 11, node_to 2, weight 15, min_bandwidth 50000, max_bandwidth 200000" \
		"type 11, node_to 3, weight 30, min_bandwidth 0, max_bandwidth 0"
	kfd 2 $((0xc400)) "type 11, node_to 1, weight 15"
	kfd 3 $((0xc900)) "type 2, node_to 0, weight 20"
	[[ $(ways) == "0000:01:00.0=elsewhere, 0000:c4:00.0=xgmi x4, 0000:c9:00.0=xgmi" ]]
	run gpu-check report --root "$node"
	[[ $(grep -c 'xgmi x4' <<<"$output") == 1 ]]
}
