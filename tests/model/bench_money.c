/* SPDX-License-Identifier: GPL-2.0-or-later
 * bench_money.c - what people do with money, as the routes of budgetd/http_*.c do it: one transaction each,
 * what has ended expires first. */
#include "tests/model/bench.h"
#include "budgetd/ledger_cap.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_rate.h"
#include "budgetd/rates.h"
#include "lib/zone.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct action {
	int64_t now, id, to, units, percent;
	const struct o_allocation *terms;
	struct journal_entry e;
};

typedef int (*action_fn)(struct bench *b, struct ledger *l, struct action *a);

static int act(struct bench *b, action_fn apply, struct action *a, const char *kind)
{
	struct ledger *l = b->d.ledger;

	a->e = (struct journal_entry){
		.at = a->now, .actor = "ada", .reason = "a history", .allocation = a->id, .units = a->units};
	snprintf(a->e.kind, sizeof(a->e.kind), "%s", kind);
	if (ledger_begin(l, LEDGER_MONEY, &b->why) < 0)
		abort();
	if (money_expire(l, a->now, &b->why) < 0 || apply(b, l, a) < 0) {
		ledger_rollback(l);
		return -1;
	}
	if (ledger_commit(l, &b->why) < 0)
		abort();
	return 0;
}

/* --- projects and rates ------------------------------------------------------------------------- */

void bench_project(struct bench *b, int node, int parent, enum o_policy policy)
{
	static const enum on_exhausted policies[] = {[O_FREE] = ON_EXHAUSTED_FREE,
		[O_REJECT] = ON_EXHAUSTED_REJECT,
		[O_WAIT] = ON_EXHAUSTED_WAIT};
	struct project p = {.parent = parent == O_NONE ? 0 : b->projects[parent],
		.share = 1,
		.on_exhausted = policies[policy]};

	snprintf(p.name, sizeof(p.name), "%s", world_account(node));
	if (ledger_begin(b->d.ledger, LEDGER_MONEY, &b->why) < 0 ||
		project_add(b->d.ledger, &p, 1, &b->why) < 0 || ledger_commit(b->d.ledger, &b->why) < 0)
		abort();
	b->projects[node] = p.id;
}

int bench_credit(struct bench *b, int node, int64_t credit)
{
	struct ledger *l = b->d.ledger;
	struct project p;
	int rc;

	if (ledger_begin(l, LEDGER_MONEY, &b->why) < 0 ||
		project_by_id(l, b->projects[node], &p, &b->why) != 1)
		abort();
	p.credit = credit;
	rc = project_set(l, &p, &b->why);
	if (rc < 0)
		ledger_rollback(l);
	else if (ledger_commit(l, &b->why) < 0)
		abort();
	return rc;
}

int bench_cap(struct bench *b, int64_t now, int node, int user, int64_t cap)
{
	struct ledger *l = b->d.ledger;
	struct cap c = {.project = b->projects[node],
		.uid = W_UID + user,
		.units = cap == O_NONE ? CAP_NONE : cap};

	snprintf(c.user, sizeof(c.user), "u%d", user);
	if (ledger_begin(l, LEDGER_MONEY, &b->why) < 0)
		abort();
	if (cap_set(l, &c, now, &b->why) < 0) {
		ledger_rollback(l);
		return -1;
	}
	if (ledger_commit(l, &b->why) < 0)
		abort();
	return 0;
}

int bench_rate(struct bench *b, int64_t now, int type, int64_t from, int64_t rate)
{
	struct ledger *l = b->d.ledger;
	struct rate_row r = {.at = now,
		.rate = {.thousandths = rate, .valid_from = from},
		.actor = "ada",
		.reason = "a history"};

	if (type == BENCH_SHARD || type == BENCH_MPS)
		snprintf(r.rate.type, sizeof(r.rate.type), "%s", type == BENCH_MPS ? RATE_MPS : RATE_SHARD);
	else if (type != O_ANY_TYPE)
		snprintf(r.rate.type, sizeof(r.rate.type), "t%d", type);
	if (ledger_begin(l, LEDGER_MONEY, &b->why) < 0)
		abort();
	if (rate_add(l, &r, now, &b->why) < 0) {
		ledger_rollback(l);
		return -1;
	}
	if (ledger_commit(l, &b->why) < 0 || ledger_begin(l, LEDGER_READ, &b->why) < 0 ||
		rates_read(b->d.rates, l, &b->why) < 0)
		abort();
	ledger_rollback(l);
	return 0;
}

