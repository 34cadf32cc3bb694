# SPDX-License-Identifier: GPL-2.0-or-later
# The books beside slurmdbd and slurmctld: they agree, what differs is found and named, and put right by corrections.
# time: 240 s
load cluster
load accounting

setup_file()	{ cluster_up && deposit vision 1000; }
teardown_file()	{ cluster_down; }
teardown()	{ cluster_clear && no_crash; }

database() { mariadb --no-defaults --socket="$CLUSTER_DIR/run/mariadb.socket" --user=root -N slurm -e "$1"; }

# agrees: a condition; nothing differs and nothing is too young to be judged.
agrees()
{
	local told rv=0

	told=$(budgetctl check "$@") || rv=$?
	[[ $rv == 0 && $told == *" 0 differences; 0 too young"* ]] || { echo "exit $rv: $told" >&2; return 1; }
}

# differs JOB KIND...: a condition; these are the differences of the job, in order, and the exit status is 1.
differs()
{
	local job=$1 told rv=0 found

	shift
	told=$(budgetctl check --job "$job" -o json) || rv=$?
	found=$(jq -r '[.rows[].difference] | join(" ")' <<<"$told")
	[[ $rv == 1 && $found == "$*" ]] || { echo "exit $rv: $found" >&2; return 1; }
}

sound() { budgetctl verify >/dev/null || { budgetctl verify >&2; return 1; }; }

# one_run NAME: a funded run of some seconds is over and charged.
one_run()
{
	as ada submit "$1" --gpus=2 --gpu-min-runtime=1h
	eventually job_is "$1" RUNNING funded
	ran() { (($(date +%s) - $(date -d "$(job_field "$1" StartTime)" +%s) >= 3)); }
	eventually ran "$1"
	as ada cancel "$1"
	eventually accounted "$1" funded
	eventually agrees
}

# copy_row NAME JOB STATE END: the row of the job once more, as of another job, by a hand in the database.
copy_row()
{
	database "CREATE TEMPORARY TABLE t AS SELECT * FROM gpubudget_job_table WHERE id_job = $(job "$1") LIMIT 1;
		UPDATE t SET job_db_inx = (SELECT max(job_db_inx) + 1 FROM gpubudget_job_table), id_job = $2, state = $3, time_end = $4;
		INSERT INTO gpubudget_job_table SELECT * FROM t;"
}

@test "after a busy minute the three agree, run by run" {
	local name

	as ada submit train --gpus=2 --gpu-min-runtime=1h
	as ada submit gang --nodes=2 --gpus-per-node=1 --gpu-min-runtime=1h
	as ada submit sweep --array=1-3 --gpus=1 --export=JOB_SECONDS=1
	as bob submit spare --gpus=1 --gpu-tier=free --account=vision
	as ada submit het --gpus=1 : --gpus=1
	for name in train gang spare het; do eventually has_run $name; done
	as ada scontrol update jobid="$(job gang)" NumNodes=1
	scontrol suspend "$(job spare)"
	scontrol resume "$(job spare)"
	as ada scontrol requeue "$(job train)"
	eventually requeued train 1
	eventually job_is train RUNNING funded
	eventually has_run train
	for name in train gang het; do as ada cancel $name; done
	as bob cancel spare
	for name in train gang sweep spare het; do eventually accounted $name; done
	eventually agrees
	[[ $(budgetctl check --all -o json | jq '.rows | length') -ge 9 ]]
	[[ $(budgetctl check --all -o json | jq -c '[.rows[] | .gpu_seconds_books == .gpu_seconds_slurmdbd] | unique') == "[true]" ]]
	sound
}

@test "what ends while slurmdbd is stopped and budgetd away is in the books when all are back" {
	as ada submit train --gpus=2 --gpu-min-runtime=1h
	as ada submit next --gpus=1 --gpu-min-runtime=1h --export=JOB_SECONDS=2
	eventually job_is train RUNNING funded
	eventually has_run train
	cluster_stop slurmdbd
	cluster_stop budgetd
	as ada cancel train
	eventually job_is next COMPLETED
	cluster_start budgetd
	[[ $(budgetctl check 2>&1 >/dev/null; echo $?) == *slurmdbd*3 ]]
	cluster_start slurmdbd
	eventually accounted train
	eventually accounted next
	eventually agrees
	eventually balance_is vision "held=0.00"
}

