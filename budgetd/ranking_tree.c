/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_tree.c - the tree as it is, and its past undone change by change (ranking_tree.h). */
#include "budgetd/ranking_tree.h"
#include "budgetd/ledger_capacity.h"
#include "budgetd/ledger_sql.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE SIZE_MAX

/* Room for one more of what *array holds. */
static int make_room(void **array, size_t count, size_t *room, size_t size, struct fault *why)
{
	size_t more = *room ? *room * 2 : 64;
	void *larger;

	if (count < *room)
		return 0;
	larger = reallocarray(*array, more, size);
	if (!larger)
		return fault_errno(why, ENOMEM, "out of memory for %zu rows", more);
	*array = larger;
	*room = more;
	return 0;
}

void ranking_tree_clear(struct ranking_tree *t)
{
	free(t->projects);
	free(t->users);
	free(t->nodes);
	free(t->past);
	free(t->places);
	free(t->changes);
	free(t->capacities);
	*t = (struct ranking_tree){0};
}

static int by_project(const void *a, const void *b)
{
	int64_t x = ((const struct tree_place *)a)->project, y = ((const struct tree_place *)b)->project;

	return (x > y) - (x < y);
}

ssize_t ranking_tree_node(const struct ranking_tree *t, int64_t project)
{
	const struct tree_place key = { .project = project };
	const struct tree_place *found = t->nprojects
		? bsearch(&key, t->places, t->nprojects, sizeof(*t->places), by_project) : NULL;

	return found ? (ssize_t)found->node : -1;
}

int tree_user_compare(const struct tree_user *a, const struct tree_user *b)
{
	if (a->up != b->up)
		return a->up < b->up ? -1 : 1;
	return (a->uid > b->uid) - (a->uid < b->uid);
}

static int by_user(const void *a, const void *b)
{
	return tree_user_compare(a, b);
}

size_t ranking_tree_first_user(const struct ranking_tree *t, size_t project)
{
	size_t low = 0, high = t->count - t->nprojects;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->users[middle].up < project)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

ssize_t ranking_tree_user(const struct ranking_tree *t, size_t project, int64_t uid)
{
	const struct tree_user key = { project, uid };
	size_t n = t->count - t->nprojects;
	const struct tree_user *found = n ? bsearch(&key, t->users, n, sizeof(key), by_user) : NULL;

	return found ? (ssize_t)(t->nprojects + (size_t)(found - t->users)) : -1;
}

/* --- the projects, depth first ------------------------------------------------------------------ */

/* As they are read: by name. */
struct rows {
	struct tree_project *projects;
	size_t count, room;
	/* the first one below, the next one beside; child[count]: of those without a parent */
	size_t *child, *next;
};

static int read_rows(struct rows *r, struct ledger *l, int64_t from, struct fault *why)
{
	static const char rows_sql[] =
		"SELECT id, parent, share, removed_at, name, user_shares FROM project WHERE removed_at IS NULL OR removed_at > ?"
		" ORDER BY name, id";
	sqlite3_stmt *st = sql_bind(l, rows_sql, why, "i", from);
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		struct tree_project *p;

		if (make_room((void **)&r->projects, r->count, &r->room, sizeof(*r->projects), why) < 0) {
			sqlite3_reset(st);
			return -1;
		}
		p = &r->projects[r->count++];
		*p = (struct tree_project){ .id = sql_col(st, 0), .parent = sql_col(st, 1),
			.share = sql_col(st, 2), .removed = !sql_null(st, 3) };
		snprintf(p->name, sizeof(p->name), "%s", sql_text(st, 4));
		if (!sql_null(st, 5))
			p->user_shares = sql_col(st, 5) ? USER_SHARES_YES : USER_SHARES_NO;
	}
	return rc;
}

static void free_rows(struct rows *r)
{
	free(r->projects);
	free(r->child);
	free(r->next);
}

/* Who is below whom; the places of `t` are of the rows until all nodes are known. */
static void link_rows(struct rows *r, struct ranking_tree *t)
{
	t->nprojects = r->count;
	for (size_t i = 0; i < r->count; i++)
		t->places[i] = (struct tree_place){ r->projects[i].id, i };
	if (t->nprojects)
		qsort(t->places, t->nprojects, sizeof(*t->places), by_project);
	for (size_t i = 0; i <= r->count; i++)
		r->child[i] = NONE;
	for (size_t i = r->count; i-- > 0;) {
		ssize_t parent = r->projects[i].parent ? ranking_tree_node(t, r->projects[i].parent) : -1;
		size_t up = parent < 0 ? r->count : (size_t)parent;

		r->next[i] = r->child[up];
		r->child[up] = i;
	}
}

