# SPDX-License-Identifier: GPL-2.0-or-later
# Jobs that wait for money: an array of which some tasks are paid for, and a project whose jobs wait in order. What is released is what is
# paid for, exactly, whatever is killed in between.
# time: 180 s
load cluster
load accounting

setup_file()
{
	cluster_up --nodes 1 --gpus 8
	deposit vision 3.5
	deposit speech 2
	budgetctl project set speech --on-exhausted wait >/dev/null
}
teardown_file()	{ cluster_down; }

# Between any two steps of a pass.
budgetd_killed()
{
	local pid

	pid=$(cluster_pid budgetd)
	kill -KILL "$pid"
	eventually is_gone "$pid"
	cluster_start budgetd
}

# loose NAME: the tasks that nobody holds, running ones too.
loose() { squeue -r -h -j "$(job "$1")" -o "%K %r" | awk '$2 !~ /^JobHeld/ { print $1 }' | sort -n | paste -sd' '; }
loose_are() { [[ $(loose "$1") == "$2" ]] || { echo "loose: $(loose "$1"), wanted: $2" >&2; return 1; }; }
held_by() { squeue -r -h -j "$(job "$1")" -o "%K %r" | awk -v r="$2" '$2 == r { print $1 }' | sort -n | paste -sd' '; }
held_are() { [[ $(held_by "$1" "$2") == "$3" ]]; }
reason_is() { [[ $(job_field "$1" Reason) == "$2" ]]; }
passes() { budgetctl health -o json | jq -r '[.. | objects | .last_pass_at?][0]'; }
later_than() { (($(passes) > $1)); }

# Two passes later nothing has changed.
and_no_others()
{
	local begun

	begun=$(passes)
	eventually later_than $((begun + 2))
	loose_are "$@"
}

@test "of an array as many tasks start as are paid for, lowest first, and its own throttle stays" {
	as ada submit sweep --gpus=1 --array=0-9%2 --gpu-min-runtime=1h --time=2:00:00
	says "3 of 10 tasks are funded now, 3.00 GPU-h of vision set aside"
	says "the others wait, held, until money returns: each needs 1.00 GPU-h and vision has 0.50 of 3.50 GPU-h available"
	eventually held_are sweep JobHeldAdmin "3 4 5 6 7 8 9"
	loose_are sweep "0 1 2"
	balance_is vision "held=3.00"
	[[ $(job_field sweep ArrayTaskThrottle) == 2 ]]
	two_run() { [[ $(squeue -r -h -t R -j "$(job sweep)" | wc -l) == 2 ]]; }
	eventually two_run
	and_no_others sweep "0 1 2"
	[[ $(why sweep) == *"7 of its 8 tasks in the queue wait for budget, held, until money returns to vision: each needs 1.00 GPU-h."* ]]
}

@test "its user cannot release what waits, and what he holds himself is left to him" {
	as ada scontrol release "$(job sweep)" 2>/dev/null && return 1
	as ada scontrol release "$(job sweep)_5" 2>/dev/null && return 1
	as ada scontrol hold "$(job sweep)_2"
	held_are sweep JobHeldUser 2
	and_no_others sweep "0 1"
	balance_is vision "held=3.00"
}

@test "money that returns lets exactly the next tasks go, though budgetd is killed on the way" {
	deposit vision 2
	budgetd_killed
	eventually loose_are sweep "0 1 3 4"
	and_no_others sweep "0 1 3 4"
	as ada scontrol release "$(job sweep)_2"
	and_no_others sweep "0 1 2 3 4"
	scancel "$(job sweep)_0"
	eventually loose_are sweep "1 2 3 4 5"
	budgetd_killed
	and_no_others sweep "1 2 3 4 5"
	held_are sweep JobHeldAdmin "6 7 8 9"
	books_are_right
	scancel "$(job sweep)"
	eventually balance_is vision "held=0.00"
}

# As if it had been longer ago: present state, which is no history.
in_books() { sqlite3 -cmd '.timeout 10000' "$CLUSTER_DIR/budgetd/budget.db" "$1"; }
held_since() { books "SELECT user_held_at FROM admission WHERE job = $(job "$1")"; }
is_noted() { [[ -n $(held_since "$1") ]]; }

