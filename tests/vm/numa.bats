# SPDX-License-Identifier: GPL-2.0-or-later
# Tasks next to their GPUs on a real kernel with four NUMA nodes: what that kernel says of affinity, of the policy and of the
# nodes that pages came from. step.c starts tasks as slurmstepd does; each becomes memory.c, so what is read is after exec.
# time: 150 s
bats_require_minimum_version 1.5.0
load machine

setup_file()	{ machine_up; }
teardown_file()	{ machine_down; }

# step_is EXPECTED WORD...: a step whose tasks write to 16 MiB each; "CPUS | POLICY | NODES" of each task that ran, without the
# nodes where it may run at several and no policy tells; else its status and what was said.
step_is()
{
	local expected=$1 seen

	seen=$(inside step "${@:2}" -- memory 16 | memory_lines)
	[[ $seen == "$expected" ]] || { diff <(echo "$expected") <(echo "$seen"); return 1; }
}

memory_lines()
{
	awk '/^task [0-9]+: exit 0$/ { next }
		/^cpus / { cpus = $2; next }
		/^mems / { next }
		/^policy / { if (line) print line; line = cpus " | " substr($0, 8) " |"; next }
		/^node [0-9]+: / { line = line " " $2 + 0; next }
		/^gpubudget: / { next }
		{ if (line) print line; line = ""; print }
		END { if (line) print line }' | sed -E 's/(-[^ ]* \| default) .*/\1/'
}

@test "the kernel's nodes, distances and places of GPUs are read as they are, and a GPU of which it does not know is at none" {
	[[ $(inside cat /sys/devices/system/node/online) == 0-3 ]]
	inside gpu-check locality -o json >"$BATS_TEST_TMPDIR/json"
	jq -e '[.gpus[] | [.bus_id, .vendor, .numa_node, .local_cpus]] == [["0000:01:00.0", "amd", null, null],
		["0000:41:00.0", "amd", 1, "2-3"], ["0000:61:00.0", "virtio", 2, "4-5"], ["0000:81:00.0", "amd", 3, "6-7"]]' "$BATS_TEST_TMPDIR/json"
	jq -e '[.gpus[] | .nic_distance] == ["elsewhere", "elsewhere", "elsewhere", "root"]' "$BATS_TEST_TMPDIR/json"
	# 0 and 1 are near to each other, and so are 2 and 3
	[[ $(inside gpu-check locality --cpus 0-7 --tasks 2 --gpus 0000:41:00.0,0000:81:00.0 -o json | jq -r '.tasks[].cpus') == $'0-3\n4-7' ]]
}

@test "tasks that share all CPUs of the node get those next to their GPUs, and memory from there" {
	step_is "0-3 | prefer (many):1 | 1
4-7 | prefer (many):3 | 3" --task 0-7 ROCR_VISIBLE_DEVICES=1 --task 0-7 ROCR_VISIBLE_DEVICES=2
	step_is "6-7 | prefer (many):3 | 3
0-1 | default
4-5 | default
2-3 | prefer (many):1 | 1" --task 0-7 ROCR_VISIBLE_DEVICES=2 --task 0-7 ROCR_VISIBLE_DEVICES= --task 0-7 ROCR_VISIBLE_DEVICES=0 --task 0-7 ROCR_VISIBLE_DEVICES=1
}

@test "tasks that Slurm bound crosswise change places; those that the user bound stay" {
	step_is "2-3 | prefer (many):1 | 1
6-7 | prefer (many):3 | 3" --task 6-7 ROCR_VISIBLE_DEVICES=1 SLURM_CPU_BIND_TYPE=cores,mask_cpu: \
		--task 2-3 ROCR_VISIBLE_DEVICES=2 SLURM_CPU_BIND_TYPE=cores,mask_cpu:
	inside step --task 6-7 ROCR_VISIBLE_DEVICES=1 SLURM_CPU_BIND_TYPE=map_cpu: --task 2-3 ROCR_VISIBLE_DEVICES=2 SLURM_CPU_BIND_TYPE=map_cpu: \
		-- memory 16 >"$BATS_TEST_TMPDIR/out"
	[[ $(grep ^cpus "$BATS_TEST_TMPDIR/out") == $'cpus 6-7\ncpus 2-3' ]]
	[[ $(grep -c "none of its CPUs" "$BATS_TEST_TMPDIR/out") == 2 ]]
}

@test "a task with GPUs at two nodes prefers the memory of both" {
	step_is "2-3 | prefer (many):1,3 | 1" --task 2-3 ROCR_VISIBLE_DEVICES=1,2
	step_is "6-7 | prefer (many):1,3 | 3" --task 6-7 ROCR_VISIBLE_DEVICES=1,2
}

