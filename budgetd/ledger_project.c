/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_project.c - the budget tree and its people. */
#include "budgetd/ledger_project.h"
#include "budgetd/ledger_sql.h"
#include "lib/nearest.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PROJECT_COLUMNS "p.id, p.name, p.parent, p.share, p.on_exhausted, p.credit, p.created_at, p.unmetered, p.user_shares"
#define AFTER_PROJECT 9			/* the first column behind those */

static const char *const policies[] = {
	[ON_EXHAUSTED_FREE] = "free", [ON_EXHAUSTED_REJECT] = "reject", [ON_EXHAUSTED_WAIT] = "wait",
};

const char *on_exhausted_name(enum on_exhausted policy)
{
	return policies[policy];
}

enum on_exhausted on_exhausted_of(const char *word)
{
	for (int i = ON_EXHAUSTED_FREE; word && i <= ON_EXHAUSTED_WAIT; i++)
		if (strcmp(word, policies[i]) == 0)
			return (enum on_exhausted)i;
	return ON_EXHAUSTED_INHERIT;
}

const char *user_shares_name(enum user_shares u)
{
	return u == USER_SHARES_INHERIT ? NULL : u == USER_SHARES_YES ? "yes" : "no";
}

static const char *const role_name[] = { [ROLE_NOBODY] = NULL, [ROLE_MEMBER] = "member",
	[ROLE_OWNER] = "owner" };

int project_name_normal(const char *name, char out[PROJECT_NAME_MAX], struct fault *why)
{
	size_t n = strlen(name);

	if (n == 0 || n >= PROJECT_NAME_MAX)
		return fault_errno(why, EINVAL, "the name of a project has 1 to %d characters, not %zu",
			PROJECT_NAME_MAX - 1, n);
	if (strchr(name, '/'))
		return fault_errno(why, EINVAL,
			"the name of a project has no /: \"%.80s\" would be a user below a project (budgetctl share set "
			"PROJECT/USER), and a project is named by its own name alone, however deep it stands",
			name);
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("_-.+@", name[i]))
			return fault_errno(why, EINVAL,
				"the name of a project is that of a Slurm account: letters, digits and "
				"_ - . + @, not character %zu of \"%.80s\"", i + 1, name);
	for (size_t i = 0; i <= n; i++)
		out[i] = (char)tolower((unsigned char)name[i]);
	return 0;
}

static void project_read(sqlite3_stmt *st, struct project *p)
{
	const char *policy = sql_text(st, 4);

	memset(p, 0, sizeof(*p));
	p->id = sql_col(st, 0);
	snprintf(p->name, sizeof(p->name), "%s", sql_text(st, 1));
	p->parent = sql_col(st, 2);
	p->share = sql_col(st, 3);
	p->on_exhausted = on_exhausted_of(policy);
	p->credit = sql_col(st, 5);
	p->created_at = sql_col(st, 6);
	p->unmetered = sql_col(st, 7);
	p->user_shares = sql_null(st, 8) ? USER_SHARES_INHERIT : sql_col(st, 8) ? USER_SHARES_YES
		: USER_SHARES_NO;
}

