/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_rate.c - the dated rates of GPU types (ledger_rate.h). */
#include "budgetd/ledger_rate.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RATE_COLUMNS "id, at, gpu_type, valid_from, thousandths, actor, reason, request_id"

static void rate_read(sqlite3_stmt *st, struct rate_row *r)
{
	memset(r, 0, sizeof(*r));
	r->id = sql_col(st, 0);
	r->at = sql_col(st, 1);
	snprintf(r->rate.type, sizeof(r->rate.type), "%s", sql_text(st, 2));
	r->rate.valid_from = sql_col(st, 3);
	r->rate.thousandths = sql_col(st, 4);
	snprintf(r->actor, sizeof(r->actor), "%s", sql_text(st, 5));
	snprintf(r->reason, sizeof(r->reason), "%s", sql_text(st, 6));
	snprintf(r->request_id, sizeof(r->request_id), "%s", sql_text(st, 7));
}

static int rate_known(struct ledger *l, struct rate_row *r, struct fault *why)
{
	static const char known_sql[] = "SELECT " RATE_COLUMNS " FROM rate WHERE request_id = ?";
	sqlite3_stmt *st;
	int rc;

	if (!r->request_id[0])
		return 0;
	st = sql_bind(l, known_sql, why, "s", r->request_id);
	rc = st ? sql_step(l, st, why) : -1;
	if (rc == 1) {
		rate_read(st, r);
		sqlite3_reset(st);
	}
	return rc;
}

int rate_add(struct ledger *l, struct rate_row *r, int64_t now, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO rate (at, gpu_type, valid_from, thousandths, actor, reason, request_id)"
		" VALUES (?, ?, ?, ?, ?, ?, ?)";
	bool fraction = strcmp(r->rate.type, RATE_SHARD) == 0 || strcmp(r->rate.type, RATE_MPS) == 0;
	int rc = rate_known(l, r, why);

	if (rc != 0)
		return rc;
	if (r->rate.thousandths < !fraction || r->rate.thousandths > RATE_MAX)
		return fault_errno(why, EINVAL, "a rate is from %s to %d.000", fraction ? "0" : "0.001",
			RATE_MAX / 1000);
	if (r->rate.valid_from <= now)
		return fault_errno(why, EEXIST,
			"a rate is in force from the next second on at the earliest, not before now: what has started is priced already");
	if (sql_do(l, add_sql, why, "isiisss", r->at, r->rate.type, r->rate.valid_from, r->rate.thousandths,
		r->actor, r->reason, r->request_id[0] ? r->request_id : NULL) < 0)
		return -1;
	r->id = sql_last_id(l);
	return 0;
}

int rate_walk(struct ledger *l, rate_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] = "SELECT " RATE_COLUMNS " FROM rate ORDER BY id";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "");
	struct rate_row r;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		rate_read(st, &r);
		if (each(&r, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