@test "a GPU of which nobody tells where it is moves nothing, and says so to the task" {
	step_is "0-7 | default" --task 0-7 ROCR_VISIBLE_DEVICES=0
	[[ $(inside step --task 0-7 ROCR_VISIBLE_DEVICES=0,2 -- sh -c "'echo \$GPUBUDGET_GPU_NUMA \$GPUBUDGET_GPU_LOCAL'") == *"0000:01:00.0=unknown;0000:81:00.0=3 part" ]]
	inside 'mkdir -p /etc && echo "0000:01:00.0 node 2" >/etc/places'
	step_is "4-7 | prefer (many):2 | 2
0-3 | default" gpu_places=/etc/places --task 0-7 ROCR_VISIBLE_DEVICES=0 --task 0-7 ROCR_VISIBLE_DEVICES=
}

@test "what the user said of memory stands, and the site can leave it alone" {
	step_is "2-3 | default" --task 2-3 ROCR_VISIBLE_DEVICES=1 SLURM_MEM_BIND_TYPE=local
	step_is "2-3 | default" gpu_memory=off --task 2-3 ROCR_VISIBLE_DEVICES=1
	step_is "2-3 | default" gpu_numa=report --task 2-3 ROCR_VISIBLE_DEVICES=1
	step_is "2-3 | bind:1 | 1" gpu_memory=bind --task 2-3 ROCR_VISIBLE_DEVICES=1
}

@test "what does not fit into the preferred node comes from the next one; bound, the task ends" {
	inside step --task 2-3 ROCR_VISIBLE_DEVICES=1 -- memory 320 >"$BATS_TEST_TMPDIR/out"
	[[ $(grep -o '^node [0-9]' "$BATS_TEST_TMPDIR/out") == $'node 0\nnode 1' ]]	# 0 is the nearest to 1
	run -1 inside step gpu_memory=bind --task 2-3 ROCR_VISIBLE_DEVICES=1 -- memory 320
	[[ $output == *"task 0: signal 9" ]]
	inside dmesg | grep "oom-kill:constraint=CONSTRAINT_MEMORY_POLICY"
}

@test "a task far from its GPU is told, its memory is near its CPUs, and under strict it does not run" {
	local said="gpubudget: task 0: none of its CPUs 4-7 is next to its GPU 0000:41:00.0, whose CPUs are 2-3"

	run inside step --task 4-7 ROCR_VISIBLE_DEVICES=1 -- memory 16
	((status == 0))
	[[ $output == *"$said"*"policy prefer (many):2-3"* ]]
	run -1 inside step gpu_numa=strict --task 4-7 ROCR_VISIBLE_DEVICES=1 -- memory 16
	[[ $output == "task 0: exit 1"*"$said"*"--gres-flags=enforce-binding"* && $output != *policy* ]]
}

@test "CPUs and nodes that the cgroup keeps from the job are never taken" {
	inside 'cd /run/cgroup && echo +cpuset >cgroup.subtree_control && mkdir job && echo 0-3 >job/cpuset.cpus && echo 0-1 >job/cpuset.mems'
	inside 'echo $$ >/run/cgroup/job/cgroup.procs && step --task 0-7 ROCR_VISIBLE_DEVICES=1,2 -- memory 16' >"$BATS_TEST_TMPDIR/out"
	[[ $(grep -E '^(cpus|mems|policy)' "$BATS_TEST_TMPDIR/out") == $'cpus 0-3\nmems 0-1\npolicy prefer (many):1' ]]
	# of the one node that is near nothing is left
	inside 'echo 0 >/run/cgroup/job/cpuset.mems; echo $$ >/run/cgroup/job/cgroup.procs && step --task 0-3 ROCR_VISIBLE_DEVICES=1 -- memory 16' >"$BATS_TEST_TMPDIR/out"
	[[ $(grep -E '^(cpus|mems|policy|node)' "$BATS_TEST_TMPDIR/out" | cut -d : -f 1) == $'cpus 0-3\nmems 0\npolicy default\nnode 0' ]]
}

@test "the check runs in there, and says that three AMD GPUs have no driver" {
	run -4 inside gpu-check --all --helper /bin/gpu-check-helper -o json
	tail -n 1 <<<"$output" | jq -e '.verdict == "fail" and (.backends | length == 1 and .[0].backend == "hip" and .[0].cause == "no-library" and .[0].on_bus == 3)'
}
