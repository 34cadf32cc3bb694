/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_cap.c - caps of users, and the running sums that they are held against (ledger_cap.h). */
#include "budgetd/ledger_cap.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- sums --------------------------------------------------------------------------------------- */

int user_sum_hold(struct ledger *l, int64_t allocation, int64_t hold, amount_t by, struct fault *why)
{
	static const char hold_sql[] =
		"INSERT INTO user_sum (allocation, uid, held) SELECT ?1, a.uid, ?3 FROM hold h"
		" JOIN admission a ON a.id = h.admission WHERE h.id = ?2"
		" ON CONFLICT (allocation, uid) DO UPDATE SET held = held + excluded.held";

	return sql_do(l, hold_sql, why, "iii", allocation, hold, by);
}

/* Refunded is at most what the charge took of this allocation and has not been given back yet: what goes into
 * another one than paid gives the user no more of that one. */
int user_sum_charge(struct ledger *l, int64_t allocation, int64_t charge, amount_t by, struct fault *why)
{
	static const char charge_sql[] =
		"INSERT INTO user_sum (allocation, uid, charged) SELECT ?1, r.uid, max(?3, min(0,"
		" (SELECT coalesce(sum(units), 0) FROM journal WHERE charge = ?2 AND allocation = ?1)))"
		" FROM charge c JOIN run r ON r.id = c.run WHERE c.id = ?2"
		" ON CONFLICT (allocation, uid) DO UPDATE SET charged = charged + excluded.charged";

	return sql_do(l, charge_sql, why, "iii", allocation, charge, by);
}

/* --- caps --------------------------------------------------------------------------------------- */

#define CAP_COLUMNS "c.project, c.uid, c.user, c.units, coalesce(sum(s.charged), 0), coalesce(sum(s.held), 0)"
#define CAP_TABLES \
	"cap c LEFT JOIN allocation a ON a.project = c.project AND a.starts <= ?1 AND (a.ends IS NULL OR ?1 < a.ends)" \
	" LEFT JOIN user_sum s ON s.allocation = a.id AND s.uid = c.uid"

static void cap_read(sqlite3_stmt *st, struct cap *c)
{
	memset(c, 0, sizeof(*c));
	c->project = sql_col(st, 0);
	c->uid = sql_col(st, 1);
	snprintf(c->user, sizeof(c->user), "%s", sql_text(st, 2));
	c->units = sql_col(st, 3);
	c->charged = sql_col(st, 4);
	c->held = sql_col(st, 5);
}

int cap_of(struct ledger *l, int64_t project, int64_t uid, int64_t now, struct cap *out, struct fault *why)
{
	static const char of_sql[] =
		"SELECT " CAP_COLUMNS " FROM " CAP_TABLES " WHERE c.project = ?2 AND c.uid = ?3 GROUP BY c.uid";
	sqlite3_stmt *st = sql_bind(l, of_sql, why, "iii", now, project, uid);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		cap_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int cap_walk(struct ledger *l, int64_t project, int64_t now, cap_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT " CAP_COLUMNS " FROM " CAP_TABLES " WHERE c.project = ?2 GROUP BY c.uid ORDER BY c.user";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "ii", now, project);
	struct cap c;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		cap_read(st, &c);
		if (each(&c, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int cap_user(struct ledger *l, int64_t project, const char *user, int64_t *uid, struct fault *why)
{
	static const char user_sql[] = "SELECT uid FROM cap WHERE project = ? AND user = ?";

	return sql_int(l, uid, user_sql, why, "is", project, user);
}

int cap_load(struct ledger *l, int64_t project, int64_t uid, int64_t now, struct budget_node *n,
	struct fault *why)
{
	struct cap c;
	int rc = cap_of(l, project, uid, now, &c, why);

	if (rc != 1)
		return rc;
	n->capped = true;
	n->cap = c.units;
	n->cap_charged = c.charged;
	n->cap_held = c.held;
	return 1;
}

static int check_metered(struct ledger *l, int64_t project, int64_t now, struct fault *why)
{
	static const char live_sql[] =
		"SELECT count(*) FROM allocation WHERE project = ? AND (ends IS NULL OR ends > ?)";
	int64_t n = 0;

	if (sql_int(l, &n, live_sql, why, "ii", project, now) < 0)
		return -1;
	return n ? 0 : fault_errno(why, EEXIST,
		"the project has no allocation of its own, so there is nothing to cap; set the cap at the project above "
		"it that has one, or make one: budgetctl allocation add");
}

int cap_set(struct ledger *l, const struct cap *c, int64_t now, struct fault *why)
{
	static const char set_sql[] = "INSERT INTO cap (project, uid, user, units) VALUES (?1, ?2, ?3, ?4)"
				      " ON CONFLICT (project, uid) DO UPDATE SET user = ?3, units = ?4";
	static const char remove_sql[] = "DELETE FROM cap WHERE project = ? AND uid = ?";

	if (c->units == CAP_NONE)
		return sql_do(l, remove_sql, why, "ii", c->project, c->uid);
	if (check_metered(l, c->project, now, why) < 0)
		return -1;
	return sql_do(l, set_sql, why, "iisi", c->project, c->uid, c->user, c->units);
}
