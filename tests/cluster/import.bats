# SPDX-License-Identifier: GPL-2.0-or-later
# The import of history: what ran before there were budgets, from a file of sacct into the books of a budgetd without a Slurm.
bats_require_minimum_version 1.5.0
load alone

setup()
{
	export HOME_DIR=$BATS_TEST_TMPDIR/b PEOPLE=$BATS_TEST_TMPDIR/b/people GPUBUDGET_CONF=$BATS_TEST_TMPDIR/b/budgetd.conf
	export PATH=$BUILD/budgetctl:$PATH FILE=$BATS_TEST_TMPDIR/rows
	alone_prepare "$HOME_DIR" && alone_start "$HOME_DIR"
	budgetctl project add vision
}

teardown()	{ [[ ! -e $HOME_DIR/pid ]] || alone_stop "$HOME_DIR"; }

# rows LINE...: of cluster alone, with the columns that are needed
rows()	{ printf '%s\n' 'JobIDRaw|JobID|Cluster|Account|User|QOS|State|Submit|Start|End|AllocTRES' "$@" >"$FILE"; }

# many N: runs of vision of 2 GPUs for an hour each, one after the other; the last column is a job's name, which nobody reads
many()
{
	awk -v n="$1" 'BEGIN {
		print "JobIDRaw|Cluster|Account|User|Submit|Start|End|AllocTRES"
		for (i = 1; i <= n; i++)
			printf "%d|alone|vision|ada|%d|%d|%d|gres/gpu=2\n", i, 1760000000 + 10 * i, 1760000000 + 10 * i, 1760003600 + 10 * i
	}' >"$FILE"
}

# imported [OPTION...]: what budgetctl says in JSON, in $json
imported()	{ json=$(budgetctl import sacct "$FILE" -o json "$@"); }
said()		{ [[ $(jq -c "$1" <<<"$json") == "$2" ]] || { echo "$1 is $(jq -c "$1" <<<"$json"), not $2" >&2; return 1; }; }
books()		{ sqlite3 -readonly "$HOME_DIR/budget.db" "$1"; }
sound()		{ budgetctl verify >"$BATS_TEST_TMPDIR/verify" || { cat "$BATS_TEST_TMPDIR/verify" >&2; return 1; }; }

@test "a file that is imported twice is imported once, and fair share knows what it says" {
	rows '11|11|alone|vision|root|normal|COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|gres/gpu:h100=2,gres/gpu=2' \
		'11.batch|11.batch|alone|vision|||COMPLETED|2026-03-01T01:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|gres/gpu=2' \
		'13|12_1|alone|vision|root|normal|TIMEOUT|2026-03-31T00:00:00|2026-03-31T23:00:00|2026-04-01T01:00:00|gres/gpu=1' \
		'14|14|alone|vision|root|free|COMPLETED|2026-03-31T00:00:00|2026-03-31T02:00:00|2026-03-31T03:00:00|gres/gpu=8' \
		'15|15|alone|vision|root|normal|CANCELLED by 0|2026-03-31T00:00:00|None|2026-03-31T03:00:00|' \
		'16|16|alone|vision|root|normal|COMPLETED|2026-03-31T00:00:00|2026-03-31T02:00:00|2026-03-31T03:00:00|cpu=4'
	imported
	said '[.runs, .rows, .rows_known, .rows_of_steps, .rows_not_started, .rows_without_gpus]' '[3,6,0,1,1,1]'
	said .rows_set_aside '[]'
	said .projects '[{"project":"vision","runs":3,"gpu_seconds":57600,"units":28800000,"unpaid_units":0}]'
	imported
	said '[.runs, .rows_known, .projects]' '[0,3,[]]'
	[[ $(books "SELECT sum(units), count(*) FROM charge") == "28800000|4" ]]
	sed -i 's/2026-03-01T04:00:00|gres.gpu:h100/2026-03-01T05:00:00|gres\/gpu:h100/' "$FILE"
	imported
	said '[.runs, .rows_known, (.rows_set_aside[] | .line)]' '[0,2,2]'
	[[ $(jq -r '.rows_set_aside[].reason' <<<"$json") == "it ends at 2026-03-01T05:00:00Z here, and the same run is in the books up to 2026-03-01T04:00:00Z: that stays."* ]]
	[[ $(books "SELECT sum(units), count(*) FROM charge") == "28800000|4" ]]
	[[ $(books "SELECT count(*) FROM journal") == 0 ]]
	[[ $(budgetctl charge list vision -o json | jq -c '[.rows[] | [.job, .kind, .gpus, .elapsed_s]] | sort') == \
		'[["11","imported",2,10800],["12_1","imported",1,3600],["12_1","imported",1,3600],["14","free",8,3600]]' ]]
	sound
}

