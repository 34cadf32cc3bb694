# SPDX-License-Identifier: GPL-2.0-or-later
# Settings while budgetd runs: a reload takes the whole file or nothing of it, and whoever starts the daemon is told how it went.
load alone

setup_file()	{ chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"; }

setup()
{
	DIR=$BATS_TEST_TMPDIR/b
	alone_prepare "$DIR"
}

teardown()
{
	local pid

	for pid in $(cat "$BATS_TEST_TMPDIR"/*/pid 2>/dev/null); do
		kill "$pid" 2>/dev/null || true
	done
	alone_stop "$DIR" 2>/dev/null || true
}

reload() { kill -HUP "$(<"$DIR/pid")"; }
logged() { grep -qF -- "$1" "$DIR/log"; }

# said_of TIME TEXT: what a submission that declares TIME is told.
said_of()
{
	api "$DIR/slurm" POST /v1/verdicts -d \
		'{"kind":"submit","uid":0,"submit_uid":0,"account":"vision","tres_per_node":"gres:gpu:1","min_runtime":"'"$1"'"}'
	grep -qF -- "$2" <<<"$reply"
}

@test "a setting that is changed holds after SIGHUP, without a restart" {
	alone_start "$DIR"
	api "$DIR/people" POST /v1/projects -d '{"name":"vision"}'
	said_of 2h "funded"
	echo "max_min_runtime = 1h" >>"$DIR/budgetd.conf"
	reload
	eventually said_of 2h "refused"
	said_of 2h "1 h"
}

@test "a file with a mistake changes nothing, and the log names file and line" {
	alone_start "$DIR"
	echo "window = soon" >>"$DIR/budgetd.conf"
	reload
	eventually logged "the settings were not changed: $DIR/budgetd.conf:4"
	alone_answers "$DIR"
}

@test "what a running daemon stands on is not moved under it" {
	alone_start "$DIR"
	sed -i "s|^socket = .*|socket = $DIR/elsewhere|" "$DIR/budgetd.conf"
	reload
	eventually logged "change at a restart only"
	alone_answers "$DIR"
}

@test "an administrator who does not exist is refused, and those before stay" {
	alone_start "$DIR"
	echo 'administrators = "nobody-of-this-name"' >>"$DIR/budgetd.conf"
	reload
	eventually logged "there is no user nobody-of-this-name"
}

@test "--detach returns when the daemon answers, and its stop leaves no socket" {
	SLURM_CONF=$DIR/slurm.conf "$BUILD/budgetd/budgetd" -c "$DIR/budgetd.conf" --detach 2>>"$DIR/log" 3>&-
	pgrep -f "budgetd -c $DIR/budgetd.conf" >"$DIR/pid"
	curl -sf --unix-socket "$DIR/people" http://localhost/v1/health
	kill "$(<"$DIR/pid")"
	eventually test ! -S "$DIR/people"
}

@test "--detach says why the daemon could not start, and fails" {
	rm "$DIR"/budget.db*
	run env SLURM_CONF="$DIR/slurm.conf" "$BUILD/budgetd/budgetd" -c "$DIR/budgetd.conf" --detach
	[[ $status == 1 && $output == *"make a new database by budgetd --init"* ]]
}

# What a service manager hears: perl's own Socket, since bash has no Unix datagrams.
listen_as_systemd()
{
	perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_DGRAM, 0); bind($s, sockaddr_un($ARGV[0])) or die; $| = 1;
		while (defined recv($s, my $m, 4096, 0)) { print "$m\n" }; ' "$DIR/notify" >"$DIR/heard" 3>&- &
	mkdir -p "$DIR/perl" && echo $! >"$DIR/perl/pid" && cp "$DIR/perl/pid" "$BATS_TEST_TMPDIR/perl.pid"
	eventually test -S "$DIR/notify"
}

heard() { grep -q -- "$1" "$DIR/heard"; }

@test "systemd is told when the daemon is ready, that it lives, that it reloads and that it stops" {
	listen_as_systemd
	export NOTIFY_SOCKET=$DIR/notify
	alone_start "$DIR"
	eventually heard READY=1
	eventually heard WATCHDOG=1
	reload
	eventually heard RELOADING=1
	kill "$(<"$DIR/pid")"
	eventually heard STOPPING=1
	kill "$(<"$BATS_TEST_TMPDIR/perl.pid")"
}

@test "systemd is told why the daemon could not start" {
	listen_as_systemd
	rm "$DIR"/budget.db*
	run env NOTIFY_SOCKET="$DIR/notify" SLURM_CONF="$DIR/slurm.conf" "$BUILD/budgetd/budgetd" -c "$DIR/budgetd.conf"
	[[ $status == 1 ]]
	eventually heard "STATUS=.*does not exist"
	kill "$(<"$BATS_TEST_TMPDIR/perl.pid")"
}
