/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_guard.c - the gang whose nodes are being cleared, and who is kept off them (ledger_guard.h). */
#include "budgetd/ledger_guard.h"
#include "budgetd/ledger_sql.h"
#include <stdio.h>

int guard_load(struct ledger *l, struct guard *out, struct fault *why)
{
	static const char load_sql[] = "SELECT admission, at, nodes, together FROM guard WHERE nodes <> ''";
	sqlite3_stmt *st = sql_bind(l, load_sql, why, "");
	int rc = st ? sql_step(l, st, why) : -1;

	*out = (struct guard){0};
	if (rc != 1)
		return rc;
	out->admission = sql_col(st, 0);
	out->at = sql_col(st, 1);
	out->together = sql_col(st, 3);
	snprintf(out->nodes, sizeof(out->nodes), "%s", sql_text(st, 2));
	sqlite3_reset(st);
	return 1;
}

int guard_store(struct ledger *l, const struct guard *g, struct fault *why)
{
	static const char none_sql[] = "DELETE FROM guard WHERE nodes <> ''";
	static const char store_sql[] =
		"INSERT OR REPLACE INTO guard (admission, at, nodes, together) VALUES (?, ?, ?, ?)";

	if (sql_do(l, none_sql, why, "") < 0)
		return -1;
	return g->admission
		? sql_do(l, store_sql, why, "iisi", g->admission, g->at, g->nodes, (int64_t)g->together) : 0;
}

int guard_give_up(struct ledger *l, int64_t admission, int64_t now, int64_t forget, struct fault *why)
{
	static const char forget_sql[] = "DELETE FROM guard WHERE nodes = '' AND at < ?";
	static const char up_sql[] =
		"INSERT OR REPLACE INTO guard (admission, at, nodes, together) VALUES (?, ?, '', 0)";

	return sql_do(l, forget_sql, why, "i", forget) < 0 ? -1
		: sql_do(l, up_sql, why, "ii", admission, now);
}

int guard_given_up(struct ledger *l, int64_t admission, int64_t since, struct fault *why)
{
	static const char given_up_sql[] =
		"SELECT EXISTS (SELECT 1 FROM guard WHERE admission = ? AND nodes = '' AND at >= ?)";
	int64_t given_up = 0;

	return sql_int(l, &given_up, given_up_sql, why, "ii", admission, since) < 0 ? -1 : given_up != 0;
}

int kept_off_add(struct ledger *l, const struct kept_off *k, int64_t now, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO kept_off (admission, written, own, at, nowhere) VALUES (?, ?, ?, ?, ?)"
		" ON CONFLICT (admission, written) DO UPDATE SET at = excluded.at, nowhere = max(nowhere, excluded.nowhere)";

	return sql_do(l, add_sql, why, "issii", k->admission, k->written, k->own, now, (int64_t)k->nowhere);
}

int kept_off_walk(struct ledger *l, kept_off_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT admission, written, own, nowhere FROM kept_off ORDER BY admission, written";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "");
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		const struct kept_off k = { sql_col(st, 0), sql_text(st, 1), sql_text(st, 2),
			sql_col(st, 3) };

		if (each(&k, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int kept_off_drop(struct ledger *l, int64_t admission, struct fault *why)
{
	static const char drop_sql[] =
		"DELETE FROM kept_off WHERE admission = ? AND NOT EXISTS (SELECT 1 FROM run r WHERE r.admission = kept_off.admission AND r.ended IS NULL)";

	return sql_do(l, drop_sql, why, "i", admission);
}
