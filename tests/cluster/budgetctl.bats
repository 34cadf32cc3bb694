# SPDX-License-Identifier: GPL-2.0-or-later
# budgetctl: what an administrator, an owner and a stranger can do with it, in every format, and what it says when it fails.
load cluster

setup_file()	{ cluster_up; }
teardown_file()	{ cluster_down; }

# ends_with CODE COMMAND...: its exit code is CODE; what it said on both ways is in $output.
ends_with()
{
	local code=$1 rv=0

	shift
	output=$("$@" 2>&1) || rv=$?
	((rv == code)) || { echo "exit code $rv, wanted $code: $*"; echo "$output"; return 1; } >&2
}

told()
{
	grep -qF -- "$1" <<<"$output" && return 0
	{ echo "wanted: $1"; echo "said:   $output"; } >&2
	return 1
}

# csv_value COLUMN: of the only row of a csv, read by somebody else's parser.
csv_value() { sqlite3 :memory: ".import --csv /dev/stdin journal" "SELECT \"$1\" FROM journal"; }

@test "an administrator gives a project GPU-hours, its owner sees them and who gave them" {
	budgetctl allocation add vision 1,234.5h --reason "the grant" --ends now+30d
	budgetctl deposit vision 90m --reason "a little more"
	output=$(as ada budgetctl balance vision)
	told "Amount (GPU-hours)"
	told "1,236.00"
	output=$(as ada budgetctl journal vision -n -o parsable)
	[[ $(wc -l <<<"$output") == 2 ]]
	[[ $(head -n 1 <<<"$output") == *"|deposit|vision|"*"|1.50|1236.00|||root|a little more|"* ]]
}

@test "a member may look and not touch, a stranger may not even look" {
	as bob budgetctl balance vision
	ends_with 4 as bob budgetctl deposit vision 1 --reason "for me"
	told "administrator"
	ends_with 4 as carol budgetctl journal vision
	told "gpb-carol is not a member of vision nor of a project above it"
	[[ $(as carol budgetctl project list -o json | jq -r '.rows[].name') == speech ]]
}

@test "a project that never had an allocation is unmetered, and is drawn below its parent" {
	output=$(LC_ALL=C.UTF-8 budgetctl balance)
	grep -q "^ai .* unmetered" <<<"$output"
	grep -q "^├─speech .* unmetered" <<<"$output"
	[[ $(budgetctl balance -o json | jq '.rows[] | select(.project == "ai") | .metered') == false ]]
	[[ $(budgetctl balance -o json | jq '.rows[] | select(.project == "ai") | .available_units') == null ]]
}

@test "an owner shares out what is below, never at its own height, and the tree shows it" {
	budgetctl project set ai --add-owners gpb-carol
	as carol budgetctl share set vision 3 --reason "more of them" --request-id vision-three
	as carol budgetctl share set vision 3 --reason "more of them" --request-id vision-three
	ends_with 4 as carol budgetctl share set ai 7
	ends_with 4 as ada budgetctl share set vision 7
	as carol budgetctl share set vision 9 --dry-run
	[[ $(budgetctl changes vision -o json | jq -c '[.rows[] | select(.what == "share" and .became == "3")] | length') == 1 ]]
	[[ $(as carol budgetctl tree -o json | jq -c '[.rows[] | select(.project == "vision") | .share, .owed_units >= .delivered_units]') == "[3,true]" ]]
	output=$(LC_ALL=C.UTF-8 budgetctl tree)
	grep -q "^├─speech .* 0.00" <<<"$output"
	told "Entitled"
	budgetctl share set vision 60
	budgetctl project set ai --remove-owners gpb-carol
}

@test "a deposit that is said twice with one request id is done once" {
	local before

	budgetctl allocation add speech 8 --reason "the grant"
	before=$(units speech amount)
	budgetctl deposit speech 1 --reason "said twice" --request-id once
	budgetctl deposit speech 1 --reason "said twice" --request-id once
	[[ $(units speech amount) == $((before + 3600000)) ]]
}

@test "a deposit whose answer never came can be said again without fear" {
	local before pid

	before=$(units speech amount)
	pid=$(cluster_pid budgetd)
	kill -STOP "$pid"
	ends_with 3 budgetctl deposit speech 1 --reason "no answer" || { kill -CONT "$pid"; return 1; }
	kill -CONT "$pid"
	told "within 10000 ms"
	budgetctl deposit speech 1 --reason "no answer" --request-id "$(sed -n 's/.*--request-id \([0-9a-f]*\) .*/\1/p' <<<"$output")"
	[[ $(units speech amount) == $((before + 3600000)) ]]
}

