# SPDX-License-Identifier: GPL-2.0-or-later
# gpubudget_node.so, the hook in which root looks at a node before a job: by a stub of slurmstepd. A real slurmd is in tests/cluster/gpu_prolog.bats.
bats_require_minimum_version 1.5.0

setup_file()
{
	export W=$BATS_FILE_TMPDIR
	${CC:-cc} -std=gnu17 -D_GNU_SOURCE -rdynamic "$BATS_TEST_DIRNAME/../stubs/slurmstepd_stub.c" -o "$W/slurmstepd" -ldl
}

setup()
{
	unset "${!SLURM_@}" "${!CUDA_@}" "${!ROCR_@}" "${!ZE_@}" "${!GPU_@}"
	export SLURM_JOB_GPUS=0 LOG=$BATS_TEST_TMPDIR/log
}

# prolog STATUS "ARGUMENT...": with a gpu-check-node that notes its variables and ends so
prolog()
{
	printf '#!/bin/bash\nenv >%q\necho "it said so"\n%s\n' "$LOG" "$1" >"$BATS_TEST_TMPDIR/look"
	chmod +x "$BATS_TEST_TMPDIR/look"
	run "$W/slurmstepd" --prolog "${BUILD:?}/spank/.libs/gpubudget_node.so" "node_check_program=$BATS_TEST_TMPDIR/look ${2-}"
}

@test "a node at fault: no job starts; a sound one, and one that could not be looked at: it does" {
	prolog "exit 1"
	[[ $status == 1 && $output == *"this node is at fault and drained, the job does not start on it"* ]]
	prolog "exit 0"
	[[ $status == 0 && -z $output ]]
	prolog "exit 127"
	[[ $status == 0 && $output == *"ended with status 127: it said so; the job starts"* ]]
	prolog "sleep 300" node_check_deadline=1
	[[ $status == 0 && $output == *"did not come to an end in 1 s; the job starts"* ]]
	prolog "exit 0" node_check_program=/nowhere/look
	[[ $status == 0 && $output == *"/nowhere/look: No such file or directory; the job starts"* ]]
}

@test "warn never keeps a job back, off starts nothing, and neither does a job without GPUs" {
	prolog "exit 1" node_check=warn
	[[ $status == 0 ]]
	grep -x GPU_CHECK_NODE_POLICY=warn "$LOG"
	rm "$LOG"
	prolog "exit 1" node_check=off
	[[ $status == 0 && ! -e $LOG ]]
	SLURM_JOB_GPUS= prolog "exit 1"
	[[ $status == 0 && ! -e $LOG ]]
	unset SLURM_JOB_GPUS
	CUDA_VISIBLE_DEVICES=NoDevFiles prolog "exit 1"
	[[ $status == 0 && ! -e $LOG ]]
	ROCR_VISIBLE_DEVICES=0 prolog "exit 1"
	[[ $status == 1 ]]
}

@test "the look gets nothing that a user can have put into the environment" {
	SPANK_EVIL=1 LD_PRELOAD_NOT=1 SLURM_CONF=/x/slurm.conf SLURMD_NODENAME=g7 prolog "exit 0"
	((status == 0))
	[[ $(grep -oE '^[A-Z_]+' "$LOG" | grep -vxE 'PWD|OLDPWD|SHLVL|_' | sort | tr '\n' ' ') == \
		"GPU_CHECK GPU_CHECK_NODE_POLICY PATH SLURMD_NODENAME SLURM_CONF SLURM_SCRIPT_CONTEXT " ]]
	grep -x SLURM_SCRIPT_CONTEXT=prolog_slurmd "$LOG"
}

@test "a word that is wrong is told, and costs the check, not the node" {
	for word in node_check=maybe node_check_program=look node_check_deadline=0 gpu_check=off; do
		prolog "exit 1" "$word"
		[[ $status == 0 && $output == *"nothing is checked: plugstack.conf: \"$word\" is none of"* && ! -e $LOG ]]
	done
}

@test "it has the one hook, and no other" {
	[[ $(nm -D --defined-only "$BUILD/spank/.libs/gpubudget_node.so" | awk '{ print $3 }' | grep -c slurm_spank_) == 1 ]]
}