static void take(struct ranking_tree *t, const struct rows *r, size_t row, int parent)
{
	struct tree_project *p = &t->projects[t->nprojects++];

	*p = r->projects[row];
	p->up = parent;
	if (p->user_shares == USER_SHARES_INHERIT)
		p->user_shares = parent == FAIRSHARE_NO_PARENT ? USER_SHARES_NO
			: t->projects[parent].user_shares;
}

/* Leaves only: what is below them all and is still there makes others none. */
static void mark_divided(struct ranking_tree *t)
{
	t->divides = false;
	for (size_t i = t->nprojects; i-- > 0;) {
		struct tree_project *p = &t->projects[i];

		p->divided = p->user_shares == USER_SHARES_YES && !p->removed && !p->divided;
		t->divides = t->divides || p->divided;
		if (p->up != FAIRSHARE_NO_PARENT && !p->removed)
			t->projects[p->up].divided = true;	/* until its own turn: it is no leaf */
	}
}

static void take_depth_first(struct ranking_tree *t, const struct rows *r)
{
	size_t path[BUDGET_DEPTH_MAX + 1];	/* rows from the top to here */
	int node[BUDGET_DEPTH_MAX + 1], depth = 0;
	size_t row = r->child[r->count];

	t->nprojects = 0;
	while (row != NONE) {
		assert(depth <= BUDGET_DEPTH_MAX);	/* ledger_project.c makes no deeper tree */
		take(t, r, row, depth ? node[depth - 1] : FAIRSHARE_NO_PARENT);
		path[depth] = row;
		node[depth] = (int)t->nprojects - 1;
		if (r->child[row] != NONE && depth < BUDGET_DEPTH_MAX) {
			depth++;
			row = r->child[row];
			continue;
		}
		while (depth && r->next[path[depth]] == NONE)
			depth--;
		row = r->next[path[depth]];
	}
	for (size_t i = 0; i < t->nprojects; i++)
		t->places[i] = (struct tree_place){ t->projects[i].id, i };
	if (t->nprojects)
		qsort(t->places, t->nprojects, sizeof(*t->places), by_project);
	t->count = t->nprojects;
	mark_divided(t);
}

static int read_projects(struct ranking_tree *t, struct ledger *l, int64_t from, struct fault *why)
{
	struct rows r = {0};
	int rc = read_rows(&r, l, from, why);

	ranking_tree_clear(t);
	if (rc == 0) {
		r.child = calloc(r.count + 1, sizeof(*r.child));
		r.next = calloc(r.count + 1, sizeof(*r.next));
		t->projects = calloc(r.count + 1, sizeof(*t->projects));
		t->nodes = calloc(r.count + 1, sizeof(*t->nodes));
		t->past = calloc(r.count + 1, sizeof(*t->past));
		t->places = calloc(r.count + 1, sizeof(*t->places));
		if (!r.child || !r.next || !t->projects || !t->nodes || !t->past || !t->places)
			rc = fault_errno(why, ENOMEM, "out of memory for %zu projects", r.count);
	}
	if (rc == 0) {
		link_rows(&r, t);
		take_depth_first(t, &r);
	}
	free_rows(&r);
	return rc;
}

/* A change of a setting has its row in `change`, a new project a new id. A window that was made longer begins
 * before projects that were removed. */
int ranking_tree_read(struct ranking_tree *t, struct ledger *l, int64_t from, struct fault *why)
{
	static const char change_sql[] = "SELECT coalesce(max(id), 0) FROM change",
		project_sql[] = "SELECT coalesce(max(id), 0) FROM project";
	int64_t change, project;

	if (sql_int(l, &change, change_sql, why, "") != 1 || sql_int(l, &project, project_sql, why, "") != 1)
		return -1;
	if (t->complete && change == t->last_change && project == t->last_project && from >= t->from)
		return 0;
	if (read_projects(t, l, from, why) < 0)
		return -1;
	t->last_change = change;
	t->last_project = project;
	t->from = from;
	t->complete = true;
	return 0;
}

/* --- users -------------------------------------------------------------------------------------- */

int ranking_tree_divide(struct ranking_tree *t, const struct tree_user *users, size_t count,
	struct fault *why)
{
	size_t all = t->nprojects + count;
	struct tree_user *kept;
	struct fairshare_node *nodes;

