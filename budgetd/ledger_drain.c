/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_drain.c - nodes that an administrator wants empty (ledger_drain.h). */
#include "budgetd/ledger_drain.h"
#include "budgetd/ledger_sql.h"
#include <stdio.h>
#include <string.h>

#define DRAIN_COLUMNS "id, at, node, actor, reason, critical, set_at, ended_at"

static void drain_read(sqlite3_stmt *st, struct drain *d)
{
	*d = (struct drain){ .id = sql_col(st, 0), .at = sql_col(st, 1), .critical = sql_col(st, 5),
		.set_at = sql_col(st, 6), .ended_at = sql_col(st, 7) };
	snprintf(d->node, sizeof(d->node), "%s", sql_text(st, 2));
	snprintf(d->actor, sizeof(d->actor), "%s", sql_text(st, 3));
	snprintf(d->reason, sizeof(d->reason), "%s", sql_text(st, 4));
}

int drain_of(struct ledger *l, const char *node, struct drain *out, struct fault *why)
{
	static const char of_sql[] =
		"SELECT " DRAIN_COLUMNS " FROM drain WHERE node = ? ORDER BY id DESC LIMIT 1";
	sqlite3_stmt *st = sql_bind(l, of_sql, why, "s", node);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		drain_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int drain_add(struct ledger *l, struct drain *d, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO drain (at, node, actor, reason, critical) VALUES (?, ?, ?, ?, ?)";
	static const char again_sql[] =
		"UPDATE drain SET reason = ?, actor = ?, critical = max(critical, ?), set_at = NULL WHERE id = ?";
	struct drain open;
	int rc = drain_of(l, d->node, &open, why);

	if (rc < 0)
		return -1;
	if (rc == 1 && !open.ended_at) {
		if (sql_do(l, again_sql, why, "ssii", d->reason, d->actor, (int64_t)d->critical, open.id) < 0)
			return -1;
		return drain_of(l, d->node, d, why) < 0 ? -1 : 1;
	}
	if (sql_do(l, add_sql, why, "isssi", d->at, d->node, d->actor, d->reason, (int64_t)d->critical) < 0)
		return -1;
	d->id = sql_last_id(l);
	return 0;
}

int drain_set(struct ledger *l, int64_t id, int64_t at, struct fault *why)
{
	static const char set_sql[] = "UPDATE drain SET set_at = ? WHERE id = ?";

	return sql_do(l, set_sql, why, "ii", at, id);
}

int drain_end(struct ledger *l, int64_t id, const char *by, int64_t at, struct fault *why)
{
	static const char end_sql[] =
		"UPDATE drain SET ended_at = ?, ended_by = ? WHERE id = ? AND ended_at IS NULL";

	return sql_do(l, end_sql, why, "isi", at, by, id);
}

int drain_walk_open(struct ledger *l, drain_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT " DRAIN_COLUMNS " FROM drain WHERE ended_at IS NULL ORDER BY node";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "");
	struct drain d;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		drain_read(st, &d);
		if (each(&d, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

const char *drain_text(const struct drain *d, char buf[static DRAIN_TEXT_MAX])
{
	snprintf(buf, DRAIN_TEXT_MAX, "gpubudget: %s (%s)", d->reason, d->actor);
	return buf;
}
