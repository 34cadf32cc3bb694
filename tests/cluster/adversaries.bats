# SPDX-License-Identifier: GPL-2.0-or-later
# What it earns to play the rules: four projects that each have a trick, and one that has none, all of the same share, all wanting everything.
# Minutes are seconds here: Slurm protects 10 s, the default minimum runtime is 15 s, the longest 60 s, the grace 3 s.
# only: full
# full: 600 s
load cluster
load accounting

PLAYERS="greedy,sliced,chained,restless,plain"
LENGTH_S=360
PHASE_S=60			# at the end: the longest minimum runtime

setup_file()
{
	local player

	cluster_up --nodes 2 --gpus 4 --conf KillWait=3 --budgetd "default_min_runtime = 15s" --budgetd "max_min_runtime = 1m" \
		--budgetd "grace = 3s" --budgetd "window = 1h" &&
		sacctmgr -i modify qos funded set PreemptExemptTime=00:00:10 >/dev/null &&
		sacctmgr -i add account "$PLAYERS" parent=ai >/dev/null &&
		sacctmgr -i add user gpb-ada account="$PLAYERS" >/dev/null || return 1
	for player in ${PLAYERS//,/ }; do
		budgetctl project add "$player" --parent ai --share 20 --owners gpb-ada >/dev/null && deposit "$player" 1000 || return 1
	done
	cluster_restart budgetd
}
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash && books_are_right; }

tell() { echo "# $BATS_TEST_DESCRIPTION: $*" >&3; }

# play PROJECT NAME [OPTION...]: a job that is too long for the debug lane.
play() { as ada submit "$2" --account="$1" --time=240 "${@:3}"; }

# --- the tricks -------------------------------------------------------------------------------------

# Each job ends by itself before its minimum runtime does, so that nothing of it can be displaced; the next ones wait already.
keep_the_chain_going()
{
	while (($(squeue -h -A chained -t PENDING -o %A | wc -l) < 4)); do
		play chained "chained$((++LINKS))" --gpus=2 --export=ALL,JOB_SECONDS=12 || return 1
	done
}

# As its protection ends the run is requeued by its user, who hopes to be protected anew.
requeue_those_past_their_minimum()
{
	local id

	for id in $(squeue -h -A restless -t RUNNING -o "%A %M" | awk '{ n = split($2, t, ":"); if (t[n - 1] * 60 + t[n] >= 14) print $1 }'); do
		as ada scontrol requeue "$id" || true		# it was displaced just now
	done
}

# --- the table --------------------------------------------------------------------------------------

# "PROJECT GPU-SECONDS" from then on for LENGTH_S. Where in its run each one is at the last second would be chance: it is the mean over
# the seconds of the last PHASE_S.
earned()
{
	local to=$(($1 + LENGTH_S))

	books "WITH RECURSIVE moment(at) AS (VALUES ($to - $PHASE_S) UNION ALL SELECT at + 1 FROM moment WHERE at < $to)
		SELECT p.name || ' ' || CAST(coalesce(sum(r.gpus * (min(coalesce(r.ended, at), at) - max(r.start, $1))), 0) / ($PHASE_S + 1.0) + 0.5 AS INTEGER)
		FROM project p JOIN moment LEFT JOIN run r ON r.project = p.id AND r.start < at AND coalesce(r.ended, at) > $1
		WHERE p.name IN ('${PLAYERS//,/\',\'}') GROUP BY p.name ORDER BY p.name"
}
is_over() { (($(date +%s) >= $1 + LENGTH_S)); }
one_runs() { squeue -h -t RUNNING -o %A | grep -q .; }

@test "who declares the maximum, splits, chains short jobs or requeues its own runs gets no more than who does nothing of it" {
	local i from table LINKS=0

	for i in 1 2 3 4; do
		play greedy "greedy$i" --gpus=2 --gpu-min-runtime=60s
		play restless "restless$i" --gpus=2
		play plain "plain$i" --gpus=2
	done
	for ((i = 1; i <= 12; i++)); do
		play sliced "sliced$i" --gpus=1
	done
	keep_the_chain_going
	eventually one_runs
	from=$(date +%s)
	while ! is_over "$from"; do
		keep_the_chain_going
		requeue_those_past_their_minimum
		sleep 1
	done
	table=$(earned "$from")
	tell "GPU-seconds of $((8 * (LENGTH_S - PHASE_S / 2))): $(paste -sd' ' <<<"$table")"
	tell "displaced, and the shortest run of those: $(books "SELECT p.name || ' ' || count(*) || ' ' || min(r.ended - r.start) FROM run r
		JOIN project p ON p.id = r.project WHERE r.state = 'PREEMPTED' GROUP BY p.name ORDER BY p.name" | paste -sd,)"
	# A fifth each, the hysteresis of 5 %, and half of a run of 2 GPUs, by which it may be ahead on the average: of one minute, else of 15 s
	# with its grace, KillWait and a pass. That is 110 % of a fifth, and 118 % for who declares a minute.
	awk '{ of[$1] = $2; all += $2 } END { for (p in of) { printf "# %s has %.1f %% of a fifth\n", p, of[p] / all * 500 >"/dev/fd/3"
		if (of[p] > all / 5 * 1.05 + (p == "greedy" ? 60 : 23)) { print p " has " of[p] " of " all; bad = 1 } }
		exit bad || all == 0 }' <<<"$table" >&2
}