	if (!count) {
		t->count = t->nprojects;
		return 0;
	}
	kept = reallocarray(t->users, count, sizeof(*kept));
	if (kept)
		t->users = kept;
	nodes = reallocarray(t->nodes, all + 1, sizeof(*nodes));
	if (nodes)
		t->nodes = nodes;
	if (nodes) {
		nodes = reallocarray(t->past, all + 1, sizeof(*nodes));
		t->past = nodes ? nodes : t->past;
	}
	if (!kept || !nodes)
		return fault_errno(why, ENOMEM, "out of memory for %zu users", count);
	memcpy(t->users, users, count * sizeof(*users));
	t->count = all;
	return 0;
}

/* Who has no weight has 1. */
static int read_weights(struct ranking_tree *t, struct ledger *l, struct fault *why)
{
	static const char weights_sql[] = "SELECT project, uid, share FROM user_share";
	sqlite3_stmt *st;
	int rc = -1;

	for (size_t i = t->nprojects; i < t->count; i++)
		t->nodes[i] = (struct fairshare_node){ .parent = (int)t->users[i - t->nprojects].up,
			.share = 1 };
	if (t->count == t->nprojects)
		return 0;
	st = sql_bind(l, weights_sql, why, "");
	while (st && (rc = sql_step(l, st, why)) == 1) {
		ssize_t project = ranking_tree_node(t, sql_col(st, 0));
		ssize_t i = project < 0 ? -1 : ranking_tree_user(t, (size_t)project, sql_col(st, 1));

		if (i >= 0)
			t->nodes[i].share = sql_col(st, 2);
	}
	return rc;
}

/* --- its past ----------------------------------------------------------------------------------- */

static void set_present(struct ranking_tree *t)
{
	for (size_t i = 0; i < t->nprojects; i++) {
		const struct tree_project *p = &t->projects[i];

		t->nodes[i].parent = p->up;
		t->nodes[i].share = p->removed ? 0 : p->share;
		t->nodes[i].charged = t->nodes[i].entry = 0;
	}
	t->nchanges = t->ncapacities = 0;
}

/* the last: the parent it had, or whose weight it is */
enum change_column { CHANGE_AT, CHANGE_PROJECT, CHANGE_WHAT, CHANGE_WAS, CHANGE_OF };

/* The weight of a user, who had none or another one before. */
static int undo_user(struct ranking_tree *t, sqlite3_stmt *st, int64_t at, struct fault *why)
{
	ssize_t project = ranking_tree_node(t, sql_col(st, CHANGE_PROJECT));
	ssize_t i = project < 0 ? -1 : ranking_tree_user(t, (size_t)project, sql_col(st, CHANGE_OF));

	if (i < 0)
		return 0;
	if (make_room((void **)&t->changes, t->nchanges, &t->changes_room, sizeof(*t->changes), why) < 0)
		return -1;
	t->changes[t->nchanges++] = (struct weight_change){ .at = at, .node = (uint32_t)i,
		.share = t->nodes[i].share };
	t->nodes[i].share = sql_null(st, CHANGE_WAS) ? 1 : sql_col(st, CHANGE_WAS);
	return 0;
}

/* One change back: the node becomes what it was before, and what it became is noted. Newest first. */
static int undo(struct ranking_tree *t, sqlite3_stmt *st, int64_t at, int64_t there_from, struct fault *why)
{
	ssize_t i = ranking_tree_node(t, sql_col(st, CHANGE_PROJECT));
	struct fairshare_node *n = i < 0 ? NULL : &t->nodes[i];
	const char *what = sql_text(st, CHANGE_WHAT);
	bool moved = strcmp(what, "parent") == 0, set = strcmp(what, "share") == 0,
		none = sql_null(st, CHANGE_WAS);
	struct weight_change c = { .at = at, .node = (uint32_t)i, .moves = moved };

	/* A project's addition is told by its share, its removal by `project`; before and after it has no
	 * weight. */
	if (!n || (moved && n->share == 0) || (!moved && !set && none))
		return 0;
	if (make_room((void **)&t->changes, t->nchanges, &t->changes_room, sizeof(c), why) < 0)
		return -1;
	c.share = n->share;
	c.parent = n->parent;
	if (set && none && at > there_from)
		c.at = there_from;
	if (moved)
		n->parent = none ? FAIRSHARE_NO_PARENT : (int)ranking_tree_node(t, sql_col(st, CHANGE_OF));
	else if (set)
		n->share = none ? 0 : sql_col(st, CHANGE_WAS);
	else
		n->share = t->projects[i].share;
	t->changes[t->nchanges++] = c;
	return 0;
}

