# SPDX-License-Identifier: GPL-2.0-or-later
# What becomes of a job that is changed after its submission: more needs more money, and what the budget decided is not undone by hand.
# time: 180 s
load cluster
load accounting

setup_file()
{
	cluster_up
	sacctmgr -i >/dev/null <<-END
		add account other parent=root
		add user gpb-ada account=other
		add user gpb-ada account=speech
		modify user gpb-ada set defaultaccount=vision
	END
	deposit vision 20
	deposit speech 1
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && eventually balance_is vision "held=0.00" && eventually balance_is speech "held=0.00" && books_are_right; }

# A pending job of 2 GPUs behind one that takes all, in the free tier so that it costs nothing.
setup()
{
	as ada submit filler --nodes=2 --gpus-per-node=8 --gpu-min-runtime=1h
	eventually job_is filler RUNNING funded
	as ada submit train --gpus=2 --gpu-min-runtime=1h --time=2:00:00
	eventually job_is train PENDING funded
	eventually balance_is vision "held=18.00"
}

# change USER OPTION...: scontrol update of train
change() { local user=$1; shift; as "$user" scontrol update jobid="$(job train)" "$@" 2>"$CLUSTER_DIR/job/said"; }

# what_ada_asked: of train, what a modification could change, and nothing that the scheduler writes down as it goes.
what_ada_asked()
{
	scontrol -o show job "$(job train)" | tr ' ' '\n' |
		grep -E '^(JobId|JobName|UserId|Account|QOS|JobState|Dependency|Requeue|TimeLimit|TimeMin|Partition|NumNodes|Features|TRES|Tres[A-Za-z]*|Nice|Comment|AdminComment|EligibleTime)='
}

# forbidden USER OPTION...: it must fail, and nothing of the job or its money changes.
forbidden()
{
	local before after

	before=$(what_ada_asked)
	if change "$@"; then
		echo "not refused: $*" >&2
		return 1
	fi
	after=$(what_ada_asked)
	[[ $before == "$after" ]] || { diff <(echo "$before") <(echo "$after") >&2; return 1; }
	balance_is vision "held=18.00"
}

@test "GPUs that the balance does not reach for are refused, those that it does are held" {
	forbidden ada TresPerJob=gres:gpu:8
	change ada TresPerJob=gres:gpu:4
	eventually balance_is vision "held=20.00"
	change ada TresPerJob=gres:gpu:1
	eventually balance_is vision "held=17.00"
}

@test "a longer time limit costs nothing more while the minimum runtime stays" {
	change ada TimeLimit=4:00:00
	balance_is vision "held=18.00"
	change ada TimeLimit=30
	eventually balance_is vision "held=17.00"
}

@test "a change that is not about GPUs is not asked about, and works without budgetd" {
	local before

	before=$(books "SELECT count(*) FROM hold")
	change ada JobName=renamed
	change ada Comment="figure 3"
	cluster_stop budgetd
	change ada JobName=again
	cluster_start budgetd
	[[ $(job_field train JobName) == again ]]
	[[ $(books "SELECT count(*) FROM hold") == "$before" ]]
	balance_is vision "held=18.00"
}

@test "another account must be able to pay, and must be a project" {
	forbidden ada Account=speech
	forbidden ada Account=other
	budgetctl deposit speech 9 --reason "for the move" >/dev/null
	change ada Account=speech
	eventually balance_is speech "held=2.00"
	eventually balance_is vision "held=16.00"
}

@test "the tier is not chosen by the QOS: a user cannot change it, root may do all" {
	forbidden ada QOS=free
	forbidden ada QOS=normal
	forbidden ada QOS=funded-still
	change ada QOS=funded
	scontrol update jobid="$(job train)" TresPerJob=gres:gpu:16
	[[ $(job_field train TresPerJob) == gres[:/]gpu:16 ]]
}

@test "a free job does not become funded by its QOS" {
	as ada submit loose --gpus=2 --gpu-tier=free
	as ada scontrol update jobid="$(job loose)" QOS=funded && return 1
	[[ $(job_field loose QOS) == free ]]
}

@test "somebody else's attempt has no effect, not even on the money" {
	local before

	before=$(books "SELECT group_concat(id || ':' || units || ':' || coalesce(closed_at, 0)) FROM hold")
	forbidden bob TresPerJob=gres:gpu:4
	forbidden bob Account=speech
	forbidden carol TimeLimit=1
	as bob scontrol hold "$(job train)" 2>/dev/null && return 1
	as bob scontrol release "$(job train)" 2>/dev/null && return 1
	[[ $(books "SELECT group_concat(id || ':' || units || ':' || coalesce(closed_at, 0)) FROM hold") == "$before" ]]
}

@test "a job that waits for budget is released by its money, not by its user" {
	budgetctl project set vision --on-exhausted reject >/dev/null
	cluster_stop budgetd
	as ada submit late --gpus=8 --gpu-min-runtime=8h
	cluster_start budgetd
	held_by_us() { [[ $(job_field late Reason) == JobHeldAdmin ]]; }
	eventually held_by_us
	as ada scontrol release "$(job late)" 2>"$CLUSTER_DIR/job/said" && return 1
	held_by_us
	deposit vision 100
	not_held() { [[ $(job_field late Priority) != 0 ]]; }
	eventually not_held
	eventually job_is late PENDING funded
	budgetctl project set vision --on-exhausted inherit >/dev/null
}

@test "words in the comment of a job in the queue change nothing, and say what does" {
	as ada scontrol update "job=$(job train)" comment=gpu-min-runtime=8h 2>/dev/null && return 1
	as ada scontrol update "job=$(job train)" comment=anything
}
