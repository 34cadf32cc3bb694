# SPDX-License-Identifier: GPL-2.0-or-later
# budgetd asked from login nodes: who asks is what munged says, and what somebody has overheard is worth nothing.
#
# Three hosts on one: "head" has budgetd, "login" the same munge key, "stranger" another one. Each has a munged of its own.
load alone

setup_file()
{
	local tool

	for tool in munged munge stunnel openssl; do
		command -v $tool >/dev/null || { echo "not installed: $tool (see contrib/packages)" >&2; return 1; }
	done
	export DIR=$BATS_FILE_TMPDIR/b OWNER=$$
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	alone_prepare "$DIR"
	export PORT=$(registry_locked registry_enter $OWNER "$DIR")
	export SERVER=http://127.0.0.1:$PORT TLS=https://localhost:$((PORT + 1)) BUDGETCTL=$BUILD/budgetctl/budgetctl
	printf '%s\n' "listen = 127.0.0.1:$PORT" "munge_socket = $DIR/head.munge" "credential_age = 5m" >>"$DIR/budgetd.conf"
	printf '%s\n' "server = $SERVER" "munge_socket = $DIR/login.munge" "server_ca = $DIR/tls.pem" >"$DIR/login.conf"
	chmod 644 "$DIR/login.conf"
	(umask 077 && head -c 128 /dev/urandom | tee "$DIR/head.key" >"$DIR/login.key" && head -c 128 /dev/urandom >"$DIR/stranger.key")
	munged_start head && munged_start login && munged_start stranger && alone_start "$DIR"
	api "$DIR/people" POST /v1/projects -d '{"name":"vision","members":["nobody"]}'
	api "$DIR/people" POST /v1/projects -d '{"name":"speech"}'
	api "$DIR/people" POST /v1/allocations -d '{"project":"vision","amount_units":36000000,"reason":"the grant"}'
}

