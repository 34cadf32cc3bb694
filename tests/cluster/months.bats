# SPDX-License-Identifier: GPL-2.0-or-later
# Months for finance: closed for good, stated and exported, by the commands and by contrib/month-close.
load alone

setup_file()	{ chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"; }

# In the past only history is there: what is closed is the month before the one in which budgetd was installed, by force, since
# nothing of it is known from Slurm.
setup()
{
	DIR=$BATS_TEST_TMPDIR/b
	alone_prepare "$DIR" && alone_start "$DIR"
	export GPUBUDGET_CONF=$DIR/budgetd.conf
	last=$(date -u -d "$(date -u +%Y-%m-01) -1 day" +%Y-%m) this=$(date -u +%Y-%m)
	{ budgetctl project add vision && budgetctl allocation add vision 100 --reason "first, \"grant\"" &&
		budgetctl deposit vision 20 --reason "more"; } >/dev/null
}

teardown()
{
	local pid

	for pid in $(cat "$BATS_TEST_TMPDIR"/*/pid 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null || true
	done
}

budgetctl() { timeout -k 5 60 "$BUILD/budgetctl/budgetctl" "$@"; }

# says CODE TEXT WORD...: budgetctl ends with CODE and its text holds TEXT
says()
{
	local code=$1 text=$2 rv=0 said

	said=$(budgetctl "${@:3}" 2>&1) || rv=$?
	[[ $rv == "$code" ]] && grep -qF -- "$text" <<<"$said" && return 0
	{ echo "wanted $code and: $text"; echo "got $rv and: $said"; } >&2
	return 1
}

@test "a month is closed once, when it is over and nothing of it is open, and that is all there is" {
	says 1 "is not over" period close "$this"
	says 1 "all runs are known up to no time at all" period close "$last"
	says 1 "all runs are known up to" period close "$last" --dry-run
	says 0 "nothing was written" period close "$last" --force --dry-run
	[[ -z $(budgetctl period list -o csv -n) ]]
	says 0 "$last" period close "$last" --force --reason "billing"
	TZ=America/Los_Angeles says 0 "$last-01T00:00:00+00:00" period list -o csv
	TZ=America/Los_Angeles says 0 "From (UTC)" period list
	TZ=America/Los_Angeles says 0 " $last-01T00:00:00 " period list
	says 1 "closed already" period close "$last" --force
	says 2 "" period reopen "$last"
	says 0 "all runs are known up to no time at all" period list -o json
	says 0 "sound" verify "$DIR/budget.db"
}

@test "a statement foots, in units and in hours, and a range that nobody named is asked for" {
	local row

	row=$(budgetctl statement vision --period "$this" -o json | jq -c '.rows[-1]')
	jq -e '.allocation == null and .deposits_units == 432000000 and .closing_units == 432000000 and .held_units == 0' <<<"$row"
	says 0 "120.00" statement vision --period "$this"
	says 2 "--period 2026-12, or both --from and --to" statement vision
	says 2 "--tz" statement vision --period "$this" --tz Nowhere/Else
	says 0 "there are no" statement vision --period "$last"	# before its first entry
	says 2 "--period 9999-12: a month is written like 2026-12, up to 9999-11" statement vision --period 9999-12
	says 0 "there are no" statement vision --period 1999-12
}

@test "exports are CSV by RFC 4180, the same twice, in a zone as well; a file is whole or not there" {
	local file=$BATS_TEST_TMPDIR/journal.csv

	budgetctl export journal --period "$this" >"$BATS_TEST_TMPDIR/once"
	budgetctl export journal --period "$this" >"$BATS_TEST_TMPDIR/twice"
	cmp "$BATS_TEST_TMPDIR/once" "$BATS_TEST_TMPDIR/twice"
	[[ $(head -1 "$BATS_TEST_TMPDIR/once") == $'entry_id,time,kind,project,allocation,amount_units,balance_units,charge_id,job,uid,actor,reason,request_id,first,corrects\r' ]]
	grep -qF '"first, ""grant"""' "$BATS_TEST_TMPDIR/once"
	grep -qE '^1,[0-9-]+T[0-9:]+Z,deposit,vision,1,360000000,' "$BATS_TEST_TMPDIR/once"
	budgetctl export journal --period "$this" -o json | jq -e '[.rows[].amount_units] | add == 432000000'
	budgetctl export journal --period "$this" -t hours | grep -qF ,100.000000,100.000000,
	budgetctl export journal --from "$this-01" --to tomorrow+1d --tz Asia/Tokyo | grep -qE '\+09:00,deposit'
	says 0 "2 rows in $file" export journal --period "$this" --file "$file"
	cmp "$file" "$BATS_TEST_TMPDIR/once"
	says 1 "cannot be written" export journal --period "$this" --file "$BATS_TEST_TMPDIR/no/such"
	alone_stop "$DIR"
	says 3 "budgetd is not running" export journal --period "$this" --file "$file.2"
	[[ -z $(compgen -G "$file.2*") ]]
}

@test "who is nobody in a project exports nothing of it" {
	chmod -R go+rX "$DIR"
	run as_nobody env "GPUBUDGET_CONF=$GPUBUDGET_CONF" "$BUILD/budgetctl/budgetctl" export jobs --period "$this" --project vision
	[[ $status == 4 && $output != *entry,* ]]
}

@test "month-close closes the month that is over and leaves its files, as often as it is run" {
	local months=$BATS_TEST_TMPDIR/months

	close() { MONTHS_DIR=$months BUDGETCTL=$BUILD/budgetctl/budgetctl bash "$BATS_TEST_DIRNAME/../../contrib/month-close"; }
	run close
	[[ $status == 1 && $output == *"cannot be closed yet"* && -z $(ls "$months") ]]
	budgetctl period close "$last" --force
	close && sha256sum "$months"/* >"$BATS_TEST_TMPDIR/sums"
	[[ $(wc -l <"$BATS_TEST_TMPDIR/sums") == 3 && -s $months/$last-statement.csv ]]
	budgetctl deposit vision 1 --reason "later"
	close && sha256sum -c --quiet "$BATS_TEST_TMPDIR/sums"
}