@test "what its user holds keeps its hours for 10 minutes from the hold, not from the submission, whatever is restarted" {
	local since begun

	as ada submit filler --gpus=1 --gpu-min-runtime=15m --time=2:00:00
	eventually job_is filler RUNNING funded
	as ada submit kept --gpus=8 --gpu-min-runtime=30m --time=2:00:00
	eventually balance_is vision "held=4.25"
	eventually job_is kept PENDING funded
	in_books "UPDATE admission SET at = at - 600 WHERE job = $(job kept)"
	as ada scontrol hold "$(job kept)"
	eventually is_noted kept
	since=$(held_since kept)
	cluster_restart budgetd
	begun=$(passes)
	eventually later_than $((begun + 2))
	[[ $(held_since kept) == "$since" ]]
	balance_is vision "held=4.25"
	in_books "UPDATE admission SET user_held_at = user_held_at - 600 WHERE job = $(job kept)"
	eventually balance_is vision "held=0.25"
	as ada scontrol release "$(job kept)"
	eventually balance_is vision "held=4.25"
	[[ -z $(held_since kept) ]]
	as ada cancel kept
	eventually balance_is vision "held=0.25"
}

@test "an array that becomes eligible when there is money for some of its tasks gets those, and the rest is held" {
	as ada submit later --gpus=8 --array=0-3 --gpu-min-runtime=15m --time=2:00:00 --begin=now+1hour
	says "will be set aside when the job becomes eligible, as far as there is money"
	scontrol update "jobid=$(job later)" starttime=now
	eventually held_are later JobHeldAdmin "2 3"
	and_no_others later "0 1"
	balance_is vision "held=4.25"
	[[ $(scontrol -o show job "$(job later)_1") != *gpubudget-waits* && $(scontrol -o show job "$(job later)_2") == *gpubudget-waits* ]]
	scontrol hold "$(job later)_0"			# an administrator's own hold is not ours to undo
	and_no_others later "1 2"
	balance_is vision "held=4.25"
	as ada cancel later
	as ada cancel filler
	eventually balance_is vision "held=0.00"
}

@test "where a project lets its jobs wait, a small one does not overtake, and both are released in order" {
	as carol submit head --gpus=4 --gpu-min-runtime=1h --time=2:00:00
	says "waits for budget: the job needs 4.00 GPU-h (4 GPUs x 1 h minimum runtime), speech has 2.00 of 2.00 GPU-h available"
	eventually reason_is head JobHeldAdmin
	as carol submit small --gpus=1 --gpu-min-runtime=1h --time=2:00:00
	says "speech has 2.00 of 2.00 GPU-h available (0.00 held, 0.00 charged), but job $(job head) waits in front of it at speech and is not overtaken"
	as bob submit insisting --account=speech --gpus=1 --gpu-min-runtime=1h --time=2:00:00 --gpu-tier=funded
	eventually reason_is small JobHeldAdmin
	eventually reason_is insisting JobHeldAdmin
	[[ $(why small) == *"Job $(job head) waits in front of it and is not overtaken."* ]]
	balance_is speech "held=0.00 available=2.00"
	as carol scontrol release "$(job head)" 2>/dev/null && return 1
	as carol scontrol release "$(job small)" 2>/dev/null && return 1
	reason_is small JobHeldAdmin
}

@test "it goes on in order when money returns, though budgetd is killed on the way" {
	budgetd_killed
	deposit speech 2
	budgetd_killed
	eventually job_is head RUNNING funded
	reason_is small JobHeldAdmin
	deposit speech 1
	eventually job_is small RUNNING funded
	eventually balance_is speech "held=5.00 available=0.00"
	reason_is insisting JobHeldAdmin
	as bob cancel insisting
	as carol cancel head
	eventually balance_is speech "held=1.00"
	books_are_right
}

@test "a job that came while budgetd was away waits like the others" {
	as carol submit rest --gpus=7 --gpu-tier=free --time=2:00:00
	eventually job_is rest RUNNING free
	as carol submit stuck --gpus=8 --gpu-min-runtime=8h --time=8:00:00
	says "waits for budget: the job needs 64.00 GPU-h"
	cluster_stop budgetd
	as carol scontrol release "$(job stuck)" 2>/dev/null && return 1
	[[ $(job_field stuck Priority) == 0 ]]
	as carol cancel stuck
	as carol submit late --gpus=7 --gpu-min-runtime=1h --time=2:00:00
	cluster_start budgetd
	eventually reason_is late JobHeldAdmin
	[[ $(job_field late QOS) == funded ]]
	deposit speech 4
	eventually job_is late RUNNING funded
	no_crash
}