@test "all formats hold the same rows" {
	local reason=$'a "quoted", reason|with a bar\nand a second line'

	budgetctl deposit vision 0.5 --reason "$reason"
	[[ $(budgetctl journal vision --limit 1 -o json | jq -r '.rows[0].reason') == "$reason" ]]
	[[ $(budgetctl journal vision --limit 1 -o json | jq '.rows[0].units') == 1800000 ]]
	[[ $(budgetctl journal vision --limit 1 -o csv | csv_value reason) == "$reason" ]]
	[[ $(budgetctl journal vision --limit 1 -o csv | csv_value hours) == 0.50 ]]
	[[ $(budgetctl journal vision --limit 1 -o csv -t units | csv_value units) == 1800000 ]]
	output=$(budgetctl journal vision --limit 1 -n -o parsable)
	[[ $(wc -l <<<"$output") == 1 && $(tr -cd '|' <<<"$output" | wc -c) == 13 ]]
	[[ $(budgetctl journal vision --limit 1 -n | wc -l) == 1 ]]
	[[ $(budgetctl charge list vision -o json | jq -c .rows) == "[]" ]]
}

@test "a journal of more than one page is read to its end, or to the limit and says so" {
	local i

	for i in {1..1010}; do
		budgetctl deposit vision 1s --reason "line $i"
	done >/dev/null
	[[ $(budgetctl journal vision --limit 0 -n -o parsable | cut -d'|' -f1 | sort -u | wc -l) -gt 1010 ]]
	[[ $(budgetctl journal vision --limit 1005 -n -o parsable 2>/dev/null | wc -l) == 1005 ]]
	ends_with 0 budgetctl journal vision
	told "there are more rows than these; --limit 0 gives all"
}

@test "a reader that goes away ends it in silence, a full disk does not" {
	output=$( (budgetctl journal vision --limit 0 | head -n 1) 2>&1)
	[[ $(wc -l <<<"$output") == 1 ]]
	ends_with 1 bash -c "budgetctl balance >/dev/full"
	told "No space left on device"
}

@test "what is mistyped is answered with the nearest word and exit code 2" {
	ends_with 2 budgetctl balence
	told "Did you mean balance?"
	ends_with 2 budgetctl project lsit
	told "Did you mean list?"
	ends_with 2 budgetctl journal --limti 3
	told "Did you mean --limit?"
	ends_with 2 budgetctl journal -o jsno
	told "Did you mean json?"
	ends_with 2 budgetctl journal --reason x
	told "journal does not take --reason. See budgetctl journal --help"
	ends_with 2 budgetctl deposit vision 8q --reason x
	told '"8q" is not an amount of GPU-hours'
	ends_with 2 budgetctl deposit vision 8
	told "a deposit needs a reason"
	ends_with 2 budgetctl allocation add vision 8 --ends 2026-02-30
	told "is not a time"
	ends_with 2 budgetctl
}

@test "what does not exist is an error that says where to look, never an empty balance" {
	ends_with 1 budgetctl balance visoin
	told "there is no project visoin"
	ends_with 1 budgetctl allocation show 99999
	told "budgetctl allocation list"
	ends_with 7 budgetctl why 99999		# it may have been submitted just now
	ends_with 7 budgetctl why 99999_2
	told "job 99999 is newer than all that budgetd has seen"
	for word in 1_anything 1+ 1_[2 -1 train; do
		ends_with 1 budgetctl why "$word"
		told "\"$word\" is not a job id: write 1234, 1234_5"
	done
}

@test "no line of a table ends in blanks" {
	for command in "journal vision" balance "allocation list" "project list" "allocation show 1" "project show ai"; do
		budgetctl $command >"$BATS_TEST_TMPDIR/table"
		[[ -s $BATS_TEST_TMPDIR/table && $(grep -c ' $' "$BATS_TEST_TMPDIR/table") == 0 ]]
	done
}

@test "budgetd says in words what is wrong with a value" {
	output=$(curl -s --unix-socket "$CLUSTER_DIR/run/budgetd.socket" -d '{"project":"vision","amount_units":1.5,"reason":"x","request_id":"y"}' \
		http://budgetd/v1/deposits)
	told 'must be a whole number, not a number with a fraction'
}

@test "help names every command, and every command has its help" {
	local noun verb

	[[ $(budgetctl --help | grep -c '^  [0-4]  ') == 5 ]]
	budgetctl --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) \([a-z]*\).*/\1 \2/p' >"$BATS_TEST_TMPDIR/commands"
	[[ $(wc -l <"$BATS_TEST_TMPDIR/commands") == $(budgetctl --completion | grep -vc '^=') ]]
	while read -r noun verb; do
		budgetctl "$noun" ${verb:+"$verb"} --help | grep -q "^Usage: budgetctl $noun"
	done <"$BATS_TEST_TMPDIR/commands"
}

@test "without budgetd it says so and ends with 3" {
	cluster_stop budgetd
	ends_with 3 budgetctl balance
	cluster_start budgetd
	told "budgetd is not running"
	budgetctl health
}
