# SPDX-License-Identifier: GPL-2.0-or-later
# Gangs that have waited long: their nodes are kept for them, and who may use these nodes meanwhile.
# Minutes are seconds here: 12 h of waiting are 3 s, Slurm protects 10 s, the default minimum runtime is 10 s, the grace 3 s.
# only: full
# time: 600 s
load cluster
load accounting

setup_file()
{
	cluster_up --nodes 3 --gpus 4 --conf KillWait=3 --budgetd "default_min_runtime = 10s" --budgetd "grace = 3s" --budgetd "window = 1h" \
		--budgetd "clear_after = 3s" && sacctmgr -i modify qos funded set PreemptExemptTime=00:00:10 >/dev/null &&
		budgetctl project set vision --share 50 >/dev/null && budgetctl project set speech --share 50 >/dev/null &&
		deposit vision 1000 && deposit speech 1000
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && books_are_right; }

tell() { echo "# $BATS_TEST_DESCRIPTION: $*" >&3; }
on_nodes() { [[ $(job_field "$1" NodeList) == "$2" ]]; }
excludes() { [[ $(job_field "$1" ExcNodeList) == "$2" ]]; }
is_guarded() { why gang | grep -q "Nodes are cleared for it: g1,g2"; }
guard_is_over() { [[ $(books "SELECT count(*) FROM guard") == 0 ]]; }
says_of() { why "$1" | grep -q "$2"; }

# vision has used GPUs and speech has not: whatever speech asks for goes first.
vision_is_ahead()
{
	as ada submit used --gpus=12 --nodes=3 --gpu-min-runtime=10s
	eventually job_is used RUNNING funded
	eventually has_run used
	as ada cancel used
	eventually accounted used funded
}

# Each node has a GPU that is idle and three in a run inside its minimum; the gang needs two whole nodes.
a_gang_waits()
{
	vision_is_ahead
	as ada submit left --gpus=3 --nodelist=g1 --gpu-min-runtime=30s
	as ada submit right --gpus=3 --nodelist=g2 --gpu-min-runtime="$1"
	as ada submit far --gpus=3 --nodelist=g3 --gpu-min-runtime=30m
	eventually job_is far RUNNING funded
	as carol submit gang --nodes=2 --gpus-per-node=4 --gpu-min-runtime=20s
	eventually is_guarded
}

@test "the nodes of a gang take only runs whose minimum ends in time, and all is as before when it has started" {
	a_gang_waits 15m
	tell "$(why gang | grep -o 'Nodes are cleared.*')"

	as ada submit long --gpus=1 --gpu-min-runtime=20m
	says "held for a moment"
	eventually job_is long RUNNING funded
	on_nodes long g3
	as ada submit more --gpus=1 --gpu-min-runtime=20m
	eventually excludes more g1,g2
	eventually job_is more PENDING
	cannot as ada scontrol update jobid="$(job more)" ExcNodeList=g3
	excludes more g1,g2
	says_of more "these nodes are cleared for job $(job gang)"
	as ada submit short --gpus=1 --gpu-min-runtime=10s --export=JOB_SECONDS=12
	eventually job_is short RUNNING funded
	[[ $(job_field short NodeList) == g[12] ]]
	job_is more PENDING

	# its user excludes the only other node: held, since Slurm would take it for one that can never run
	as ada submit picky --gpus=1 --exclude=g3 --gpu-min-runtime=20m
	eventually says_of picky "these nodes are cleared"
	[[ $(job_field picky Reason) == JobHeldAdmin ]]
	job_is gang PENDING

	# killed at any time
	kill -KILL "$(cluster_pid budgetd)"
	cluster_start budgetd
	as ada cancel right
	eventually job_is gang RUNNING funded
	on_nodes gang "g[1-2]"
	(($(shortest_displaced left) >= 30))
	eventually excludes more "(null)"
	eventually excludes picky g3
	eventually guard_is_over
	[[ $(job_field picky Reason) != JobHeldAdmin ]]
}
shortest_displaced() { books "SELECT min(ended - start) FROM run WHERE job = $(job "$1") AND state = 'PREEMPTED'"; }

