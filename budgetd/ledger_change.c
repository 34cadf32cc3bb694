/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_change.c - the history of settings and terms (ledger_change.h). */
#include "budgetd/ledger_change.h"
#include "budgetd/ledger_sql.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int change_add(struct ledger *l, struct change_words *w, const struct change *c, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO change (at, project, allocation, what, user, was, became, actor, reason, request_id, first)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	bool first = w->first == 0;

	if (same(c->was, c->became))
		return 0;
	if (sql_do(l, add_sql, why, "iipsssssssp", w->at, c->project, c->allocation ? &c->allocation : NULL,
		c->what, c->user, c->was, c->became, w->actor, w->reason,
		first && w->request_id[0] ? w->request_id : NULL, first ? NULL : &w->first) < 0)
		return -1;
	if (first)
		w->first = sql_last_id(l);
	return 0;
}

int change_number(struct ledger *l, struct change_words *w, const struct change *of, int64_t was,
	int64_t became, struct fault *why)
{
	char from[32], to[32];
	struct change c = *of;

	snprintf(from, sizeof(from), "%" PRId64, was);
	snprintf(to, sizeof(to), "%" PRId64, became);
	c.was = from;
	c.became = to;
	return change_add(l, w, &c, why);
}

/* --- what can be changed ------------------------------------------------------------------------ */

#define VALUE_MAX 320

/* A value as text; false when there is none. */
typedef bool (*value_fn)(struct ledger *l, const void *of, char out[VALUE_MAX]);

static bool number_text(int64_t n, char out[VALUE_MAX])
{
	snprintf(out, VALUE_MAX, "%" PRId64, n);
	return true;
}

static bool parent_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	const struct project *p = of;
	struct project parent;

	if (!p->parent || project_by_id(l, p->parent, &parent, NULL) != 1)
		return false;
	snprintf(out, VALUE_MAX, "%s", parent.name);
	return true;
}

static bool share_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	return number_text(((const struct project *)of)->share, out);
}

static bool policy_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	const char *name = on_exhausted_name(((const struct project *)of)->on_exhausted);

	(void)l;
	snprintf(out, VALUE_MAX, "%s", name ? name : "");
	return name != NULL;
}

static bool credit_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	return number_text(((const struct project *)of)->credit, out);
}

static bool unmetered_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	snprintf(out, VALUE_MAX, "yes");
	return ((const struct project *)of)->unmetered;
}

static bool user_shares_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	const char *name = user_shares_name(((const struct project *)of)->user_shares);

	(void)l;
	snprintf(out, VALUE_MAX, "%s", name ? name : "");
	return name != NULL;
}

static bool starts_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	return number_text(((const struct allocation *)of)->starts, out);
}

static bool ends_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	const struct allocation *a = of;

	(void)l;
	return number_text(a->ends, out) && a->ends;
}

static bool carry_over_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	return number_text(((const struct allocation *)of)->carry_over_percent, out);
}

static bool vests_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	snprintf(out, VALUE_MAX, "%s", ((const struct allocation *)of)->vests ? "yes" : "no");
	return true;
}

static bool burst_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	return number_text(((const struct allocation *)of)->burst, out);
}

static bool comment_text(struct ledger *l, const void *of, char out[VALUE_MAX])
{
	(void)l;
	snprintf(out, VALUE_MAX, "%s", ((const struct allocation *)of)->comment);
	return true;
}

struct changeable {
	const char *what;
	value_fn text;
};

static const struct changeable settings[] = {
	{ "parent", parent_text }, { "share", share_text }, { "on_exhausted", policy_text },
		{ "credit_units", credit_text },
	{ "unmetered", unmetered_text }, { "user_shares", user_shares_text },
};
static const struct changeable terms[] = {
	{ "starts", starts_text },
	{ "ends", ends_text },
	{ "carry_over_percent", carry_over_text },
	{ "vests", vests_text },
	{ "burst_units", burst_text },
	{ "comment", comment_text },
};

static int add_each(struct ledger *l, struct change_words *w, struct change c, const struct changeable *each,
	size_t n, const void *was, const void *became, struct fault *why)
{
	char from[VALUE_MAX], to[VALUE_MAX];

	for (size_t i = 0; i < n; i++) {
		c.what = each[i].what;
		c.was = was && each[i].text(l, was, from) ? from : NULL;
		c.became = each[i].text(l, became, to) ? to : NULL;
		if (change_add(l, w, &c, why) < 0)
			return -1;
	}
	return 0;
}

int change_project(struct ledger *l, struct change_words *w, const struct project *was,
	const struct project *became, struct fault *why)
{
	return add_each(l, w, (struct change){ .project = became->id }, settings,
		sizeof(settings) / sizeof(settings[0]), was, became, why);
}

int change_allocation(struct ledger *l, struct change_words *w, const struct allocation *was,
	const struct allocation *became, struct fault *why)
{
	return add_each(l, w, (struct change){ .project = became->project, .allocation = became->id }, terms,
		sizeof(terms) / sizeof(terms[0]), was, became, why);
}

int change_role(struct ledger *l, struct change_words *w, int64_t project, const char *user,
	enum member_role was, enum member_role became, struct fault *why)
{
	static const char *const role[] = { [ROLE_NOBODY] = NULL, [ROLE_MEMBER] = "member",
		[ROLE_OWNER] = "owner" };

	return change_add(l, w, &(struct change){ .project = project, .what = "role", .user = user,
		.was = role[was], .became = role[became] }, why);
}

int change_existence(struct ledger *l, struct change_words *w, int64_t project, bool there, struct fault *why)
{
	return change_add(l, w, &(struct change){ .project = project, .what = "project",
		.was = there ? NULL : "there", .became = there ? "there" : NULL }, why);
}

/* --- listed ------------------------------------------------------------------------------------- */

static const char *text_or_null(sqlite3_stmt *st, int i)
{
	return sql_null(st, i) ? NULL : sql_text(st, i);
}

static void change_read(sqlite3_stmt *st, struct change *c)
{
	*c = (struct change){ .id = sql_col(st, 0), .project = sql_col(st, 2), .allocation = sql_col(st, 3),
		.what = sql_text(st, 4), .user = text_or_null(st, 5), .was = text_or_null(st, 6),
		.became = text_or_null(st, 7), .words.at = sql_col(st, 1), .words.first = sql_col(st, 10) };
	snprintf(c->words.actor, sizeof(c->words.actor), "%s", sql_text(st, 8));
	snprintf(c->words.reason, sizeof(c->words.reason), "%s", sql_text(st, 9));
}

int change_walk(struct ledger *l, int64_t project, int64_t before, int64_t limit, change_fn each, void *arg,
	struct fault *why)
{
	static const char walk_sql[] =
		"WITH RECURSIVE below(id) AS (SELECT ?1 UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id)"
		"SELECT id, at, project, allocation, what, user, was, became, actor, reason, first FROM change"
		" WHERE (?1 = 0 OR project IN (SELECT id FROM below)) AND id < ?2 ORDER BY id DESC LIMIT ?3";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "iii", project, before ? before : INT64_MAX, limit);
	struct change c;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		change_read(st, &c);
		if (each(&c, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
