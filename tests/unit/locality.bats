# SPDX-License-Identifier: GPL-2.0-or-later
# gpu-check locality over the trees of real machines: it agrees with hwloc, deals what it promises, and says what is wrong.
# No GPU, no cluster.
bats_require_minimum_version 1.5.0

setup_file()
{
	export CASES=$BATS_TEST_DIRNAME PATH=${BUILD:?set BUILD to the folder in which the project was built}/gpu_check:$BUILD/tests/unit:$PATH
	export TREES=$BATS_FILE_TMPDIR
	local machine

	for machine in $(second_opinion --machines); do
		mkdir "$TREES/$machine"
		second_opinion --make "$machine" "$TREES/$machine"
	done
}

# locality MACHINE OPTIONS...
locality() { gpu-check locality --root "$TREES/$1" "${@:2}"; }

# The rows of a machine's tasks as "CPUS NEAR".
tasks() { locality "$@" -o json | jq -r '.tasks[] | "\(.cpus) \(.near)"'; }

@test "hwloc says the same of every GPU of every machine" {
	local machine ours theirs

	[[ $(second_opinion --machines | wc -l) -ge 12 ]]
	for machine in $(second_opinion --machines); do
		ours=$(locality "$machine" -o json | jq -r '.gpus[] | "\(.bus_id) \(.local_cpus)"' | sort)
		theirs=$(second_opinion "$TREES/$machine" | grep -F "$(locality "$machine" -o json | jq -r '.gpus[].bus_id')" | sort)
		[[ -n $ours ]]
		[[ $ours == "$theirs" ]] || { diff <(echo "$ours") <(echo "$theirs"); echo "$machine"; return 1; }
	done
}

@test "the tasks of a whole node get the CPUs beside their GPU" {
	[[ $(tasks tioga --cpus 0-127 --tasks 8 --gpus 0000:c1:00.0,0000:c6:00.0,0000:c9:00.0,0000:ce:00.0,0000:d1:00.0,0000:d6:00.0,0000:d9:00.0,0000:de:00.0) == \
"48-55,112-119 all
56-63,120-127 all
16-23,80-87 all
24-31,88-95 all
0-7,64-71 all
8-15,72-79 all
32-39,96-103 all
40-47,104-111 all" ]]
	[[ $(tasks lassen --cpus 8-87,96-175 --tasks 4) == \
"8-47 all
48-87 all
96-135 all
136-175 all" ]]
	[[ $(tasks westmere --cpus 0-23 --tasks 3) == \
"0,2,4,6,12,14,16,18 all
1,3,8,11,13,15,20,23 part
5,7,9-10,17,19,21-22 part" ]]
}

@test "tasks that need the same socket share it, and nobody gets less than an even share" {
	locality pascal --cpus 0-71 --tasks 2 -o json |
		jq -e '[.tasks[] | .count == 36 and .local == 18 and .near == "part"] | all and length == 2'
	locality corona --cpus 0-95 --tasks 5 -o json |
		jq -e '[.tasks[].count] | add == 96 and min >= 19'
}

@test "an allocation that is nowhere near is told with the option that mends it, and refused under --strict" {
	run --separate-stderr locality pascal --cpus 18-21 --tasks 1 --gpus 0000:04:00.0
	((status == 0))
	[[ $stderr == *"task 0: none of its CPUs 18-21 is next to its GPU 0000:04:00.0, whose CPUs are 0-17,36-53"*"--gres-flags=enforce-binding"* ]]
	run locality pascal --cpus 18-21 --tasks 1 --gpus 0000:04:00.0 --strict
	((status == 3))
}

@test "people get tables" {
	run locality sandybridge --cpus 0-31 --tasks 2
	((status == 0))
	[[ $output == *"GPU"*"VENDOR"*"NODE"* ]]
	[[ $output == *"0000:84:00.0"*"nvidia"*"1"*"8-15,24-31"*"mlx5_0 behind the same bridge"* ]]
	[[ $output == *"TASK"*"BESIDE ITS GPUS"* ]]
	mkdir -p "$BATS_TEST_TMPDIR/sys"
	run gpu-check locality --root "$BATS_TEST_TMPDIR"
	((status == 0))
	[[ $output == "This machine has no GPU on its PCI bus." ]]
}

@test "a node that nobody tells is null, and the site's file tells it" {
	local root=$BATS_TEST_TMPDIR

	mkdir -p "$root/sys/bus/pci/devices/0000:01:00.0" "$root/sys/devices/system/node/node0" "$root/etc"
	cd "$root/sys/bus/pci/devices/0000:01:00.0"
	echo 0x030200 >class; echo 0x10de >vendor; echo 0x2330 >device; echo -1 >numa_node; echo 0-7 >local_cpulist
	echo 0 >"$root/sys/devices/system/node/online"; echo 0-7 >"$root/sys/devices/system/node/node0/cpulist"
	gpu-check locality --root "$root" -o json | jq -e '.gpus[0] | .numa_node == null and .local_cpus == null and .numa_from == "none"'
	echo "0000:01:00.0 node 0" >"$root/etc/places"
	gpu-check locality --root "$root" --places /etc/places -o json | jq -e '.gpus[0] | .numa_node == 0 and .numa_from == "file"'
	echo "0000:01:00.0 socket 0" >"$root/etc/places"
	run --separate-stderr gpu-check locality --root "$root" --places /etc/places
	((status == 1))
	[[ $stderr == "gpu-check: /etc/places:1: a line is"* ]]
}

@test "in a job only the GPUs of the task are shown" {
	CUDA_VISIBLE_DEVICES=1 locality pascal --mine -o json | jq -e '[.gpus[].bus_id] == ["0000:07:00.0"]'
	run env -u CUDA_VISIBLE_DEVICES -u SLURM_JOB_GPUS gpu-check locality --root "$TREES/pascal" --mine
	[[ $output == "The environment names no GPU of this machine." ]]
	run --separate-stderr env CUDA_VISIBLE_DEVICES=MIG-1234 gpu-check locality --root "$TREES/pascal" --mine -o json
	[[ $stderr == *"does not tell which"* ]]
	jq -e '.gpus | length == 2' <<<"$output"
}

@test "wrong words end with 2, and what is not there with 1" {
	local words

	for words in "prove --cpus 0-3" "locality --level enum" "lokality" "locality more" "locality --cpus 0-3" "locality --tasks 2" "locality --tasks 0 --cpus 0" "locality --tasks x --cpus 0" \
		"locality --strict" "locality -o xml" "locality --nonsense" "locality --gpus x" "locality --gpus 0000:04:00.0 --mine" "locality --cpus 3-1 --tasks 1"; do
		run --separate-stderr gpu-check $words --root "$TREES/pascal"
		((status == 2)) || { echo "$words: $status"; return 1; }
		[[ -n $stderr ]]
	done
	for words in "--gpus 0000:ff:00.0" "--cpus 0-200 --tasks 2" "--cpus 0-1 --tasks 3"; do
		run --separate-stderr locality pascal $words
		((status == 1)) || { echo "$words: $status"; return 1; }
		[[ $stderr == "gpu-check: --"* ]]
	done
	run gpu-check locality --root "$BATS_TEST_TMPDIR/none"
	((status == 1))
	run gpu-check locality --root "$BATS_TEST_TMPDIR"
	((status == 1))
	[[ $output == *"has no folder sys"* ]]
}
