# SPDX-License-Identifier: GPL-2.0-or-later
# What anybody may send to budgetd: it says what is wrong with it, does nothing of it, and goes on serving the others.
load alone

setup_file()
{
	export HOME_DIR=$BATS_FILE_TMPDIR/b PEOPLE=$BATS_FILE_TMPDIR/b/people SLURM=$BATS_FILE_TMPDIR/b/slurm
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	alone_prepare "$HOME_DIR" && alone_start "$HOME_DIR"
	api "$PEOPLE" POST /v1/projects -d '{"name":"vision"}'
	api "$PEOPLE" POST /v1/allocations -d '{"project":"vision","amount_units":36000000,"reason":"the grant"}'
}

# It is the same process that was started, and it has crashed for nobody.
teardown()	{ alone_answers "$HOME_DIR"; }
teardown_file()	{ kill -TERM "$(<"$HOME_DIR/pid")"; eventually gone; }
gone()		{ ! process_id "$(<"$HOME_DIR/pid")" >/dev/null; }

# held: units set aside for anybody.
held()		{ api "$PEOPLE" GET '/v1/balances?project=vision'; jq '.rows[0].held_units' <<<"$reply"; }
question='{"kind":"submit","uid":0,"account":"vision","tres_per_job":"gres:gpu:1","num_tasks":1,"min_nodes":1,"time_limit_min":60'

# connect SOCKET TEXT SECONDS: send a part of a request and keep the line open, as a stuck client does.
connect()	{ perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => shift) or die "$!"; syswrite $s, shift; print "connected\n";
			STDOUT->flush; sysread $s, $b, 1' "$@"; }

@test "a body that is not JSON is answered with the byte where it ends to be" {
	local body

	for body in '' '{' '{"kind":' 'null' '[]' '"text"' '{"kind":"submit"' '{"kind":"submit"}x' "{'kind':'submit'}" \
		'{"kind":"submit","uid":01}' $'{"kind":"\xff\xfe"}' '{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}'; do
		api "$SLURM" POST /v1/verdicts --data-binary "$body"
		answered 400 '"error"' || { echo "for $body" >&2; return 1; }
	done
	api "$SLURM" POST /v1/verdicts -d '{"kind":"submit","uid":}'
	answered 400 "the body is not JSON: "
	answered 400 "at byte 23"
	[[ $(held) == 0 ]]
}

@test "a value of the wrong type, and a number that is none, are refused by the name of their key" {
	local pair key others

	for pair in '"uid":"root"' '"uid":-1' '"uid":4294967296' '"uid":1.5' '"num_tasks":-1' '"num_tasks":1e99' '"num_tasks":"1"' \
		'"min_nodes":99999999999999999999' '"account":7' '"account":null' '"time_limit_min":-2' '"exclusive":1' '"kind":"ask"' \
		'"account":"vi\u0000sion"' '"tres_per_job":"gres:gpu:1\u0000"'; do
		key=${pair%%:*}
		others=$(jq -c "del(.$key)" <<<"$question}")
		api "$SLURM" POST /v1/verdicts -d "${others%\}},$pair}"
		answered 400 "${key//\"}" || { echo "for $pair" >&2; return 1; }
	done
	[[ $(held) == 0 ]]
}

@test "a key that budgetd does not know is let through in a question, which a newer plugin may ask" {
	api "$SLURM" POST /v1/verdicts -d "$question,\"colour\":\"blue\",\"tier\":\"free\"}"
	answered 200 '"tier":"free"'
}

@test "a key that budgetd does not know is refused where a person could have mistyped it" {
	api "$PEOPLE" POST /v1/deposits -d '{"project":"vision","amount_units":3600000,"reson":"typo","reason":"x"}'
	answered 400 'reson'
	api "$PEOPLE" POST /v1/projects -d '{"name":"speech","parrent":"vision"}'
	answered 400 'parrent'
	api "$PEOPLE" GET '/v1/balances?project=vision'
	[[ $(jq '.rows[0].amount_units' <<<"$reply") == 36000000 ]]
}

@test "a key that stands twice is refused: nobody can say which one is meant" {
	api "$PEOPLE" POST /v1/deposits -d '{"project":"vision","amount_units":1,"amount_units":3600000,"reason":"x"}'
	answered 400 'one key twice'
	api "$SLURM" POST /v1/verdicts -d "$question,\"account\":\"vision\"}"
	answered 400 'one key twice'
	api "$SLURM" POST /v1/verdicts -d "$question,\"comment\":\"a:{b\\\":[c\",\"tier\":\"free\"}"
	answered 200 accept
}

@test "a body that is too large is refused by its size, without being read" {
	head -c 70000 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/large"
	api "$SLURM" POST /v1/verdicts --data-binary @"$BATS_TEST_TMPDIR/large"
	answered 413 "the body has 70000 bytes, at most 65536 are taken here"
	api "$SLURM" POST /v1/verdicts -H 'Content-Length: 99999999999999999999' -d '{}'
	answered 413
	api "$PEOPLE" GET /v1/projects -d '{"a":1}'
	answered 413
}

