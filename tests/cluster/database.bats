# SPDX-License-Identifier: GPL-2.0-or-later
# budgetd and what it stands on: a database or settings that are not right end it at once, with a text that says how to go on.
load alone

setup_file()	{ chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"; }

setup()
{
	DIR=$BATS_TEST_TMPDIR/b
	alone_prepare "$DIR"
}

# Whatever a test left running.
teardown()
{
	local pid

	for pid in $(cat "$BATS_TEST_TMPDIR"/*/pid 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

# It must end by itself: one that goes on is cut off by timeout with 124.
budgetd() { SLURM_CONF=$DIR/slurm.conf timeout -k 5 20 "${AS[@]}" "$BUILD/budgetd/budgetd" -c "$DIR/budgetd.conf" "$@" 2>&1; }

# refuses CODE TEXT [OPTION...]
refuses()
{
	local code=$1 text=$2 rv=0 said

	shift 2
	said=$(budgetd "$@") || rv=$?
	[[ $rv == "$code" ]] && grep -qF -- "$text" <<<"$said" && [[ ! -S $DIR/people ]] && return 0
	{ echo "wanted $code and: $text"; echo "got $rv and: $said"; } >&2
	return 1
}

sql() { sqlite3 "$DIR/budget.db" "$1"; }

@test "without a database budgetd does not start, and says how one is made" {
	rm "$DIR"/budget.db*
	refuses 1 "make a new database by budgetd --init, or restore a backup"
	[[ ! -e $DIR/budget.db ]]
}

@test "a new database is not made over one that is there" {
	refuses 1 "cannot make a new database: File exists" --init
	sql "SELECT count(*) FROM project" >/dev/null
}

@test "a database that cannot be written is refused, with whom it must belong to" {
	local AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)

	chmod 444 "$DIR/budget.db"
	refuses 1 "cannot be opened for writing: Permission denied; budgetd needs to own the file and its folder"
}

@test "a database in a folder that cannot be written is refused too: its journal has to lie beside it" {
	local AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)

	rm -f "$DIR"/budget.db-*
	chown 65534 "$DIR/budget.db"
	refuses 1 "must own the file and its folder"
}

@test "a database of a newer schema is refused and left as it is" {
	local before

	sql "PRAGMA user_version = 2"
	before=$(sql .dump | cksum)
	refuses 1 "has schema 2 and this budgetd knows 1: it was written by a newer version; install that version"
	[[ $(sql .dump | cksum) == "$before" ]]
}

@test "a database that was not finished is refused" {
	sql "PRAGMA user_version = 0"
	refuses 1 "it was not finished; remove it and run budgetd --init"
}

@test "a database of another program, and a file that is none, are refused and left as they are" {
	rm "$DIR"/budget.db*
	sql "CREATE TABLE recipe (name TEXT)"
	refuses 1 "is not a database of budgetd; name the right one in \`database\`"
	[[ $(sql .tables) == recipe ]]
	head -c 100000 /dev/urandom >"$DIR/budget.db"
	refuses 1 "put it aside and restore a backup"
	: >"$DIR/budget.db"
	refuses 1 "is not a database of budgetd"
}

@test "a database with a broken page is refused before anybody is charged by it" {
	local i page

	for i in {1..400}; do
		echo "INSERT INTO project (name, created_at) VALUES ('p$i', 1);"
	done | sqlite3 "$DIR/budget.db"
	sql "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
	page=$(sql "SELECT pageno FROM dbstat WHERE name = 'project' AND pagetype = 'leaf' LIMIT 1 OFFSET 1" 2>/dev/null) ||
		page=$(sql "SELECT rootpage FROM sqlite_schema WHERE name = 'project'")
	head -c 4096 /dev/urandom | dd of="$DIR/budget.db" bs=4096 seek=$((page - 1)) conv=notrunc status=none
	refuses 1 "the database is corrupt"
	refuses 1 "put it aside and restore a backup"
}

@test "a database that lost its end is refused" {
	sql "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
	truncate -s -8192 "$DIR/budget.db"
	refuses 1 "put it aside and restore a backup"
}

@test "a second budgetd is told that there is one, and the first goes on" {
	local SECOND=$BATS_TEST_TMPDIR/second

	alone_start "$DIR"
	mkdir "$SECOND"
	sed "s|= $DIR/\(people\|slurm\)$|= $SECOND/\1|" "$DIR/budgetd.conf" >"$SECOND/budgetd.conf"
	SLURM_CONF=$DIR/slurm.conf timeout 20 "$BUILD/budgetd/budgetd" -c "$SECOND/budgetd.conf" 2>"$SECOND/said" && return 1
	grep -qF "is in use by another budgetd; stop that one first" "$SECOND/said"
	sed "s|$DIR/budget.db|$SECOND/budget.db|" "$DIR/budgetd.conf" >"$SECOND/budgetd.conf"
	"$BUILD/budgetd/budgetd" -c "$SECOND/budgetd.conf" --init
	SLURM_CONF=$DIR/slurm.conf timeout 20 "$BUILD/budgetd/budgetd" -c "$SECOND/budgetd.conf" 2>"$SECOND/said" && return 1
	grep -qF "another budgetd listens there; stop that one first" "$SECOND/said"
	alone_answers "$DIR"
	alone_stop "$DIR"
	[[ ! -e $DIR/people ]]
}

@test "sockets that a killed budgetd left do not keep the next one from starting" {
	alone_start "$DIR"
	kill -KILL "$(<"$DIR/pid")"
	wait "$(<"$DIR/pid")" || true
	[[ -S $DIR/people ]]
	alone_start "$DIR"
	alone_stop "$DIR"
}

@test "a file that is no socket is never removed for one" {
	echo "dear diary" >"$DIR/people"
	local rv=0
	budgetd >"$BATS_TEST_TMPDIR/said" || rv=$?
	((rv == 1))
	grep -qF "is there and is not a socket; remove it or name another path" "$BATS_TEST_TMPDIR/said"
	[[ $(<"$DIR/people") == "dear diary" ]]
}

@test "budgetd that is asked to end does so, with 0, while a client is in the middle of a request" {
	alone_start "$DIR"
	perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Peer => shift) or die "$!"; syswrite $s, "POST /v1/deposits HTTP/1.1\r\n";
		print "connected\n"; STDOUT->flush; sysread $s, $b, 1' "$DIR/people" >"$BATS_TEST_TMPDIR/c" 3>&- &
	connected() { grep -q connected "$BATS_TEST_TMPDIR/c"; }
	eventually connected
	alone_stop "$DIR"
	wait
}

@test "budgetd -n reads the settings, says what is in force and starts nothing" {
	[[ $(budgetd -n) == *"database = \"$DIR/budget.db\""* ]]
	echo "pass_interval = 7s" >>"$DIR/budgetd.conf"
	[[ $(budgetd -n) == *"pass_interval = 7s"* ]]
	[[ ! -e $DIR/people ]]
}

@test "settings that make no sense are refused with the file and line, by -n and at the start" {
	local line text

	while IFS='|' read -r line text; do
		alone_prepare "$BATS_TEST_TMPDIR/b" 2>/dev/null || true
		echo "$line" >>"$DIR/budgetd.conf"
		refuses 1 "$DIR/budgetd.conf:4: " -n || return 1
		refuses 1 "$text" -n || return 1
		refuses 1 "$DIR/budgetd.conf:4: " || return 1
	done <<-'END'
		pass_intervall = 5s|pass_intervall
		pass_interval = 0s|1s to 1m
		pass_interval = 5 parsecs|parsecs
		when_unreachable = maybe|free, accept
		max_min_runtime = -8h|max_min_runtime
		database = budget.db|database
		ask_deadline = 1h|10ms to 5s
	END
}

@test "settings that are not there, and options that do not exist, are said so" {
	refuses 1 "$DIR/none.conf: No such file or directory; \`budgetd --sample\` prints one" -c "$DIR/none.conf"
	refuses 2 "Try 'budgetd --help'" --chek
	refuses 2 "Try 'budgetd --help'" now
}

@test "what happened cannot be replaced either: INSERT OR REPLACE fires no trigger of a DELETE" {
	sql "INSERT INTO project (id, name, created_at) VALUES (1, 'vision', 1);
		INSERT INTO allocation (id, project, starts, created_at) VALUES (1, 1, 1, 1);
		INSERT INTO journal (id, at, kind, allocation, project, units, balance, actor) VALUES (1, 1, 'deposit', 1, 1, 5, 5, 'root')"
	run sql "INSERT OR REPLACE INTO journal (id, at, kind, allocation, project, units, balance, actor)
		VALUES (1, 1, 'deposit', 1, 1, 500, 500, 'root')"
	[[ $status != 0 && $output == *"append-only"* ]]
	[[ $(sql "SELECT units FROM journal") == 5 ]]
}

@test "budgetd -n finds an administrator who does not exist, as a start would" {
	echo 'administrators = "nobody-of-this-name"' >>"$DIR/budgetd.conf"
	refuses 1 "there is no user nobody-of-this-name" -n
}

@test "budgetd -n finds a time zone that this machine does not know, as a start would" {
	echo 'time_zone = "Europe/Nowhere"' >>"$DIR/budgetd.conf"
	refuses 1 'time_zone: this machine knows no time zone "Europe/Nowhere"' -n
	refuses 1 'time_zone: this machine knows no time zone "Europe/Nowhere"'
}

@test "a sample that could not be written is no success" {
	if budgetd --sample >/dev/full; then return 1; fi
	if budgetd -n >/dev/full; then return 1; fi
}
