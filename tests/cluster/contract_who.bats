# SPDX-License-Identifier: GPL-2.0-or-later
# The contract on a real Slurm: which runs go, how they leave, and what becomes of them. Minutes are seconds here.
# only: full
# full: 400 s
load cluster
load accounting

# Two projects of equal share on one node of 8 GPUs; Slurm protects 10 s, and a job says for how long it needs to run.
setup_file()
{
	cluster_up --nodes 1 --budgetd "default_min_runtime = 10s" --budgetd "grace = 4s" --budgetd "window = 1h" &&
		sacctmgr -i modify qos funded set PreemptExemptTime=00:00:10 >/dev/null &&
		budgetctl project set vision --share 50 >/dev/null && budgetctl project set speech --share 50 >/dev/null &&
		sacctmgr -i add account audio parent=ai >/dev/null && sacctmgr -i add user gpb-carol account=audio >/dev/null &&
		budgetctl project add audio --parent ai --share 50 --owners gpb-carol >/dev/null &&
		deposit vision 1000 && deposit speech 1000 && deposit audio 1000 && cluster_restart budgetd
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

event_is() { books "SELECT 1 FROM event WHERE job = $(job "$1") AND what = '$2' AND reason = '$3'" | grep -q 1; }

# In tests a pass is a second (twice: one tells, one acts), the grace 4 s, KillWait 10 s; 2 s are Slurm's.
BOUND=$((2 + 4 + 10 + 2))

past() { (($(date +%s) - $(seconds_of "$1" StartTime) >= $2)); }

seconds_of() { date -d "$(job_field "$1" "$2")" +%s; }

@test "eight runs that trap SIGTERM leave in parallel" {
	local i last begun

	for i in 1 2 3 4 5 6 7 8; do
		as ada submit small$i --gpus=1 --gpu-min-runtime=15s --export=ALL,JOB_CHECKPOINT_SECONDS=8
	done
	for i in 1 2 3 4 5 6 7 8; do
		eventually job_is small$i RUNNING funded
	done
	last=$(seconds_of small8 StartTime)
	as carol submit whole --account=speech --gpus=8 --gpu-min-runtime=1m
	eventually job_is whole RUNNING funded
	begun=$(seconds_of whole StartTime)
	echo "the last of them began at $last, the large job $((begun - last)) s later"
	((begun - last <= 15 + BOUND))
	for i in 1 2 3 4 5 6 7 8; do
		eventually event_is small$i displaced ROTATED
	done
}

@test "the run of the most over-served project goes, not the oldest" {
	as carol submit oldest --account=speech --gpus=4 --gpu-min-runtime=15s
	eventually job_is oldest RUNNING funded
	as ada submit over --gpus=4 --gpu-min-runtime=15s
	eventually job_is over RUNNING funded
	eventually past over 17
	as carol submit under --account=audio --gpus=4 --gpu-min-runtime=1m
	eventually job_is under RUNNING funded
	eventually job_is over PENDING funded
	job_is oldest RUNNING funded
	event_is over told ROTATED
	! event_is oldest told ROTATED
}

@test "a job that takes its leave by its own --signal within the grace is in the queue again" {
	as ada submit polite --gpus=8 --gpu-min-runtime=15s --signal=B:TERM@60 --export=ALL,JOB_CHECKPOINT_SECONDS=1
	eventually job_is polite RUNNING funded
	as carol submit next --account=audio --gpus=8 --gpu-min-runtime=1m
	eventually job_is next RUNNING funded
	eventually requeued polite 1
	wrote polite "checkpoint: written"
	job_is polite PENDING funded
}

# heard JOB WHO: the signals that it had before Slurm took the GPUs, which is SIGTERM for all processes, the script too.
heard()
{
	job_output "$1" | awk -v who="$2" '
		$1 == "script:" && $2 == "TERM" && !end { end = $3 }
		$1 == who ":" { said[++n] = $2; at[n] = $3 }
		END { for (i = 1; i <= n; i++) if (said[i] != "ready" && at[i] <= end - 2) print said[i] }'
}

taken_from_all() { wrote "$1" "^script: TERM" && wrote "$1" "^child: TERM" && wrote "$1" "^step: TERM"; }

# who_hears JOB SCRIPT CHILD STEP SBATCH-OPTION...: each of the three hears of it what the sentence at submission promises
who_hears()
{
	local name=$1 script=$2 child=$3 step=$4

	shift 4
	JOB_SCRIPT=signals.sh as ada submit "$name" --gpus=8 --gpu-min-runtime=15s "$@"
	eventually wrote "$name" "step: ready"
	as carol submit "next-$name" --account=audio --gpus=8 --gpu-min-runtime=1m
	eventually wrote "$name" "gpubudget: this job gives way .ROTATED"
	eventually taken_from_all "$name"
	job_output "$name"
	echo "$name: script '$(heard "$name" script)' child '$(heard "$name" child)' step '$(heard "$name" step)'"
	eventually requeued "$name" 1
	[[ $(heard "$name" script) == "$script" && $(heard "$name" child) == "$child" && $(heard "$name" step) == "$step" ]]
	cluster_clear
}

@test "who of a job hears of its displacement is what its submission was told" {
	who_hears plain "" "" TERM
	who_hears steps "" "" USR1 --signal=USR1@60
	who_hears script USR1 "" "" --signal=B:USR1@60
}

@test "a run that cannot be requeued is cancelled" {
	as ada submit once --no-requeue --gpus=8 --gpu-min-runtime=15s
	eventually job_is once RUNNING funded
	as carol submit taker --account=audio --gpus=8 --gpu-min-runtime=1m
	eventually job_is taker RUNNING funded
	eventually event_is once displaced ROTATED
	! squeue -h -j "$(job once)" -t PENDING,RUNNING | grep -q .
}
