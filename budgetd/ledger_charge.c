/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_charge.c - lists of what was charged for runs (ledger_run.h). */
#include "budgetd/ledger_run.h"
#include "budgetd/ledger_sql.h"
#include <stdio.h>
#include <string.h>

static void charge_read(sqlite3_stmt *st, struct charge *c)
{
	memset(c, 0, sizeof(*c));
	c->id = sql_col(st, 0);
	c->run = sql_col(st, 1);
	c->at = sql_col(st, 2);
	c->project = sql_col(st, 3);
	snprintf(c->kind, sizeof(c->kind), "%s", sql_text(st, 4));
	c->part_start = sql_col(st, 5);
	c->part_end = sql_col(st, 6);
	c->gpus = sql_col(st, 7);
	c->units = sql_col(st, 8);
	snprintf(c->label, sizeof(c->label), "%s", sql_text(st, 9));
	snprintf(c->tres, sizeof(c->tres), "%s", sql_text(st, 10));
	c->uid = sql_col(st, 11);
	c->run_start = sql_col(st, 12);
}

int charge_walk(struct ledger *l, int64_t project, int64_t job, int64_t before, int64_t limit, charge_fn each,
	void *arg, struct fault *why)
{
#define CHARGE_COLUMNS \
	"c.id, c.run, c.at, c.project, c.kind, c.part_start, c.part_end, c.gpus, c.units, r.label," \
	" coalesce(c.tres, r.tres), r.uid, r.start"
	static const char walk_sql[] =
		"WITH RECURSIVE below(id) AS (SELECT id FROM project WHERE CASE WHEN ?1 = 0 THEN parent IS NULL ELSE id = ?1 END"
		" UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id)"
		"SELECT " CHARGE_COLUMNS " FROM charge c JOIN run r ON r.id = c.run WHERE c.project IN (SELECT id FROM below)"
		" AND c.id < ?2 ORDER BY c.id DESC LIMIT ?3";
	static const char job_sql[] =
		"SELECT " CHARGE_COLUMNS " FROM run r JOIN charge c ON c.run = r.id WHERE r.job = ?1 AND c.id < ?2"
		" ORDER BY c.id DESC LIMIT ?3";
	sqlite3_stmt *st = sql_bind(l, job ? job_sql : walk_sql, why, "iii", job ? job : project,
		before ? before : INT64_MAX, limit);
	struct charge c;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		charge_read(st, &c);
		if (each(&c, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