static int undo_all(struct ranking_tree *t, struct ledger *l, int64_t from, int64_t now, int64_t there_from,
	struct fault *why)
{
	/* Of a parent the history has the name, which another project may have had before or since. */
	static const char undo_sql[] =
		"SELECT c.at, c.project, c.what, CASE WHEN c.what IN ('share', 'user_share') THEN CAST(c.was AS INTEGER) ELSE c.was END,"
		" CASE c.what WHEN 'parent' THEN (SELECT p.id FROM project p WHERE p.name = c.was AND p.created_at <= c.at"
		" AND (p.removed_at IS NULL OR p.removed_at >= c.at) ORDER BY p.id DESC LIMIT 1)"
		" WHEN 'user_share' THEN (SELECT u.uid FROM user_share u WHERE u.project = c.project AND u.user = c.user) END"
		" FROM change c INDEXED BY change_of_tree WHERE c.what IN ('share', 'parent', 'project', 'user_share') AND c.at > ?"
		" ORDER BY c.id DESC";
	sqlite3_stmt *st = sql_bind(l, undo_sql, why, "i", from);
	int64_t at = now;	/* of the one before, which is newer whatever the clock said */
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		at = sql_col(st, CHANGE_AT) < at ? sql_col(st, CHANGE_AT) : at;
		if ((strcmp(sql_text(st, CHANGE_WHAT), "user_share") ? undo(t, st, at, there_from, why)
			: undo_user(t, st, at, why)) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

/* In order of time; what was dated back stands before what was not. Of one moment, the older first. */
static int by_time(const void *a, const void *b)
{
	const struct weight_change *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* qsort of glibc keeps the order of equals only as long as it has memory: a stable sort of few rows that are
 * nearly in order. */
static void sort_changes(struct ranking_tree *t)
{
	for (size_t i = 0, j = t->nchanges; i + 1 < j; i++, j--) {
		struct weight_change c = t->changes[i];

		t->changes[i] = t->changes[j - 1];
		t->changes[j - 1] = c;
	}
	for (size_t i = 1; i < t->nchanges; i++) {
		struct weight_change c = t->changes[i];
		size_t k = i;

		for (; k > 0 && by_time(&c, &t->changes[k - 1]) < 0; k--)
			t->changes[k] = t->changes[k - 1];
		t->changes[k] = c;
	}
}

struct reading {
	struct ranking_tree *t;
	struct fault *why;
};

static int add_capacity(int64_t at, amount_t units, void *arg)
{
	struct reading *x = arg;
	struct ranking_tree *t = x->t;

	if (make_room((void **)&t->capacities, t->ncapacities, &t->capacities_room, sizeof(*t->capacities),
		x->why) < 0)
		return -1;
	t->capacities[t->ncapacities++] = (struct capacity_change){ at, units };
	return 0;
}

/* While every node is down for as long as the window the order stays what it was: nobody is entitled to
 * anything, but some used less. */
static int read_capacities(struct ranking_tree *t, struct ledger *l, int64_t from, int64_t now,
	amount_t capacity, struct fault *why)
{
	struct reading x = { t, why };
	amount_t most = 0;

	if (capacity_walk(l, from, now, add_capacity, &x, why) < 0 ||
		(capacity >= 0 && add_capacity(now, capacity, &x) < 0))
		return -1;
	for (size_t i = 0; i < t->ncapacities; i++)
		most = t->capacities[i].capacity > most ? t->capacities[i].capacity : most;
	if (most > 0)
		return 0;
	t->ncapacities = 0;
	return add_capacity(now, AMOUNT_RATE_ONE, &x);
}

int ranking_tree_entitle(struct ranking_tree *t, struct ledger *l, int64_t from, int64_t now,
	amount_t capacity, int64_t there_from, struct fault *why)
{
	set_present(t);
	if (read_weights(t, l, why) < 0 || undo_all(t, l, from, now, there_from, why) < 0 ||
		read_capacities(t, l, from, now, capacity, why) < 0)
		return -1;
	sort_changes(t);
	memcpy(t->past, t->nodes, t->count * sizeof(*t->past));
	return entitlement_fill(t->nodes, t->count, t->changes, t->nchanges, t->capacities, t->ncapacities,
		from, now, &t->cluster, why);
}

int ranking_tree_by_step(const struct ranking_tree *t, int64_t from, int64_t now, int64_t step_s,
	int64_t *out, struct fault *why)
{
	struct fairshare_node *nodes = calloc(t->count + 1, sizeof(*nodes));
	int rc;

	if (!nodes)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", t->count);
	memcpy(nodes, t->past, t->count * sizeof(*nodes));
	rc = entitlement_by_step(nodes, t->count, t->changes, t->nchanges, t->capacities, t->ncapacities,
		from, now, step_s, out, why);
	free(nodes);
	return rc;
}
