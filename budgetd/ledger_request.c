/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_request.c - GPU-hours that a project asks for, and what was answered (ledger_request.h). */
#include "budgetd/ledger_request.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* of one project: nobody answers more, and a loop in a script fills no disk */
#define OPEN_MAX 100

#define REQUEST_COLUMNS \
	"q.id, q.at, q.project, q.units, q.actor, q.reason, q.request_id, q.decision, q.decided_at, q.decided_by, q.answer," \
	" q.decision_id, q.entry, j.units"
#define REQUEST_TABLES "request q LEFT JOIN journal j ON j.id = q.entry"

static void request_read(sqlite3_stmt *st, struct budget_request *r)
{
	memset(r, 0, sizeof(*r));
	r->id = sql_col(st, 0);
	r->at = sql_col(st, 1);
	r->project = sql_col(st, 2);
	r->units = sql_col(st, 3);
	snprintf(r->actor, sizeof(r->actor), "%s", sql_text(st, 4));
	snprintf(r->reason, sizeof(r->reason), "%s", sql_text(st, 5));
	snprintf(r->request_id, sizeof(r->request_id), "%s", sql_text(st, 6));
	snprintf(r->decision, sizeof(r->decision), "%s", sql_text(st, 7));
	r->decided_at = sql_col(st, 8);
	snprintf(r->decided_by, sizeof(r->decided_by), "%s", sql_text(st, 9));
	snprintf(r->answer, sizeof(r->answer), "%s", sql_text(st, 10));
	snprintf(r->decision_id, sizeof(r->decision_id), "%s", sql_text(st, 11));
	r->entry = sql_col(st, 12);
	r->granted = sql_col(st, 13);
}

static int request_one(struct ledger *l, sqlite3_stmt *st, struct budget_request *out, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		request_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int budget_request_by_id(struct ledger *l, int64_t id, struct budget_request *out, struct fault *why)
{
	static const char by_id_sql[] = "SELECT " REQUEST_COLUMNS " FROM " REQUEST_TABLES " WHERE q.id = ?";

	return request_one(l, sql_bind(l, by_id_sql, why, "i", id), out, why);
}

static int request_known(struct ledger *l, struct budget_request *r, struct fault *why)
{
	static const char known_sql[] =
		"SELECT " REQUEST_COLUMNS " FROM " REQUEST_TABLES " WHERE q.request_id = ?";

	return r->request_id[0] ? request_one(l, sql_bind(l, known_sql, why, "s", r->request_id), r, why) : 0;
}

int budget_request_add(struct ledger *l, struct budget_request *r, struct fault *why)
{
	static const char count_sql[] = "SELECT count(*) FROM request WHERE project = ? AND decision IS NULL";
	static const char add_sql[] =
		"INSERT INTO request (at, project, units, actor, reason, request_id) VALUES (?, ?, ?, ?, ?, ?)";
	int rc = request_known(l, r, why);
	int64_t open;

	if (rc != 0)
		return rc;
	if (sql_int(l, &open, count_sql, why, "i", r->project) < 0)
		return -1;
	if (open >= OPEN_MAX)
		return fault_errno(why, EEXIST, "%jd requests of this project wait for an answer already",
			(intmax_t)open);
	if (sql_do(l, add_sql, why, "iiisss", r->at, r->project, r->units, r->actor, r->reason,
		r->request_id[0] ? r->request_id : NULL) < 0)
		return -1;
	r->id = sql_last_id(l);
	return 0;
}

int budget_request_decide(struct ledger *l, const struct budget_request *r, struct fault *why)
{
	static const char decide_sql[] =
		"UPDATE request SET decision = ?, decided_at = ?, decided_by = ?, answer = ?, decision_id = ?, entry = ?"
		" WHERE id = ? AND decision IS NULL";

	if (sql_do(l, decide_sql, why, "sissspi", r->decision, r->decided_at, r->decided_by, r->answer,
		    r->decision_id[0] ? r->decision_id : NULL, r->entry ? &r->entry : NULL, r->id) < 0)
		return -1;
	return sql_changes(l) == 1 ? 0
		: fault_errno(why, EEXIST, "request %jd was decided before", (intmax_t)r->id);
}

int budget_request_walk(struct ledger *l, int64_t project, bool all, int64_t before, int64_t limit,
	budget_request_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"WITH RECURSIVE below(id) AS (SELECT id FROM project WHERE CASE WHEN ?1 = 0 THEN parent IS NULL ELSE id = ?1 END"
		" UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id)"
		"SELECT " REQUEST_COLUMNS " FROM " REQUEST_TABLES " WHERE q.project IN (SELECT id FROM below) AND q.id < ?2"
		" AND (?3 OR q.decision IS NULL) ORDER BY q.id DESC LIMIT ?4";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "iiii", project, before ? before : INT64_MAX,
		(int64_t)all, limit);
	struct budget_request r;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		request_read(st, &r);
		if (each(&r, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
