# SPDX-License-Identifier: GPL-2.0-or-later
# import sacct --dry-run: the program itself over files of sacct. No cluster and no daemon: Slurm need not even be there.
bats_require_minimum_version 1.5.0

setup_file()
{
	export GPUBUDGET_CONF=$BATS_FILE_TMPDIR/none.conf
	export PATH=${BUILD:?set BUILD to the folder in which the project was built}/budgetctl:$PATH
}

# rows LINE...: a file with the header that most tests use
rows()
{
	printf '%s\n' 'JobIDRaw|JobName|Account|User|State|Submit|Start|End|ElapsedRaw|AllocTRES' "$@" >"$BATS_TEST_TMPDIR/rows"
}

# imported [OPTION...]: month account user type gpu_seconds, a row a line
imported()
{
	budgetctl import sacct "$BATS_TEST_TMPDIR/rows" --dry-run -o json "$@" >"$BATS_TEST_TMPDIR/json"
	jq -r '.usage[] | [.month, .account, .user, .gpu_type, .gpu_seconds] | join(" ")' "$BATS_TEST_TMPDIR/json"
}

number() { jq "$1" "$BATS_TEST_TMPDIR/json"; }

@test "a job that was preempted twice is charged for all three runs, its steps for nothing" {
	rows '2960907|t|vision|ada|PREEMPTED|2026-07-26T00:00:00|2026-07-26T01:00:00|2026-07-26T06:25:02|19502|gres/gpu:h100=4,gres/gpu=4' \
		'2960907.batch|batch|vision||CANCELLED|2026-07-26T01:00:00|2026-07-26T01:00:00|2026-07-26T06:25:07|19507|gres/gpu:h100=4,gres/gpu=4' \
		'2960907|t|vision|ada|PREEMPTED|2026-07-26T06:26:00|2026-07-26T07:00:00|2026-07-26T07:01:34|94|gres/gpu:h100=4,gres/gpu=4' \
		'2960907|t|vision|ada|COMPLETED|2026-07-26T08:00:00|2026-07-26T09:00:00|2026-07-26T09:00:23|23|gres/gpu:h100=4,gres/gpu=4' \
		'2960907|t|vision|ada|CANCELLED by 221940|2026-07-26T09:00:23|None|2026-07-27T05:04:29|0|'
	[[ $(imported) == "2026-07 vision ada h100 78476" ]]
	[[ $(number '[.runs, .rows_of_steps, .rows_not_started]' | jq -c) == "[3,1,1]" && $(number .rows_set_aside) == "[]" ]]
}

@test "a resized job is one run, and its second row is not counted from the first start" {
	rows '7|t|vision|ada|RESIZING|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=4' \
		'7|t|vision|ada|COMPLETED|2026-07-01T02:00:00|2026-07-01T01:00:00|2026-07-01T03:00:00|7200|gres/gpu=2'
	[[ $(imported) == "2026-07 vision ada untyped 21600" && $(number .runs) == 1 ]]
}

@test "a run over the edge of a month is split there, in the zone that is asked for" {
	rows '1|t|vision|ada|COMPLETED|2026-10-31T00:00:00|2026-10-31T22:00:00|2026-11-01T02:00:00|14400|gres/gpu=1,gres/gpu:a100=1'
	[[ $(imported) == $'2026-10 vision ada a100 7200\n2026-11 vision ada a100 7200' ]]
	# in New York the clock went from 02:00 back to 01:00 in that night
	[[ $(imported --tz America/New_York) == $'2026-10 vision ada a100 7200\n2026-11 vision ada a100 10800' ]]
	rows '1|t|vision|ada|COMPLETED|1793480000|1793480400|1793494800|14400|gres/gpu=1'
	[[ $(imported) == $'2026-10 vision ada untyped 10800\n2026-11 vision ada untyped 3600' ]]
	[[ $(imported --tz Europe/Berlin) == $'2026-10 vision ada untyped 7200\n2026-11 vision ada untyped 7200' ]]
	[[ $(imported --tz America/New_York) == "2026-10 vision ada untyped 14400" ]]
}

@test "the rows that cannot be counted are told with line and reason, and the others count" {
	rows '1|t|vision|ada|COMPLETED|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=1' \
		'2|t|vision|ada|RUNNING|2026-07-01T00:00:00|2026-07-01T01:00:00|Unknown|3600|gres/gpu=1' \
		'3|a' 'b|c' 'd|vision|ada|COMPLETED|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=2' \
		'4|t|vision|ad' \
		$'5|t|vision|j\xfcrgen|COMPLETED|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=1' \
		$'6|tr\xe4in|vision|bob|COMPLETED|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=1' \
		'7|t|vision|ada|COMPLETED|2026-07-01T00:00:00|yesterday|2026-07-01T02:00:00|3600|gres/gpu=1' \
		'1|t|vision|ada|COMPLETED|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|gres/gpu=1'
	[[ $(imported) == $'2026-07 vision ada untyped 10800\n2026-07 vision bob untyped 3600' ]]
	[[ $(number '[.rows_set_aside[].line]' | jq -c) == "[3,7,8,10]" ]]
	[[ $(number '.rows_set_aside[0].reason') == '"not ended"' && $(number '.rows_set_aside[3].reason') == *yesterday* ]]
	[[ $(number .runs) == 3 && $(number .rows_twice) == 1 ]]
}

