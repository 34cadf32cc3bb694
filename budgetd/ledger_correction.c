/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_correction.c - runs with what was made of them, and what Slurm says of them otherwise (ledger_correction.h). */
#include "budgetd/ledger_correction.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- lists -------------------------------------------------------------------------------------- */

#define CORRECTION_COLUMNS "id, at, run, kind, ended, gpu_seconds, tier, project, refunded, actor, reason, request_id"

static void correction_read(sqlite3_stmt *st, struct correction *c)
{
	memset(c, 0, sizeof(*c));
	c->id = sql_col(st, 0);
	c->at = sql_col(st, 1);
	c->run = sql_col(st, 2);
	snprintf(c->kind, sizeof(c->kind), "%s", sql_text(st, 3));
	c->ended = sql_col(st, 4);
	c->gpu_seconds = sql_col(st, 5);
	c->tier = strcmp(sql_text(st, 6), "funded") == 0 ? TIER_FUNDED : TIER_FREE;
	c->project = sql_col(st, 7);
	c->refunded = sql_col(st, 8);
	snprintf(c->actor, sizeof(c->actor), "%s", sql_text(st, 9));
	snprintf(c->reason, sizeof(c->reason), "%s", sql_text(st, 10));
	snprintf(c->request_id, sizeof(c->request_id), "%s", sql_text(st, 11));
}

static int correction_one(struct ledger *l, sqlite3_stmt *st, struct correction *out, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		correction_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

static int last_correction(struct ledger *l, int64_t run, struct correction *out, struct fault *why)
{
	static const char last_sql[] = "SELECT " CORRECTION_COLUMNS " FROM correction WHERE run = ? ORDER BY id DESC LIMIT 1";

	return correction_one(l, sql_bind(l, last_sql, why, "i", run), out, why);
}

static int add_up(struct ledger *l, struct run_account *a, struct fault *why)
{
	static const char parts_sql[] = "SELECT coalesce(sum((part_end - part_start) * CASE WHEN gpus > 0 THEN gpus ELSE 1 END), 0) FROM charge"
					" WHERE run = ?";
	static const char charged_sql[] = "SELECT coalesce(sum(units), 0) FROM charge WHERE run = ?";
	static const char refunded_sql[] = "SELECT coalesce(sum(j.units), 0) FROM charge c JOIN journal j ON j.charge = c.id"
					   " WHERE c.run = ? AND j.kind = 'refund' AND j.project = c.project";
	static const char held_sql[] = "SELECT coalesce(sum(units), 0) FROM hold WHERE run = ? AND closed_at IS NULL";
	int64_t id = a->run.id;

	if (sql_int(l, &a->gpu_seconds, parts_sql, why, "i", id) < 0 || sql_int(l, &a->charged, charged_sql, why, "i", id) < 0 ||
		sql_int(l, &a->refunded, refunded_sql, why, "i", id) < 0 || sql_int(l, &a->held, held_sql, why, "i", id) < 0)
		return -1;
	return last_correction(l, id, &a->last, why) < 0 ? -1 : 0;
}

/* The runs of a list, by id, at most `max`; how many, or -1. They are read one by one, so that the columns of a run are named in one place. */
static int list_runs(struct ledger *l, const struct run_question *q, int64_t *ids, int64_t max, struct fault *why)
{
	static const char list_sql[] =
		"WITH RECURSIVE below(id) AS (SELECT id FROM project WHERE CASE WHEN ?1 = 0 THEN parent IS NULL ELSE id = ?1 END"
		" UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id)"
		"SELECT r.id FROM run r WHERE r.id < ?2 AND (?3 = 0 OR r.job = ?3) AND (r.ended IS NULL OR (NOT ?4 AND r.ended > ?5))"
		" AND r.project IN (SELECT id FROM below) ORDER BY r.id DESC LIMIT ?6";
	sqlite3_stmt *st = sql_bind(l, list_sql, why, "iiiiii", q->project, q->before ? q->before : INT64_MAX, q->job, (int64_t)q->open,
		q->since, max);
	int n = 0, rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1)
		ids[n++] = sql_col(st, 0);
	return rc < 0 ? -1 : n;
}

int run_account_walk(struct ledger *l, const struct run_question *q, run_account_fn each, void *arg, struct fault *why)
{
	int64_t ids[RUN_LIST_MAX];
	int n = list_runs(l, q, ids, q->limit < RUN_LIST_MAX ? q->limit : RUN_LIST_MAX, why);

	for (int i = 0; i < n; i++) {
		struct run_account a = {0};

		if (run_by_id(l, ids[i], &a.run, why) != 1 || add_up(l, &a, why) < 0 || each(&a, arg) < 0)
			return -1;
	}
	return n < 0 ? -1 : 0;
}
