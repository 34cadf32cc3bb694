# SPDX-License-Identifier: GPL-2.0-or-later
# What Slurm does by itself, without the product: the facts that the contract stands on (doc/model.md, 6). Each test is named by the fact
# that it shows and prints its figures. When a newer Slurm fails one, the rule that stands on it has to be looked at again.
# only: full
# time: 600 s
load cluster

EVENTUALLY_S=90
EXEMPT_S=10			# PreemptExemptTime of the tests
KILL_WAIT_S=5

setup_file()
{
	cluster_up --plain --conf KillWait=$KILL_WAIT_S
	sacctmgr -i modify qos funded set PreemptExemptTime=00:00:$EXEMPT_S >/dev/null
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

# --- words ------------------------------------------------------------------------------------------

funded() { as ada submit "$1" --qos=funded "${@:2}"; }
free() { as ada submit "$1" --qos=free "${@:2}"; }

# placed NAME PLACE: what budgetd would publish.
placed() { scontrol update jobid="$(job "$1")" SiteFactor="$2"; }

running() { local name; for name; do job_is "$name" RUNNING || return 1; done; }
displaced() { [[ $(job_field "$1" Restarts) -gt 0 ]]; }
untouched() { running "$1" && [[ $(job_field "$1" Restarts) == 0 ]]; }

run_seconds() { squeue -h -j "$(job "$1")" -O TimeUsed:20 | awk -F: '{ s = 0; for (i = 1; i <= NF; i++) s = s * 60 + $i; print s }'; }
past_exempt() { local name; for name; do [[ $(run_seconds "$name") -gt $EXEMPT_S ]] || return 1; done; }

# looked N: Slurm's main scheduler has looked at the queue N times more than when watch was said.
cycles() { sdiag | awk '/Main schedule/ { main = 1 } main && /Total cycles:/ { print $3; exit }'; }
watch() { WATCHED=$(cycles); }
looked() { (($(cycles) >= WATCHED + $1)); }

# decided_in VICTIM JOB: seconds from the job's submission to slurmctld's decision that the victim goes.
decided_in()
{
	local log=$CLUSTER_DIR/log/slurmctld.log

	awk -v victim="JobId=$(job "$1")" -v winner="JobId=$(job "$2")" '
		function at(line) { split(substr(line, 2, 23), t, /[T:]/); return t[2] * 3600 + t[3] * 60 + t[4] }
		/_slurm_rpc_submit_batch_job/ && index($0, winner " ") { from = at($0) }
		/preempted/ && index($0, victim) && from { printf "%.3f", at($0) - from; exit }' "$log"
}

# tell TEXT: a figure for who reads the output.
tell() { echo "# $BATS_TEST_DESCRIPTION: $*" >&3; }

# Two runs of a node each, past their exempt time, above whatever waits.
two_runs()
{
	funded one --nodelist=g1 --gpus=8
	funded two --nodelist=g2 --gpus=8
	eventually running one two
	placed one 100000
	placed two 100000
}

# --- places and tiers -------------------------------------------------------------------------------

@test "a free run gives way to a funded job at once, and is kept out for cred_expire" {
	local from

	free loose --nodes=2 --gpus=16
	eventually running loose
	from=$SECONDS
	funded train --gpus=8 --export=JOB_SECONDS=0
	eventually displaced loose
	tell "displaced after $((SECONDS - from)) s"
	from=$SECONDS
	eventually running loose
	tell "back after $((SECONDS - from)) s, cred_expire is 5"
}

@test "a funded run is displaced by nobody while its place is above, and at once when it drops past its exempt time" {
	local from

	two_runs
	funded next --gpus=8
	placed next 1000
	eventually past_exempt one two
	watch
	eventually looked 3
	untouched one
	untouched two
	from=$SECONDS
	placed two -100000
	eventually running next
	untouched one
	displaced two
	tell "the other runs $((SECONDS - from)) s after the place dropped"
	[[ $(job_field two Priority) == 1 ]]		# its place is kept over the requeue
}

@test "PreemptExemptTime protects a run whose place is below the queue's" {
	funded one --nodelist=g1 --gpus=8
	funded two --nodelist=g2 --gpus=8
	eventually running one two
	funded next --gpus=8
	placed next 100000
	watch
	eventually displaced one
	tell "displaced after $(sacct -nX --duplicates -j "$(job one)" -o ElapsedRaw | head -n 1 | tr -d ' ') s, exempt for $EXEMPT_S"
	(($(sacct -nX --duplicates -j "$(job one)" -o ElapsedRaw | head -n 1) >= EXEMPT_S))
}

@test "a gang of two nodes displaces nobody while one of them is protected, and both together afterwards" {
	two_runs
	placed one 0
	placed two 0
	eventually past_exempt one
	scontrol requeue "$(job two)"
	eventually running two				# its exempt time begins anew
	funded gang --nodes=2 --gpus-per-node=8
	placed gang 1000
	watch
	eventually looked 1
	[[ $(run_seconds two) -ge $EXEMPT_S ]] || untouched one
	eventually running gang
	displaced one
}

# --- victims ----------------------------------------------------------------------------------------

@test "Slurm takes the older run, though the younger one has the worse place" {
	funded old --nodelist=g1 --gpus=8
	eventually running old
	funded young --nodelist=g2 --gpus=8
	eventually running young
	placed old 5000
	placed young 50
	eventually past_exempt old young
	funded next --gpus=8
	placed next 20000
	eventually running next
	displaced old
	untouched young
	tell "places 5000 and 50, and the one with 5000 went: only those that are to go may stand below who waits"
}

@test "of free runs Slurm takes one on the first node, however large it is, and one in a QOS of higher priority last" {
	free large --nodelist=g1 --gpus=8
	free small --nodelist=g2 --gpus=1
	free rest --nodelist=g2 --gpus=7
	eventually running large small rest
	funded train --gpus=1
	eventually running train
	displaced large
	untouched small
	untouched rest
	tell "with 8 GPUs on g1, 1 and 7 on g2, the one with 8 went for a job of 1 GPU, $(decided_in large train) s after its submission"

	as ada cancel train
	as ada cancel large
	sacctmgr -i add qos large Priority=10 PreemptMode=requeue >/dev/null
	sacctmgr -i modify account root set qos+=large >/dev/null
	sacctmgr -i modify qos funded set preempt=free,large >/dev/null
	as ada submit large --qos=large --nodelist=g1 --gpus=8
	eventually running large
	funded train --gpus=1
	eventually running train
	untouched large
	sacctmgr -i modify qos funded set preempt=free >/dev/null
	tell "in a QOS of priority 10, above the 0 of the others, it stayed"
}

@test "victims that do not end on SIGTERM are killed together, after one KillWait" {
	local i names=() from

	for ((i = 1; i <= 8; i++)); do
		funded "s$i" --nodelist=g1 --gpus=1 --export=JOB_CHECKPOINT_SECONDS=25
		names+=("s$i")
	done
	eventually running "${names[@]}"
	eventually past_exempt "${names[@]}"
	funded next --nodes=1 --nodelist=g1 --gpus=8
	from=$SECONDS
	placed next 1000
	eventually running next
	tell "8 victims that trap SIGTERM: $((SECONDS - from)) s, KillWait $KILL_WAIT_S"
	for i in "${names[@]}"; do eventually displaced "$i"; done
}

@test "GraceTime of the QOS makes the victims leave later than KillWait and grace together" {
	local i names=() from

	sacctmgr -i modify qos funded set GraceTime=10 >/dev/null
	for ((i = 1; i <= 8; i++)); do
		funded "s$i" --nodelist=g1 --gpus=1 --export=JOB_CHECKPOINT_SECONDS=25
		names+=("s$i")
	done
	eventually running "${names[@]}"
	eventually past_exempt "${names[@]}"
	funded next --nodes=1 --nodelist=g1 --gpus=8
	from=$SECONDS
	placed next 1000
	eventually running next
	sacctmgr -i modify qos funded set GraceTime=0 >/dev/null
	tell "8 victims that trap SIGTERM: $((SECONDS - from)) s, grace 10, KillWait $KILL_WAIT_S"
	((SECONDS - from > 10 + KILL_WAIT_S))
}

# --- who stands behind a gang ------------------------------------------------------------------------

@test "a gang at the head that cannot start stops nobody behind it, with bf_min_age_reserve" {
	local from

	two_runs
	funded gang --nodes=2 --gpus-per-node=8
	placed gang 5000
	scontrol requeue "$(job two)"
	from=$SECONDS
	funded small --gpus=1 --export=JOB_SECONDS=30
	eventually running small
	tell "the small job runs $((SECONDS - from)) s later"
	job_is gang PENDING
}

@test "without it a small job behind the gang waits for the backfill scheduler" {
	sed -i.kept 's/bf_min_age_reserve=[0-9]*,bf_interval=5/bf_interval=600/' "$SLURM_CONF"
	scontrol reconfigure
	two_runs
	free loose --nodelist=g1 --gpus=1
	funded gang --nodes=2 --gpus-per-node=8
	placed gang 5000
	as ada scancel --signal=KILL --full "$(job two)"
	eventually nodes_have_room
	funded small --gpus=1 --export=JOB_SECONDS=30
	watch
	eventually looked 3
	job_is small PENDING
	tell "after 3 rounds of the main scheduler it waits: $(job_field small Reason)"
	mv "$SLURM_CONF.kept" "$SLURM_CONF"
	scontrol reconfigure
	eventually running small
}
nodes_have_room() { [[ $(sinfo -h -N -o %T | sort | uniq -c) == *idle* ]]; }

# --- what people can do to a run ----------------------------------------------------------------------

@test "a user's hold of a running job gives it away: priority 0, displaced, and held in the queue" {
	local from

	two_runs
	funded next --gpus=8
	eventually past_exempt one two
	from=$SECONDS
	as ada scontrol hold "$(job one)"
	[[ $(job_field one Priority) == 0 ]]
	eventually running next
	displaced one
	untouched two
	[[ $(job_field one Reason) == JobHeldUser ]]
	tell "displaced $((SECONDS - from)) s after the hold, and it stays held"
}

@test "a suspended run is given away as well, and held by the administrator afterwards" {
	local from

	two_runs
	funded next --gpus=8
	eventually past_exempt one two
	from=$SECONDS
	scontrol suspend "$(job one)"
	[[ $(job_field one Priority) == 0 ]]
	eventually running next
	displaced one
	[[ $(job_field one Reason) == JobHeldAdmin ]]
	tell "displaced $((SECONDS - from)) s after the suspension"
}

@test "a hold of an array holds its running tasks too" {
	local task

	funded sweep --array=0-5 --gpus=4
	eventually tasks_run 4
	for task in $(squeue -h -r -t RUNNING -j "$(job sweep)" -o %A); do
		scontrol update jobid="$task" SiteFactor=100000
	done
	as ada scontrol hold "$(job sweep)"
	[[ $(squeue -h -r -t RUNNING -j "$(job sweep)" -o %Q | sort -u) == 0 ]]
	tell "4 running tasks have priority 0"
}
tasks_run() { [[ $(squeue -h -r -t RUNNING -j "$(job sweep)" | wc -l) == "$1" ]]; }

@test "a task of an array is displaced alone and keeps its place" {
	local task

	funded sweep --array=0-3 --gpus=4
	eventually tasks_run 4
	for task in $(squeue -h -r -t RUNNING -j "$(job sweep)" -o %A); do
		scontrol update jobid="$task" SiteFactor=100000
	done
	eventually tasks_past_exempt
	funded next --gpus=4
	placed next 1000
	scontrol update jobid="$(job sweep)_2" SiteFactor=-100000
	eventually running next
	tasks_run 3
	[[ $(scontrol -o show job "$(job sweep)_2") == *" Restarts=1 "* ]]
}
tasks_past_exempt()
{
	squeue -h -r -t RUNNING -j "$(job sweep)" -O TimeUsed:20 |
		awk -F: -v least=$EXEMPT_S '{ if ($(NF - 1) * 60 + $NF <= least) exit 1 }'
}

# --- het jobs ----------------------------------------------------------------------------------------

@test "a het job in a QOS that preempts nobody waits and touches nobody; in one that preempts it displaces free runs" {
	local from

	free left --nodelist=g1 --gpus=8
	free right --nodelist=g2 --gpus=8
	eventually running left right
	as ada submit het --qos=funded-still --gpus=8 : --qos=funded-still --gpus=8
	watch
	eventually looked 3
	untouched left
	untouched right
	[[ $(squeue -h -j "$(job het)" -o %T | sort -u) == PENDING ]]
	as ada cancel het
	as ada submit het --qos=funded --gpus=8 : --qos=funded --gpus=8
	from=$SECONDS
	eventually displaced left
	EVENTUALLY_S=60 eventually running het || true
	tell "after $((SECONDS - from)) s: $(squeue -h -o %j:%T:%r | sort -u | paste -sd' '); restarts of the free runs $(job_field left Restarts) and $(job_field right Restarts)"
}
