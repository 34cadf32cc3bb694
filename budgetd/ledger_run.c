/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_run.c - the rows of runs; what they are charged is in ledger_run_charge.c. */
#include "budgetd/ledger_run.h"
#include "budgetd/ledger_sql.h"
#include <stdio.h>
#include <string.h>

#define RUN_COLUMNS \
	"r.id, r.cluster, r.job, r.submit, r.start, r.label, r.partition, r.admission, r.project, r.uid, r.tier, r.min_runtime," \
	" r.gpus, r.tres, r.price, r.covered_until, r.free_since, r.ended, r.state," \
	" coalesce((SELECT max(part_end) FROM charge WHERE run = r.id), r.start), r.lost_at," \
	" r.unprotected_at, r.unprotected_why, r.suspended," \
	/* an imported run has it in its parts alone */ \
	" r.suspended IS NOT NULL OR (r.import IS NOT NULL AND" \
	" EXISTS (SELECT 1 FROM charge WHERE run = r.id AND kind = 'suspended'))"

static void run_read(sqlite3_stmt *st, struct run *r)
{
	memset(r, 0, sizeof(*r));
	r->id = sql_col(st, 0);
	snprintf(r->cluster, sizeof(r->cluster), "%s", sql_text(st, 1));
	r->job = sql_col(st, 2);
	r->submit = sql_col(st, 3);
	r->start = sql_col(st, 4);
	snprintf(r->label, sizeof(r->label), "%s", sql_text(st, 5));
	snprintf(r->partition, sizeof(r->partition), "%s", sql_text(st, 6));
	r->admission = sql_col(st, 7);
	r->project = sql_col(st, 8);
	r->uid = sql_col(st, 9);
	r->tier = strcmp(sql_text(st, 10), "funded") == 0 ? TIER_FUNDED : TIER_FREE;
	r->min_runtime_s = sql_col(st, 11);
	r->gpus = sql_col(st, 12);
	snprintf(r->tres, sizeof(r->tres), "%s", sql_text(st, 13));
	r->price = sql_col(st, 14);
	r->covered_until = sql_col(st, 15);
	r->free_since = sql_col(st, 16);
	r->ended = sql_col(st, 17);
	snprintf(r->state, sizeof(r->state), "%s", sql_text(st, 18));
	r->charged_to = sql_col(st, 19);
	r->lost_at = sql_col(st, 20);
	r->unprotected_at = sql_col(st, 21);
	snprintf(r->unprotected_why, sizeof(r->unprotected_why), "%s", sql_text(st, 22));
	r->suspended_s = sql_col(st, 23);
	r->pauses_free = sql_col(st, 24);
}