static int project_one(struct ledger *l, sqlite3_stmt *st, struct project *out, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		project_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

/* There is no such project: which was meant? A mistake is rare, and the names are few. */
static void say_unknown(struct ledger *l, const char *name, struct fault *why)
{
	static const char names_sql[] = "SELECT name FROM project WHERE removed_at IS NULL ORDER BY name";
	sqlite3_stmt *st = sql_bind(l, names_sql, NULL, "");
	char names[NEAREST_TEXT_MAX];
	struct nearest n;

	nearest_begin(&n, name);
	while (st && sql_step(l, st, NULL) == 1)
		nearest_offer(&n, sql_text(st, 0));
	if (n.count)
		fault_errno(why, ENOENT, "there is no project %s in the budget tree; did you mean %s?", name,
			nearest_text(&n, "", names));
	else
		fault_errno(why, ENOENT,
			"there is no project %s in the budget tree; `budgetctl project list` shows those there are",
			name);
}

int project_find(struct ledger *l, const char *name, struct project *out, struct fault *why)
{
	static const char find_sql[] = "SELECT "
		PROJECT_COLUMNS " FROM project p WHERE p.name = ? AND p.removed_at IS NULL";
	char normal[PROJECT_NAME_MAX];
	int rc;

	if (project_name_normal(name, normal, why) < 0)
		return -1;
	rc = project_one(l, sql_bind(l, find_sql, why, "s", normal), out, why);
	if (rc == 0)
		say_unknown(l, normal, why);
	return rc;
}

int project_find_removed(struct ledger *l, const char *name, struct project *out, struct fault *why)
{
	static const char removed_sql[] = "SELECT "
		PROJECT_COLUMNS " FROM project p WHERE p.name = ? AND p.removed_at IS NOT NULL"
		" ORDER BY p.removed_at DESC, p.id DESC LIMIT 1";
	char normal[PROJECT_NAME_MAX];

	return project_name_normal(name, normal, why) < 0 ? -1
		: project_one(l, sql_bind(l, removed_sql, why, "s", normal), out, why);
}

int project_by_id(struct ledger *l, int64_t id, struct project *out, struct fault *why)
{
	static const char by_id_sql[] = "SELECT " PROJECT_COLUMNS " FROM project p WHERE p.id = ?";

	return project_one(l, sql_bind(l, by_id_sql, why, "i", id), out, why);
}

int project_walk(struct ledger *l, int64_t below, project_fn each, void *arg, struct fault *why)
{
	/* The sort key is the path of names with a separator below every character of a name, so that
	 * children follow their parent. */
	static const char walk_sql[] =
		"WITH RECURSIVE walk(id, depth, key) AS ("
		" SELECT id, 0, name FROM project WHERE removed_at IS NULL AND CASE WHEN ?1 = 0 THEN parent IS NULL ELSE id = ?1 END"
		" UNION ALL SELECT c.id, w.depth + 1, w.key || char(1) || c.name FROM project c JOIN walk w ON c.parent = w.id"
		" WHERE c.removed_at IS NULL)"
		"SELECT " PROJECT_COLUMNS ", w.depth FROM walk w JOIN project p ON p.id = w.id ORDER BY w.key";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "i", below);
	struct project p;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		project_read(st, &p);
		if (each(&p, (int)sql_col(st, AFTER_PROJECT), arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int project_path_text(struct ledger *l, int64_t id, char *buf, size_t size, struct fault *why)
{
	static const char path_sql[] =
		"WITH RECURSIVE up(id, parent, path) AS (SELECT id, parent, name FROM project WHERE id = ?"
		" UNION ALL SELECT p.id, p.parent, p.name || '/' || up.path FROM project p JOIN up ON p.id = up.parent)"
		"SELECT path FROM up WHERE parent IS NULL";
	sqlite3_stmt *st = sql_bind(l, path_sql, why, "i", id);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		snprintf(buf, size, "%s", sql_text(st, 0));
		sqlite3_reset(st);
	}
	return rc < 0 ? -1 : 0;
}

static const int64_t *nullable(const int64_t *id)
{
	return *id ? id : NULL;
}

/* As the column has it; NULL is inherited. */
static const int64_t *divides(const struct project *p)
{
	static const int64_t no = 0, yes = 1;

	return p->user_shares == USER_SHARES_INHERIT ? NULL : p->user_shares == USER_SHARES_YES ? &yes : &no;
}

/* Projects of the longest way down from here, itself included. */
static int height(struct ledger *l, int64_t id, int64_t *out, struct fault *why)
{
	static const char height_sql[] =
		"WITH RECURSIVE down(id, depth) AS (SELECT ?, 1 UNION ALL SELECT p.id, down.depth + 1 FROM project p"
		" JOIN down ON p.parent = down.id WHERE p.removed_at IS NULL) SELECT max(depth) FROM down";

	return sql_int(l, out, height_sql, why, "i", id);
}

/* The parent must not be the project itself nor below it, and the tree must stay within the depth that
 * verdicts can walk. */
static int check_parent(struct ledger *l, const struct project *p, struct fault *why)
{
	struct project up;
	int64_t depth = 1;

	if (p->id && height(l, p->id, &depth, why) < 0)
		return -1;
	for (int64_t id = p->parent; id; id = up.parent) {
		if (id == p->id)
			return fault_errno(why, EINVAL, "%s cannot be moved below itself", p->name);
		if (++depth > BUDGET_DEPTH_MAX)
			return fault_errno(why, EINVAL, "the tree would be deeper than %d projects",
				BUDGET_DEPTH_MAX);
		if (project_by_id(l, id, &up, why) != 1)
			return -1;
	}
	return 0;
}

int project_add(struct ledger *l, struct project *p, int64_t now, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO project (name, parent, share, on_exhausted, credit, unmetered, created_at, user_shares) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
	struct project there;
	int rc = project_find(l, p->name, &there, NULL);

	if (rc == 1)
		return fault_errno(why, EEXIST,
			"there is a project %s already; `budgetctl project set` changes it", there.name);
	if (project_name_normal(p->name, p->name, why) < 0 || check_parent(l, p, why) < 0)
		return -1;
	if (sql_do(l, add_sql, why, "spisiiip", p->name, nullable(&p->parent), p->share,
		on_exhausted_name(p->on_exhausted), p->credit, (int64_t)p->unmetered, now, divides(p)) < 0)
		return -1;
	p->id = sql_last_id(l);
	p->created_at = now;
	return 0;
}

/* Credit that is in use cannot be taken away: charges and holds stay within deposits and credit, whatever the
 * project is to get later. */
static int check_credit(struct ledger *l, const struct project *p, struct fault *why)
{
	/* One by one: what another allocation has left can expire, and then the credit is what there is. */
	static const char lacks_sql[] =
		"SELECT coalesce((SELECT sum(max(s.charged + s.held - s.amount, 0)) FROM allocation_sum s JOIN allocation a"
		" ON a.id = s.allocation WHERE a.project = p.id), 0) FROM project p WHERE p.id = ?1 AND p.credit > ?2";
	char used[AMOUNT_TEXT_MAX];
	int64_t lacks = 0;

	if (sql_int(l, &lacks, lacks_sql, why, "ii", p->id, p->credit) < 0)
		return -1;
	if (lacks > p->credit)
		return fault_errno(why, EEXIST,
			"%s has %s GPU-h of its credit in use: the credit cannot be lower than that", p->name,
			amount_text(lacks, used));
	return 0;
}

int project_set(struct ledger *l, const struct project *p, struct fault *why)
{
	static const char set_sql[] =
		"UPDATE project SET parent = ?, share = ?, on_exhausted = ?, credit = ?, unmetered = ?, user_shares = ? WHERE id = ?";

	if (check_parent(l, p, why) < 0 || check_credit(l, p, why) < 0)
		return -1;
	return sql_do(l, set_sql, why, "pisiipi", nullable(&p->parent), p->share,
		on_exhausted_name(p->on_exhausted), p->credit, (int64_t)p->unmetered, divides(p), p->id);
}

int project_remove(struct ledger *l, int64_t id, int64_t now, struct fault *why)
{
	static const char children_sql[] =
		"SELECT count(*) FROM project WHERE parent = ? AND removed_at IS NULL";
	static const char holds_sql[] = "SELECT count(*) FROM hold WHERE project = ? AND closed_at IS NULL";
	static const char runs_sql[] = "SELECT count(*) FROM run WHERE project = ? AND ended IS NULL";
	static const char remove_sql[] = "UPDATE project SET removed_at = ? WHERE id = ?";
	static const char waiting_sql[] =
		"SELECT count(*) FROM admission WHERE project = ? AND parked_at IS NOT NULL";
	int64_t children, holds, runs, waiting;

	if (sql_int(l, &children, children_sql, why, "i", id) < 0 ||
		sql_int(l, &holds, holds_sql, why, "i", id) < 0 ||
		sql_int(l, &runs, runs_sql, why, "i", id) < 0 ||
		sql_int(l, &waiting, waiting_sql, why, "i", id) < 0)
		return -1;
	if (waiting)
		return fault_errno(why, EEXIST,
			"the project still has %jd jobs that wait for money, held; end those first, or let them run free by "
			"`budgetctl job set JOB --tier free`", (intmax_t)waiting);
	if (children || holds || runs)
		return fault_errno(why, EEXIST,
			"the project still has %jd projects below it, %jd open holds and %jd running jobs; "
			"remove or end those first", (intmax_t)children, (intmax_t)holds, (intmax_t)runs);
	return sql_do(l, remove_sql, why, "ii", now, id);
}

int member_set(struct ledger *l, int64_t project, const char *user, enum member_role role, struct fault *why)
{
	static const char set_sql[] = "INSERT INTO member (project, user, role) VALUES (?1, ?2, ?3)"
				      " ON CONFLICT (project, user) DO UPDATE SET role = ?3";
	static const char remove_sql[] = "DELETE FROM member WHERE project = ? AND user = ?";

	if (!*user || strlen(user) >= USER_NAME_MAX)
		return fault_errno(why, EINVAL, "a user name has 1 to %d characters", USER_NAME_MAX - 1);
	if (role == ROLE_NOBODY)
		return sql_do(l, remove_sql, why, "is", project, user);
	return sql_do(l, set_sql, why, "iss", project, user, role_name[role]);
}

int member_role_here(struct ledger *l, int64_t project, const char *user, enum member_role *out,
	struct fault *why)
{
	static const char here_sql[] =
		"SELECT CASE role WHEN 'owner' THEN 2 ELSE 1 END FROM member WHERE project = ? AND user = ?";
	int64_t role = ROLE_NOBODY;

	if (sql_int(l, &role, here_sql, why, "is", project, user) < 0)
		return -1;
	*out = (enum member_role)role;
	return 0;
}

int member_role(struct ledger *l, int64_t project, const char *user, enum member_role *out, struct fault *why)
{
	static const char role_sql[] =
		"WITH RECURSIVE up(id, parent) AS (SELECT id, parent FROM project WHERE id = ?1"
		" UNION ALL SELECT p.id, p.parent FROM project p JOIN up ON p.id = up.parent)"
		"SELECT max(CASE m.role WHEN 'owner' THEN 2 ELSE 1 END) FROM up JOIN member m ON m.project = up.id AND m.user = ?2";
	int64_t role = ROLE_NOBODY;

	if (sql_int(l, &role, role_sql, why, "is", project, user) < 0)
		return -1;
	*out = (enum member_role)role;
	return 0;
}

int member_walk(struct ledger *l, int64_t project, member_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] = "SELECT user, role FROM member WHERE project = ? ORDER BY user";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "i", project);
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		if (each(sql_text(st, 0), strcmp(sql_text(st, 1), "owner") == 0 ? ROLE_OWNER : ROLE_MEMBER,
			arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
