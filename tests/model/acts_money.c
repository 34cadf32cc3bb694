/* SPDX-License-Identifier: GPL-2.0-or-later
 * acts_money.c - what people do with money in a history. */
#include "tests/model/history.h"
#include <string.h>

#define HOUR 3600
#define DAY  86400

static const char *units(int64_t u)
{
	static char text[4][32];
	static unsigned int next;
	char *s = text[next++ % 4];

	snprintf(s, 32, "%jd", (intmax_t)u);
	return s;
}

/* From nothing much to more than the history can spend. */
static int64_t some_units(struct history *h)
{
	static const int64_t scale[] = {100000, 1000000, 5000000, 20000000, 100000000};

	return between(h, 1, scale[below(h, 5)]);
}

/* Both are told, and must agree on whether it can be done. Refused, nothing of it stays. */
static void begin_act(struct history *h)
{
	h->saved = h->o;
	oracle_expire(&h->o, h->now);
}

static void agree(struct history *h, int ours, int theirs, int64_t entry, const char *what)
{
	tell(h, "%s%s", what, ours < 0 ? ": refused" : "");
	if ((ours < 0) != (theirs < 0))
		differ(h, "%s: the oracle says %s, the books say %s (%s)", what, ours < 0 ? "no" : "yes",
			theirs < 0 ? "no" : "yes", theirs < 0 ? h->b->why.text : "");
	if (ours < 0)
		h->o = h->saved;
	else if (entry)
		h->entry_of[h->o.ngroups - 1] = entry;
}

#define SAY(...)                                                                                             \
	char what[256];                                                                                      \
	snprintf(what, sizeof(what), __VA_ARGS__)

static bool allocate(struct history *h)
{
	struct o_allocation a = {.node = (int)below(h, h->o.nnodes), .from = h->now - between(h, 0, HOUR)};
	int64_t u = some_units(h), entry = 0;

	if (h->o.nallocations >= 30)
		return false;
	if (chance(h, 20))
		a.from = h->now + between(h, 1, 6 * HOUR);
	if (chance(h, 60)) {
		a.until = (a.from > h->now ? a.from : h->now) + between(h, 1, chance(h, 50) ? 3 * HOUR : DAY);
		a.carry = chance(h, 25) ? (int)between(h, 1, 100) : 0;
		a.vests = chance(h, 25);
		a.burst = a.vests && chance(h, 50) ? some_units(h) : 0;
	}
	SAY("allocation %d of p%d: %s units from %+jd to %+jd, carry-over %d %%%s", h->o.nallocations, a.node,
		units(u), (intmax_t)(a.from - h->now), (intmax_t)(a.until ? a.until - h->now : 0), a.carry,
		a.vests ? ", vests" : "");
	begin_act(h);
	oracle_allocate(&h->o, a.node, u, a.from, a.until);
	oracle_vest(&h->o, h->o.nallocations - 1, a.burst, a.carry, a.vests);
	agree(h, 0, bench_allocate(h->b, h->now, &a, u, &entry), entry, what);
	h->entry_of[h->o.ngroups - 1] = entry;
	return true;
}

static bool deposit(struct history *h)
{
	int a = h->o.nallocations ? (int)below(h, h->o.nallocations) : O_NONE;
	int64_t u = some_units(h), entry = 0;
	int ours, theirs;

	if (a == O_NONE)
		return false;
	SAY("deposit %s units into allocation %d", units(u), a);
	begin_act(h);
	ours = oracle_deposit(&h->o, h->now, a, u);
	theirs = bench_deposit(h->b, h->now, a, u, &entry);
	agree(h, ours, theirs, entry, what);
	return true;
}

static bool change(struct history *h)
{
	int a = h->o.nallocations ? (int)below(h, h->o.nallocations) : O_NONE;
	bool withdrawal = chance(h, 60);
	int64_t u = some_units(h), entry = 0;
	int ours, theirs;

	if (a == O_NONE)
		return false;
	if (withdrawal || chance(h, 40))
		u = -u;
	SAY("%s %s units of allocation %d", withdrawal ? "withdrawal" : "adjustment", units(u), a);
	begin_act(h);
	ours = oracle_change(&h->o, h->now, a, u, withdrawal ? 'w' : 'a');
	theirs = bench_change(h->b, h->now, a, u, withdrawal ? 'w' : 'a', &entry);
	agree(h, ours, theirs, entry, what);
	return true;
}

static bool transfer(struct history *h)
{
	int from = (int)below(h, h->o.nnodes), to = (int)below(h, h->o.nnodes), ours, theirs;
	int64_t u = some_units(h), entry = 0;

	SAY("transfer %s units from p%d to p%d", units(u), from, to);
	begin_act(h);
	ours = oracle_transfer(&h->o, h->now, from, to, u);
	theirs = bench_transfer(h->b, h->now, from, to, u, &entry);
	agree(h, ours, theirs, entry, what);
	return true;
}

/* The number that the books gave to a part of the oracle's. */
static int64_t charge_of(struct history *h, const struct o_part *p)
{
	const struct o_run *r = &h->o.runs[p->run];
	sqlite3_stmt *st;
	int64_t id = 0;

	if (sqlite3_prepare_v2(h->b->look,
		    "SELECT c.id FROM charge c JOIN run r ON r.id = c.run WHERE r.job = ? AND r.start = ?"
		    " AND c.part_start = ? AND c.units > 0",
		    -1, &st, NULL) != SQLITE_OK)
		return 0;
	sqlite3_bind_int64(st, 1, W_FIRST_JOB + r->job);
	sqlite3_bind_int64(st, 2, r->start);
	sqlite3_bind_int64(st, 3, p->from);
	if (sqlite3_step(st) == SQLITE_ROW)
		id = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return id;
}