int run_by_id(struct ledger *l, int64_t id, struct run *out, struct fault *why)
{
	static const char by_id_sql[] = "SELECT " RUN_COLUMNS " FROM run r WHERE r.id = ?";
	sqlite3_stmt *st = sql_bind(l, by_id_sql, why, "i", id);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		run_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

static int run_walk(struct ledger *l, sqlite3_stmt *st, run_fn each, void *arg, struct fault *why)
{
	struct run r;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		run_read(st, &r);
		if (each(&r, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int run_find(struct ledger *l, const char *cluster, int64_t job, int64_t submit, int64_t start,
	struct run *out, struct fault *why)
{
	static const char find_sql[] = "SELECT " RUN_COLUMNS
				       " FROM run r WHERE r.cluster = ? AND r.job = ? AND r.submit = ? AND r.start = ?";
	sqlite3_stmt *st = sql_bind(l, find_sql, why, "siii", cluster, job, submit, start);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		run_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int run_open(struct ledger *l, struct run *r, struct fault *why)
{
	static const char open_sql[] =
		"INSERT INTO run (cluster, job, submit, start, label, partition, admission, project, uid, tier, min_runtime, gpus, tres, price,"
		" covered_until, suspended) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const int64_t not_suspended = 0;
	struct run there;
	int rc = run_find(l, r->cluster, r->job, r->submit, r->start, &there, why);

	if (rc != 0) {
		if (rc == 1)
			*r = there;
		return rc;
	}
	if (sql_do(l, open_sql, why, "siiisspiisiisiip", r->cluster, r->job, r->submit, r->start, r->label,
		r->partition, r->admission ? &r->admission : NULL, r->project, r->uid, job_tier_name(r->tier),
		r->min_runtime_s, r->gpus, r->tres, r->price, r->covered_until,
		r->pauses_free ? &not_suspended : NULL) < 0)
		return -1;
	r->id = sql_last_id(l);
	return 0;
}

int run_update(struct ledger *l, const struct run *r, struct fault *why)
{
	static const char update_sql[] =
		"UPDATE run SET covered_until = ?, free_since = ?, gpus = ?, tres = ?, price = ?, suspended = ?"
		" WHERE id = ?";

	return sql_do(l, update_sql, why, "ipisipi", r->covered_until, r->free_since ? &r->free_since : NULL,
		r->gpus, r->tres, r->price, r->pauses_free ? &r->suspended_s : NULL, r->id);
}

int run_set_lost(struct ledger *l, int64_t run, int64_t at, struct fault *why)
{
	static const char lost_sql[] = "UPDATE run SET lost_at = ? WHERE id = ? AND ended IS NULL";

	return sql_do(l, lost_sql, why, "pi", at ? &at : NULL, run);
}

int run_walk_open(struct ledger *l, const char *cluster, run_fn each, void *arg, struct fault *why)
{
	static const char open_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE (?1 = '' OR r.cluster = ?1) AND r.ended IS NULL ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, open_sql, why, "s", cluster), each, arg, why);
}

int run_walk_job(struct ledger *l, int64_t job, run_fn each, void *arg, struct fault *why)
{
	static const char job_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE r.job = ? ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, job_sql, why, "i", job), each, arg, why);
}

#define TASKS_OF "(r.job = ?1 OR r.admission IN (SELECT id FROM admission WHERE job = ?1)) AND (?2 = '' OR r.label = ?2)"

int run_walk_tasks(struct ledger *l, int64_t job, const char *label, int64_t limit, run_fn each, void *arg,
	struct fault *why)
{
	static const char tasks_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE r.id IN (SELECT r.id FROM run r WHERE " TASKS_OF
		" ORDER BY r.start DESC, r.id DESC LIMIT ?3) ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, tasks_sql, why, "isi", job, label, limit), each, arg, why);
}

int run_sum_tasks(struct ledger *l, int64_t job, const char *label, int64_t *runs, amount_t *charged,
	struct fault *why)
{
	static const char runs_sql[] = "SELECT count(*) FROM run r WHERE " TASKS_OF,
		charged_sql[] = "SELECT coalesce(sum(c.units), 0) FROM run r JOIN charge c ON c.run = r.id WHERE " TASKS_OF;

	if (sql_int(l, runs, runs_sql, why, "is", job, label) != 1)
		return -1;
	return sql_int(l, charged, charged_sql, why, "is", job, label) == 1 ? 0 : -1;
}

int run_walk_admission(struct ledger *l, int64_t admission, run_fn each, void *arg, struct fault *why)
{
	static const char admission_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE r.id IN (SELECT run FROM hold WHERE admission = ?"
		" AND closed_at IS NULL AND run IS NOT NULL) ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, admission_sql, why, "i", admission), each, arg, why);
}

int ledger_all_seen(struct ledger *l, int64_t *out, struct fault *why)
{
	static const char seen_sql[] = "SELECT all_seen_at FROM look";

	*out = 0;
	return sql_int(l, out, seen_sql, why, "") < 0 ? -1 : 0;
}

int ledger_set_all_seen(struct ledger *l, int64_t at, struct fault *why)
{
	static const char set_sql[] =
		"INSERT INTO look (id, all_seen_at) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET all_seen_at = ?1";

	return sql_do(l, set_sql, why, "i", at);
}