teardown_file()
{
	local pid

	for pid in $(cat "$DIR"/*pid); do kill "$pid" 2>/dev/null; done
	for pid in $(cat "$DIR"/*pid); do eventually gone "$pid"; done
	registry_locked registry_leave $OWNER
}

gone() { ! process_id "$1" >/dev/null; }

munged_start()
{
	munged --foreground --key-file="$DIR/$1.key" --socket="$DIR/$1.munge" --pid-file="$DIR/$1.own" --seed-file="$DIR/$1.seed" \
		--num-threads=2 >>"$DIR/$1.log" 2>&1 </dev/null 3>&- &
	echo $! >"$DIR/$1.pid"
	eventually munged_answers "$1" || { cat "$DIR/$1.log" >&2; return 1; }
}

munged_answers() { process_id "$(<"$DIR/$1.pid")" >/dev/null || return $GIVE_UP; munge --socket="$DIR/$1.munge" --no-input -o /dev/null; }
munged_stop() { local pid=$(<"$DIR/$1.pid"); kill "$pid" && eventually gone "$pid"; }

# credential HOST METHOD PATH [BODY] [MUNGE-OPTION...]: made as doc/api.md says, without any code of ours.
credential()
{
	local host=$1 text

	text="gpubudget-1 $2 $3 $(printf %s "${4-}" | sha256sum | cut -d' ' -f1)"
	munge --socket="$DIR/$host.munge" --string="$text" "${@:5}"
}

# ask CREDENTIAL METHOD PATH [CURL-OPTION...]: over the network.
ask()
{
	local body=$BATS_TEST_TMPDIR/reply

	status=$(curl -s -o "$body" -w '%{http_code}' --max-time 60 -X "$2" -H "Authorization: MUNGE $1" "${@:4}" "$SERVER$3")
	reply=$(cat "$body" 2>/dev/null)
	rm -f "$body"
}

# login COMMAND...: on the login node, whose budgetd.conf says no more than where budgetd is.
login() { GPUBUDGET_CONF=$DIR/login.conf "$@"; }

amount() { api "$DIR/people" GET '/v1/balances?project=vision'; jq '.rows[0].amount_units' <<<"$reply"; }

@test "budgetctl of a login node does what it does beside budgetd, for each user what is theirs" {
	login $BUDGETCTL deposit vision 5 --reason "from a login node"
	[[ $(amount) == 54000000 ]]
	login as_nobody $BUDGETCTL balance vision -o json | jq -e '.rows[0].amount_units == 54000000'
	login as_nobody $BUDGETCTL project list -o json | jq -e '[.rows[].name] == ["vision"]'
	run login as_nobody $BUDGETCTL balance speech
	[[ $status == 4 && $output == *"nobody is not a member of speech"* ]]
	run login as_nobody $BUDGETCTL deposit vision 5 --reason x
	[[ $status == 4 && $output == *"only an administrator"* ]]
	api "$DIR/people" GET '/v1/journal?project=vision&limit=1'
	jq -e '.rows[0].actor == "root" and .rows[0].reason == "from a login node"' <<<"$reply"
	[[ $(amount) == 54000000 ]]
}

@test "the server is named by option, environment or budgetd.conf, and must be one" {
	sed '/^server =/d' "$DIR/login.conf" >"$DIR/bare.conf"
	GPUBUDGET_CONF=$DIR/bare.conf $BUDGETCTL --server "$SERVER/" balance vision
	GPUBUDGET_CONF=$DIR/bare.conf GPUBUDGET_SERVER=$SERVER $BUDGETCTL balance vision
	run login $BUDGETCTL --server "$SERVER/budget" health
	[[ $status == 2 && $output == *"has a path"* ]]
	run login $BUDGETCTL --server "$SERVER" --socket "$DIR/people" health
	[[ $status == 2 ]]
	run login $BUDGETCTL --server http://127.0.0.1:$((PORT + 9)) health
	[[ $status == 3 && $output == *"nobody listens on http://127.0.0.1:$((PORT + 9))"* ]]
	login $BUDGETCTL --socket "$DIR/people" balance vision
}

@test "who does not say who asks is told how, whatever is asked" {
	local path

	for path in /v1/health /v1/projects /v1/nothing; do
		status=$(curl -si -o "$BATS_TEST_TMPDIR/said" -w '%{http_code}' -u root:root -H 'X-Remote-User: root' "$SERVER$path")
		[[ $status == 401 ]]
		tr -d '\r' <"$BATS_TEST_TMPDIR/said" | grep -x 'WWW-Authenticate: MUNGE'
	done
	reply=$(curl -s "$SERVER/v1/health")
	answered 401 'Authorization: MUNGE and a credential for this request'
	ask 'MUNGE:no:' GET /v1/health
	answered 401 'is no credential'
}

@test "the uid is munged's alone, and must have a name beside budgetd" {
	local body='{"project":"vision","amount_units":3600000,"reason":"x"}'

	ask "$(as_nobody munge --socket="$DIR/login.munge" --string="gpubudget-1 POST /v1/deposits $(printf %s "$body" | sha256sum | cut -d' ' -f1)")" \
		POST /v1/deposits -d "$body"
	answered 403 'only an administrator'
	ask "$(setpriv --reuid=3999999999 --clear-groups munge --socket="$DIR/login.munge" --string="gpubudget-1 GET /v1/health x")" GET /v1/health
	answered 403 'uid 3999999999 has no name on the host of budgetd'
	[[ $(amount) == 54000000 ]]
}

@test "a credential of another site, and one that was made for another program, are refused" {
	ask "$(credential stranger GET /v1/health)" GET /v1/health
	answered 401 'made with another key'
	ask "$(munge --socket="$DIR/login.munge" --no-input)" GET /v1/health
	answered 401 'is for another request'
	ask "$(munge --socket="$DIR/login.munge" --string='GET /v1/health')" GET /v1/health
	answered 401 'is for another request'
	ask "$(credential login GET /v1/health '' --restrict-uid=65534)" GET /v1/health
	answered 401 'restricted to another user'
}

@test "a header that was overheard is worth nothing: not again, not for another path, query, method or body" {
	local body='{"project":"vision","amount_units":3600000,"reason":"x"}' once

	once=$(credential login POST /v1/deposits "$body")
	ask "$once" POST /v1/deposits -d "$body"
	answered 201
	ask "$once" POST /v1/deposits -d "$body"
	answered 401 'was used before'
	ask "$(credential login POST /v1/deposits "$body")" POST /v1/deposits -d "${body/vision/speech}"
	answered 401 'is for another request'
	ask "$(credential login POST /v1/deposits "$body")" POST /v1/adjustments -d "$body"
	answered 401 'is for another request'
	ask "$(credential login GET /v1/projects)" DELETE /v1/projects/speech
	answered 401 'is for another request'
	ask "$(credential login GET '/v1/balances?project=speech')" GET '/v1/balances?project=vision'
	answered 401 'is for another request'
	ask "$(credential login GET '/v1/balances?project=vision')" GET '/v1/balances?project=vision'
	answered 200 '"amount_units":57600000'
}

@test "a credential is taken once even when its request is refused" {
	local wrong

	wrong=$(credential login GET /v1/projects)
	ask "$wrong" GET /v1/health
	answered 401 'is for another request'
	ask "$wrong" GET /v1/projects
	answered 401 'was used before'
}

@test "an owner shares out what is below from a login node, and nothing else; names that nobody has are refused" {
	login $BUDGETCTL project add ai --owners nobody
	login $BUDGETCTL project add robots --parent ai
	login as_nobody $BUDGETCTL project set robots --share 7 --add-members daemon -o json | jq -e '.share == 7 and .members == ["daemon"]'
	run login as_nobody $BUDGETCTL project set ai --share 7
	[[ $status == 4 && $output == *"an owner of a project above; nobody is neither"* ]]
	run login as_nobody $BUDGETCTL project set robots --credit 5
	[[ $status == 4 && $output == *'only an administrator may set "credit_units"'* ]]
	run login $BUDGETCTL project set ai --add-owners no-such-user
	[[ $status == 1 && $output == *"there is no user no-such-user on the host of budgetd"* ]]
	login $BUDGETCTL project set ai --add-owners no-such-user --force -o json | jq -e '.owners == ["no-such-user", "nobody"]'
	login $BUDGETCTL project set ai --remove-owners nobody,no-such-user --add-members nobody -o json |
		jq -e '.owners == [] and .members == ["nobody"]'
	run login as_nobody $BUDGETCTL project set robots --share 8
	[[ $status == 4 ]]
}

@test "verdicts are given to slurmctld beside budgetd, never over the network" {
	ask "$(credential login POST /v1/verdicts '{}')" POST /v1/verdicts -d '{}'
	answered 403 'verdicts are given to slurmctld only'
}

@test "one host that keeps its connections open, or sends too much, keeps nobody else waiting" {
	local pid

	head -c 5000000 /dev/zero >"$BATS_TEST_TMPDIR/large"
	status=$(curl -s -o /dev/null -w '%{http_code}' --data-binary @"$BATS_TEST_TMPDIR/large" "$SERVER/v1/deposits")
	[[ $status == 401 ]]
	ask "$(credential login POST /v1/deposits)" POST /v1/deposits --data-binary @"$BATS_TEST_TMPDIR/large"
	answered 413
	perl -MIO::Socket::INET -e 'for (1 .. 80) { push @s, IO::Socket::INET->new(PeerAddr => $ARGV[0]) or die "$!" }
		$| = 1; print "connected\n"; sleep' 127.0.0.1:$PORT >"$BATS_TEST_TMPDIR/c" 3>&- &
	pid=$!
	eventually grep -q connected "$BATS_TEST_TMPDIR/c"
	ask "$(credential login GET /v1/health)" GET /v1/health --interface 127.0.0.2
	answered 200
	api "$DIR/people" GET /v1/health
	answered 200
	kill $pid
}

@test "without munged nobody is let in, the sockets serve on, and all is well when it is back" {
	local before

	before=$(credential login GET /v1/health)
	munged_stop head
	ask "$before" GET /v1/health
	answered 503 'munged of its host does not answer'
	run login $BUDGETCTL health
	[[ $status == 7 && $output == *"munged of its host does not answer"* ]]
	api "$DIR/people" GET /v1/health
	answered 200
	munged_start head
	login $BUDGETCTL balance vision
	munged_stop login
	run login $BUDGETCTL health
	[[ $status == 3 && $output == *"Is munged running?"* ]]
	munged_start login
	login $BUDGETCTL balance vision
}

@test "behind TLS it is the same, and a server that cannot prove who it is gets no question" {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
		-keyout "$DIR/tls.key" -out "$DIR/tls.pem" 2>/dev/null
	printf '%s\n' 'foreground = yes' 'pid =' '[budgetd]' "accept = 127.0.0.1:$((PORT + 1))" "connect = 127.0.0.1:$PORT" \
		"cert = $DIR/tls.pem" "key = $DIR/tls.key" >"$DIR/stunnel.conf"
	stunnel "$DIR/stunnel.conf" >"$DIR/stunnel.log" 2>&1 </dev/null 3>&- &
	echo $! >"$DIR/stunnel.pid"
	eventually curl -s -o /dev/null --cacert "$DIR/tls.pem" "$TLS" || { cat "$DIR/stunnel.log" >&2; return 1; }
	login $BUDGETCTL --server "$TLS" deposit vision 1 --reason "behind TLS"
	login as_nobody $BUDGETCTL --server "$TLS" balance vision -o json | jq -e '.rows[0].amount_units == 61200000'
	run env GPUBUDGET_CONF="$DIR/bare.conf" $BUDGETCTL --server "${TLS/localhost/127.0.0.1}" health
	[[ $status == 3 && $output == *"is not trusted"* ]]
	sed '/^server_ca/d' "$DIR/login.conf" >"$DIR/trust.conf"
	run env GPUBUDGET_CONF="$DIR/trust.conf" $BUDGETCTL --server "$TLS" health
	[[ $status == 3 && $output == *"is not trusted"* ]]
}

is_older() { ((EPOCHSECONDS > $1 + $2)); }

@test "a credential that is too old is refused, by munged's word or by credential_age" {
	local begun old short

	old=$(credential login GET /v1/health)
	short=$(credential login GET /v1/health '' --ttl=1)
	begun=$EPOCHSECONDS
	sed -i 's/^credential_age = .*/credential_age = 5s/' "$DIR/budgetd.conf"
	kill -HUP "$(<"$DIR/pid")"
	eventually grep -q 'settings read again' "$DIR/log"
	eventually is_older "$begun" 5
	ask "$old" GET /v1/health
	answered 401 'at most 5 s (credential_age) are taken'
	ask "$short" GET /v1/health
	answered 401 'has expired'
}
