# SPDX-License-Identifier: GPL-2.0-or-later
# Daemons are killed (kill -9) at random moments of a busy history: the books are sound each time, and in the end they say of every run what
# slurmdbd says, to the second. CRASH_SEED repeats a history; KILLS_BUDGETD and KILLS_SLURMCTLD say how often.
# time: 300 s
# full: 2400 s
load cluster
load accounting
load history

: "${KILLS_BUDGETD:=20${CHECK_FULL:+0}}" "${KILLS_SLURMCTLD:=5${CHECK_FULL:+0}}" "${CRASH_SEED:=$RANDOM}"
export CRASH_SEED
AGREE_EVERY=5			# kills: the more runs slurmdbd has, the longer it takes to compare them all

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

# All differences are repaired but those of runs that slurmdbd has no row of.
repaired()
{
	local told

	budgetctl check --repair --reason "after the kills" >"$BATS_TEST_TMPDIR/repair" 2>&1 || true
	told=$(budgetctl check -o json) || true
	[[ $(jq -r '[.rows[].difference] | unique - ["unknown"] | join(" ")' <<<"$told") == "" ]] || { cat "$BATS_TEST_TMPDIR/repair"; budgetctl check; return 1; }
}

# settled TIME: as accounts_agree. What goes on to differ is where Slurm contradicts itself: it told slurmdbd one end of a run and shows another.
# A check finds that and puts it right; how often it had to is counted.
settled()
{
	eventually accounts_agree "$1" && return
	repaired && accounts_agree "$1" && mended=$((mended + 1))
}

@test "budgetd killed $KILLS_BUDGETD times in a busy history: sound books each time, and each run charged to slurmdbd's second" {
	local n struck transactions=0 hit=0 mended=0

	echo "CRASH_SEED=$CRASH_SEED repeats this history"
	RANDOM=$CRASH_SEED
	history_begin "$CRASH_SEED"
	for ((n = 1; n <= KILLS_BUDGETD; n++)); do
		kill_budgetd $n
		struck=$(date +%s)
		verified "$(DATABASE)"
		cluster_start budgetd
		((n % AGREE_EVERY == 0)) || continue
		settled "$struck"
		verified
		echo "kill $n: all is right again $(($(date +%s) - struck)) s later"
	done
	history_end
	settled "$(date +%s)"
	eventually repaired
	eventually balance_is vision "held=0.00"
	books_are_right
	verified
	money_is_right
	echo "$transactions transactions before the kills, $hit of $KILLS_BUDGETD kills within one; $mended runs by a check"
	((mended <= 1 + KILLS_BUDGETD / 50 && transactions >= 10 * KILLS_BUDGETD && hit >= KILLS_BUDGETD / 2))
}

open_runs() { books "SELECT label || ' ' || start FROM run WHERE ended IS NULL AND ${1:-1} ORDER BY id"; }
nobody_runs() { [[ -z $(open_runs "$@") ]] || { open_runs "$@" >&2; return 1; }; }

# A slurmctld that is killed forgets its last seconds: it writes its state down every five. A job that had started then waits again, and its
# row in slurmdbd gets another start or end; one that was new is gone. What no side knows any more, an administrator has to say.
forgotten_runs_end()
{
	local label start

	sacctmgr -i show runawayjobs >"$BATS_TEST_TMPDIR/runaway" 2>&1 || true
	while read -r label start; do
		budgetctl run end "$label" --at "$(date -u -d "@$start" +%FT%TZ)" --reason "slurmctld forgot it" >>"$BATS_TEST_TMPDIR/runaway" 2>&1 || true
	done < <(open_runs)
}

@test "slurmctld killed $KILLS_SLURMCTLD times in a busy history: sound books each time, and what it forgot is put right by a check" {
	local n pid

	echo "CRASH_SEED=$CRASH_SEED repeats this history"
	RANDOM=$CRASH_SEED
	history_begin $((CRASH_SEED + 10))
	for ((n = 1; n <= KILLS_SLURMCTLD; n++)); do
		pid=$(cluster_pid slurmctld)
		perl -e 'select undef, undef, undef, shift; kill "KILL", shift or die "no such process\n"' "$(printf '%d.%03d' $((RANDOM % 4)) $((RANDOM % 1000)))" "$pid"
		eventually is_gone "$pid"
		cluster_start slurmctld
		verified
	done
	history_end
	eventually nobody_runs "lost_at IS NULL"		# budgetd has noticed that they are gone
	forgotten_runs_end
	eventually nobody_runs
	eventually repaired
	eventually balance_is vision "held=0.00"
	verified
	money_is_right
	budgetctl check -o json | jq -r '"\(.rows | length) runs that slurmdbd has no row of"'
	cat "$BATS_TEST_TMPDIR/repair"
}
