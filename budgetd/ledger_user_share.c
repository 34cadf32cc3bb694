/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_user_share.c - weights of users (ledger_user_share.h). */
#include "budgetd/ledger_user_share.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void user_share_read(sqlite3_stmt *st, struct user_share *s)
{
	memset(s, 0, sizeof(*s));
	s->project = sql_col(st, 0);
	s->uid = sql_col(st, 1);
	snprintf(s->user, sizeof(s->user), "%s", sql_text(st, 2));
	s->share = sql_col(st, 3);
}

/* 1, 0, -1. */
static int find(struct ledger *l, int64_t project, int64_t uid, struct user_share *out, struct fault *why)
{
	static const char of_sql[] =
		"SELECT project, uid, user, share FROM user_share WHERE project = ? AND uid = ?";
	sqlite3_stmt *st = sql_bind(l, of_sql, why, "ii", project, uid);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		user_share_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

static int check_leaf(struct ledger *l, int64_t project, struct fault *why)
{
	static const char below_sql[] =
		"SELECT count(*) FROM project WHERE parent = ? AND removed_at IS NULL";
	int64_t n = 0;

	if (sql_int(l, &n, below_sql, why, "i", project) < 0)
		return -1;
	return n ? fault_errno(why, EEXIST,
		"it has projects below it (%jd): users have weights in a leaf of the tree, where jobs are; set the weights of "
		"those projects instead (budgetctl share set PROJECT WEIGHT)", (intmax_t)n) : 0;
}

/* The name is that of the first time: the history finds its uid by it. */
static int write(struct ledger *l, struct change_words *w, const struct user_share *s,
	const struct user_share *was, struct fault *why)
{
	static const char set_sql[] =
		"INSERT INTO user_share (project, uid, user, share) VALUES (?1, ?2, ?3, ?4)"
		" ON CONFLICT (project, uid) DO UPDATE SET share = ?4";
	char from[32], to[32];
	struct change c = { .project = s->project, .what = "user_share", .user = was ? was->user : s->user,
		.was = was ? from : NULL, .became = to };

	snprintf(from, sizeof(from), "%" PRId64, was ? was->share : 0);
	snprintf(to, sizeof(to), "%" PRId64, s->share);
	return sql_do(l, set_sql, why, "iisi", s->project, s->uid, s->user, s->share) < 0 ? -1
		: change_add(l, w, &c, why);
}

int user_share_set(struct ledger *l, struct change_words *w, const struct user_share *s, struct fault *why)
{
	struct user_share there;
	int rc = check_leaf(l, s->project, why) < 0 ? -1 : find(l, s->project, s->uid, &there, why);

	return rc < 0 ? -1 : write(l, w, s, rc == 1 ? &there : NULL, why);
}

int user_shares_effective(struct ledger *l, const struct project *p, bool *out, struct fault *why)
{
	struct project up = *p;

	while (up.user_shares == USER_SHARES_INHERIT && up.parent)
		if (project_by_id(l, up.parent, &up, why) != 1)
			return -1;
	*out = up.user_shares == USER_SHARES_YES;
	return 0;
}

int user_share_walk(struct ledger *l, int64_t project, user_share_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT project, uid, user, share FROM user_share WHERE project = ? ORDER BY user";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "i", project);
	struct user_share s;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		user_share_read(st, &s);
		if (each(&s, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int user_share_uid(struct ledger *l, int64_t project, const char *user, int64_t *uid, struct fault *why)
{
	static const char user_sql[] =
		"SELECT uid FROM user_share WHERE project = ? AND user = ? ORDER BY uid LIMIT 1";

	return sql_int(l, uid, user_sql, why, "is", project, user);
}