/* --- allocations -------------------------------------------------------------------------------- */

static int add(struct bench *b, struct ledger *l, struct action *x)
{
	const struct o_allocation *t = x->terms;
	struct allocation a = {.project = b->projects[t->node],
		.starts = t->from,
		.ends = t->until,
		.carry_over_percent = t->carry,
		.vests = t->vests,
		.burst = t->burst};

	if (allocation_add(l, &a, x->now, &b->why) < 0)
		return -1;
	x->e.allocation = a.id;
	return x->units ? journal_post(l, &x->e, &b->why) : 0;
}

int bench_allocate(
	struct bench *b, int64_t now, const struct o_allocation *terms, int64_t units, int64_t *entry)
{
	struct action a = {.now = now, .units = units, .terms = terms};
	int rc = act(b, add, &a, "deposit");

	*entry = a.e.id;
	return rc;
}

static int deposit(struct bench *b, struct ledger *l, struct action *x)
{
	struct allocation a;

	if (allocation_by_id(l, x->id, &a, &b->why) != 1 || (a.ends && a.ends <= x->now))
		return -1;
	return journal_post(l, &x->e, &b->why);
}

int bench_deposit(struct bench *b, int64_t now, int allocation, int64_t units, int64_t *entry)
{
	struct action a = {.now = now, .id = allocation + 1, .units = units};
	int rc = act(b, deposit, &a, "deposit");

	*entry = a.e.id;
	return rc;
}

static int change(struct bench *b, struct ledger *l, struct action *x)
{
	return money_change(l, &x->e, x->now, &b->why);
}

int bench_change(struct bench *b, int64_t now, int allocation, int64_t units, char kind, int64_t *entry)
{
	struct action a = {.now = now, .id = allocation + 1, .units = units};
	int rc = act(b, change, &a, kind == 'w' ? "withdrawal" : "adjustment");

	*entry = a.e.id;
	return rc;
}

/* --- moves and corrections ---------------------------------------------------------------------- */

static int transfer(struct bench *b, struct ledger *l, struct action *x)
{
	struct transfer t = {.from = x->id, .to = x->to, .units = x->units};

	x->e.allocation = 0;
	return money_transfer(l, &t, &x->e, x->now, &b->why);
}

int bench_transfer(struct bench *b, int64_t now, int from, int to, int64_t units, int64_t *entry)
{
	struct action a = {.now = now, .id = b->projects[from], .to = b->projects[to], .units = units};
	int rc = act(b, transfer, &a, "transfer");

	*entry = a.e.id;
	return rc;
}

static int refund(struct bench *b, struct ledger *l, struct action *x)
{
	x->e.allocation = 0;
	return money_refund(l, x->id, x->units, &x->e, x->now, &b->why);
}

int bench_refund(struct bench *b, int64_t now, int64_t charge, int64_t units)
{
	struct action a = {.now = now, .id = charge, .units = units};

	return act(b, refund, &a, "refund");
}

static int take_back(struct bench *b, struct ledger *l, struct action *x)
{
	x->e.allocation = 0;
	x->e.units = 0;
	return money_void(l, x->id, &x->e, x->now, &b->why);
}

int bench_void(struct bench *b, int64_t now, int64_t entry)
{
	struct action a = {.now = now, .id = entry};

	return act(b, take_back, &a, "void");
}

static int close_month(struct bench *b, struct ledger *l, struct action *x)
{
	struct period p = {.closed_at = x->now, .actor = "ada"};

	p.month = zone_utc_month(x->id - 1, &p.starts, &p.ends);
	return period_close(l, &p, x->to != 0, &b->why);
}

int bench_close_month(struct bench *b, int64_t now, int64_t ends, bool force)
{
	struct action a = {.now = now, .id = ends, .to = force};

	return act(b, close_month, &a, "");
}

int64_t bench_all_seen(struct bench *b)
{
	sqlite3_stmt *st = NULL;
	int64_t at = 0;

	if (sqlite3_prepare_v2(b->look, "SELECT all_seen_at FROM look", -1, &st, NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW)
		at = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return at;
}
