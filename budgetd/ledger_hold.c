/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_hold.c - what is set aside, and on which allocations it is drawn.
 *
 * Invariants   sum of the draws of an open hold at each metered project of its path = its units
 *              allocation_sum.held = sum of the draws on the allocation
 *              charges + held never exceed amount + credit by a decision of ours */
#include "budgetd/ledger_hold.h"
#include "budgetd/ledger_cap.h"
#include "budgetd/ledger_sql.h"
#include "budgetd/log.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- draws -------------------------------------------------------------------------------------- */

static int draw_move(struct ledger *l, int64_t hold, int64_t allocation, amount_t by, struct fault *why)
{
	static const char add_sql[] = "INSERT INTO hold_draw (hold, allocation, units) VALUES (?1, ?2, ?3)"
				      " ON CONFLICT (hold, allocation) DO UPDATE SET units = units + ?3";
	static const char take_sql[] =
		"UPDATE hold_draw SET units = units - ?3 WHERE hold = ?1 AND allocation = ?2 AND units > ?3";
	static const char drop_sql[] = "DELETE FROM hold_draw WHERE hold = ? AND allocation = ?";
	static const char sum_sql[] = "UPDATE allocation_sum SET held = held + ? WHERE allocation = ?";

	if (by == 0)
		return 0;
	if (by > 0 && sql_do(l, add_sql, why, "iii", hold, allocation, by) < 0)
		return -1;
	if (by < 0) {
		if (sql_do(l, take_sql, why, "iii", hold, allocation, -by) < 0)
			return -1;
		if (sql_changes(l) == 0 && sql_do(l, drop_sql, why, "ii", hold, allocation) < 0)
			return -1;
	}
	return sql_do(l, sum_sql, why, "ii", by, allocation) < 0 ? -1
		: user_sum_hold(l, allocation, hold, by, why);
}

/* The soonest to expire pays first; what is beyond them all is credit and stands with the last. */
static int draw_at_node(struct ledger *l, const struct path_node *n, int64_t hold, amount_t units,
	struct fault *why)
{
	for (int i = 0; i < n->nlive && units > 0; i++) {
		bool last = i == n->nlive - 1;
		amount_t take = last || n->live[i].free > units ? units : n->live[i].free;

		if (take <= 0)
			continue;
		if (draw_move(l, hold, n->live[i].id, take, why) < 0)
			return -1;
		units -= take;
	}
	return units == 0 ? 0
		: fault_errno(why, EINVAL, "%s has no live allocation to draw on", n->budget.name);
}

static int draw_on_path(struct ledger *l, const struct path *p, int64_t hold, amount_t units,
	struct fault *why)
{
	for (int i = 0; i < p->depth; i++)
		if (p->nodes[i].budget.metered && draw_at_node(l, &p->nodes[i], hold, units, why) < 0)
			return -1;
	return 0;
}

struct draw {
	int64_t allocation, project;
	amount_t units;
};

#define DRAWS_MAX (BUDGET_DEPTH_MAX * LIVE_ALLOCATIONS_MAX)

/* The draws of a hold grouped by project, the soonest to expire first. The count, or -1. */
static int draws_load(struct ledger *l, int64_t hold, struct draw *out, struct fault *why)
{
	static const char load_sql[] =
		"SELECT d.allocation, a.project, d.units FROM hold_draw d JOIN allocation a ON a.id = d.allocation"
		" WHERE d.hold = ? ORDER BY a.project, a.ends IS NULL, a.ends, a.id";
	sqlite3_stmt *st = sql_bind(l, load_sql, why, "i", hold);
	int n = 0, rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		assert(n < DRAWS_MAX);
		out[n++] = (struct draw){ sql_col(st, 0), sql_col(st, 1), sql_col(st, 2) };
	}
	return rc < 0 ? -1 : n;
}

typedef int (*draw_fn)(struct ledger *l, const struct draw *d, amount_t take, void *arg, struct fault *why);

/* Take `units` at every project of the hold, the soonest to expire first (or last, for what is given
 * back). */
static int draws_take(struct ledger *l, int64_t hold, amount_t units, bool soonest_first, draw_fn each,
	void *arg, struct fault *why)
{
	struct draw d[DRAWS_MAX];
	int n = draws_load(l, hold, d, why);
	amount_t left = 0;

	if (n < 0)
		return -1;
	for (int k = 0; k < n; k++) {
		const struct draw *now = &d[soonest_first ? k : n - 1 - k];
		bool first_of_project = k == 0 || now->project != d[soonest_first ? k - 1 : n - k].project;
		amount_t take;

		if (first_of_project)
			left = units;
		take = now->units < left ? now->units : left;
		left -= take;
		if (take > 0 && each(l, now, take, arg, why) < 0)
			return -1;
	}
	return 0;
}

/* --- holds -------------------------------------------------------------------------------------- */

#define HOLD_COLUMNS \
	"h.id, h.admission, h.project, h.run, h.tasks, h.units, h.opened_at, h.closed_at, h.closed_why, a.job, a.uid, a.gpus," \
	" a.min_runtime, r.covered_until, r.label, r.price"