@test "an end that slurmdbd has otherwise is found, and what was charged beyond it is given back once" {
	local charged before

	one_run train
	charged=$(charged_units train)
	before=$(units vision balance)
	database "UPDATE gpubudget_job_table SET time_end = time_end - 2 WHERE id_job = $(job train)"
	eventually differs "$(job train)" end
	[[ $(budgetctl check --job "$(job train)" -o json | jq '.rows[0].off_units') == -4000 ]]
	budgetctl check --job "$(job train)" | grep -q "^end (1): the run ended at another time. Cause: "
	budgetctl check --repair --dry-run | grep -q "1 would be repaired, nothing was written"
	differs "$(job train)" end
	budgetctl check --repair --reason "clock of g1" | grep -q "1 repaired"
	agrees
	[[ $(($(units vision balance) - before)) == 4000 && $(charged_units train) == "$charged" ]]
	[[ $(budgetctl journal --job "$(job train)" -o json | jq -r '.rows[0] | .kind + " " + .reason + " " + .actor') == "refund clock of g1 root" ]]
	budgetctl check --repair | grep -q " 0 differences"
	[[ $(($(units vision balance) - before)) == 4000 ]]
	database "UPDATE gpubudget_job_table SET time_end = time_end + 5 WHERE id_job = $(job train)"
	eventually differs "$(job train)" end
	budgetctl check --repair | grep -q "1 repaired"
	agrees
	[[ $(($(units vision balance) - before)) == 4000 ]]
	sound
}

@test "a run that the books never saw is entered, and who wrote into the books is seen through" {
	one_run train
	copy_row train 90001 5 "time_end"
	eventually differs 90001 missing
	budgetctl check --repair | grep -q "1 repaired"
	agrees
	[[ $(books "SELECT kind FROM charge ORDER BY id DESC LIMIT 1") == uncovered ]]
	sound
	cluster_stop budgetd
	books_by_hand "UPDATE run SET ended = ended + 60 WHERE job = $(job train)"
	cluster_start budgetd
	eventually differs "$(job train)" end
	budgetctl check --repair | grep -q "1 repaired"
	agrees
	cannot budgetctl verify
}

# The trigger that refuses is taken away and put back.
books_by_hand()
{
	local trigger

	trigger=$(books "SELECT sql FROM sqlite_schema WHERE name = 'ended_run_is_never_changed'")
	sqlite3 "$CLUSTER_DIR/budgetd/budget.db" "DROP TRIGGER ended_run_is_never_changed; $1; $trigger"
}

@test "a runaway record is found and named, and never guessed at" {
	one_run train
	copy_row train 90002 1 0
	eventually differs 90002 runaway
	budgetctl check --job 90002 | grep -q "sacctmgr show runawayjobs"
	cannot budgetctl check --repair
	differs 90002 runaway
	database "DELETE FROM gpubudget_job_table WHERE id_job = 90002"
	eventually agrees
}

@test "a run that is gone without an end is flagged, and settled by who says when it ended" {
	local lost

	one_run train
	lost="INSERT INTO run (cluster, job, submit, start, label, project, uid, partition, tier, min_runtime, gpus, tres, price, covered_until, lost_at)
		SELECT cluster, 90003, submit - 9000, start - 9000, '90003', project, uid, partition, tier, 0, 2, tres, price, start - 9000, start - 9000
		FROM run WHERE job = $(job train)"
	sqlite3 "$CLUSTER_DIR/budgetd/budget.db" ".timeout 10000" "$lost"
	eventually differs 90003 no-end
	flagged() { [[ $(budgetctl health -o json | jq .lost_runs) == 1 ]]; }
	eventually flagged
	grep -q "runs without an end: 1 (job 90003).*budgetctl run end JOB --at TIME" "$CLUSTER_DIR/log/budgetd.out"
	[[ $(budgetctl run list -o json | jq -r '.rows[] | select(.job == "90003").state') == LOST ]]
	cannot budgetctl run end 90003 --reason "power cut"
	cannot budgetctl run end 90003 --at now-9h --reason "power cut"
	budgetctl run end 90003 --at now-1h --reason "power cut" >/dev/null
	cannot budgetctl run end 90003 --at now-1h --reason "power cut"
	eventually agrees
	unflagged() { [[ $(budgetctl health -o json | jq .lost_runs) == 0 ]]; }
	eventually unflagged
}

@test "budgetd itself tells of a run that slurmdbd has otherwise" {
	database "UPDATE gpubudget_job_table SET time_end = time_end + 2 WHERE id_job = $(job spare)"
	final() { (($(date +%s) >= $(books "SELECT max(ended) + 70 FROM run WHERE job = $(job spare)"))); }
	eventually final
	cluster_restart budgetd
	counted() { [[ $(budgetctl health -o json | jq .differing_runs) == 1 ]]; }
	eventually counted
	grep -q "job $(job spare), started at .*: the run ended at another time" "$CLUSTER_DIR/log/budgetd.out"
	differs "$(job spare)" end
	budgetctl check --repair | grep -q "1 repaired"
	agrees
}
