# SPDX-License-Identifier: GPL-2.0-or-later
# What a job pays where the whole time limit is set aside: rates, ends of every kind, allocations that end meanwhile, slurmdbd away.
# time: 300 s
load cluster
load accounting

setup_file()
{
	cluster_up --budgetd "hold = time_limit" --budgetd "unlimited_time = reject" \
		--conf "PartitionName=endless Nodes=ALL DefaultTime=UNLIMITED MaxTime=UNLIMITED State=UP" && deposit vision 100
}

teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && eventually balance_is vision "held=0.00" && verified; }

verified() { budgetctl verify >/dev/null || { budgetctl verify >&2; return 1; }; }

# priced NAME THOUSANDTHS: what it was charged for its GPU-seconds
priced()
{
	local seconds

	seconds=$(charged_gpu_seconds "$(ids_of "$1")" | awk '{ n += $2 } END { print n + 0 }')
	((seconds > 0)) && [[ $(charged_units "$1") == $((seconds * $2)) ]] && return 0
	echo "$1: $(charged_units "$1") units for $seconds GPU-seconds" >&2
	return 1
}

kinds_of() { books "SELECT group_concat(kind, ' ') FROM charge c JOIN run r ON r.id = c.run WHERE r.job = $(job "$1") AND c.units > 0"; }

@test "a limit is raised as far as the balance goes, and a job without one is refused" {
	budgetctl allocation add speech 2 --reason "two hours" >/dev/null
	as carol submit train --gpus=1 --time=60 --hold
	as carol submit held --gpus=1 --time=60
	says "funded: 1.00 GPU-h of speech set aside"
	as carol scontrol update jobid="$(job held)" TimeLimit=115 || true	# it may run already: then only root may
	cannot as carol scontrol update jobid="$(job train)" TimeLimit=600
	[[ $(job_field train TimeLimit) == 01:00:00 ]]
	as carol cancel held
	as carol cancel train
	eventually balance_is speech "held=0.00"
	refused carol --gpus=1 --partition=endless
	says "time limit"
	budgetctl withdraw speech 1.9 --reason "back" >/dev/null
}

# rate_is_set TYPE RATE: it is in force from the next second on.
rate_is_set()
{
	local from

	from=$(budgetctl -o json rate set "$1" "$2" --reason "as the story wants it" | jq .valid_from)
	is_in_force() { (($(date +%s) >= from)); }
	eventually is_in_force
}

@test "the rate is the one at the start, for the whole run and after a resize as well" {
	rate_is_set h100 2.000
	as ada submit gang --nodes=2 --gpus-per-node=2 --time=30
	says "funded: 4.00 GPU-h of vision set aside"
	eventually job_is gang RUNNING funded
	eventually has_run gang
	runs_for() { (($(date +%s) - $(date -d "$(job_field gang StartTime)" +%s) >= $1)); }
	rate_is_set h100 3.500
	as ada scontrol update jobid="$(job gang)" NumNodes=1
	eventually runs_for 7
	eventually balance_is vision "held=2.00"
	as ada cancel gang
	eventually accounted gang
	priced gang 2000
	as ada submit later --gpus=2 --time=30
	says "funded: 3.50 GPU-h of vision set aside"
	eventually job_is later RUNNING funded
	eventually has_run later
	as ada cancel later
	eventually accounted later funded
	priced later 3500
	rate_is_set h100 1.000
}

@test "a job that is requeued five times pays for each run" {
	local n

	as ada submit train --gpus=3 --time=30 --export=JOB_CHECKPOINT_SECONDS=0
	for n in 1 2 3 4 5; do
		eventually job_is train RUNNING funded
		eventually has_run train
		as ada scontrol requeue "$(job train)"
		eventually requeued train $n
	done
	eventually job_is train RUNNING funded
	eventually has_run train
	as ada cancel train
	eventually accounted train funded funded funded funded funded funded
	priced train 1000
}

