# SPDX-License-Identifier: GPL-2.0-or-later
# The page over HTTP: who is believed to look at it, what each is shown, and what a browser is forbidden.
load alone
bats_require_minimum_version 1.5.0

setup_file()
{
	export DIR=$BATS_FILE_TMPDIR/b OWNER=$$
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	alone_prepare "$DIR"
	export PORT=$(registry_locked registry_enter $OWNER "$DIR") SECRET=$(openssl rand -hex 32)
	export PAGE=http://127.0.0.1:$PORT
	(umask 077 && echo "$SECRET" >"$DIR/secret")
	printf '%s\n' "page_listen = 127.0.0.1:$PORT" 'page_proxies = "127.0.0.1"' "page_secret_file = $DIR/secret" >>"$DIR/budgetd.conf"
	alone_start "$DIR"
	api "$DIR/people" POST /v1/projects -d '{"name":"vision","members":["nobody"]}'
	api "$DIR/people" POST /v1/projects -d '{"name":"speech","owners":["nobody"],"parent":"vision"}'
	api "$DIR/people" POST /v1/projects -d '{"name":"music"}'
	api "$DIR/people" POST /v1/allocations -d '{"project":"vision","amount_units":36000000,"reason":"the grant"}'
}

teardown()	{ alone_answers "$DIR"; }
teardown_file()	{ alone_stop "$DIR"; registry_locked registry_leave $OWNER; }

# look PATH [CURL-OPTION...]: the document is in $reply, its status in $status, its headers in $headers.
look()
{
	local to=$BATS_TEST_TMPDIR/look

	status=$(curl -s --noproxy '*' -o "$to" -D "$to.headers" -w '%{http_code}' --max-time 20 "${@:2}" "$PAGE$1")
	reply=$(cat "$to") headers=$(tr -d '\r' <"$to.headers")
	rm -f "$to" "$to.headers"
}

# look_as USER PATH [CURL-OPTION...]: as the proxy would ask for that user.
look_as() { look "$2" -H "X-Remote-User: $1" -H "X-Gpubudget-Secret: $SECRET" "${@:3}"; }

@test "who is not known sees that the cluster is there, and no project" {
	look /
	answered 200 "Not signed in"
	[[ $reply != *vision* && $reply != *speech* && $reply != *music* ]]
	look /queue
	answered 200 "Not signed in"
	look '/job?id=1'
	answered 403 "You are not signed in"
}

@test "a proxy that knows the secret says who looks, and each sees what their role may see" {
	look_as root /
	answered 200 "As root, administrator"
	[[ $reply == *vision* && $reply == *speech* && $reply == *music* && $reply == *"10.00"* ]]
	look_as nobody /
	answered 200 "As nobody"
	[[ $reply == *vision* && $reply == *speech* && $reply != *music* ]]
	look_as nobody '/?project=speech'
	[[ $reply == *speech* && $reply != *"10.00"* ]]
	look_as nobody '/?project=music'
	answered 403 "nobody is not a member of music"
	look_as daemon /
	answered 200 "no project"
	[[ $reply != *vision* ]]
}

@test "nobody else is believed: without the secret, with another one, or with a name twice" {
	look / -H "X-Remote-User: root"
	answered 403 "not believed"
	look / -H "X-Remote-User: root" -H "X-Gpubudget-Secret: 0123456789abcdef"
	answered 403 "not believed"
	look_as root / -H "X-Remote-User: daemon"
	answered 403 "2 headers"
	look_as no-such-user-here /
	answered 403 "no user"
	[[ $reply != *vision* ]]
}

@test "a browser may run no script, load nothing from elsewhere and keep nothing" {
	local path

	for path in / /queue /page.css /icon.svg /nowhere '/job?id=x'; do
		look_as root "$path"
		[[ $headers == *"Content-Security-Policy: default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"* ]]
		[[ $headers == *"X-Content-Type-Options: nosniff"* && $headers == *"Cache-Control: no-store"* && $headers == *"Referrer-Policy: no-referrer"* ]]
		[[ $reply != *"<script"* && $reply != *"style=\""* && $reply != *" on"*"=\""*"("* ]]
	done
}

@test "what is in an address stays a text" {
	look_as root '/job?id=%3Cscript%3Ealert(1)%3C/script%3E'
	answered 400 "&#60;script&#62;"
	[[ $reply != *"<script"* ]]
	look_as root '/?project=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E'
	answered 400 "&#34;&#62;&#60;img"
	[[ $reply != *"<img"* ]]
	look_as root /%3Cscript%3E
	answered 404 "&#60;script&#62;"
}

@test "it is for reading: only GET and HEAD, and no call of the API" {
	local method

	for method in POST PUT PATCH DELETE OPTIONS TRACE; do
		look_as root / -X $method
		answered 405
	done
	look_as root / -I
	[[ $status == 200 && $headers == *text/html* ]]
	look_as root /v1/projects
	answered 404 "There is nothing at"
	look_as root /v1/health
	answered 404
}

@test "settings that would let anybody be anybody are refused before budgetd serves" {
	grep -v page_secret_file "$DIR/budgetd.conf" >"$BATS_TEST_TMPDIR/a.conf"
	run -1 "$BUILD/budgetd/budgetd" -n -c "$BATS_TEST_TMPDIR/a.conf"
	[[ $output == *"page_proxies is set and page_secret_file is not"* ]]
}
