# SPDX-License-Identifier: GPL-2.0-or-later
# The contract as people meet it: gangs, arrays, interactive jobs, team ranks, two projects that both want everything, a budgetd that is away.
# Minutes are seconds here: Slurm protects 10 s, the default minimum runtime is 10 s, the grace 3 s.
# only: full
# time: 900 s
load cluster
load accounting

setup_file()
{
	cluster_up --nodes 2 --gpus 4 --conf KillWait=3 --budgetd "default_min_runtime = 10s" --budgetd "grace = 3s" --budgetd "window = 1h" &&
		sacctmgr -i modify qos funded set PreemptExemptTime=00:00:10 >/dev/null &&
		budgetctl project set vision --share 50 >/dev/null && budgetctl project set speech --share 50 >/dev/null &&
		deposit vision 1000 && deposit speech 1000
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && books_are_right; }

tell() { echo "# $BATS_TEST_DESCRIPTION: $*" >&3; }
start_of() { date -d "$(job_field "$1" StartTime)" +%s; }
events_of() { books "SELECT what || ' ' || reason FROM event WHERE job = $(job "$1") ORDER BY id" | paste -sd,; }
event_is() { [[ ,$(events_of "$1"), == *,"$2",* ]] || { echo "$1: $(events_of "$1")" >&2; return 1; }; }
tasks_run() { [[ $(squeue -h -r -t RUNNING -j "$(job "$1")" | wc -l) == "$2" ]]; }
priority_of() { squeue -h -j "$(job "$1")" -o %Q; }

# The shortest run of the job that was displaced, in seconds: what the books say.
shortest_displaced() { books "SELECT min(ended - start) FROM run WHERE job = $(job "$1") AND state = 'PREEMPTED'"; }

# vision has used GPUs and speech has not: whatever speech asks for goes first.
vision_is_ahead()
{
	as ada submit used --gpus=8 --nodes=2 --gpu-min-runtime=10s
	eventually job_is used RUNNING funded
	eventually has_run used
	as ada cancel used
	eventually accounted used funded
}

