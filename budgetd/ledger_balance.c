/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_balance.c - balances over time, out of the journal (ledger_balance.h). */
#include "budgetd/ledger_balance.h"
#include "budgetd/ledger_sql.h"

#define LIVE "project = ?1 AND starts <= ?2 AND (ends IS NULL OR ends > ?2)"

int balance_walk(struct ledger *l, int64_t project, int64_t now, int64_t from, int64_t step_s, balance_fn each,
	void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT CASE WHEN at < ?3 THEN -1 ELSE (at - ?3) / ?4 END AS step, sum(units) FROM journal INDEXED BY journal_by_project"
		" WHERE project = ?1 AND allocation IN (SELECT id FROM allocation WHERE " LIVE ") GROUP BY step ORDER BY step";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "iiii", project, now, from, step_s);
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		if (each(sql_col(st, 0), sql_col(st, 1), arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int balance_span(struct ledger *l, int64_t project, int64_t now, int64_t *starts, int64_t *ends,
	struct fault *why)
{
	static const char span_sql[] =
		"SELECT coalesce(min(starts), 0), CASE WHEN count(*) = count(ends) THEN coalesce(max(ends), 0) ELSE 0 END"
		" FROM allocation WHERE " LIVE;
	sqlite3_stmt *st = sql_bind(l, span_sql, why, "ii", project, now);

	if (!st || sql_step(l, st, why) != 1)
		return -1;
	*starts = sql_col(st, 0);
	*ends = sql_col(st, 1);
	sqlite3_reset(st);
	return 0;
}