@test "when the gang is cancelled all is as its users asked for; what an operator changes meanwhile stays" {
	a_gang_waits 10m
	as ada submit more --gpus=2 --gpu-min-runtime=10m
	as ada submit other --gpus=2 --nodes=1 --gpu-min-runtime=10m	# a free GPU on each node is not enough for it
	eventually excludes more g1,g2
	eventually excludes other g1,g2
	scontrol update jobid="$(job other)" ExcNodeList=g3
	eventually says_of other "these nodes are cleared"
	cluster_stop budgetd
	as carol cancel gang
	cluster_start budgetd
	eventually excludes more "(null)"
	eventually excludes other g3
	eventually guard_is_over
}

@test "free jobs use the nodes of a gang and give way to it" {
	a_gang_waits 40s
	as bob submit loose --account=vision --gpus=1 --gpu-tier=free --exclude=g3
	eventually job_is loose RUNNING free
	[[ $(job_field loose NodeList) == g[12] ]]
	eventually job_is gang RUNNING funded
	on_nodes gang "g[1-2]"
	(($(shortest_displaced left) >= 30 && $(shortest_displaced right) >= 40))
}

is_cleared_on() { why gang | grep -q "Nodes are cleared for it: $1\."; }

# Without its own words it would get g2 and g3, whose runs end first.
@test "a gang that excludes or requires nodes has those cleared that it can use" {
	vision_is_ahead
	as ada submit left --gpus=3 --nodelist=g1 --gpu-min-runtime=30m
	as ada submit right --gpus=3 --nodelist=g2 --gpu-min-runtime=20m
	as ada submit far --gpus=3 --nodelist=g3 --gpu-min-runtime=10m
	eventually job_is far RUNNING funded
	eventually job_is left RUNNING funded
	as carol submit gang --nodes=2 --gpus-per-node=4 --gpu-min-runtime=20s
	eventually is_cleared_on g2,g3
	as carol cancel gang
	eventually guard_is_over

	as carol submit gang --nodes=2 --gpus-per-node=4 --exclude=g3 --gpu-min-runtime=20s
	eventually is_cleared_on g1,g2
	as ada submit long --gpus=1 --gpu-min-runtime=40m
	eventually job_is long RUNNING funded
	on_nodes long g3
	excludes gang g3
	as ada cancel long
	as carol cancel gang
	eventually guard_is_over

	as carol submit gang --nodes=2 --gpus-per-node=4 --nodelist=g1,g3 --gpu-min-runtime=20s
	eventually is_cleared_on g1,g3
	as ada submit long --gpus=1 --gpu-min-runtime=40m
	eventually job_is long RUNNING funded
	on_nodes long g2
	as ada cancel left
	as ada cancel far
	eventually job_is gang RUNNING funded
	on_nodes gang "g[1,3]"
}

refused_longer() { run as ada budgetctl job set "$(job sneak)" --min-runtime 20m; [[ $status != 0 && $output == *"nodes are cleared for job $(job gang)"* ]]; }

@test "no run gets onto the nodes of a gang between two passes, by a longer minimum runtime or by a release" {
	a_gang_waits 15m
	as ada submit sneak --hold --nodelist=g1 --gpus=1 --gpu-min-runtime=10s
	eventually refused_longer
	as ada cancel sneak

	# what its user holds stays held, and is released when a pass has kept it off
	as ada submit held --hold --gpus=1 --gpu-min-runtime=20m
	eventually excludes held g1,g2
	[[ $(job_field held Reason) == JobHeldUser ]]
	as ada cancel held
	as ada submit held --hold --gpus=1 --gpu-min-runtime=20m
	eventually as ada scontrol release "$(job held)"
	eventually job_is held RUNNING funded
	on_nodes held g3
}