@test "whatever state a job is cancelled in, it pays for what it ran and no more" {
	as ada submit held --gpus=1 --time=30 --hold
	as ada submit completing --gpus=1 --time=30
	as ada submit suspended --gpus=1 --time=30
	as ada submit sweep --array=1-3%1 --gpus=1 --time=30
	eventually job_is suspended RUNNING
	eventually job_is completing RUNNING
	eventually has_run completing
	scontrol suspend "$(job suspended)"
	as ada submit filler --nodes=2 --gpus-per-node=5 --time=30
	as ada submit pending --gpus=8 --time=30
	eventually job_is filler RUNNING
	as ada cancel completing		# it writes its checkpoint now
	as ada cancel completing
	as ada cancel suspended
	as ada cancel held
	as ada cancel pending
	as ada scancel "$(job sweep)_3"
	as ada cancel sweep
	eventually has_run filler
	as ada cancel filler
	for name in completing suspended filler sweep; do
		eventually accounted "$name"
	done
	[[ -z $(kinds_of held)$(kinds_of pending) ]]
}

@test "an allocation that ends under a run pays for it to its end, and what comes back expires" {
	local before

	budgetctl allocation add speech 1 --ends "$(date -u -d "@$(($(date +%s) + 12))" +%FT%TZ)" --reason "for twelve seconds" >/dev/null
	as carol submit train --gpus=1 --time=30
	says "funded: 0.50 GPU-h of speech set aside"
	eventually job_is train RUNNING funded
	has_ended() { [[ $(books "SELECT count(*) FROM journal j JOIN allocation a ON a.id = j.allocation WHERE j.kind = 'expiry' AND a.ends IS NOT NULL") -gt 0 ]]; }
	eventually has_ended
	job_is train RUNNING funded
	before=$(books "SELECT sum(units) FROM journal WHERE kind = 'expiry'")
	as carol cancel train
	eventually accounted train funded
	[[ $(books "SELECT count(*) FROM journal j JOIN allocation a ON a.id = j.allocation WHERE j.kind = 'charge' AND a.ends IS NOT NULL") == 1 ]]
	came_back() { (($(books "SELECT sum(units) FROM journal WHERE kind = 'expiry'") < before)); }
	eventually came_back
	[[ $(books "SELECT sum(j.units) FROM journal j JOIN allocation a ON a.id = j.allocation WHERE a.ends IS NOT NULL") == 0 ]]
	eventually balance_is speech "held=0.00"
}

@test "an end that is met thrice by a budgetd that is killed each time is charged once" {
	local n

	as ada submit train --gpus=2 --time=30
	eventually job_is train RUNNING funded
	eventually has_run train
	as ada cancel train
	for n in 1 2 3; do
		kill -KILL "$(cluster_pid budgetd)"
		cluster_start budgetd
	done
	eventually accounted train funded
	[[ $(books "SELECT count(*) FROM charge c JOIN run r ON r.id = c.run WHERE r.job = $(job train)") == 1 ]]
}

@test "while slurmdbd is away budgetd goes on, and ends and refunds wait for it" {
	local node

	as ada submit train --gpus=2 --time=30
	as ada submit other --gpus=1 --time=30
	eventually job_is train RUNNING funded
	eventually job_is other RUNNING funded
	eventually has_run train
	cluster_stop slurmdbd
	node=$(job_field train NodeList)
	scontrol update nodename="$node" state=down reason="power supply"
	eventually requeued train 1
	scontrol update nodename="$node" state=resume 2>/dev/null || true
	as ada submit more --gpus=1 --time=30
	says "funded:"
	eventually job_is more RUNNING funded
	[[ $(books "SELECT count(*) FROM charge c JOIN run r ON r.id = c.run WHERE r.job = $(job train)") == 0 ]]
	budgetctl health >/dev/null
	cluster_start slurmdbd
	eventually refunded
	eventually job_is train RUNNING funded
	eventually has_run train
	as ada cancel train
	eventually accounted train funded funded
}

refunded() { [[ $(books "SELECT count(*) FROM journal j JOIN charge c ON c.id = j.charge JOIN run r ON r.id = c.run WHERE j.kind = 'refund' AND r.job = $(job train)") == 1 ]]; }
