# SPDX-License-Identifier: GPL-2.0-or-later
# accounting.bash - the words of tests that compare budgetd's books with slurmdbd's rows
#
#   accounted NAME [KIND...]   a condition: every run of the job has ended, and for each its charges are together GPUs x time of
#                              slurmdbd's rows, to the second; with KINDs (funded free uncovered) they are just these, in order
#   charged_units NAME         what its charges cost
#   has_run NAME               a condition: for a second at least, so that it costs something
#   refused USER OPTION...     a submission must fail
#   cannot COMMAND...          must fail
#   books_are_right            the invariants that are promised in doc/, read from the database itself
#   no_crash                   no daemon and no step has dumped core or died of a signal
#   submissions_answered       how many questions were answered with a token so far

books() { sqlite3 -readonly "file:$CLUSTER_DIR/budgetd/budget.db?mode=ro" "$1"; }

# A row of a resized job counts Elapsed from the first start; what it is about begins at the resize, which is its Submit.
slurmdbd_rows()
{
	TZ=UTC SLURM_TIME_FORMAT=%s sacct -nPX --duplicates -S 1970-01-01 -j "$(job "$1")" \
		-o JobIDRaw,State,Submit,Start,End,ElapsedRaw,Suspended,AllocTRES
}

# GPU-seconds by job id: "12 3600"; fails while a run has no end. A job that was over in the second it began is not among them.
slurmdbd_gpu_seconds()
{
	slurmdbd_rows "$1" | awk -F'|' '
		function seconds(text,  n, part, days) {
			days = sub(/^[0-9]+-/, "", text) ? substr($7, 1, index($7, "-") - 1) : 0
			n = split(text, part, ":")
			return days * 86400 + (n == 3 ? part[1] * 3600 + part[2] * 60 + part[3] : part[1] * 60 + part[2])
		}
		$4 !~ /^[0-9]+$/ { next }			# it never started
		$5 !~ /^[0-9]+$/ { open = 1 }
		{
			gpus = match($8, /gres\/gpu=[0-9]+/) ? substr($8, RSTART + 9, RLENGTH - 9) : 0
			skipped = $3 > $4 ? $3 - $4 : 0
			used = $6 + seconds($7) - skipped	# cancelled before it began again: none
			sum[$1] += gpus * (used > 0 ? used : 0)
		}
		END { for (id in sum) if (sum[id]) print id, sum[id]; exit open }' | sort -n
}

charged_gpu_seconds()
{
	books "SELECT r.job || ' ' || sum(c.gpus * (c.part_end - c.part_start)) FROM charge c JOIN run r ON r.id = c.run
		WHERE r.job IN ($1) AND NOT EXISTS (SELECT 1 FROM run o WHERE o.job = r.job AND o.ended IS NULL)
		GROUP BY r.job HAVING sum(c.gpus * (c.part_end - c.part_start)) > 0 ORDER BY r.job"
}

has_run() { [[ $(job_field "$1" RunTime) != 00:00:00 ]]; }

ids_of() { slurmdbd_rows "$1" | cut -d'|' -f1 | sort -un | paste -sd,; }

accounted()
{
	local name=$1 recorded charged kinds ids

	shift
	ids=$(ids_of "$name")
	recorded=$(slurmdbd_gpu_seconds "$name") || { echo "slurmdbd: a run has no end" >&2; return 1; }
	[[ -n $ids ]] || { echo "slurmdbd has no run of $name" >&2; return 1; }
	charged=$(charged_gpu_seconds "$ids")
	kinds=$(books "SELECT c.kind FROM charge c JOIN run r ON r.id = c.run WHERE r.job IN ($ids) AND c.part_end > c.part_start
		ORDER BY r.start, r.job, c.part_start, c.seq" | paste -sd' ')
	[[ $recorded == "$charged" && ( $# == 0 || $kinds == "$*" ) ]] && return 0
	{ echo "slurmdbd: $(slurmdbd_rows "$name" | paste -sd';')"; echo "recorded: $recorded"; echo "charged:  $charged ($kinds)"; } >&2
	return 1
}

charged_units()
{
	books "SELECT coalesce(sum(c.units), 0) FROM charge c JOIN run r ON r.id = c.run WHERE r.job IN ($(ids_of "$1"))"
}

refused()
{
	local user=$1

	shift
	as "$user" submit refused "$@" || return 0
	{ echo "not refused: $*"; said; } >&2
	return 1
}

cannot()
{
	"$@" 2>/dev/null || return 0
	echo "should have failed: $*" >&2
	return 1
}

submissions_answered() { books "SELECT count(*) FROM admission"; }

# What each query gives is wrong. Held and charged by allocation are sums of rows; nothing is overdrawn; a run is charged once.
books_are_right()
{
	local wrong

	wrong=$(books "
		SELECT 'allocation ' || allocation || ' holds ' || held FROM allocation_sum s
			WHERE held <> (SELECT coalesce(sum(units), 0) FROM hold_draw d WHERE d.allocation = s.allocation);
		SELECT 'allocation ' || allocation || ' charged ' || charged FROM allocation_sum s
			WHERE charged <> (SELECT -coalesce(sum(units), 0) FROM journal j WHERE j.allocation = s.allocation AND kind = 'charge');
		SELECT 'allocation ' || s.allocation || ' is overdrawn' FROM allocation_sum s JOIN allocation a ON a.id = s.allocation
			JOIN project p ON p.id = a.project WHERE s.charged + s.held > s.amount + p.credit;
		SELECT 'hold ' || h.id || ' is closed and draws' FROM hold h JOIN hold_draw d ON d.hold = h.id WHERE closed_at IS NOT NULL;
		SELECT 'run ' || r.id || ' has a gap in its parts' FROM run r WHERE ended > start AND ended - start <>
			(SELECT coalesce(sum(part_end - part_start), 0) FROM charge c WHERE c.run = r.id);
		SELECT 'charge ' || c.id || ' has units ' || c.units FROM charge c JOIN run r ON r.id = c.run
			WHERE kind = 'funded' AND units <> (part_end - part_start) * c.gpus * 1000;")
	[[ -z $wrong ]] || { echo "$wrong" >&2; return 1; }
}

no_crash()
{
	local core

	core=$(find "$CLUSTER_DIR" -name 'core*' -type f 2>/dev/null)
	[[ -z $core ]] || { echo "core dumps: $core" >&2; return 1; }
	grep -hE 'killed by signal|Segmentation fault|AddressSanitizer|runtime error|Assertion' "$CLUSTER_DIR"/log/*.out >&2 || return 0
	return 1
}
