/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_money.c - allocations, the journal, and what a path of projects has left. */
#include "budgetd/ledger_cap.h"
#include "budgetd/ledger_money.h"
#include "budgetd/ledger_sql.h"
#include "lib/zone.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ALLOCATION_COLUMNS "a.id, a.project, a.starts, a.ends, s.amount, s.charged, s.held, a.comment, a.created_at," \
			   " a.carry_over, a.vests, a.burst"
#define ALLOCATION_TABLES "allocation a JOIN allocation_sum s ON s.allocation = a.id"

/* --- allocations -------------------------------------------------------------------------------- */

static void allocation_read(sqlite3_stmt *st, struct allocation *a)
{
	memset(a, 0, sizeof(*a));
	a->id = sql_col(st, 0);
	a->project = sql_col(st, 1);
	a->starts = sql_col(st, 2);
	a->ends = sql_col(st, 3);
	a->amount = sql_col(st, 4);
	a->charged = sql_col(st, 5);
	a->held = sql_col(st, 6);
	snprintf(a->comment, sizeof(a->comment), "%s", sql_text(st, 7));
	a->created_at = sql_col(st, 8);
	a->carry_over_percent = sql_col(st, 9);
	a->vests = sql_col(st, 10);
	a->burst = sql_col(st, 11);
}

static int check_allocation_count(struct ledger *l, int64_t project, int64_t now, struct fault *why)
{
	static const char count_sql[] =
		"SELECT count(*) FROM allocation WHERE project = ? AND (ends IS NULL OR ends > ?)";
	int64_t n;

	if (sql_int(l, &n, count_sql, why, "ii", project, now) < 0)
		return -1;
	if (n >= LIVE_ALLOCATIONS_MAX)
		return fault_errno(why, EEXIST,
			"the project has %jd allocations that have not expired, the most there can be; deposit "
			"into one of them", (intmax_t)n);
	return 0;
}

static int check_dates(const struct allocation *a, int64_t now, struct fault *why)
{
	char starts[ZONE_TEXT_MAX], ends[ZONE_TEXT_MAX];

	if (a->ends && a->ends <= a->starts)
		return fault_errno(why, EINVAL, "an allocation must end after it starts: %s is not after %s",
			zone_utc_text(a->ends, ends), zone_utc_text(a->starts, starts));
	if (a->ends && a->ends <= now)
		return fault_errno(why, EINVAL, "an allocation cannot end in the past");
	return 0;
}

static int check_terms(const struct allocation *a, struct fault *why)
{
	if (!a->ends && (a->vests || a->carry_over_percent))
		return fault_errno(why, EINVAL,
			"an allocation without an end cannot vest, and nothing of it can be carried over");
	return 0;
}

int allocation_add(struct ledger *l, struct allocation *a, int64_t now, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO allocation (project, starts, ends, comment, created_at, carry_over, vests, burst)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
	static const char sum_sql[] = "INSERT INTO allocation_sum (allocation) VALUES (?)";

	if (check_dates(a, now, why) < 0 || check_terms(a, why) < 0 ||
		check_allocation_count(l, a->project, now, why) < 0 ||
		sql_do(l, add_sql, why, "iipsiiii", a->project, a->starts, a->ends ? &a->ends : NULL,
		a->comment, now, a->carry_over_percent, (int64_t)a->vests, a->burst) < 0)
		return -1;
	a->id = sql_last_id(l);
	a->created_at = now;
	return sql_do(l, sum_sql, why, "i", a->id);
}

int allocation_by_id(struct ledger *l, int64_t id, struct allocation *out, struct fault *why)
{
	static const char by_id_sql[] =
		"SELECT " ALLOCATION_COLUMNS " FROM " ALLOCATION_TABLES " WHERE a.id = ?";
	sqlite3_stmt *st = sql_bind(l, by_id_sql, why, "i", id);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		allocation_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

/* What was is not changed: an end that has come, a start that has been. */
static int check_new_dates(const struct allocation *was, const struct allocation *a, int64_t now,
	struct fault *why)
{
	if (was->ends && was->ends <= now)
		return fault_errno(why, EEXIST, "allocation %jd has ended", (intmax_t)a->id);
	if (a->starts != was->starts && was->starts <= now)
		return fault_errno(why, EEXIST, "allocation %jd has begun: its start stays", (intmax_t)a->id);
	if (a->starts != was->starts && a->starts < now)
		return fault_errno(why, EEXIST, "allocation %jd cannot begin in the past", (intmax_t)a->id);
	return check_dates(a, now, why);
}

int allocation_set(struct ledger *l, const struct allocation *a, int64_t now, struct fault *why)
{
	static const char set_sql[] =
		"UPDATE allocation SET starts = ?, ends = ?, comment = ?, carry_over = ?, vests = ?, burst = ? WHERE id = ?";
	struct allocation was;
	int rc = allocation_by_id(l, a->id, &was, why);

	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT, "there is no allocation %jd", (intmax_t)a->id);
	if (check_new_dates(&was, a, now, why) < 0 || check_terms(a, why) < 0)
		return -1;
	return sql_do(l, set_sql, why, "ipsiiii", a->starts, a->ends ? &a->ends : NULL, a->comment,
		a->carry_over_percent, (int64_t)a->vests, a->burst, a->id);
}

