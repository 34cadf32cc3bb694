# SPDX-License-Identifier: GPL-2.0-or-later
# The file of the books as an administrator meets it: verified, copied while budgetd runs, put back while it does not.
load alone

setup_file()	{ chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"; }

setup()
{
	DIR=$BATS_TEST_TMPDIR/b
	alone_prepare "$DIR"
	export GPUBUDGET_CONF=$DIR/budgetd.conf
}

# Whatever a test left running.
teardown()
{
	local pid

	for pid in $(cat "$BATS_TEST_TMPDIR"/*/pid 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

budgetctl() { timeout -k 5 60 "$BUILD/budgetctl/budgetctl" "$@" 2>&1; }

# says CODE TEXT WORD...: budgetctl ends with CODE and its text holds TEXT
says()
{
	local code=$1 text=$2 rv=0 said

	said=$(budgetctl "${@:3}") || rv=$?
	[[ $rv == "$code" ]] && grep -qF -- "$text" <<<"$said" && return 0
	{ echo "wanted $code and: $text"; echo "got $rv and: $said"; } >&2
	return 1
}

sql() { sqlite3 "$DIR/budget.db" "$1"; }

# grant HOURS: a project with an allocation
grant()
{
	budgetctl project add vision >/dev/null
	budgetctl allocation add vision "$1" --reason "first quarter" >/dev/null
}

# How many links the chain has: making a project and an allocation makes some, a deposit one.
links()	{ sql "SELECT links FROM chain_head"; }

@test "verify says that the books are sound, with budgetd and without, and prints the head of the chain" {
	local links

	alone_start "$DIR"
	grant 10
	links=$(links)
	says 0 ", 0 wrong; chain of $links links, the last is " verify
	says 0 "sound   journal.balance     a balance is the balance before it and the entry" verify --all
	[[ $(budgetctl verify -o json | jq -r '[.rows[].result] | unique[]') == sound ]]
	budgetctl verify -o json | jq -er '.rows[] | select(.check == "chain.head").text | startswith("'"$links"' links, the last is ")'
	alone_stop "$DIR"
	says 0 ", 0 wrong; chain of $links links" verify
	says 0 ", 0 wrong; chain of $links links" verify "$DIR/budget.db"
	alone_start "$DIR"		# what verify left beside the file is in nobody's way
	alone_stop "$DIR"
}

@test "verify names what was changed behind budgetd's back, and ends with 1" {
	alone_start "$DIR"
	grant 10
	alone_stop "$DIR"
	sql "DROP TRIGGER journal_is_never_changed; UPDATE journal SET units = 72000000, balance = 72000000;
		UPDATE allocation_sum SET amount = 72000000"
	says 1 "WRONG   chain.links         journal 1 is not what was written" verify
	says 1 "WRONG   schema              the trigger journal_is_never_changed is missing" verify
	says 1 ", 2 wrong;" verify
	[[ $(budgetctl verify -o json | jq -r '[.rows[] | select(.result == "wrong").check] | join(" ")') == "schema chain.links" ]]
}

@test "a backup is made while budgetd works, and put back while it is stopped; what was there is kept" {
	local aside links

	alone_start "$DIR"
	grant 10
	links=$(links)
	says 0 "$DIR/copy is a sound copy of $DIR/budget.db" backup "$DIR/copy"
	budgetctl deposit vision 5 --reason "too much" >/dev/null
	says 1 "$DIR/copy is there already: name a file that is not" backup "$DIR/copy"
	says 1 "is in use: stop budgetd first" restore "$DIR/copy"
	alone_stop "$DIR"
	says 0 "$DIR/budget.db is restored from $DIR/copy; what was there is $DIR/budget.db.2" restore "$DIR/copy"
	aside=$(compgen -G "$DIR/budget.db.2*Z")
	says 0 "chain of $((links + 1)) links" verify "$aside"
	alone_start "$DIR"
	[[ $(budgetctl balance vision -o json | jq '.rows[0].amount_units') == 36000000 ]]
	says 0 "chain of $links links" verify
	alone_stop "$DIR"
}

@test "after a kill -9 the books are sound, and so is a backup of what was left" {
	local links

	alone_start "$DIR"
	grant 10
	links=$(links)
	kill -KILL "$(<"$DIR/pid")"
	wait "$(<"$DIR/pid")" || true
	says 0 "chain of $links links" verify
	says 0 "is a sound copy" backup "$DIR/copy"
	says 0 "chain of $links links" verify "$DIR/copy"
}

@test "a file that is none, is not there, or is closed to the user is said so" {
	echo "dear diary" >"$DIR/diary"
	says 1 "$DIR/diary: file is not a database" verify "$DIR/diary"
	says 1 "$DIR/none cannot be read: No such file or directory" verify "$DIR/none"
	says 1 "file is not a database" restore "$DIR/diary"
	says 2 "" backup
	chmod 700 "$DIR"
	says 0 "" verify
	run as_nobody env GPUBUDGET_CONF="$GPUBUDGET_CONF" "$BUILD/budgetctl/budgetctl" verify "$DIR/budget.db"
	((status == 4))
	[[ $output == *"run it as root or as SlurmUser"* ]]
}

@test "the database belongs to its owner after a restore by root" {
	alone_start "$DIR"
	alone_stop "$DIR"
	says 0 "" backup "$DIR/copy"
	chown 65534:65534 "$DIR/budget.db"
	says 0 "" restore "$DIR/copy"
	[[ $(stat -c "%u %g %a" "$DIR/budget.db") == "65534 65534 600" ]]
}
