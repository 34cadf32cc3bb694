# SPDX-License-Identifier: GPL-2.0-or-later
# job set: a pending job declares something else; its hold, its tier and its place follow, and what does not fit is refused with the numbers.
# time: 240 s
bats_require_minimum_version 1.5.0
load cluster

setup_file()
{
	cluster_up
	deposit vision 40
	deposit speech 100
}
teardown_file()	{ cluster_down; }
teardown()
{
	budgetctl project set vision --on-exhausted inherit >/dev/null
	cluster_clear
	eventually balance_is vision "held=0.00"
}

# All 16 GPUs are taken by funded runs of another project: what comes now waits.
fill()
{
	as carol submit first --gpus=8 --nodes=1 --gpu-min-runtime=1h --time=4:00:00
	as carol submit second --gpus=8 --nodes=1 --gpu-min-runtime=1h --time=4:00:00
	eventually job_is first RUNNING funded
	eventually job_is second RUNNING funded
}

# waits NAME OPTION...: submitted, and known to a pass
waits()
{
	as ada submit "$@"
	eventually known "$1"
}

known()		{ why "$1" >/dev/null && [[ $(why_json "$1" .state) == PENDING ]]; }
why_json()	{ budgetctl why "$(job "$1")" -o json | jq -r "$2"; }
qos_is()	{ [[ $(job_field "$1" QOS) == "$2" ]]; }

@test "a shorter minimum runtime gives hours back at once, a longer one takes more" {
	fill
	waits train --gpus=2 --gpu-min-runtime=3h --time=8:00:00
	balance_is vision "held=6.00"
	run -0 as ada budgetctl job set "$(job train)" --min-runtime 1h --dry-run --request-id j0
	[[ $output == *"2.00 GPU-h of vision set aside"* && $output == *"nothing was written"* ]]
	[[ $(as ada budgetctl job set "$(job train)" --min-runtime 6h --dry-run --request-id j0 -o json | jq -c '[.held_units, .dry_run]') == "[$((12 * 3600000)),true]" ]]
	run -1 as ada budgetctl job set "$(job train)" --min-runtime 9h --dry-run
	[[ $output == *"maximum of 8 h"* ]]
	balance_is vision "held=6.00"
	[[ $(why_json train .min_runtime_s) == 10800 ]]
	run -0 as ada budgetctl job set "$(job train)" --min-runtime 1h
	[[ $output == *"2.00 GPU-h of vision set aside (2 GPUs x 1 h minimum runtime)"* ]]
	balance_is vision "held=2.00"
	as ada budgetctl job set "$(job train)" --min-runtime 6h --request-id j1
	balance_is vision "held=12.00"
	run -0 as ada budgetctl job set "$(job train)" --min-runtime 6h --request-id j1
	[[ $output == *"nothing is changed"* ]]
	run -1 as ada budgetctl job set "$(job train)" --min-runtime 1h --request-id j1
	[[ $output == *"request id j1 was used for another write"* ]]
	[[ $(why_json train .min_runtime_s) == 21600 ]]
	[[ $(why_json train .held_units) == $((12 * 3600000)) ]]
}

@test "what does not fit is refused with the numbers, and the job stays as it was" {
	fill
	waits train --gpus=8 --gpu-min-runtime=3h --time=8:00:00
	balance_is vision "held=24.00"
	run -1 as ada budgetctl job set "$(job train)" --min-runtime 6h
	[[ $output == *"needs 48.00 GPU-h"* && $output == *"vision has 40.00 of 40.00 GPU-h available"* ]]
	[[ $output == *"what does not fit is not changed"* && $output == *"would fit"* ]]
	balance_is vision "held=24.00"
	run -1 as ada budgetctl job set "$(job train)" --min-runtime 9h
	[[ $output == *"maximum of 8 h"* ]]
	[[ $(why_json train .min_runtime_s) == 10800 ]]
}

@test "a job moves between the tiers, and Slurm follows" {
	fill
	waits train --gpus=2 --gpu-min-runtime=3h --time=8:00:00
	eventually qos_is train funded
	as ada budgetctl job set "$(job train)" --tier free
	balance_is vision "held=0.00"
	eventually qos_is train free
	as ada budgetctl job set "$(job train)" --tier funded
	balance_is vision "held=6.00"
	eventually qos_is train funded
	eventually balance_is vision "held=6.00 charged=0.00"
}

