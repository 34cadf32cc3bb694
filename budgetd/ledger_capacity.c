/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_capacity.c - what the healthy GPUs were worth over time (ledger_capacity.h). */
#include "budgetd/ledger_capacity.h"
#include "budgetd/ledger_sql.h"

int capacity_last(struct ledger *l, amount_t *out, struct fault *why)
{
	static const char last_sql[] = "SELECT units FROM capacity ORDER BY id DESC LIMIT 1";

	return sql_int(l, out, last_sql, why, "");
}

int capacity_add(struct ledger *l, int64_t at, amount_t units, struct fault *why)
{
	static const char add_sql[] = "INSERT INTO capacity (at, units) VALUES (?, ?)";

	return sql_do(l, add_sql, why, "ii", at, units);
}

int capacity_walk(struct ledger *l, int64_t from, int64_t to, capacity_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT at, units FROM capacity WHERE at >= coalesce((SELECT max(at) FROM capacity WHERE at <= ?1), 0)"
		" AND at <= ?2 ORDER BY at, id";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "ii", from, to);
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		if (each(sql_col(st, 0), sql_col(st, 1), arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
