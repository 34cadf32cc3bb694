/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_demand.c - what jobs asked for, out of charges, runs and holds (ledger_demand.h). */
#include "budgetd/ledger_demand.h"
#include "budgetd/ledger_sql.h"

#define LIMIT ADMISSION_LIMIT

static const char demand_sql[] =
	/* the hold was taken as the job became eligible, of one that was requeued once more; slurmctld notes
	 * the submission after the verdict */
	"WITH opened(admission, at) AS MATERIALIZED (SELECT admission, opened_at FROM hold WHERE id >= ?4),"
	/* runs that ended, with what of them lies in the window; read in the order in which they were
	 * charged, which is that of the file */
	" paid(run, project, price, units) AS MATERIALIZED (SELECT c.run, c.project, max(c.price),"
	" sum((c.part_end - max(c.part_start, ?1)) * c.price) FROM charge c NOT INDEXED WHERE c.id >= ?5"
	" AND c.part_end > ?1 AND c.part_end > c.part_start AND c.kind IN ('funded', 'imported') GROUP BY c.run, c.project)"
	"SELECT x.project, coalesce(min(o.at), iif(r.admission IS NOT NULL AND r.submit <= ?1, ?1, r.start)) AS since, x.price, x.units, r.uid"
	" FROM paid x CROSS JOIN run r ON r.id = x.run LEFT JOIN opened o ON o.admission = r.admission AND o.at BETWEEN r.submit - 5 AND r.start"
	" WHERE r.ended IS NOT NULL GROUP BY x.run, x.project"
	/* runs that go on; one that is free by now asked for what its hold covered */
	" UNION ALL SELECT r.project, coalesce((SELECT min(h.opened_at) FROM hold h INDEXED BY hold_open_by_admission"
	"  WHERE h.admission = r.admission AND h.closed_at IS NULL AND h.opened_at BETWEEN r.submit - 5 AND r.start), r.start), r.price,"
	" r.price * CASE WHEN r.free_since IS NOT NULL THEN r.covered_until - r.start"
	" ELSE max(r.covered_until - r.start, coalesce(" LIMIT ", r.min_runtime)) END, r.uid"
	" FROM run r INDEXED BY run_open JOIN admission a ON a.id = r.admission WHERE r.ended IS NULL AND r.tier = 'funded'"
	/* tasks that wait and have their hours; the price of one a second is what its hold says */
	" UNION ALL SELECT h.project, h.opened_at, h.tasks * (a.per_task / iif(?3, coalesce(" LIMIT ", a.min_runtime), a.min_runtime)),"
	" h.tasks * (a.per_task / iif(?3, coalesce(" LIMIT ", a.min_runtime), a.min_runtime)) * coalesce(" LIMIT ", a.min_runtime), a.uid"
	" FROM hold h INDEXED BY hold_open_by_admission JOIN admission a ON a.id = h.admission"
	" WHERE h.closed_at IS NULL AND h.run IS NULL AND h.opened_at < ?2 AND a.min_runtime > 0"
	" ORDER BY since";

#define CLOCK_MARGIN_S 86400		/* a clock that was put back by less than that leaves nothing out */

/* The first row that may have been written in the window: they are numbered as they are written, and an index
 * over all holds would be written by every submission. `back_sql` gives id and time from the newest back. */
static int first_since(struct ledger *l, const char *back_sql, int64_t from, int64_t *out, struct fault *why)
{
	sqlite3_stmt *st = sql_bind(l, back_sql, why, "");
	int rc = -1;

	*out = INT64_MAX;
	while (st && (rc = sql_step(l, st, why)) == 1) {
		if (sql_col(st, 1) <= from - CLOCK_MARGIN_S) {
			sqlite3_reset(st);
			return 0;
		}
		*out = sql_col(st, 0);
	}
	return rc;
}

int demand_walk(struct ledger *l, int64_t from, int64_t now, bool holds_limit, demand_fn each, void *arg,
	struct fault *why)
{
	static const char holds_sql[] = "SELECT id, opened_at FROM hold ORDER BY id DESC",
		charges_sql[] = "SELECT id, at FROM charge ORDER BY id DESC";
	int64_t first_hold, first_charge;
	sqlite3_stmt *st;
	int rc = -1;

	if (first_since(l, holds_sql, from, &first_hold, why) < 0 ||
		first_since(l, charges_sql, from, &first_charge, why) < 0)
		return -1;
	st = sql_bind(l, demand_sql, why, "iiiii", from, now, (int64_t)holds_limit, first_hold, first_charge);
	while (st && (rc = sql_step(l, st, why)) == 1) {
		struct demand d = { .from = sql_col(st, 1), .rate = sql_col(st, 2), .units = sql_col(st, 3) };

		if (each(sql_col(st, 0), sql_col(st, 4), &d, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