int allocation_walk(struct ledger *l, int64_t project, allocation_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT " ALLOCATION_COLUMNS " FROM " ALLOCATION_TABLES " WHERE a.project = ? ORDER BY a.id";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "i", project);
	struct allocation a;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		allocation_read(st, &a);
		if (each(&a, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

/* --- the way up --------------------------------------------------------------------------------- */

static int load_node_allocations(struct ledger *l, int64_t now, struct path_node *n, struct fault *why)
{
	/* The soonest to expire is spent first; an open one last. */
	static const char node_sql[] = "SELECT " ALLOCATION_COLUMNS " FROM " ALLOCATION_TABLES
				       " WHERE a.project = ? ORDER BY a.ends IS NULL, a.ends, a.id";
	sqlite3_stmt *st = sql_bind(l, node_sql, why, "i", n->id);
	struct budget_node *b = &n->budget;
	struct allocation a;
	amount_t unvested;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		allocation_read(st, &a);
		b->metered = true;
		if (!allocation_live(&a, now)) {
			if (allocation_free(&a) < 0)
				b->debt -= allocation_free(&a);
			continue;
		}
		b->amount += a.amount;
		b->charged += a.charged;
		b->held += a.held;
		unvested = a.vests ? a.amount - budget_usable(a.amount, a.burst, a.starts, a.ends, now) : 0;
		b->unvested += unvested;
		n->live[n->nlive].id = a.id;
		n->live[n->nlive].starts = a.starts;
		n->live[n->nlive++].free = allocation_free(&a) - unvested;
	}
	b->expired = b->metered && n->nlive == 0;
	return rc;
}

int path_load(struct ledger *l, int64_t project, int64_t now, struct path *out, struct fault *why)
{
	struct project p;

	out->depth = 0;
	for (int64_t id = project; id; id = p.parent) {
		struct path_node *n = &out->nodes[out->depth];

		if (out->depth == BUDGET_DEPTH_MAX)
			return fault_errno(why, EINVAL, "the budget tree is deeper than %d projects",
				BUDGET_DEPTH_MAX);
		if (project_by_id(l, id, &p, why) != 1)
			return fault_errno(why, ENOENT, "project %jd is not in the database", (intmax_t)id);
		*n = (struct path_node){ .id = id, .on_exhausted = p.on_exhausted, .unmetered = p.unmetered };
		memcpy(n->budget.name, p.name, sizeof(n->budget.name));
		n->budget.credit = p.credit;
		n->budget.no_share = p.share == 0;
		if (!p.unmetered && load_node_allocations(l, now, n, why) < 0)
			return -1;
		out->depth++;
	}
	return 0;
}

int path_load_for(struct ledger *l, int64_t project, int64_t uid, int64_t now, struct path *out,
	struct fault *why)
{
	int rc = path_load(l, project, now, out, why);

	for (int i = 0; i < out->depth && rc >= 0; i++)
		rc = cap_load(l, out->nodes[i].id, uid, now, &out->nodes[i].budget, why);
	return rc < 0 ? -1 : 0;
}

void path_budgets(const struct path *p, struct budget_node out[BUDGET_DEPTH_MAX])
{
	for (int i = 0; i < p->depth; i++)
		out[i] = p->nodes[i].budget;
}

enum on_exhausted path_on_exhausted(const struct path *p, enum on_exhausted site)
{
	for (int i = 0; i < p->depth; i++)
		if (p->nodes[i].on_exhausted != ON_EXHAUSTED_INHERIT)
			return p->nodes[i].on_exhausted;
	return site;
}

/* --- the journal -------------------------------------------------------------------------------- */

#define JOURNAL_COLUMNS \
	"j.id, j.at, j.kind, j.allocation, j.project, j.units, j.balance, j.charge, j.actor, j.reason, j.request_id, r.label, r.uid," \
	" j.first, j.corrects"
#define JOURNAL_TABLES "journal j LEFT JOIN charge c ON c.id = j.charge LEFT JOIN run r ON r.id = c.run"

static void journal_read(sqlite3_stmt *st, struct journal_entry *e)
{
	memset(e, 0, sizeof(*e));
	e->id = sql_col(st, 0);
	e->at = sql_col(st, 1);
	snprintf(e->kind, sizeof(e->kind), "%s", sql_text(st, 2));
	e->allocation = sql_col(st, 3);
	e->project = sql_col(st, 4);
	e->units = sql_col(st, 5);
	e->balance = sql_col(st, 6);
	e->charge = sql_col(st, 7);
	snprintf(e->actor, sizeof(e->actor), "%s", sql_text(st, 8));
	snprintf(e->reason, sizeof(e->reason), "%s", sql_text(st, 9));
	snprintf(e->request_id, sizeof(e->request_id), "%s", sql_text(st, 10));
	snprintf(e->job, sizeof(e->job), "%s", sql_text(st, 11));
	e->uid = sql_null(st, 12) ? -1 : sql_col(st, 12);
	e->first = sql_col(st, 13);
	e->corrects = sql_col(st, 14);
}

static int journal_one(struct ledger *l, sqlite3_stmt *st, struct journal_entry *out, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		journal_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int journal_by_id(struct ledger *l, int64_t id, struct journal_entry *out, struct fault *why)
{
	static const char by_id_sql[] = "SELECT " JOURNAL_COLUMNS " FROM " JOURNAL_TABLES " WHERE j.id = ?";

	return journal_one(l, sql_bind(l, by_id_sql, why, "i", id), out, why);
}

int journal_known(struct ledger *l, struct journal_entry *e, struct fault *why)
{
	static const char find_sql[] =
		"SELECT " JOURNAL_COLUMNS " FROM " JOURNAL_TABLES " WHERE j.request_id = ?";

	struct journal_entry there;
	int rc = e->request_id[0]
		? journal_one(l, sql_bind(l, find_sql, why, "s", e->request_id), &there, why) : 0;

	if (rc != 1)
		return rc;
	if (strcmp(there.kind, e->kind) != 0)
		return fault_errno(why, EEXIST,
			"the request id %s was used for another write: say this one with an id of its own",
			e->request_id);
	*e = there;
	return 1;
}

/* A charge moves `charged`, everything else moves `amount`: balance = amount - charged either way. */
static int journal_move_sums(struct ledger *l, const struct journal_entry *e, struct fault *why)
{
	static const char charge_sql[] =
		"UPDATE allocation_sum SET charged = charged - ? WHERE allocation = ?";
	static const char amount_sql[] = "UPDATE allocation_sum SET amount = amount + ? WHERE allocation = ?";

	return sql_do(l, strcmp(e->kind, "charge") == 0 ? charge_sql : amount_sql, why, "ii", e->units,
		e->allocation);
}

int journal_post(struct ledger *l, struct journal_entry *e, struct fault *why)
{
	static const char post_sql[] =
		"INSERT INTO journal (at, kind, allocation, project, units, balance, charge, actor, reason, request_id,"
		" first, corrects) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	char most[AMOUNT_TEXT_MAX];
	struct allocation a;
	int rc = journal_known(l, e, why);

	if (rc != 0)
		return rc;
	if (allocation_by_id(l, e->allocation, &a, why) != 1)
		return fault_errno(why, ENOENT, "there is no allocation %jd", (intmax_t)e->allocation);
	e->project = a.project;
	if (e->units > ALLOCATION_UNITS_MAX || a.amount > ALLOCATION_UNITS_MAX - e->units)
		return fault_errno(why, EOVERFLOW,
			"allocation %jd would hold more GPU-hours than can be counted (at most %s)", (intmax_t)a.id,
			amount_text(ALLOCATION_UNITS_MAX, most));
	e->balance = a.amount - a.charged + e->units;
	if (journal_move_sums(l, e, why) < 0 ||
		(e->charge && user_sum_charge(l, e->allocation, e->charge, -e->units, why) < 0) ||
		sql_do(l, post_sql, why, "isiiiipssspp", e->at, e->kind, e->allocation, e->project, e->units,
		e->balance, e->charge ? &e->charge : NULL, e->actor, e->reason, e->request_id[0]
		? e->request_id : NULL, e->first ? &e->first : NULL, e->corrects ? &e->corrects : NULL) < 0)
		return -1;
	e->id = sql_last_id(l);
	return 0;
}

int journal_next_of(struct ledger *l, int64_t first, int64_t after, struct journal_entry *out,
	struct fault *why)
{
	static const char next_sql[] = "SELECT " JOURNAL_COLUMNS " FROM " JOURNAL_TABLES
				       " WHERE (j.id = ?1 OR j.first = ?1) AND j.id > ?2 ORDER BY j.id LIMIT 1";

	return journal_one(l, sql_bind(l, next_sql, why, "ii", first, after), out, why);
}

int journal_walk(struct ledger *l, int64_t project, int64_t job, int64_t before, int64_t limit,
	journal_fn each, void *arg, struct fault *why)
{
	static const char all_sql[] = "SELECT " JOURNAL_COLUMNS " FROM " JOURNAL_TABLES
		" WHERE j.id < ?1 AND (?2 = 0 OR r.job = ?2) ORDER BY j.id DESC LIMIT ?3";
	static const char below_sql[] =
		"WITH RECURSIVE below(id) AS (SELECT ?4 UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id)"
		"SELECT " JOURNAL_COLUMNS " FROM " JOURNAL_TABLES " WHERE j.project IN (SELECT id FROM below)"
		" AND j.id < ?1 AND (?2 = 0 OR r.job = ?2) ORDER BY j.id DESC LIMIT ?3";
	sqlite3_stmt *st = project
		? sql_bind(l, below_sql, why, "iiii", before ? before : INT64_MAX, job, limit, project) :
				     sql_bind(l, all_sql, why, "iii", before ? before : INT64_MAX, job,
				     	limit);
	struct journal_entry e;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		journal_read(st, &e);
		if (each(&e, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
