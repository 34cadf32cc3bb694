# SPDX-License-Identifier: GPL-2.0-or-later
# The edges of the contract: a project without a share, a drain that ends before a run had to go.
# Minutes are seconds here: Slurm protects 10 s, the default minimum runtime is 10 s; a run that is told has a minute.
# only: full
# time: 400 s
load cluster
load accounting

setup_file()
{
	cluster_up --nodes 2 --gpus 4 --conf KillWait=3 --budgetd "default_min_runtime = 10s" --budgetd "grace = 60s" --budgetd "window = 1h" &&
		sacctmgr -i modify qos funded set PreemptExemptTime=00:00:10 >/dev/null &&
		budgetctl project set vision --share 50 >/dev/null && budgetctl project set speech --share 50 >/dev/null &&
		deposit vision 1000 && deposit speech 1000
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && books_are_right; }

events_of() { books "SELECT what || ' ' || reason FROM event WHERE job = $(job "$1") ORDER BY id" | paste -sd,; }
event_is() { [[ ,$(events_of "$1"), == *,"$2",* ]] || { echo "$1: $(events_of "$1")" >&2; return 1; }; }
position_of() { budgetctl why "$(job "$1")" -o json | jq -r '[.. | objects | .turn? // empty][0].position'; }
stands_behind() { (($(position_of "$1") > $(position_of "$2"))); }
nobody_leaves() { [[ $(books "SELECT count(*) FROM leaving") == 0 ]]; }

@test "a drain that ends within the grace of a run spares it" {
	as ada submit train --gpus=4 --nodelist=g1 --gpu-min-runtime=10s
	eventually job_is train RUNNING funded
	budgetctl drain g1 -r "fan 3 is loud" >/dev/null
	eventually event_is train "told NODE_DRAIN"
	budgetctl undrain g1 >/dev/null
	eventually event_is train "spared NODE_DRAIN"
	eventually nobody_leaves
	# its time would have been over; another run that is told later goes when it is due
	eventually the_grace_is_over train
	job_is train RUNNING funded
	[[ $(job_field train Restarts) == 0 ]]
}
the_grace_is_over() { (($(books "SELECT max(at) FROM event WHERE job = $(job "$1") AND what = 'told'") + 65 < $(date +%s))); }

@test "jobs of a project with share 0 are free and told so, and what was funded before stands behind all others" {
	as ada submit left --gpus=4 --nodelist=g1 --gpu-min-runtime=30m
	as ada submit right --gpus=4 --nodelist=g2 --gpu-min-runtime=30m
	eventually job_is left RUNNING funded
	eventually job_is right RUNNING funded
	as carol submit before --gpus=4 --gpu-min-runtime=20m		# speech has used nothing: it is the first
	as ada submit other --gpus=4 --gpu-min-runtime=20m
	eventually stands_behind other before
	budgetctl share set speech 0 >/dev/null
	eventually stands_behind before other
	job_is before PENDING funded

	as carol submit loose --gpus=1 --gpu-min-runtime=10s
	says "speech has share 0"
	eventually job_is loose PENDING free
	run as carol submit insisting --gpus=1 --gpu-tier=funded --gpu-min-runtime=10s
	((status != 0))
	says "speech has share 0"
	as ada cancel left
	eventually job_is other RUNNING funded
	job_is before PENDING
	as ada cancel right
	eventually job_is before RUNNING funded
	as ada cancel other
	eventually job_is loose RUNNING free
	budgetctl share set speech 50 >/dev/null
}
