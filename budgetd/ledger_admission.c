/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_admission.c - answers to submissions, and which of them wait for money. */
#include "budgetd/ledger_admission.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ADMISSION_COLUMNS \
	"id, token, at, uid, project, tier, min_runtime, team_rank, gpus, tasks, per_task, job, seen, parked_at, insists," \
	" waits_at, waits_user, waits_behind, user_held_at, changing_at"

static const int64_t *nullable(const int64_t *v)
{
	return *v ? v : NULL;
}

static const int64_t *waits_user(const struct admission_row *a)
{
	return a->waits_at && a->waits_user != WAIT_ANYBODY ? &a->waits_user : NULL;
}

int admission_add(struct ledger *l, struct admission_row *a, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO admission (token, at, uid, project, tier, min_runtime, team_rank, gpus, tasks, per_task, job, insists, parked_at,"
		" waits_at, waits_user, waits_behind, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

	if (sql_do(l, add_sql, why, "siiisiiiiipipppps", a->token, a->at, a->uid, a->project,
		job_tier_name(a->tier), a->min_runtime_s, a->team_rank, a->gpus, a->tasks, a->per_task,
		nullable(&a->job), (int64_t)a->insists, nullable(&a->parked_at), nullable(&a->waits_at),
		waits_user(a), nullable(&a->waits_behind), a->request) < 0)
		return -1;
	a->id = sql_last_id(l);
	return 0;
}

static void admission_read(sqlite3_stmt *st, struct admission_row *a)
{
	memset(a, 0, sizeof(*a));
	a->id = sql_col(st, 0);
	snprintf(a->token, sizeof(a->token), "%s", sql_text(st, 1));
	a->at = sql_col(st, 2);
	a->uid = sql_col(st, 3);
	a->project = sql_col(st, 4);
	a->tier = strcmp(sql_text(st, 5), "funded") == 0 ? TIER_FUNDED : TIER_FREE;
	a->min_runtime_s = sql_col(st, 6);
	a->team_rank = sql_col(st, 7);
	a->gpus = sql_col(st, 8);
	a->tasks = sql_col(st, 9);
	a->per_task = sql_col(st, 10);
	a->job = sql_col(st, 11);
	snprintf(a->seen, sizeof(a->seen), "%s", sql_text(st, 12));
	a->parked_at = sql_col(st, 13);
	a->insists = sql_col(st, 14);
	a->waits_at = sql_col(st, 15);
	a->waits_user = sql_null(st, 16) ? WAIT_ANYBODY : sql_col(st, 16);
	a->waits_behind = sql_col(st, 17);
	a->user_held_at = sql_col(st, 18);
	a->changing_at = sql_col(st, 19);
}

static int admission_one(struct ledger *l, sqlite3_stmt *st, struct admission_row *a, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		admission_read(st, a);
		sqlite3_reset(st);
	}
	return rc;
}

int admission_by_token(struct ledger *l, const char *token, struct admission_row *out, struct fault *why)
{
	static const char by_token_sql[] = "SELECT " ADMISSION_COLUMNS " FROM admission WHERE token = ?";

	return admission_one(l, sql_bind(l, by_token_sql, why, "s", token), out, why);
}

int admission_by_id(struct ledger *l, int64_t id, struct admission_row *out, struct fault *why)
{
	static const char by_id_sql[] = "SELECT " ADMISSION_COLUMNS " FROM admission WHERE id = ?";

	return admission_one(l, sql_bind(l, by_id_sql, why, "i", id), out, why);
}

int admission_by_job(struct ledger *l, int64_t job, struct admission_row *out, struct fault *why)
{
	static const char by_job_sql[] =
		"SELECT " ADMISSION_COLUMNS " FROM admission WHERE job = ? ORDER BY id DESC LIMIT 1";

	return admission_one(l, sql_bind(l, by_job_sql, why, "i", job), out, why);
}

int admission_update(struct ledger *l, const struct admission_row *a, struct fault *why)
{
	static const char update_sql[] =
		"UPDATE admission SET project = ?, tier = ?, min_runtime = ?, team_rank = ?, gpus = ?, tasks = ?,"
		" per_task = ?, job = ?, parked_at = ?, waits_at = ?, waits_user = ?, waits_behind = ?, user_held_at = ?,"
		" changing_at = ?, seen = ? WHERE id = ?";

	return sql_do(l, update_sql, why, "isiiiiipppppppsi", a->project, job_tier_name(a->tier),
		a->min_runtime_s, a->team_rank, a->gpus, a->tasks, a->per_task, nullable(&a->job),
		nullable(&a->parked_at), nullable(&a->waits_at), waits_user(a), nullable(&a->waits_behind),
		nullable(&a->user_held_at), nullable(&a->changing_at), a->seen, a->id);
}

int admission_head(struct ledger *l, int64_t project, int64_t uid, struct admission_row *out,
	struct fault *why)
{
	static const char head_sql[] = "SELECT " ADMISSION_COLUMNS " FROM admission WHERE waits_at = ?"
				       " AND (waits_user IS NULL OR waits_user = ?) ORDER BY team_rank = 0, team_rank, at, id LIMIT 1";

	return admission_one(l, sql_bind(l, head_sql, why, "ii", project, uid), out, why);
}

int admission_walk_parked(struct ledger *l, admission_fn each, void *arg, struct fault *why)
{
	static const char parked_sql[] =
		"SELECT " ADMISSION_COLUMNS " FROM admission WHERE waits_at IS NOT NULL ORDER BY id";
	sqlite3_stmt *st = sql_bind(l, parked_sql, why, "");
	struct admission_row a;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		admission_read(st, &a);
		if (each(&a, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int admission_request(struct ledger *l, int64_t id, char **out, struct fault *why)
{
	static const char request_sql[] = "SELECT request FROM admission WHERE id = ?";
	sqlite3_stmt *st = sql_bind(l, request_sql, why, "i", id);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT, "there is no admission %jd", (intmax_t)id);
	*out = strdup(sql_text(st, 0));
	sqlite3_reset(st);
	return *out ? 0 : fault_errno(why, ENOMEM, "out of memory");
}

int admission_ask_anew(struct ledger *l, int64_t id, const char *request, struct fault *why)
{
	static const char ask_sql[] = "UPDATE admission SET request = ? WHERE id = ?";

	return sql_do(l, ask_sql, why, "si", request, id);
}

int admission_runs(struct ledger *l, int64_t admission, struct fault *why)
{
	static const char runs_sql[] =
		"SELECT EXISTS (SELECT 1 FROM hold WHERE admission = ? AND closed_at IS NULL AND run IS NOT NULL)";
	int64_t runs = 0;

	return sql_int(l, &runs, runs_sql, why, "i", admission) < 0 ? -1 : (int)runs;
}