# The first one: neither has used anything yet, and who has is behind until the other has caught up. One of them has all GPUs when the other
# comes, so that somebody has to give way.
@test "two equal projects that both want everything share it, and no run is displaced inside its minimum" {
	local i from shares

	for ((i = 1; i <= 4; i++)); do
		as ada submit "v$i" --gpus=2 --gpu-min-runtime=15s
	done
	for ((i = 1; i <= 4; i++)); do eventually job_is "v$i" RUNNING funded; done
	for ((i = 5; i <= 8; i++)); do
		as ada submit "v$i" --gpus=2 --gpu-min-runtime=15s
	done
	for ((i = 1; i <= 8; i++)); do
		as carol submit "s$i" --gpus=2 --gpu-min-runtime=15s
	done
	from=$(date +%s)
	EVENTUALLY_S=400 eventually gone_by "$from" 180
	shares=$(books "SELECT p.name || ' ' || sum(r.gpus * (coalesce(r.ended, strftime('%s', 'now')) - max(r.start, $from)))
		FROM run r JOIN project p ON p.id = r.project WHERE coalesce(r.ended, strftime('%s', 'now')) > $from GROUP BY p.name ORDER BY p.name")
	tell "GPU-seconds in 180 s of 8 GPUs: $(paste -sd' ' <<<"$shares"); displaced $(displaced_since "$from") times, the shortest run $(shortest_since "$from") s"
	awk '{ if (NR == 1) a = $2; else b = $2 } END { exit !(a > 0 && b > 0 && a < 1.25 * b && b < 1.25 * a) }' <<<"$shares"
	(($(displaced_since "$from") >= 2))		# half of what ran has to go
	(($(shortest_since "$from") >= 15))
	# each job at most once per minimum runtime: as often as those fit into the time that it ran
	[[ -z $(books "SELECT job FROM run WHERE ended > $from GROUP BY job HAVING 15 * sum(state = 'PREEMPTED') > sum(ended - start)") ]]
	EVENTUALLY_S=400 eventually no_two_at_once
}
gone_by() { (($(date +%s) >= $1 + $2)); }
displaced_since() { books "SELECT count(*) FROM run WHERE state = 'PREEMPTED' AND ended > $1"; }
shortest_since() { books "SELECT coalesce(min(ended - start), 0) FROM run WHERE state = 'PREEMPTED' AND ended > $1"; }
no_two_at_once() { [[ -z $(books "SELECT job FROM run WHERE ended IS NULL GROUP BY job HAVING count(*) > 1") ]]; }

@test "a gang that cannot start stops no smaller job behind it, and gets its nodes when minimum runtimes end" {
	local from

	vision_is_ahead
	as ada submit left --gpus=3 --nodelist=g1 --gpu-min-runtime=20s
	as ada submit right --gpus=3 --nodelist=g2 --gpu-min-runtime=30s
	eventually job_is left RUNNING funded
	eventually job_is right RUNNING funded
	from=$(start_of right)
	as carol submit gang --nodes=2 --gpus-per-node=4 --gpu-min-runtime=20s
	as carol submit small --gpus=1 --gpu-min-runtime=10s --export=JOB_SECONDS=12
	eventually job_is small RUNNING funded
	job_is gang PENDING
	tell "the small job runs while the gang waits"
	eventually job_is gang RUNNING funded
	tell "the gang runs $(($(start_of gang) - from)) s after the longer of two runs with 30 s of minimum runtime began"
	(($(start_of gang) - from >= 30))
	eventually event_is left "told ROTATED"
	eventually event_is right "told ROTATED"
	(($(shortest_displaced left) >= 20))
}

@test "srun and salloc are told that they would be cancelled, and are: not requeued" {
	local id

	vision_is_ahead
	as_story_ada srun --job-name=shell --gpus=8 --nodes=2 --gpu-min-runtime=10s sleep 3600 >"$CLUSTER_DIR/job/srun.out" 2>&1 3>&- &
	eventually shell_runs
	id=$(squeue -h -n shell -o %A | head -n 1)
	grep -q "if it is displaced it is cancelled" "$CLUSTER_DIR/job/srun.out"
	as carol submit train --gpus=8 --nodes=2 --gpu-min-runtime=20s
	eventually job_is train RUNNING funded
	[[ $(scontrol -o show job "$id") =~ JobState=(CANCELLED|PREEMPTED|FAILED) ]]
	[[ $(scontrol -o show job "$id") == *" Restarts=0 "* ]]
	grep -q "gives way" "$CLUSTER_DIR/job/srun.out"
	tell "$(grep -o 'gpubudget: this job gives way.*' "$CLUSTER_DIR/job/srun.out" | head -n 1)"
}

@test "salloc in the debug lane starts within a pass, on idle GPUs that a gang waits for and on those of a free run" {
	local idle free

	vision_is_ahead
	as carol submit long --gpus=2 --nodelist=g1 --gpu-min-runtime=10m --time=240
	eventually job_is long RUNNING funded
	as carol submit gang --nodes=2 --gpus-per-node=4 --time=240
	eventually has_place gang
	idle=$(debug_shell_waits shell1)
	job_is gang PENDING
	as ada submit left --gpus=2 --nodelist=g1 --gpu-tier=free
	as ada submit right --gpus=4 --nodelist=g2 --gpu-tier=free
	eventually job_is left RUNNING free
	eventually job_is right RUNNING free
	free=$(debug_shell_waits shell2)
	job_is gang PENDING
	tell "waited $idle s beside idle GPUs, $free s where a free run had to go (a pass is 1 s, KillWait 3 s)"
	((idle <= 2 && free <= 2 + 3 + 5))		# 5: Slurm looks at all that waits that often here
	((free > 0)) || job_is left PENDING || job_is right PENDING
}
# How long it waited for its GPU; by the job's own times.
debug_shell_waits()
{
	as ada salloc --job-name="$1" --gpus=1 --gpu-min-runtime=10s --time=30 true >"$CLUSTER_DIR/job/$1.out" 2>&1 || return 1
	squeue -h --name="$1" --states=all -O SubmitTime:30,StartTime:30 | { read -r submit start; echo $(($(date -d "$start" +%s) - $(date -d "$submit" +%s))); }
}

@test "nobody is told to go for a job that a reservation keeps out of the node" {
	vision_is_ahead
	as ada submit over --gpus=4 --nodelist=g1 --gpu-min-runtime=10s
	as ada submit long --gpus=4 --nodelist=g2 --gpu-min-runtime=10m
	eventually job_is over RUNNING funded
	eventually job_is long RUNNING funded
	scontrol create reservation=course users=root starttime=now duration=60 nodes=g1 flags=ignore_jobs >/dev/null
	as carol submit train --gpus=4 --gpu-min-runtime=20s
	eventually has_place train
	eventually ran_for over 18
	[[ -z $(events_of over) ]]
	job_is train PENDING
	scontrol delete reservation=course
	eventually event_is over "told ROTATED"
	eventually job_is train RUNNING funded
}

shell_runs() { [[ $(squeue -h -n shell -o %T) == RUNNING ]]; }
as_story_ada() { STORY_USER=gpb-ada as_story_user "$@"; }

@test "a team rank orders the jobs of a project and moves no other project's" {
	vision_is_ahead
	as ada submit full --gpus=8 --nodes=2 --gpu-min-runtime=10m
	eventually job_is full RUNNING funded
	as ada submit second --gpus=8 --nodes=2
	as ada submit first --gpus=8 --nodes=2 --gpu-team-rank=1
	eventually goes_before first second
	as carol submit other --gpus=8 --nodes=2
	eventually goes_before other first
	eventually goes_before other second
	tell "priorities: $(squeue -h -t PENDING -o %j=%Q | paste -sd' ')"
}
goes_before() { (($(priority_of "$1") > $(priority_of "$2"))); }

@test "of an array one task gives way, the others run on, and it comes back in its place" {
	vision_is_ahead
	as ada submit sweep --array=0-1 --gpus=4 --gpu-min-runtime=15s
	eventually tasks_run sweep 2
	as carol submit train --gpus=4 --gpu-min-runtime=30s
	eventually job_is train RUNNING funded
	tasks_run sweep 1
	[[ $(books "SELECT count(*) FROM event WHERE what = 'told' AND job IN (SELECT job FROM run WHERE label LIKE '$(job sweep)\_%' ESCAPE '\\')") == 1 ]]
	as carol cancel train
	eventually tasks_run sweep 2
}

@test "with budgetd away nothing is displaced inside its minimum, and the order resumes when it is back" {
	vision_is_ahead
	as ada submit long --gpus=8 --nodes=2 --gpu-min-runtime=25s
	eventually job_is long RUNNING funded
	as carol submit train --gpus=8 --nodes=2 --gpu-min-runtime=20s
	eventually job_is train PENDING
	eventually has_place long
	cluster_stop budgetd
	eventually ran_for long 35
	requeued long 0
	tell "with budgetd away the run stayed for $(($(date +%s) - $(start_of long))) s, though Slurm protects it for 10 s"
	cluster_start budgetd
	eventually job_is train RUNNING funded
	eventually event_is long "told ROTATED"
	(($(shortest_displaced long) >= 25))
}
has_place() { (($(priority_of "$1") > 1)); }
ran_for() { (($(date +%s) - $(start_of "$1") >= $2)); }

@test "a share that is edited changes what is to come, and never what was owed" {
	local before after from to

	vision_is_ahead
	from=$(date +%s)
	before=$(owed_of vision)
	budgetctl project set vision --share 5000 >/dev/null
	after=$(owed_of vision)
	to=$(date +%s)
	budgetctl project set vision --share 50 >/dev/null
	tell "owed $before GPU-s before, $after right after its share went from 50 to 5000, $((to - from)) s later"
	# Not a second of the past: what is more is what all GPUs can be in the time between the two looks.
	((before > 0 && after >= before && after <= before + 8 * (to - from + 1)))
}
owed_of() { budgetctl tree -o json | jq -r --arg p "$1" '[.. | objects | select(.project? == $p)][0].owed_units / 1000 | floor'; }

@test "a funded het job past its minimum gives way as a whole, and is in the queue again" {
	vision_is_ahead
	as ada submit het --gpus=3 --gpu-min-runtime=20s : --gpus=4 --gpu-min-runtime=10s
	eventually job_is het RUNNING funded-still
	as carol submit train --gpus=4 --nodes=1 --gpu-min-runtime=20s
	eventually job_is train RUNNING funded
	(($(start_of train) - $(date -d "$(sacct -nX --duplicates -j "$(job het)" -o Start | head -n 1)" +%s) >= 20))
	eventually job_is het PENDING
	eventually event_is het "told ROTATED"
	[[ $(squeue -h -j "$(job het)" -o %T | sort -u) == PENDING ]]
}

# --- who tries to have more than their share ---------------------------------------------------------

@test "jobs that were parked with --begin or held, to be the oldest later, set nothing aside and do not go before who used less" {
	vision_is_ahead
	eventually balance_is vision "held=0.00"
	as ada submit parked --gpus=8 --nodes=2 --begin=now+3600
	as ada submit held --gpus=8 --nodes=2 --hold
	balance_is vision "held=0.00"
	as ada submit full --gpus=8 --nodes=2 --gpu-min-runtime=10m
	eventually job_is full RUNNING funded
	as carol submit train --gpus=8 --nodes=2
	as ada scontrol release "$(job held)"
	as ada scontrol update jobid="$(job parked)" StartTime=now	# its time has come, whenever the others were ready
	eventually has_priority parked
	eventually goes_before train parked
	eventually goes_before train held
	tell "submitted in the order parked, held, train: $(squeue -h -t PENDING -o %j=%Q | sort -t= -k2 -rn | paste -sd' ')"
}
has_priority() { (($(priority_of "$1") > 0)); }

is_met() { (($(books "SELECT count(*) FROM run WHERE job = $(job "$1")") > 0)); }
is_settled() { (($(books "SELECT count(*) FROM run WHERE job = $(job "$1") AND ended IS NOT NULL") > 0)); }

@test "a run that its user requeues to be protected anew is behind who used less" {
	vision_is_ahead
	as ada submit long --gpus=8 --nodes=2 --gpu-min-runtime=10m
	eventually job_is long RUNNING funded
	as carol submit train --gpus=8 --nodes=2 --gpu-min-runtime=20s
	eventually job_is train PENDING
	eventually is_met long		# a run that begins and ends within one second is none
	as ada scontrol requeue "$(job long)"
	eventually job_is train RUNNING funded
	job_is long PENDING
	eventually is_settled long
	tell "the requeued run waits, charged for $(books "SELECT sum(ended - start) FROM run WHERE job = $(job long)") s that it ran"
}
