# SPDX-License-Identifier: GPL-2.0-or-later
# Notices of a live budgetd: one for each crossing, by a command and a webhook that fail, hang and come back, and by a budgetd that
# is killed in between. No Slurm is needed: what is charged is imported.
load alone

setup_file()
{
	export DIR=$BATS_FILE_TMPDIR/b OWNER=$$
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	alone_prepare "$DIR"
	export PEOPLE=$DIR/people PORT=$(registry_locked registry_enter $OWNER "$DIR") HOOK=$DIR/hook TOLD=$DIR/told
	mkdir "$HOOK"
	(umask 077 && echo "http://127.0.0.1:$PORT/hooks/T0PS3CRET" >"$DIR/url")
	printf '%s\n' "notice_command = $DIR/tell" "notice_url_file = $DIR/url" "notice_retry = 1s" "notice_deadline = 1s" \
		"notice_expiry = 14d" 'notice_copy = "watch"' "pass_interval = 1s" >>"$DIR/budgetd.conf"
	command_writes
	alone_start "$DIR"
	perl "$BATS_TEST_DIRNAME/receiver.perl" "$PORT" "$HOOK" >"$HOOK/log" 2>&1 </dev/null 3>&- &
	echo $! >"$HOOK/pid"
}

teardown()	{ alone_answers "$DIR"; }
teardown_file()
{
	kill "$(<"$HOOK/pid")"
	stop_budgetd
	registry_locked registry_leave $OWNER
}

# It is the child of whichever test started it last.
stop_budgetd()
{
	local pid

	pid=$(<"$DIR/pid")
	kill "${1:--TERM}" "$pid"
	is_over() { ! process_id "$pid" >/dev/null; }
	eventually is_over
}

# A program is replaced as a whole: it may be run at that moment.
command_is()
{
	printf '#!/bin/sh\n%s\n' "$1" >"$DIR/tell.new"
	chmod 755 "$DIR/tell.new"
	mv "$DIR/tell.new" "$DIR/tell"
}
command_writes() { command_is "{ echo \"\$GPUBUDGET_NOTICE_ID|\$1|\$GPUBUDGET_NOTICE_TO|\$GPUBUDGET_NOTICE_SUBJECT\"; } >>$TOLD"; }

health() { api "$PEOPLE" GET /v1/health && jq -r ".$1" <<<"$reply"; }
health_is() { [[ $(health "$1") == "$2" ]] || { health notices >&2; return 1; }; }
told() { grep -c "$1" "$TOLD" || true; }
told_is() { (($(told "$1") == $2)) || { cat "$TOLD" >&2; return 1; }; }
hook() { grep -c "$1" "$HOOK/$2" || true; }
hook_is() { (($(hook "$1" "$2") == $3)) || { cat "$HOOK/$2" >&2; return 1; }; }
listed() { api "$PEOPLE" GET "/v1/notices?$1" && jq -r "$2" <<<"$reply"; }

# used JOB HOURS: a run of 4 GPUs that ended just now.
used()
{
	local now rows

	now=$(date +%s)
	rows="$1\\talone\\t$1\\t$1\\tvision\\t0\\tgpu\\tnormal\\t$((now - $2 * 900 - 60))\\t$((now - $2 * 900 - 60))\\t$((now - 60))\\tCOMPLETED\\tgres/gpu=4\\t0"
	api "$PEOPLE" POST /v1/imports -d "{\"rows\":\"$rows\",\"charge\":true}"
	answered 201
}

@test "a notice is tried on both ways, and whoever is no administrator may neither send nor read any" {
	api "$PEOPLE" POST /v1/notices -d '{}'
	answered 201 '"webhook":true'
	eventually told_is "|test|root|a notice to try" 1
	eventually hook_is '"kind":"test","severity":"info","project":null' taken 1
	eventually health_is notices ok
	for _ in 1 2; do	# said again with its request id it is the same one
		api "$PEOPLE" POST /v1/notices -d '{"request_id":"try-1"}'
		answered 201
	done
	[[ $(jq .said <<<"$reply") == true ]]
	[[ $(listed '' '[.rows[] | select(.kind == "test" and .way == "webhook")] | length') == 2 ]]
	eventually told_is "|test|root|a notice to try" 2
	as_nobody curl -s -X POST --unix-socket "$PEOPLE" -d '{}' http://localhost/v1/notices | grep -q "only an administrator"
	as_nobody curl -s --unix-socket "$PEOPLE" http://localhost/v1/notices | grep -q "only an administrator"
	GPUBUDGET_CONF=$DIR/budgetd.conf "$BUILD/budgetctl/budgetctl" notice list | grep -q "a notice to try"
}