@test "a person is told what came of it, and which rows were set aside" {
	rows '11|11|alone|vision|root||COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|gres/gpu=2' \
		'12|12|alone|nobody|root||COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|gres/gpu=2' \
		'13|13|other|vision|root||COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|gres/gpu=2' \
		'14|14|alone|vision|root||RUNNING|2026-03-01T00:00:00|2026-03-01T01:00:00|Unknown|gres/gpu=2' \
		'15|15|alone|vision|root||COMPLETED|2026-03-01T00:00:00|2096-03-01T01:00:00|2096-03-01T04:00:00|gres/gpu=2' \
		'16|16|alone|vision|root||RESIZING|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|gres/gpu=2' \
		'17|17|al'
	run -0 --separate-stderr budgetctl import sacct "$FILE"
	[[ $output == *"vision"*"2"*"12.00"*"12.00"* ]]
	[[ $stderr == *"line 3 is set aside: there is no project nobody; budgetctl project add makes it"* ]]
	[[ $stderr == *"line 5 is set aside: not ended"* && $stderr == *"line 6 is set aside: it ends in the future"* ]]
	[[ $stderr == *"line 7 is set aside: its job was resized"* && $stderr == *"line 8 is set aside: cut short"* ]]
	[[ $stderr == *"2 runs imported, 0 rows known already, 5 rows set aside"* ]]	# that of cluster other: nobody told this one's name
	run -0 --separate-stderr budgetctl import sacct "$FILE" -n -o csv
	[[ $output == "" && $stderr == *"0 runs imported, 2 rows known already, 5 rows set aside"* ]]
	sound
	run -0 --separate-stderr budgetctl import sacct "$FILE" --dry-run	# what needs no books to be known it says as well
	[[ $stderr == *"line 5 is set aside: not ended"* && $stderr == *"line 6 is set aside: it ends in the future"* ]]
	[[ $stderr == *"4 runs"*"3 rows set aside"* ]]
}

@test "the rows of a resized job are one run, in whatever order they come" {
	rows '11|11|alone|vision|root||COMPLETED|2026-03-01T02:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|gres/gpu=4' \
		'11|11|alone|vision|root||RESIZING|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T02:00:00|gres/gpu=2'
	imported
	said '[.runs, .projects[0].units]' '[1,36000000]'
	[[ $(books "SELECT start, ended, gpus FROM run") == "1772326800|1772337600|4" ]]
	imported
	said '[.runs, .rows_known]' '[0,2]'
	sound
}

@test "a job that was resized to nothing that costs is over, and what it had before counts" {
	rows '11|11|alone|vision|root||RESIZING|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T02:00:00|gres/gpu=2' \
		'11|11|alone|vision|root||COMPLETED|2026-03-01T02:00:00|2026-03-01T01:00:00|2026-03-01T04:00:00|cpu=1'
	imported
	said '[.runs, .rows_without_gpus, .rows_set_aside, .projects[0].units]' '[1,1,[],7200000]'
	[[ $(books "SELECT start, ended, gpus FROM run") == "1772326800|1772330400|2" ]]
	imported
	said '[.runs, .rows_known, .rows_without_gpus]' '[0,1,1]'
	sound
}

@test "with --charge it is paid by allocations that were live then and still are, and nothing is overdrawn" {
	local now=$EPOCHSECONDS starts

	starts=$(date -u -d 2026-02-01 +%s)
	api "$PEOPLE" POST /v1/allocations -d "{\"project\":\"vision\",\"amount_units\":18000000,\"starts\":$starts,\"reason\":\"the year\"}"
	answered 201
	rows '10|10|alone|vision|root||COMPLETED|2026-01-01T00:00:00|2026-01-01T01:00:00|2026-01-01T02:00:00|gres/gpu=1' \
		'11|11|alone|vision|root||COMPLETED|2026-03-01T00:00:00|2026-03-01T01:00:00|2026-03-01T03:00:00|gres/gpu=2' \
		'12|12|alone|vision|root||COMPLETED|2026-03-01T00:00:00|2026-03-01T02:00:00|2026-03-01T03:00:00|gres/gpu=4'
	imported --charge
	said .projects '[{"project":"vision","runs":3,"gpu_seconds":32400,"units":18000000,"unpaid_units":14400000}]'
	[[ $(budgetctl balance vision -o json | jq -c '.rows[0] | [.charged_units, .available_units]') == '[18000000,0]' ]]
	[[ $(books "SELECT kind, units FROM charge ORDER BY id") == $'uncovered|0\nfunded|14400000\nfunded|3600000\nuncovered|0' ]]
	[[ $(books "SELECT count(*) FROM journal WHERE kind = 'charge' AND at < $now") == 0 ]]	# nothing is dated back
	imported --charge
	said '[.runs, .rows_known]' '[0,3]'
	run -0 --separate-stderr budgetctl import sacct "$FILE" --charge
	[[ $(budgetctl balance vision -o json | jq .rows[0].charged_units) == 18000000 ]]
	sound
}