@test "columns may stand in any order, with bars at the end, on standard input" {
	printf '%s\n' 'AllocTRES|End|Start|Submit|User|Timelimit|Account|JobID|' \
		'gres/gpu=2|1782871200|1782867600|1782864000|ada|Partition_Limit|vision|12_3|' \
		'|Unknown|Unknown|1782864000|ada|UNLIMITED|vision|13_[1-4%2]|' >"$BATS_TEST_TMPDIR/rows"
	[[ $(imported) == "2026-07 vision ada untyped 7200" && $(number .rows_not_started) == 1 ]]
	[[ $(budgetctl import sacct - --dry-run -n -o csv 2>/dev/null <"$BATS_TEST_TMPDIR/rows") == $'2026-07,vision,ada,untyped,7200\r' ]]
	run -0 --separate-stderr budgetctl import sacct "$BATS_TEST_TMPDIR/rows" --dry-run
	[[ $output == *"2026-07"*"vision"*"ada"*"2.00"* && $stderr == *"1 run counted, 0 rows set aside"* ]]
}

@test "a file that cannot be read, a column that is missing, a zone that is none" {
	run -1 budgetctl import sacct "$BATS_TEST_TMPDIR/none" --dry-run
	[[ $output == *"No such file"* ]]
	echo 'JobID|User|Start|End' >"$BATS_TEST_TMPDIR/rows"
	run -1 budgetctl import sacct "$BATS_TEST_TMPDIR/rows" --dry-run -o json
	[[ $output == *"columns are missing: Account, Submit, AllocTRES"* ]]
	rows
	run -2 budgetctl import sacct "$BATS_TEST_TMPDIR/rows" --dry-run --tz Mars
	[[ $output == *'no time zone "Mars"'* ]]
	run -2 budgetctl import sacct "$BATS_TEST_TMPDIR/rows" --dry-run --charge
	[[ $output == *"--dry-run asks no budgetd"* ]]
	run -3 budgetctl import sacct "$BATS_TEST_TMPDIR/rows" --socket "$BATS_TEST_TMPDIR/none"
	[[ $output == *"budgetd is not running"* ]]
}

@test "a site that does not track GPUs is told so" {
	rows '1|t|vision|ada|COMPLETED|2026-07-01T00:00:00|2026-07-01T01:00:00|2026-07-01T02:00:00|3600|cpu=8,node=1'
	run -0 --separate-stderr budgetctl import sacct "$BATS_TEST_TMPDIR/rows" --dry-run -o json
	[[ $(jq -c '[.runs, .usage]' <<<"$output") == "[1,[]]" && $stderr == *"AccountingStorageTRES"* ]]
}

@test "sacct --json, in the forms of several versions" {
	cat >"$BATS_TEST_TMPDIR/rows" <<-'END'
	{ "meta": { "jobs": [1, 2], "Slurm": "jobs" }, "errors": [], "jobs": [
	  { "job_id": 7, "account": "vision", "user": "ada", "cluster": "c", "state": { "current": ["COMPLETED"] }, "name": "a\"]}",
	    "time": { "submission": 1793480000, "start": { "set": true, "infinite": false, "number": 1793480400 }, "end": 1793494800, "elapsed": 14400, "suspended": 0 },
	    "tres": { "allocated": [ { "type": "cpu", "name": "", "count": 8 }, { "type": "gres", "name": "gpu", "count": 3 },
	      { "type": "gres", "name": "gpu:h100", "count": 2 } ], "requested": [ { "type": "gres", "name": "gpu", "count": 9 } ] },
	    "steps": [ { "time": { "elapsed": 14500 }, "tres": { "allocated": [ { "type": "gres", "name": "gpu", "count": 3 } ] } } ] },
	  { "job_id": 8, "association": { "account": "vision", "user": "bob", "cluster": "c" }, "state": { "current": "RUNNING" },
	    "time": { "submission": 1793480000, "start": 1793480400, "end": 0, "elapsed": 100 }, "tres": { "allocated": [ { "type": "gres", "name": "gpu", "count": 1 } ] } },
	  { "job_id": 9, "account": "vision", "user": "ada", "state": { "current": "PENDING" }, "time": { "submission": 1793480000, "start": 0, "end": 0, "elapsed": 0 }, "tres": { "allocated": [] } },
	  { "job_id": 10, "account": "vision", nonsense },
	  null, "a, ] } text", [{ "jobs": [] }, 7],
	  { "job_id": 11, "association": { "account": "vision", "user": "bob", "cluster": "c" }, "state": { "current": "FAILED" },
	    "time": { "submission": 1793480000, "start": 1793480400, "end": 1793480500, "elapsed": 100 }, "tres": { "allocated": [ { "type": "gres", "name": "gpu", "count": 1 } ] } }
	], "warnings": [] }
	END
	[[ $(imported) == $'2026-10 vision ada h100 21600\n2026-10 vision ada untyped 10800\n2026-10 vision bob untyped 100\n2026-11 vision ada h100 7200\n2026-11 vision ada untyped 3600' ]]
	[[ $(number '[.runs, .rows_not_started, (.rows_set_aside[] | .line, .reason)]' | jq -c) == '[2,1,7,"not ended",10,"it is no JSON",11,"it is no job: an object was expected",11,"it is no job: an object was expected",11,"it is no job: an object was expected"]' ]]
	head -n 4 "$BATS_TEST_TMPDIR/rows" >"$BATS_TEST_TMPDIR/cut"
	run -0 --separate-stderr budgetctl import sacct "$BATS_TEST_TMPDIR/cut" --dry-run -o json
	[[ $(jq -c '[.runs, .rows_set_aside[].line]' <<<"$output") == "[0,2]" ]]
	run -1 budgetctl import sacct - --dry-run <<<'{ "jobs": 5 }'
	[[ $output == *'there is no list "jobs" in it'* ]]
}
