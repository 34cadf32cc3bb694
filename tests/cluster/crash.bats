# SPDX-License-Identifier: GPL-2.0-or-later
# budgetd is killed (kill -9) at random moments of a busy history: the books are sound each time, and when it is back they say of every run
# what slurmdbd says, to the second. CRASH_SEED repeats a history, KILLS_BUDGETD says how often.
# time: 150 s
# full: 1500 s
load cluster
load accounting
load history

: "${KILLS_BUDGETD:=20${CHECK_FULL:+0}}" "${CRASH_SEED:=$RANDOM}"
export CRASH_SEED

setup_file()	{ cluster_up && deposit vision 1000 && deposit speech 1; }
teardown_file()	{ cluster_down; }
teardown()	{ no_crash; }

DATABASE() { echo "$CLUSTER_DIR/budgetd/budget.db"; }

verified() { budgetctl verify "$@" >"$BATS_TEST_TMPDIR/verify" 2>&1 || { cat "$BATS_TEST_TMPDIR/verify" >&2; return 1; }; }

# kill_budgetd N: every second time within a transaction. What it was at is told.
kill_budgetd()
{
	local pid changes inside

	pid=$(cluster_pid budgetd)
	perl "$CLUSTER_LIB/strike.perl" "$pid" "$(DATABASE)" "$(printf '%d.%03d' 0 $((RANDOM % 1000)))" $(($1 % 2)) >"$BATS_TEST_TMPDIR/struck"
	read -r changes inside <"$BATS_TEST_TMPDIR/struck"
	transactions=$((transactions + changes)) hit=$((hit + inside))
	echo "kill $1: after $changes transactions, $inside of them open"
	eventually is_gone "$pid"
}

@test "budgetd killed $KILLS_BUDGETD times in a busy history: sound books each time, and each run charged to slurmdbd's second" {
	local n struck transactions=0 hit=0

	echo "CRASH_SEED=$CRASH_SEED repeats this history"
	RANDOM=$CRASH_SEED
	history_begin "$CRASH_SEED"
	for ((n = 1; n <= KILLS_BUDGETD; n++)); do
		kill_budgetd $n
		struck=$(date +%s)
		verified "$(DATABASE)"
		cluster_start budgetd
		eventually accounts_agree "$struck"
		verified
		echo "kill $n: all is right again $(($(date +%s) - struck)) s later"
	done
	history_end
	eventually accounts_agree
	eventually balance_is vision "held=0.00"
	books_are_right
	verified
	money_is_right
	echo "$transactions transactions before the kills, $hit of $KILLS_BUDGETD kills within one"
	((transactions >= 10 * KILLS_BUDGETD && hit >= KILLS_BUDGETD / 2))
}