@test "a budget that is used up is told of once for each threshold, though the webhook fails twice and the command hangs" {
	api "$PEOPLE" POST /v1/projects -d '{"name":"vision","owners":["root"]}'
	api "$PEOPLE" POST /v1/allocations -d "{\"project\":\"vision\",\"amount_units\":360000000,\"starts\":$(($(date +%s) - 864000)),\"reason\":\"r\"}"
	answered 201
	printf '%s\n' 500 503 >"$HOOK/answer"
	command_is "echo started >>$DIR/hung; exec sleep 600"
	used 1 82
	eventually hook_is "vision has used 82 %" refused 2
	eventually hook_is "vision has used 82 %" taken 1
	eventually test -s "$DIR/hung"
	hung() { [[ $(listed state=waiting '.rows[] | select(.way == "command") | .error') == "it did not end within 1000 ms and was killed" ]]; }
	eventually hung
	command_is "echo no such list >&2; exit 3"
	failed() { [[ $(listed state=waiting '.rows[] | .error') == "it ended with status 3: no such list"* ]]; }
	eventually failed
	eventually health_is notices_waiting 1
	command_writes
	eventually told_is "|budget|root,watch|project vision has used 82 %" 1
	eventually health_is notices_waiting 0
	# the three tries on the webhook had one key, and it is the command's
	[[ $(grep -h "used 82 %" "$HOOK/refused" "$HOOK/taken" | jq -r .id | sort -u) == "$(sed -n 's/|budget|.*82 %.*//p' "$TOLD")" ]]
}

@test "a budgetd that is killed between loses none and queues none twice" {
	command_is "exec sleep 600"
	printf '%s\n' 500 >"$HOOK/answer"
	used 2 14
	eventually hook_is "vision has used 96 %" refused 1
	stop_budgetd -KILL
	command_writes
	alone_start "$DIR"
	eventually hook_is "vision has used 96 %" taken 1
	eventually told_is "|budget|root,watch|project vision has used 96 %" 1
	used 3 1
	eventually health_is notices_waiting 0
	[[ $(listed '' '[.rows[] | select(.kind == "budget" and .way == "webhook")] | length') == 2 ]]
}

@test "a deposit lets it be told again, and an allocation that ends is told of" {
	api "$PEOPLE" POST /v1/projects -d '{"name":"speech"}'
	api "$PEOPLE" POST /v1/allocations -d "{\"project\":\"speech\",\"amount_units\":36000000,\"ends\":$(($(date +%s) + 864000)),\"reason\":\"r\"}"
	answered 201
	eventually hook_is '"kind":"expiry"' taken 1
	eventually told_is "|expiry|watch|project speech: 10.00 GPU-hours end at " 1
	api "$PEOPLE" POST /v1/deposits -d '{"project":"vision","amount_units":36000000,"reason":"r"}'
	answered 201
	armed() { [[ $(sqlite3 "$DIR/budget.db.notices" "SELECT max(told) FROM budget") == 80 ]] || { sqlite3 "$DIR/budget.db.notices" "SELECT * FROM budget; SELECT * FROM seen"; health notices; tail -n 5 "$DIR/log"; return 1; } >&2; }
	eventually armed
	used 4 8
	eventually told_is "|budget|root,watch|project vision has used 9[5-9] %" 2
	hook_is '"kind":"expiry"' taken 1
}

@test "nobody reads the webhook's secret, and what others could change is neither read nor run" {
	! grep -rq T0PS3CRET "$DIR/log" || { grep -r T0PS3CRET "$DIR/log"; return 1; }
	[[ $(health notices)$(listed '' .) != *T0PS3CRET* ]]
	chmod 644 "$DIR/url"
	run "$BUILD/budgetd/budgetd" -c "$DIR/budgetd.conf" -n
	[[ $status != 0 && $output == *"notice_url_file: others can read or write"* ]]
	chmod 600 "$DIR/url"
	chmod 777 "$DIR/tell"
	run "$BUILD/budgetd/budgetd" -c "$DIR/budgetd.conf" -n
	[[ $status != 0 && $output == *"notice_command: others can change"* ]]
	api "$PEOPLE" POST /v1/notices -d '{}'
	answered 403 "others can change"
	chmod 755 "$DIR/tell"
}

@test "a stop does not wait for a command that hangs" {
	command_is "echo started >>$DIR/hung; exec sleep 600"
	sed -i 's/^notice_deadline = .*/notice_deadline = 5m/' "$DIR/budgetd.conf"
	kill -HUP "$(<"$DIR/pid")"
	read_again() { grep -q "settings read again" "$DIR/log"; }
	eventually read_again
	rm "$DIR/hung"
	api "$PEOPLE" POST /v1/notices -d '{}'
	eventually test -s "$DIR/hung"
	local begun=$SECONDS
	stop_budgetd
	((SECONDS - begun < 30))
	command_writes
	alone_start "$DIR"
	eventually told_is "|test|root|" 3
}