@test "a job that fell into the free tier for lack of money is funded once it asks for what there is" {
	fill
	waits train --gpus=8 --gpu-min-runtime=8h --time=8:00:00
	eventually qos_is train free
	run -1 as ada budgetctl job set "$(job train)" --min-runtime 7h
	[[ $output == *"what does not fit is not changed"* ]]
	as ada budgetctl job set "$(job train)" --min-runtime 4h
	balance_is vision "held=32.00"
	eventually qos_is train funded
}

# Longer than what the debug lane takes: there the first one would stay the first.
@test "a team rank moves a job ahead in its own project, and costs nothing" {
	fill
	waits early --gpus=1 --time=180
	waits late --gpus=1 --time=180
	ahead() { (($(why_json "$1" .place) > $(why_json "$2" .place))); }
	eventually ahead early late
	run -0 as ada budgetctl job set "$(job late)" --team-rank 1
	[[ $output == *"team rank is changed"* ]]
	eventually ahead late early
	balance_is vision "held=0.50"
}

@test "an array is changed as a whole, for the tasks that wait" {
	fill
	waits sweep --gpus=1 --array=0-3 --gpu-min-runtime=1h --time=2:00:00
	eventually balance_is vision "held=4.00"
	as ada budgetctl job set "$(job sweep)" --min-runtime 30m
	balance_is vision "held=2.00"
	run -1 as ada budgetctl job set "$(job sweep)_1" --min-runtime 1h
	[[ $output == *"name the whole job"* ]]
}

@test "a job that does not wait is refused clearly: it runs, it has ended, it never was" {
	as ada submit train --gpus=1 --time=60
	eventually job_is train RUNNING funded
	runs_for_why() { [[ $(why_json train .state) == RUNNING ]]; }
	eventually runs_for_why
	run -1 as ada budgetctl job set "$(job train)" --min-runtime 30m
	[[ $output == *"runs: what it declared holds for its run"* ]]
	as ada cancel train
	ended() { run -1 as ada budgetctl job set "$(job train)" --min-runtime 30m && [[ $output == *"has ended"* ]]; }
	eventually ended
	run -7 as ada budgetctl job set 99999 --min-runtime 30m
	[[ $output == *"job 99999 is newer than all"* ]]
	run -1 as ada budgetctl job set train --min-runtime 30m
	[[ $output == *"is not a job id"* ]]
}

@test "a sibling is said to go first only while something waits below it" {
	fill
	as carol submit third --gpus=8 --gpu-min-runtime=1h --time=4:00:00
	eventually known third
	[[ $(why_json third '.levels[-1].ahead') == vision ]]
	[[ $(why third) != *"goes first"* ]]
	waits train --gpus=8 --gpu-min-runtime=1h --time=4:00:00
	[[ $(why third) == *"vision has used less and goes first."* ]]
}

@test "its user, an owner of the project and administrators may, others may not" {
	fill
	budgetctl project set speech --add-members gpb-ada >/dev/null
	as bob submit mine --gpus=1 --time=60 --account=vision
	eventually known mine
	as ada budgetctl job set "$(job mine)" --min-runtime 10m		# ada owns vision
	as bob budgetctl job set "$(job mine)" --min-runtime 20m
	budgetctl job set "$(job mine)" --team-rank 2
	run -4 as carol budgetctl job set "$(job mine)" --min-runtime 5m
	[[ $output == *"an owner of its project and administrators may change it"* ]]
	waits train --gpus=1 --time=60
	run -4 as bob budgetctl job set "$(job train)" --min-runtime 5m		# a member sees, and does not change
	[[ $(why_json mine '[.min_runtime_s, .team_rank] | @csv') == "1200,2" ]]
}

@test "a job that was held for lack of money is released when it is declared free" {
	budgetctl project set vision --on-exhausted reject >/dev/null
	fill
	waits train --gpus=8 --gpu-min-runtime=3h --time=8:00:00 --begin=now+1hour
	waits other --gpus=8 --gpu-min-runtime=4h --time=8:00:00
	scontrol update job="$(job train)" starttime=now
	held() { [[ $(job_field train Reason) == JobHeldAdmin ]]; }
	eventually held
	as ada budgetctl job set "$(job train)" --tier free
	free_and_waiting() { qos_is train free && [[ $(job_field train Reason) != JobHeldAdmin ]]; }
	eventually free_and_waiting
}

@test "wrong words are answered before anything is sent" {
	run -2 budgetctl job set 1
	[[ $output == *"nothing to set"* ]]
	run -2 budgetctl job set 1 --min-runtme 2h
	[[ $output == *"Did you mean --min-runtime?"* ]]
	run -2 budgetctl job sett 1
	[[ $output == *"Did you mean set?"* ]]
	run -2 budgetctl job set 1 --tier cheap
	[[ $output == *"write funded or free"* ]]
}