static bool refund(struct history *h)
{
	int part = h->o.nparts ? (int)below(h, h->o.nparts) : O_NONE, ours, theirs;
	int64_t u = chance(h, 30) ? 0 : some_units(h), charge;

	if (part == O_NONE || !h->o.parts[part].units)
		return false;
	charge = charge_of(h, &h->o.parts[part]);
	if (!charge)
		differ(h, "the charge of a part of %s units is not in the books",
			units(h->o.parts[part].units));
	if (u > h->o.parts[part].units && chance(h, 80))
		u = between(h, 1, h->o.parts[part].units);
	SAY("refund %s of the %s units of charge %jd", units(u), units(h->o.parts[part].units),
		(intmax_t)charge);
	begin_act(h);
	ours = oracle_refund(&h->o, h->now, part, u);
	theirs = bench_refund(h->b, h->now, charge, u);
	agree(h, ours, theirs, 0, what);
	return true;
}

static bool take_back(struct history *h)
{
	int group = h->o.ngroups ? (int)below(h, h->o.ngroups) : O_NONE, ours, theirs;

	if (group == O_NONE || !h->entry_of[group])
		return false;
	SAY("void entry %jd", (intmax_t)h->entry_of[group]);
	begin_act(h);
	ours = oracle_void(&h->o, h->now, group);
	theirs = bench_void(h->b, h->now, h->entry_of[group]);
	agree(h, ours, theirs, 0, what);
	return true;
}

static bool rate(struct history *h)
{
	int type = (int)below(h, O_TYPES + 1) - 1, ours, theirs;
	int64_t from = h->now + (chance(h, 50) ? 1 : between(h, -10, 2 * HOUR)), r = between(h, 1, 4000);

	if (h->o.nrates >= O_RATES)
		return false;
	SAY("rate of t%d: %jd from %+jd", type, (intmax_t)r, (intmax_t)(from - h->now));
	h->saved = h->o;
	ours = oracle_rate(&h->o, h->now, type, from, r);
	theirs = bench_rate(h->b, h->now, type, from, r);
	agree(h, ours, theirs, 0, what);
	return true;
}

static bool credit(struct history *h)
{
	int node = (int)below(h, h->o.nnodes), ours, theirs;
	int64_t u = chance(h, 30) ? 0 : some_units(h) / 4;

	SAY("credit of p%d: %s units", node, units(u));
	h->saved = h->o;
	ours = oracle_credit(&h->o, node, u);
	theirs = bench_credit(h->b, node, u);
	agree(h, ours, theirs, 0, what);
	return true;
}

static bool cap(struct history *h)
{
	int node = (int)below(h, h->o.nnodes), user = (int)below(h, O_USERS), ours, theirs;
	int64_t u = chance(h, 20) ? O_NONE : chance(h, 10) ? 0 : some_units(h);

	SAY("cap of user %d in p%d: %s units", user, node, u == O_NONE ? "any" : units(u));
	h->saved = h->o;
	ours = oracle_cap(&h->o, h->now, node, user, u);
	theirs = bench_cap(h->b, h->now, node, user, u);
	agree(h, ours, theirs, 0, what);
	return true;
}

/* The last month, the one before it, or the one that goes on, which must be refused. */
static bool close_month(struct history *h)
{
	static const int64_t ends[] = {H_MONTH - 31 * DAY, H_MONTH, H_MONTH, H_MONTH, H_MONTH + 28 * DAY};
	int64_t end = ends[below(h, sizeof(ends) / sizeof(ends[0]))], seen = bench_all_seen(h->b);
	bool force = chance(h, 30);
	int ours, theirs;

	SAY("the month that ends at %+jd is closed%s", (intmax_t)(end - h->epoch), force ? " by force" : "");
	begin_act(h);
	ours = oracle_close(&h->o, h->now, end, seen, force);
	theirs = bench_close_month(h->b, h->now, end, force);
	agree(h, ours, theirs, 0, what);
	compare_months(h);
	return true;
}

void money_begins(struct history *h)
{
	static const int parents[] = {O_NONE, 0, 0, 1, 1, 2};
	int n = (int)between(h, 1, 6);

	for (int i = 0; i < n; i++) {
		enum o_policy policy = chance(h, 30) ? O_REJECT : chance(h, 40) ? O_WAIT : O_FREE;

		oracle_node(&h->o, parents[i], policy);
		bench_project(h->b, i, parents[i], policy);
		tell(h, "project p%d below p%d%s", i, parents[i],
			policy == O_REJECT ? ", refuses what it cannot pay"
			: policy == O_WAIT ? ", lets wait what it cannot pay"
					   : "");
	}
	for (int64_t k = below(h, 3); k > 0; k--)
		rate(h);
	for (int64_t k = between(h, 0, 5); k > 0; k--)
		allocate(h);
	for (int64_t k = below(h, 3); k > 0; k--)
		cap(h);
}

bool money_act(struct history *h)
{
	static bool (*const acts[])(struct history *) = {allocate, deposit, deposit, change, change, transfer,
		transfer, refund, refund, take_back, rate, credit, cap, cap, close_month};

	return acts[below(h, sizeof(acts) / sizeof(acts[0]))](h);
}
