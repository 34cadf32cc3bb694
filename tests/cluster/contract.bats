# SPDX-License-Identifier: GPL-2.0-or-later
# The contract on a real Slurm: who gives way to whom, when, and what is said of it. Minutes are seconds here.
# The rest of it is in contract_who.bats.
load cluster
load accounting

# Two projects of equal share on one node of 8 GPUs; Slurm protects 10 s, and a job says for how long it needs to run.
setup_file()
{
	cluster_up --nodes 1 --budgetd "default_min_runtime = 10s" --budgetd "grace = 4s" --budgetd "window = 1h" &&
		sacctmgr -i modify qos funded set PreemptExemptTime=00:00:10 >/dev/null &&
		budgetctl project set vision --share 50 >/dev/null && budgetctl project set speech --share 50 >/dev/null &&
		deposit vision 1000 && deposit speech 1000
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear; }

event_is() { books "SELECT 1 FROM event WHERE job = $(job "$1") AND what = '$2' AND reason = '$3'" | grep -q 1; }

says_why() { budgetctl why "$(job "$1")" | grep -qF "$2"; }

# In tests a pass is a second (twice: one tells, one acts), the grace 4 s, KillWait 10 s; 2 s are Slurm's.
BOUND=$((2 + 4 + 10 + 2))

seconds_of() { date -d "$(job_field "$1" "$2")" +%s; }

@test "a free job gives way at once" {
	as ada submit idle --gpus=8 --gpu-tier=free
	eventually job_is idle RUNNING free
	as carol submit train --gpus=8 --gpu-min-runtime=1m
	eventually job_is train RUNNING funded
	eventually job_is idle PENDING free
	eventually event_is idle displaced FREE_RECLAIMED
}

@test "a funded run stays inside its minimum runtime and gives way after it, within a pass, the grace and KillWait" {
	local started gone

	as ada submit long --gpus=8 --gpu-min-runtime=20s
	eventually job_is long RUNNING funded
	started=$(seconds_of long StartTime)
	as carol submit other --gpus=8 --gpu-min-runtime=1m
	eventually says_why other "8 GPUs are being made free for it"
	eventually job_is other RUNNING funded
	gone=$(seconds_of other StartTime)
	echo "long began at $started, other $((gone - started)) s later"
	((gone - started >= 20))
	((gone - started <= 20 + BOUND))
	eventually job_is long PENDING funded
	event_is long told ROTATED
	eventually event_is long displaced ROTATED
	says_why long "Its last run gave way "
	as ada budgetctl events "$(job long)" | grep -q "displaced *ROTATED *$(job other)"
	run as bob budgetctl events 999
	((status != 0))
}