@test "an import during which budgetd is killed is finished by the same command" {
	local pid killed

	many 20000
	budgetctl import sacct "$FILE" -o json >"$BATS_TEST_TMPDIR/first" 2>"$BATS_TEST_TMPDIR/why" 3>&- &
	pid=$!
	some_are_there() { (($(books "SELECT count(*) FROM run") > 0)); }
	eventually some_are_there
	killed=$(<"$HOME_DIR/pid")
	kill -KILL "$killed"
	if ! wait "$pid"; then
		grep -q "runs were imported so far; the same command goes on from there" "$BATS_TEST_TMPDIR/why"
	fi
	wait "$killed" 2>/dev/null || true
	alone_start "$HOME_DIR"
	sound
	imported
	said '.runs + .rows_known' 20000
	[[ $(books "SELECT count(*), sum(ended - start) FROM run") == "20000|72000000" ]]
	[[ $(books "SELECT sum(units) FROM charge WHERE kind = 'imported'") == 144000000000 ]]
	sound
}

@test "an import that is interrupted is finished by the same command" {
	local pid

	many 20000
	budgetctl import sacct "$FILE" >"$BATS_TEST_TMPDIR/first" 2>&1 3>&- &
	pid=$!
	some_are_there() { (($(books "SELECT count(*) FROM run") > 0)); }
	eventually some_are_there
	kill -TERM "$pid"
	if ! wait "$pid"; then
		grep -q "stopped by SIGTERM: [0-9]* runs were imported so far.*The same command goes on from there" "$BATS_TEST_TMPDIR/first"
	fi
	imported
	said '.runs + .rows_known' 20000
	[[ $(books "SELECT sum(units) FROM charge WHERE kind = 'imported'") == 144000000000 ]]
	sound
}

@test "only administrators import, and what is sent is looked at" {
	local good='1\talone\t5\t5\tvision\t0\tgpu\tnormal\t1760000000\t1760000000\t1760003600\tCOMPLETED\tgres/gpu=1\t0'

	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR" "${BATS_TEST_TMPDIR%/*}"
	as_nobody curl -s -X POST --unix-socket "$PEOPLE" -d "{\"rows\":\"$good\"}" http://localhost/v1/imports >"$BATS_TEST_TMPDIR/said"
	grep -q "only an administrator" "$BATS_TEST_TMPDIR/said"
	api "$PEOPLE" POST /v1/imports -d '{}'
	answered 400 '"rows\" is needed'
	api "$PEOPLE" POST /v1/imports -d '{"rows":7}'
	answered 400 '"rows\" must be a text, not a whole number'
	api "$PEOPLE" POST /v1/imports -d '{"rows":"1\talone"}'
	answered 400 'row 0 has 2 values, not 14'
	api "$PEOPLE" POST /v1/imports -d "{\"rows\":\"$good\n${good/1760000000/yesterday}\"}"
	answered 400 'row 1: \"submit\" must be a number'
	api "$PEOPLE" POST /v1/imports -d "{\"rows\":\"${good/alone}\"}"
	answered 503 "slurmctld was not seen yet"
	api "$PEOPLE" POST /v1/imports -d "{\"rows\":\"$good\",\"dry_run\":true}"
	answered 200 '"runs":1'
	[[ $(books "SELECT count(*) FROM run") == 0 ]]
	api "$PEOPLE" POST /v1/imports -d "{\"rows\":\"$good\n$good\n${good/COMPLETED\\tgres\/gpu=1/FAILED\\tgres/gpu=x}\n\"}"
	answered 201 '"rows_known":1'
	answered 201 '"line":1'
	[[ $(books "SELECT count(*) FROM run") == 1 ]]
	sound
}