is_nowhere() { [[ $(books "SELECT max(k.nowhere) FROM kept_off k JOIN admission a ON a.id = k.admission WHERE a.job = $(job "$1")") == 1 ]]; }
reason_is() { [[ $(job_field "$1" Reason) == "$2" ]]; }

# Which nodes its constraint is met by is not known to budgetd: Slurm finds no other node, and takes its priority.
@test "a job that Slurm finds no other nodes for is held meanwhile, and can start when the gang has gone" {
	scontrol update nodename=g1,g2 AvailableFeatures=big ActiveFeatures=big
	a_gang_waits 15m
	as ada submit odd --gpus=1 --constraint="[big]" --gpu-min-runtime=20m
	eventually is_nowhere odd
	eventually reason_is odd JobHeldAdmin
	eventually excludes odd "(null)"
	job_is odd PENDING
	as carol cancel gang
	eventually job_is odd RUNNING funded
}

reason_matches() { [[ $(job_field "$1" Reason) =~ $2 ]]; }

# It depends on another job, begins later, or its user holds it: Slurm starts it when that is over, and no pass is in between.
@test "a job without other nodes gets onto those of a gang by no dependency, begin time or release of a hold" {
	local name

	vision_is_ahead
	as ada submit left --gpus=3 --nodelist=g1 --gpu-min-runtime=30s
	as ada submit right --gpus=3 --nodelist=g2 --gpu-min-runtime=15m
	as ada submit far --gpus=3 --nodelist=g3 --gpu-min-runtime=30m
	eventually job_is far RUNNING funded
	as ada submit before --gpus=1 --nodelist=g3 --gpu-min-runtime=10m
	eventually job_is before RUNNING funded
	as ada submit early --gpus=1 --exclude=g3 --gpu-min-runtime=20m --begin=now+3600	# in the queue before the gang
	as carol submit gang --nodes=2 --gpus-per-node=4 --gpu-min-runtime=20s
	eventually is_guarded
	as ada submit late --gpus=1 --exclude=g3 --gpu-min-runtime=20m --begin=now+3600
	as ada submit after --gpus=1 --nodelist=g1 --gpu-min-runtime=20m --dependency=afterany:"$(job before)"
	as ada submit kept --gpus=1 --exclude=g3 --gpu-min-runtime=20m --hold
	eventually excludes early g3,g1,g2
	eventually excludes after g1,g2
	eventually excludes kept g3,g1,g2
	eventually reason_is after Dependency
	eventually reason_is kept JobHeldUser

	as ada cancel before
	for name in early late; do as ada scontrol update jobid="$(job $name)" StartTime=now; done
	as ada scontrol release "$(job kept)"
	for name in early late after kept; do
		eventually reason_matches $name "JobHeldAdmin|BadConstraints"
		eventually reason_is $name JobHeldAdmin
		job_is $name PENDING
	done
	job_is gang PENDING
	as carol cancel gang
	for name in early late after kept; do eventually may_start $name; done
	excludes early g3
	excludes after "(null)"
}
may_start() { ! reason_is "$1" JobHeldAdmin && ! excludes "$1" g1,g2 && ! excludes "$1" g3,g1,g2; }

# budgetd_set LINE...: lines of budgetd.conf, and read again.
budgetd_set()
{
	local line reloads log="$CLUSTER_DIR/log/budgetd.*"

	reloads=$(cat $log | grep -c "settings read again" || true)
	for line; do
		sed -i "/^${line%% =*} =/d" "$CLUSTER_DIR/etc/budgetd.conf"
		echo "$line" >>"$CLUSTER_DIR/etc/budgetd.conf"
	done
	kill -HUP "$(cluster_pid budgetd)"
	eventually reloaded "$reloads"
}
reloaded() { (($(cat "$CLUSTER_DIR"/log/budgetd.* | grep -c "settings read again") > $1)); }