@test "a body that does not say its size is read as far as is taken here, and refused" {
	head -c 5000000 /dev/zero | tr '\0' ' ' >"$BATS_TEST_TMPDIR/large"
	api "$SLURM" POST /v1/verdicts -H 'Transfer-Encoding: chunked' --data-binary @"$BATS_TEST_TMPDIR/large"
	answered 413 "more than the 65536 bytes"
	api "$SLURM" POST /v1/verdicts -H 'Transfer-Encoding: chunked' -d "$question,\"tier\":\"free\"}"
	answered 200 accept
}

@test "what is not HTTP, and a header without end, harm nobody" {
	printf 'EHLO budgetd\r\n\r\n' | perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => shift); print $s <STDIN>; shutdown $s, 1; 1 while <$s>' "$PEOPLE"
	perl -MIO::Socket::UNIX -e '$SIG{PIPE} = "IGNORE"; $s = IO::Socket::UNIX->new(Peer => shift); print $s "GET / HTTP/1.1\r\nX: ", "y" x 1000000;
		shutdown $s, 1; sysread $s, $b, 4096; print $b' "$PEOPLE" >"$BATS_TEST_TMPDIR/said"
	grep -q "^HTTP/1.1 4" "$BATS_TEST_TMPDIR/said"
}

@test "clients that stop in the middle of a request keep nobody waiting" {
	local i pids=() begun

	for i in {1..20}; do
		connect "$PEOPLE" $'POST /v1/deposits HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"project"' >"$BATS_TEST_TMPDIR/c$i" 3>&- &
		pids+=($!)
		connect "$SLURM" $'POST /v1/verdicts HTTP/1.1\r\nHost:' >"$BATS_TEST_TMPDIR/d$i" 3>&- &
		pids+=($!)
	done
	all_are_connected() { [[ $(cat "$BATS_TEST_TMPDIR"/[cd]* | grep -c connected) == 40 ]]; }
	eventually all_are_connected
	begun=${EPOCHREALTIME/./}
	api "$SLURM" POST /v1/verdicts -d "$question,\"tier\":\"free\"}"
	answered 200 accept
	api "$PEOPLE" GET /v1/health
	answered 200
	((${EPOCHREALTIME/./} - begun < 2000000))
	kill "${pids[@]}"
}

@test "a path or method that is not there is said so" {
	api "$PEOPLE" GET /v1/balence
	answered 404 "there is nothing at /v1/balence"
	api "$PEOPLE" GET /
	answered 404
	api "$PEOPLE" GET /v1/projects/../../etc/passwd --path-as-is
	answered 404
	api "$PEOPLE" GET /v1/verdicts
	answered 405 "/v1/verdicts does not take this method"
	api "$PEOPLE" DELETE /v1/deposits
	answered 405
	api "$PEOPLE" BREW /v1/health
	answered 405
}

@test "verdicts are for slurmctld: an ordinary user gets none, on either socket, and root only on slurmctld's" {
	as_nobody curl -s -X POST --unix-socket "$PEOPLE" -d "$question}" http://localhost/v1/verdicts >"$BATS_TEST_TMPDIR/said"
	grep -q "verdicts are given to slurmctld only" "$BATS_TEST_TMPDIR/said"
	as_nobody curl -s --unix-socket "$SLURM" http://localhost/v1/health && return 1
	[[ $(stat -c %a "$SLURM") == 600 ]]
	api "$PEOPLE" POST /v1/verdicts -d "$question}"
	answered 403
	[[ $(held) == 0 ]]
}

@test "an ordinary user changes nothing, whatever the request says about who it is" {
	as_nobody curl -s -X POST --unix-socket "$PEOPLE" -H 'X-Remote-User: root' -u root: \
		-d '{"project":"vision","amount_units":3600000,"reason":"x","uid":0,"actor":"root"}' \
		http://localhost/v1/deposits >"$BATS_TEST_TMPDIR/said"
	grep -q "only an administrator" "$BATS_TEST_TMPDIR/said"
	as_nobody curl -s --unix-socket "$PEOPLE" http://localhost/v1/journal?project=vision >"$BATS_TEST_TMPDIR/said"
	grep -q "not a member" "$BATS_TEST_TMPDIR/said"
}

@test "numbers that no budget can have are refused, and the balance stays" {
	local units

	for units in -1 0 9223372036854775807 9223372036854775808 1e30 0.5 '"8"' null; do
		api "$PEOPLE" POST /v1/deposits -d "{\"project\":\"vision\",\"amount_units\":$units,\"reason\":\"x\"}"
		answered 400 || { echo "for $units" >&2; return 1; }
	done
	api "$PEOPLE" GET '/v1/balances?project=vision'
	[[ $(jq '.rows[0].amount_units' <<<"$reply") == 36000000 ]]
	api "$PEOPLE" GET '/v1/journal?project=vision&limit=-1'
	answered 400 limit
	api "$PEOPLE" GET "/v1/journal?project=vision'--"
	answered 400 'not character 7'
}