#define HOLD_TABLES "hold h JOIN admission a ON a.id = h.admission LEFT JOIN run r ON r.id = h.run"

static void hold_read(sqlite3_stmt *st, struct hold_row *h)
{
	memset(h, 0, sizeof(*h));
	h->id = sql_col(st, 0);
	h->admission = sql_col(st, 1);
	h->project = sql_col(st, 2);
	h->run = sql_col(st, 3);
	h->tasks = sql_col(st, 4);
	h->units = sql_col(st, 5);
	h->opened_at = sql_col(st, 6);
	h->closed_at = sql_col(st, 7);
	snprintf(h->closed_why, sizeof(h->closed_why), "%s", sql_text(st, 8));
	h->job = sql_col(st, 9);
	h->uid = sql_col(st, 10);
	h->gpus = sql_col(st, 11);
	h->min_runtime_s = sql_col(st, 12);
	h->covered_until = sql_col(st, 13);
	snprintf(h->label, sizeof(h->label), "%s", sql_text(st, 14));
	h->price = sql_col(st, 15);
}

static int hold_one(struct ledger *l, sqlite3_stmt *st, struct hold_row *out, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		hold_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

static int hold_insert(struct ledger *l, struct hold_row *h, struct fault *why)
{
	static const char open_sql[] =
		"INSERT INTO hold (admission, project, run, tasks, units, opened_at) VALUES (?, ?, ?, ?, ?, ?)";

	if (sql_do(l, open_sql, why, "iipiii", h->admission, h->project, h->run ? &h->run : NULL, h->tasks,
		h->units, h->opened_at) < 0)
		return -1;
	h->id = sql_last_id(l);
	return 0;
}

static int hold_write(struct ledger *l, const struct hold_row *h, struct fault *why)
{
	static const char write_sql[] = "UPDATE hold SET run = ?, tasks = ?, units = ? WHERE id = ?";

	return sql_do(l, write_sql, why, "piii", h->run ? &h->run : NULL, h->tasks, h->units, h->id);
}

int hold_open(struct ledger *l, const struct path *p, struct hold_row *h, struct fault *why)
{
	return hold_insert(l, h, why) < 0 ? -1 : draw_on_path(l, p, h->id, h->units, why);
}

int hold_pool(struct ledger *l, int64_t admission, struct hold_row *out, struct fault *why)
{
	static const char pool_sql[] = "SELECT " HOLD_COLUMNS " FROM " HOLD_TABLES
				       " WHERE h.admission = ? AND h.closed_at IS NULL AND h.run IS NULL";

	return hold_one(l, sql_bind(l, pool_sql, why, "i", admission), out, why);
}

int hold_of_run(struct ledger *l, int64_t run, struct hold_row *out, struct fault *why)
{
	static const char run_sql[] =
		"SELECT " HOLD_COLUMNS " FROM " HOLD_TABLES " WHERE h.run = ? AND h.closed_at IS NULL";

	return hold_one(l, sql_bind(l, run_sql, why, "i", run), out, why);
}

int hold_grow(struct ledger *l, const struct path *p, struct hold_row *h, amount_t by, struct fault *why)
{
	assert(by >= 0);
	h->units += by;
	return draw_on_path(l, p, h->id, by, why) < 0 ? -1 : hold_write(l, h, why);
}

static int give_back(struct ledger *l, const struct draw *d, amount_t take, void *hold, struct fault *why)
{
	return draw_move(l, *(int64_t *)hold, d->allocation, -take, why);
}

/* What is given back is what would expire last: the rest of the hold goes on using the money that would be
 * lost first. */
int hold_shrink(struct ledger *l, struct hold_row *h, amount_t by, struct fault *why)
{
	char asked[AMOUNT_TEXT_MAX], has[AMOUNT_TEXT_MAX];

	assert(by >= 0);
	/* whoever asks counts otherwise than the row does: nothing may become negative, and it must be
	 * seen */
	if (by > h->units) {
		log_warning("hold %jd of admission %jd was to give back %s GPU-h and has %s: it gives back those; see budgetctl verify",
			(intmax_t)h->id, (intmax_t)h->admission, amount_text(by, asked),
			amount_text(h->units, has));
		by = h->units;
	}
	h->units -= by;
	return draws_take(l, h->id, by, false, give_back, &h->id, why) < 0 ? -1 : hold_write(l, h, why);
}

static void credit_draw(struct path_node *n, const struct draw *d)
{
	for (int i = 0; i < n->nlive; i++)
		if (n->live[i].id == d->allocation) {
			n->live[i].free += d->units;
			n->budget.held -= d->units;
			/* a path with caps is of the user of the hold */
			n->budget.cap_held -= d->units;
		}
}

int hold_credit(struct ledger *l, const struct hold_row *h, struct path *p, struct fault *why)
{
	struct draw d[DRAWS_MAX];
	int n = draws_load(l, h->id, d, why);

	for (int i = 0; n >= 0 && i < p->depth; i++) {
		struct budget_node *b = &p->nodes[i].budget;
		amount_t before = b->held, cap_before = b->cap_held;

		for (int k = 0; k < n; k++)
			credit_draw(&p->nodes[i], &d[k]);
		/* In the same project the hold stays, and only what is added is drawn: also where it draws on
		 * what has expired, or on nothing because the first allocation came later. */
		if (p->nodes[0].id == h->project) {
			b->held = before - h->units;
			b->cap_held = cap_before - h->units;
		}
	}
	return n < 0 ? -1 : 0;
}

struct share_move {
	int64_t from, to;
};

static int move_share(struct ledger *l, const struct draw *d, amount_t take, void *arg, struct fault *why)
{
	const struct share_move *m = arg;

	return draw_move(l, m->from, d->allocation, -take, why) < 0 ? -1
		: draw_move(l, m->to, d->allocation, take, why);
}

int hold_take_task(struct ledger *l, struct hold_row *pool, int64_t run, int64_t now, struct hold_row *out,
	struct fault *why)
{
	amount_t share = pool->tasks > 0 ? pool->units / pool->tasks : 0;
	struct share_move move = { .from = pool->id };

	if (pool->tasks <= 1) {
		*out = *pool;
		out->run = run;
		out->tasks = 1;
		return hold_write(l, out, why);
	}
	*out = (struct hold_row){ .admission = pool->admission, .project = pool->project, .run = run,
		.tasks = 1, .units = share, .opened_at = now };
	if (hold_insert(l, out, why) < 0)
		return -1;
	move.to = out->id;
	pool->tasks--;
	pool->units -= share;
	return draws_take(l, pool->id, share, true, move_share, &move, why) < 0 ? -1
		: hold_write(l, pool, why);
}

struct charge_context {
	int64_t hold, charge, now;
};

static int post_charge(struct ledger *l, const struct draw *d, amount_t take, void *arg, struct fault *why)
{
	const struct charge_context *c = arg;
	struct journal_entry e = { .at = c->now, .kind = "charge", .allocation = d->allocation,
		.units = -take, .charge = c->charge, .actor = "budgetd" };

	return draw_move(l, c->hold, d->allocation, -take, why) < 0 ? -1 : journal_post(l, &e, why);
}

int hold_charge(struct ledger *l, struct hold_row *h, amount_t units, int64_t charge, int64_t now,
	struct fault *why)
{
	struct charge_context c = { .hold = h->id, .charge = charge, .now = now };

	assert(units >= 0 && units <= h->units);
	h->units -= units;
	return draws_take(l, h->id, units, true, post_charge, &c, why) < 0 ? -1 : hold_write(l, h, why);
}

int hold_close(struct ledger *l, struct hold_row *h, int64_t now, const char *why_closed, struct fault *why)
{
	static const char close_sql[] = "UPDATE hold SET closed_at = ?, closed_why = ? WHERE id = ?";

	/* The units stay in the row: they tell what was given back. The draws go. */
	if (draws_take(l, h->id, h->units, false, give_back, &h->id, why) < 0)
		return -1;
	h->closed_at = now;
	return sql_do(l, close_sql, why, "isi", now, why_closed, h->id);
}

#define HOLDS_BELOW \
	"WITH RECURSIVE below(id) AS (SELECT id FROM project WHERE CASE WHEN ?1 = 0 THEN parent IS NULL ELSE id = ?1 END" \
	" UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id) SELECT " HOLD_COLUMNS " FROM "

int pool_walk(struct ledger *l, pool_fn each, void *arg, struct fault *why)
{
	static const char pools_sql[] =
		"SELECT h.id, h.admission, h.tasks, h.opened_at, a.job, h.units FROM hold h INDEXED BY hold_open_by_admission"
		" JOIN admission a ON a.id = h.admission WHERE h.closed_at IS NULL AND h.run IS NULL ORDER BY h.admission";
	sqlite3_stmt *st = sql_bind(l, pools_sql, why, "");
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		const struct pool_row row = { sql_col(st, 0), sql_col(st, 1), sql_col(st, 2), sql_col(st, 3),
			sql_col(st, 4), sql_col(st, 5) };

		if (each(&row, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int hold_walk(struct ledger *l, int64_t project, bool all, int64_t before, int64_t limit, hold_fn each,
	void *arg, struct fault *why)
{
	/* The open ones are few and have an index of their own; SQLite uses it only when it is told so in the
	 * query itself. */
	static const char open_sql[] =
		HOLDS_BELOW "hold h INDEXED BY hold_open_by_admission JOIN admission a ON a.id = h.admission"
		" LEFT JOIN run r ON r.id = h.run WHERE h.closed_at IS NULL AND h.project IN (SELECT id FROM below) AND h.id < ?2"
		" ORDER BY h.id DESC LIMIT ?3";
	static const char all_sql[] =
		HOLDS_BELOW HOLD_TABLES " WHERE h.project IN (SELECT id FROM below) AND h.id < ?2"
		" ORDER BY h.id DESC LIMIT ?3";
	sqlite3_stmt *st = sql_bind(l, all ? all_sql : open_sql, why, "iii", project,
		before ? before : INT64_MAX, limit);
	struct hold_row h;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		hold_read(st, &h);
		if (each(&h, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
