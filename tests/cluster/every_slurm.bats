# SPDX-License-Identifier: GPL-2.0-or-later
# What versions of Slurm do differently, and a path through every room: what another Slurm than this machine's is tried with where there
# is no time for all suites. OTHER_BUILD is a folder that was built for another version.
# time: 120 s
bats_require_minimum_version 1.5.0
load cluster
load accounting

setup_file()
{
	cluster_up --nodes 1 --gpus 2 --cpus 4
	deposit vision 10
	install -m 755 "$BUILD"/gpu_check/gpu-check-helper "$BUILD"/spank/gpu-check-task "$CLUSTER_DIR/bin"
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

# task SRUN-OPTION...
task() { run as ada srun --account=vision --time=1:00:00 --gpu-min-runtime=10m "$@"; }

# plugstack_is ARGUMENT...: each command and each slurmstepd reads it anew.
plugstack_is() { echo "required $CLUSTER_DIR/lib/gpubudget.so $*" >"$CLUSTER_DIR/etc/plugstack.conf"; }

plugin_problem() { budgetctl doctor -o json | jq -r '.rows[] | select(.check == "plugin-version") | .text'; }

@test "doctor finds no fault with what this Slurm has" {
	run budgetctl doctor -o json
	jq -e '[.rows[] | select(.health == "error")] == []' <<<"$output"
}

@test "a funded job is charged what slurmdbd says it had; one that is too dear is refused with the numbers" {
	as ada submit train --gpus=2 --gpu-min-runtime=3h
	eventually job_is train RUNNING funded
	[[ $(job_tres train) == *gres/gpu=2* ]]
	balance_is vision "held=6.00"
	refused ada --gpus=2 --gpu-min-runtime=8h --gpu-tier=funded
	says "the job needs 16.00 GPU-h"
	eventually has_run train
	as ada cancel train
	eventually accounted train funded
	eventually balance_is vision "held=0.00"
}

@test "a user's change of his job in the queue is judged, and he is told why where Slurm can" {
	as ada submit first --gpus=2 --gpu-min-runtime=1h
	eventually job_is first RUNNING funded
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	cannot as ada scontrol update jobid="$(job train)" QOS=normal
	as ada scontrol update jobid="$(job train)" TresPerJob=gres:gpu:1
	eventually balance_is vision "held=3.00"
	(($(slurm_version) < 2302)) || [[ $(as ada scontrol update jobid="$(job train)" QOS=normal 2>&1) == *"gpubudget: "* ]]
}

@test "an array and GPUs by node and task are counted as Slurm gives them" {
	as ada submit each --array=0-1%1 --ntasks=1 --gpus-per-task=1 --gpu-min-runtime=1h
	balance_is vision "held=2.00"
	as ada cancel each
	eventually balance_is vision "held=0.00"
	as ada submit node --nodes=1 --gpus-per-node=2 --gpu-min-runtime=1h
	eventually job_is node RUNNING funded
	balance_is vision "held=2.00"
}

# The check is a program of the test's: it is called in the environment that the task is to have.
@test "the GPUs of a task are checked in its last environment, and a check that fails keeps its program from starting" {
	local check=$CLUSTER_DIR/bin/env_check taskprolog=$CLUSTER_DIR/bin/taskprolog

	printf '#!/bin/sh\ntest "$WANTED" = "${GPUBUDGET_TEST-fine}"\n' >"$check"
	printf '#!/bin/sh\necho export WANTED=fine\n' >"$taskprolog"
	chmod 755 "$check" "$taskprolog"
	plugstack_is gpu_numa=off gpu_check=off gpu_check_helper="$CLUSTER_DIR/bin/gpu-check-helper" check_env="$check"
	task --gpus=1 --task-prolog="$taskprolog" --gpu-check=env sh -c 'echo "started with $WANTED"'
	if (($(slurm_version) >= 2311)); then
		# behind the plugins and TaskProlog
		[[ $status == 0 && $output == *"started with fine"* ]] || { echo "$output"; return 1; }
	fi
	task --gpus=1 --export=ALL,GPUBUDGET_TEST=broken --gpu-check=env sh -c 'echo started'
	((status != 0))
	[[ $output == *"FAIL env: "* && $output != *started* ]] || { echo "$output"; return 1; }
	task --gpus=1 --export=ALL,WANTED=fine --gpu-check=env sh -c 'echo started'
	[[ $status == 0 && $output == *started* ]] || { echo "$output"; return 1; }
	eventually nodes_are idle
}

@test "a plugin that was built for another Slurm is found before slurmctld would end of it" {
	local plugin=$CLUSTER_DIR/lib/job_submit_gpubudget.so other=${OTHER_BUILD-}/job_submit/.libs/job_submit_gpubudget.so

	if [[ ! -e $other ]] || cmp -s "$other" "$BUILD/job_submit/.libs/job_submit_gpubudget.so"; then
		other=$BATS_TEST_TMPDIR/other.so
		echo 'const unsigned plugin_version = 0x150800; const char plugin_name[] = "x", plugin_type[] = "job_submit/gpubudget";' | cc -shared -fPIC -x c -o "$other" -
	fi
	[[ -z $(plugin_problem) ]]
	mv "$plugin" "$BATS_TEST_TMPDIR/own.so"
	install -m 755 "$other" "$plugin"
	[[ $(plugin_problem) == *" is built for Slurm "*", slurmctld is $(slurmctld -V | sed 's/.* //')"*"does not come up"* ]]
	cluster_stop slurmctld
	run env SLURM_CONF="$SLURM_CONF" timeout 60 slurmctld -D -f "$SLURM_CONF"
	mv "$BATS_TEST_TMPDIR/own.so" "$plugin"
	cluster_start slurmctld
	((status == 1)) && grep -qE "Incompatible Slurm plugin|failed to initialize job_submit plugin" "$CLUSTER_DIR/log/slurmctld.log" || { echo "$status $output"; return 1; }
	[[ -z $(plugin_problem) ]]
}

@test "no daemon died on the way" {
	no_crash
	books_are_right
	budgetctl verify "$CLUSTER_DIR/budgetd/budget.db"
}
