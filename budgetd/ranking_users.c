/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_users.c - who has a node below a project that is divided (ranking_users.h). */
#include "budgetd/ranking_users.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdlib.h>

int ranking_users_any(struct ledger *l, bool *out, struct fault *why)
{
	static const char any_sql[] = "SELECT EXISTS (SELECT 1 FROM project WHERE user_shares = 1)";
	int64_t any = 0;

	if (sql_int(l, &any, any_sql, why, "") < 0)
		return -1;
	*out = any != 0;
	return 0;
}

struct finding {
	const struct ranking_tree *t;
	struct tree_user *users;
	size_t count, room;
	bool failed;			/* out of memory */
};

static void add(struct finding *x, int64_t project, int64_t uid)
{
	ssize_t node = ranking_tree_node(x->t, project);

	if (node < 0 || !x->t->projects[node].divided || x->failed)
		return;
	if (x->count == x->room) {
		size_t room = x->room ? 2 * x->room : 64;
		struct tree_user *users = reallocarray(x->users, room, sizeof(*users));

		x->failed = !users;
		if (!users)
			return;
		x->users = users;
		x->room = room;
	}
	x->users[x->count++] = (struct tree_user){ .up = (size_t)node, .uid = uid };
}

static void add_used(int64_t project, int64_t uid, amount_t paid, amount_t unpaid, void *arg)
{
	if (paid || unpaid)
		add(arg, project, uid);
}

static void add_run(const struct open_use *run, void *arg)
{
	add(arg, run->project, run->uid);
}

/* Who has hours set aside, or waits for some. */
static int add_held(struct finding *x, struct ledger *l, struct fault *why)
{
	static const char held_sql[] =
		"SELECT a.project, a.uid FROM hold h INDEXED BY hold_open_by_admission JOIN admission a ON a.id = h.admission WHERE h.closed_at IS NULL"
		" UNION SELECT a.project, a.uid FROM admission a INDEXED BY admission_waits WHERE a.waits_at IS NOT NULL";
	sqlite3_stmt *st = sql_bind(l, held_sql, why, "");
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1)
		add(x, sql_col(st, 0), sql_col(st, 1));
	return rc;
}

static int by_project_and_uid(const void *a, const void *b)
{
	return tree_user_compare(a, b);
}

static size_t sort_and_merge(struct tree_user *users, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(users, count, sizeof(*users), by_project_and_uid);
	for (size_t i = 0; i < count; i++)
		if (!kept || tree_user_compare(&users[kept - 1], &users[i]))
			users[kept++] = users[i];
	return kept;
}

int ranking_users_find(struct ranking_tree *t, const struct occupancy *o, struct ledger *l,
	const struct project_user *waiting, size_t nwaiting, struct fault *why)
{
	struct finding x = { .t = t };
	int rc;

	if (!t->divides)
		return ranking_tree_divide(t, NULL, 0, why);
	occupancy_walk(o, add_used, &x);
	for (size_t i = 0; i < nwaiting; i++)
		add(&x, waiting[i].project, waiting[i].uid);
	rc = occupancy_walk_open(l, add_run, &x, why) < 0 ? -1 : add_held(&x, l, why);
	if (rc == 0 && x.failed)
		rc = fault_errno(why, ENOMEM, "out of memory for %zu users", x.count);
	if (rc == 0)
		rc = ranking_tree_divide(t, x.users, sort_and_merge(x.users, x.count), why);
	free(x.users);
	return rc;
}