# One waits for money, one is kept off nodes, one is held because it has no others.
three_are_held_back()
{
	a_gang_waits 15m
	budgetctl project set vision --on-exhausted wait >/dev/null
	as ada submit poor --gpus=4 --gpu-min-runtime=8h --array=0-99
	as ada submit more --gpus=2 --gpu-min-runtime=20m
	as ada submit picky --gpus=1 --exclude=g3 --gpu-min-runtime=20m
	eventually reason_is poor JobHeldAdmin
	eventually excludes more g1,g2
	eventually reason_is picky JobHeldAdmin
}
nobody_is_held() { [[ -z $(squeue -h -t PENDING -o %r | grep -x JobHeldAdmin) ]]; }

@test "with enforce=off our holds and excluded nodes are taken back, and return with enforce=on" {
	three_are_held_back
	budgetd_set 'enforce = off'
	eventually excludes more "(null)"
	eventually nobody_is_held
	eventually excludes picky g3
	budgetd_set 'enforce = on'
	budgetctl project set vision --on-exhausted free >/dev/null
}

@test "an operator lifts what budgetd wrote while it is away, and budgetd does what is then right" {
	three_are_held_back
	cluster_stop budgetd
	sqlite3 "$CLUSTER_DIR/budgetd/budget.db" "SELECT DISTINCT printf('scontrol update job=%d ExcNodeList=%Q', a.job, k.own)
		FROM kept_off k JOIN admission a ON a.id = k.admission" | sh
	squeue -h -t PENDING -o '%A %r' | awk '$2 == "JobHeldAdmin" { print $1 }' | xargs -rn1 scontrol release
	excludes more "(null)"
	excludes picky g3
	nobody_is_held
	as ada cancel poor
	as carol cancel gang
	cluster_start budgetd
	eventually guard_is_over
	excludes more "(null)"
	budgetctl project set vision --on-exhausted free >/dev/null
}

events_of() { books "SELECT what || ' ' || reason FROM event WHERE job = $(job "$1") ORDER BY id" | paste -sd,; }
event_is() { [[ ,$(events_of "$1"), == *,"$2",* ]] || { echo "$1: $(events_of "$1")" >&2; return 1; }; }

# In Slurm nobody gives way to it, and it looks at het jobs only while it backfills: whoever is in the queue would take what becomes free.
@test "nodes are cleared for a het job: a free run and one past its minimum go together, and nothing else begins there" {
	local from

	vision_is_ahead
	as bob submit loose --account=vision --gpus=4 --nodelist=g1 --gpu-tier=free
	as ada submit past --gpus=4 --nodelist=g2 --gpu-min-runtime=15s
	as ada submit inside --gpus=4 --nodelist=g3 --gpu-min-runtime=15m
	eventually job_is loose RUNNING free
	eventually job_is past RUNNING funded
	eventually job_is inside RUNNING funded
	as bob submit queue --account=vision --array=0-5 --gpus=1 --gpu-tier=free
	from=$SECONDS
	as carol submit het --gpus=3 --gpu-min-runtime=20s : --gpus=4 --gpu-min-runtime=20s
	eventually job_is het RUNNING funded-still
	tell "it runs $((SECONDS - from)) s after it was submitted, with 6 free jobs in the queue"
	eventually event_is loose "told FREE_RECLAIMED"
	eventually event_is past "told ROTATED"
	(($(books "SELECT min(ended - start) FROM run WHERE job = $(job past) AND ended IS NOT NULL") >= 15))
	job_is inside RUNNING funded
	[[ $(job_field inside Restarts) == 0 ]]
	eventually guard_is_over
	as carol cancel het
	as ada cancel past	# those that gave way were there before the queue, and would take both nodes again
	eventually tasks_start queue
}
tasks_start() { [[ -n $(squeue -h -r -t RUNNING -j "$(job "$1")" -o %A) ]]; }
