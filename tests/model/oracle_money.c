/* SPDX-License-Identifier: GPL-2.0-or-later
 * oracle_money.c - what the books must say of money: allocations, credit, transfers, refunds, voids, expiry
 *
 * The slow and plain way, see oracle.h. */
#include "tests/model/oracle_internal.h"
#include <string.h>

static int64_t unused(const struct o_allocation *a)
{
	return a->amount - a->charged - a->held;
}

static int64_t vested(const struct o_allocation *a, int64_t now)
{
	int64_t v;

	if (!a->vests || a->amount <= 0)
		return a->amount;
	v = (int64_t)((__int128)a->amount * (now - a->from) / (a->until - a->from)) + a->burst;
	return v < a->amount ? v : a->amount;
}

static int64_t usable(const struct o_allocation *a, int64_t now)
{
	return vested(a, now) - a->charged - a->held;
}

/* Does b's money expire after a's? Of two that end together the older one is first. */
static bool later(const struct oracle *o, int b, int a)
{
	const struct o_allocation *x = &o->allocations[a], *y = &o->allocations[b];

	if (x->until != y->until)
		return !y->until || (x->until && y->until > x->until);
	return b > a;
}

/* The next allocation of a node after `last` in the order of expiry. */
static int next_of(const struct oracle *o, int node, int last)
{
	int best = O_NONE;

	for (int i = 0; i < o->nallocations; i++)
		if (o->allocations[i].node == node && (last == O_NONE || later(o, i, last)) &&
			(best == O_NONE || later(o, best, i)))
			best = i;
	return best;
}

/* What those that are not live are below zero: an end does not forgive. */
static int64_t debt(const struct oracle *o, int node, int64_t now)
{
	int64_t sum = 0;

	for (int i = 0; i < o->nallocations; i++)
		if (o->allocations[i].node == node && !o_is_live(&o->allocations[i], now) &&
			unused(&o->allocations[i]) < 0)
			sum -= unused(&o->allocations[i]);
	return sum;
}

/* The first or the last to expire of those that are live; O_NONE: all have expired or are to come, there is
 * 0. */
static int live_of(const struct oracle *o, int node, int64_t now, bool first)
{
	int found = O_NONE;

	for (int a = next_of(o, node, O_NONE); a != O_NONE; a = next_of(o, node, a))
		if (o_is_live(&o->allocations[a], now) && (found == O_NONE || !first))
			found = a;
	return found;
}

/* Of its own, credit apart. */
static int64_t own_left(const struct oracle *o, int node, int64_t now, bool with_unvested)
{
	int64_t sum = -debt(o, node, now);

	for (int i = 0; i < o->nallocations; i++)
		if (o->allocations[i].node == node && o_is_live(&o->allocations[i], now))
			sum += with_unvested ? unused(&o->allocations[i]) : usable(&o->allocations[i], now);
	return sum;
}

int64_t oracle_available(const struct oracle *o, int node, int64_t now)
{
	if (live_of(o, node, now, true) == O_NONE)
		return -debt(o, node, now);
	return own_left(o, node, now, false) + o->nodes[node].credit;
}

static int piece_new(struct oracle *o, int allocation, int hold, int part, int64_t units)
{
	for (int i = 0; i < o->npieces; i++)
		if (o->pieces[i].allocation == allocation && o->pieces[i].hold == hold &&
			o->pieces[i].part == part) {
			o->pieces[i].units += units;
			return i;
		}
	o->pieces[o->npieces] = (struct o_piece){allocation, hold, part, units, 0};
	return o->npieces++;
}

/* What expires first is spent first; credit stands with what expires last. */
static void take(struct oracle *o, int hold, int node, int64_t units, int64_t now)
{
	int last = live_of(o, node, now, false);

	for (int a = next_of(o, node, O_NONE); a != O_NONE && units; a = next_of(o, node, a)) {
		struct o_allocation *al = &o->allocations[a];
		int64_t u = a == last ? units : usable(al, now);

		if (!o_is_live(al, now) || u <= 0)
			continue;
		u = u < units ? u : units;
		piece_new(o, a, hold, O_NONE, u);
		al->held += u;
		units -= u;
	}
	if (units)
		o->wrong = "a hold took more than there was";
}

void o_hold_more(struct oracle *o, int hold, int node, int64_t units, int64_t now)
{
	if (units > 0 && units > o_room(o, node, o->holds[hold].user, now))
		o->wrong = "a hold overdraws";
	o->holds[hold].units += units;
	for (; node != O_NONE && units; node = o->nodes[node].parent)
		if (o->nodes[node].metered)
			take(o, hold, node, units, now);
}

/* Take `units` of the hold's pieces at a node, or all that it has there (a project that got its first
 * allocation after the hold was taken has a part in what was added since); to the part, or the other hold,
 * when there is one. */
static void pieces_take(struct oracle *o, int hold, int node, int64_t units, int part, int to,
	bool last_first)
{
	for (;;) {
		int best = O_NONE;
		int64_t u;

		for (int i = 0; i < o->npieces; i++) {
			struct o_piece *p = &o->pieces[i];

			if (p->hold != hold || !p->units || o->allocations[p->allocation].node != node)
				continue;
			if (best == O_NONE ||
				later(o, p->allocation, o->pieces[best].allocation) == last_first)
				best = i;
		}
		if (best == O_NONE || !units)
			return;
		u = o->pieces[best].units < units ? o->pieces[best].units : units;
		o->pieces[best].units -= u;
		units -= u;
		if (to != O_NONE) {
			piece_new(o, o->pieces[best].allocation, to, O_NONE, u);
			continue;
		}
		o->allocations[o->pieces[best].allocation].held -= u;
		if (part == O_NONE)
			continue;
		o->allocations[o->pieces[best].allocation].charged += u;
		piece_new(o, o->pieces[best].allocation, O_NONE, part, u);
	}
}

void o_hold_less(struct oracle *o, int hold, int64_t units)
{
	if (hold == O_NONE || !units)
		return;
	o->holds[hold].units -= units;
	for (int n = 0; n < o->nnodes; n++)
		pieces_take(o, hold, n, units, O_NONE, O_NONE, true);
}

void o_hold_charge(struct oracle *o, int hold, int part, int64_t units)
{
	if (units > o->holds[hold].units)
		o->wrong = "a charge exceeds its hold";
	o->holds[hold].units -= units;
	for (int n = 0; n < o->nnodes; n++)
		pieces_take(o, hold, n, units, part, O_NONE, false);
}

void o_hold_move(struct oracle *o, int hold, int to, int64_t units)
{
	o->holds[hold].units -= units;
	o->holds[to].units += units;
	for (int n = 0; n < o->nnodes; n++)
		pieces_take(o, hold, n, units, O_NONE, to, false);
}

/* --- settings and deposits --- */

int oracle_node(struct oracle *o, int parent, enum o_policy policy)
{
	int n = o->nnodes++;

	o->nodes[n] = (struct o_node){.parent = parent, .policy = policy};
	for (int u = 0; u < O_USERS; u++)
		o->nodes[n].cap[u] = O_NONE;
	return n;
}

int oracle_rate(struct oracle *o, int64_t now, int type, int64_t from, int64_t rate)
{
	if (from <= now)
		return -1;
	o->rates[o->nrates++] = (struct o_rate){type, from, rate};
	return 0;
}

/* What is in use of it cannot be taken away. */
int oracle_credit(struct oracle *o, int node, int64_t credit)
{
	int64_t used = 0;

	for (int i = 0; i < o->nallocations; i++)
		if (o->allocations[i].node == node)
			used += unused(&o->allocations[i]) < 0 ? -unused(&o->allocations[i]) : 0;
	if (credit < o->nodes[node].credit && used > credit)
		return -1;
	o->nodes[node].credit = credit;
	return 0;
}

static void entry_at(struct oracle *o, int allocation, int64_t units, char kind, int64_t at)
{
	o->allocations[allocation].amount += units;
	o->entries[o->nentries++] =
		(struct o_entry){strchr("ec", kind) ? O_NONE : o->ngroups, allocation, units, kind, false, at};
}

static void entry(struct oracle *o, int allocation, int64_t units, char kind)
{
	entry_at(o, allocation, units, kind, o->now);
}

int oracle_allocate(struct oracle *o, int node, int64_t units, int64_t from, int64_t until)
{
	int a = o->nallocations++;

	o->allocations[a] = (struct o_allocation){.node = node, .from = from, .until = until};
	o->nodes[node].metered = true;
	if (units) {
		entry(o, a, units, 'd');
		o->ngroups++;
	}
	return a;
}

void oracle_vest(struct oracle *o, int allocation, int64_t burst, int carry, bool vests)
{
	o->allocations[allocation].vests = vests;
	o->allocations[allocation].burst = burst;
	o->allocations[allocation].carry = carry;
}

int oracle_deposit(struct oracle *o, int64_t now, int allocation, int64_t units)
{
	const struct o_allocation *a = &o->allocations[allocation];

	if (a->until && a->until <= now)
		return -1;
	entry(o, allocation, units, 'd');
	o->ngroups++;
	return 0;
}

/* The first time at its end, as long as that month is open; what comes back later when it comes. */
static int64_t expiry_at(const struct oracle *o, int allocation)
{
	for (int i = 0; i < o->nentries; i++)
		if (o->entries[i].allocation == allocation && o->entries[i].units < 0 &&
			strchr("ec", o->entries[i].kind))
			return o->now;
	return o->allocations[allocation].until < o->closed ? o->now : o->allocations[allocation].until;
}

/* What is left of one that is over expires at once. */
static void expire_one(struct oracle *o, int allocation, int64_t now, int64_t at)
{
	struct o_allocation *a = &o->allocations[allocation];

	if (a->until && a->until <= now && unused(a) > 0)
		entry_at(o, allocation, -unused(a), 'e', at);
}

/* What is charged or held, and credit, stays; what has not vested can be taken. */
static bool can_take(const struct oracle *o, int64_t now, int allocation, int64_t units)
{
	const struct o_allocation *a = &o->allocations[allocation];

	return units <= unused(a) && (!o_is_live(a, now) || units <= own_left(o, a->node, now, true));
}

int oracle_change(struct oracle *o, int64_t now, int allocation, int64_t units, char kind)
{
	const struct o_allocation *a = &o->allocations[allocation];

	if ((a->until && a->until <= now) || (units < 0 && !can_take(o, now, allocation, -units)))
		return -1;
	entry(o, allocation, units, kind);
	o->ngroups++;
	return 0;
}

/* --- transfer --- */

static bool above(const struct oracle *o, int high, int low)
{
	for (; low != O_NONE; low = o->nodes[low].parent)
		if (low == high)
			return true;
	return false;
}

/* Only what is vested moves, no credit. */
static int64_t movable(const struct oracle *o, int node, int64_t now)
{
	return live_of(o, node, now, true) == O_NONE ? 0 : own_left(o, node, now, false);
}

static void move_out(struct oracle *o, int node, int64_t units, int64_t now)
{
	for (int a = next_of(o, node, O_NONE); a != O_NONE && units; a = next_of(o, node, a)) {
		int64_t u = usable(&o->allocations[a], now);

		if (!o_is_live(&o->allocations[a], now) || u <= 0)
			continue;
		u = u < units ? u : units;
		entry(o, a, -u, 't');
		units -= u;
	}
}

/* Along the two paths up to, not including, the lowest project that is in both. */
int oracle_transfer(struct oracle *o, int64_t now, int from, int to, int64_t units)
{
	int moved = 0;

	if (from == to || !o->nodes[from].metered || !o->nodes[to].metered)
		return -1;
	for (int n = from; n != O_NONE && !above(o, n, to); n = o->nodes[n].parent) {
		if (o->nodes[n].metered && movable(o, n, now) < units)
			return -1;
		moved += o->nodes[n].metered;
	}
	for (int n = to; n != O_NONE && !above(o, n, from); n = o->nodes[n].parent) {
		if (o->nodes[n].metered && live_of(o, n, now, true) == O_NONE)
			return -1;
		moved += o->nodes[n].metered;
	}
	if (!moved)
		return -1;
	for (int n = from; n != O_NONE && !above(o, n, to); n = o->nodes[n].parent)
		if (o->nodes[n].metered)
			move_out(o, n, units, now);
	for (int n = to; n != O_NONE && !above(o, n, from); n = o->nodes[n].parent)
		if (o->nodes[n].metered)
			entry(o, live_of(o, n, now, true), units, 't');
	o->ngroups++;
	return 0;
}

/* --- corrections --- */

/* The piece of a charge, at a project, that has something left to give back and expires last. */
static struct o_piece *to_refund(struct oracle *o, int part, int node)
{
	struct o_piece *best = NULL;

	for (int i = 0; i < o->npieces; i++) {
		struct o_piece *p = &o->pieces[i];

		if (p->part == part && o->allocations[p->allocation].node == node && p->units > p->refunded &&
			(!best || later(o, p->allocation, best->allocation)))
			best = p;
	}
	return best;
}

static void refund_at(struct oracle *o, int64_t now, int part, int node, int64_t units)
{
	struct o_piece *p;

	while (units && (p = to_refund(o, part, node))) {
		int64_t u = p->units - p->refunded < units ? p->units - p->refunded : units;
		int to = p->allocation, soonest = live_of(o, node, now, true);

		p->refunded += u;
		units -= u;
		if (!o_is_live(&o->allocations[to], now) && soonest != O_NONE)
			to = soonest;
		entry(o, to, u, 'r');
		if (!o_is_live(&o->allocations[to], now))
			expire_one(o, to, now, expiry_at(o, to));
	}
}

/* The most that any project has not got back. */
int64_t oracle_refundable(const struct oracle *o, int part)
{
	int64_t at[O_NODES] = {0}, left = 0;

	for (int i = 0; i < o->npieces; i++)
		if (o->pieces[i].part == part)
			at[o->allocations[o->pieces[i].allocation].node] +=
				o->pieces[i].units - o->pieces[i].refunded;
	for (int n = 0; n < o->nnodes; n++)
		left = at[n] > left ? at[n] : left;
	return left;
}

/* Never more than the charge was, over all its refunds; units 0: all that is left. */
int oracle_refund(struct oracle *o, int64_t now, int part, int64_t units)
{
	int64_t left = oracle_refundable(o, part);

	if (!left || units > left)
		return -1;
	for (int n = 0; n < o->nnodes; n++)
		refund_at(o, now, part, n, units ? units : left);
	o->ngroups++;
	return 0;
}

int oracle_void(struct oracle *o, int64_t now, int group)
{
	int n = o->nentries, found = 0;

	for (int i = 0; i < n; i++) {
		struct o_entry *e = &o->entries[i];

		if (e->group != group)
			continue;
		if (!strchr("dwta", e->kind) || e->voided ||
			(e->units > 0 && !can_take(o, now, e->allocation, e->units)))
			return -1;
		found++;
		e->voided = true;
		entry(o, e->allocation, -e->units, 'v');
		expire_one(o, e->allocation, now, expiry_at(o, e->allocation));
	}
	o->ngroups++;
	return found ? 0 : -1;
}

/* The project's next allocation: of those that go on, the one that began last before that end, else the next
 * to begin. */
static int following(const struct oracle *o, int a, int64_t now)
{
	const struct o_allocation *x = &o->allocations[a], *best = NULL;

	for (int i = 0; i < o->nallocations; i++) {
		const struct o_allocation *y = &o->allocations[i];
		bool begun = y->from <= x->until;

		if (i == a || y->node != x->node || (y->until && (y->until <= x->until || y->until <= now)))
			continue;
		if (!best || (begun && (best->from > x->until || y->from > best->from)) ||
			(!begun && best->from > x->until && y->from < best->from))
			best = y;
	}
	return best ? (int)(best - o->allocations) : O_NONE;
}

void oracle_expire(struct oracle *o, int64_t now)
{
	o->now = now;
	for (int a = 0; a < o->nallocations; a++) {
		struct o_allocation *x = &o->allocations[a];
		int next = following(o, a, now);
		int64_t at = expiry_at(o, a);

		if (!x->until || x->until > now || unused(x) <= 0)
			continue;
		if (x->carry && next != O_NONE) {
			int64_t part = unused(x) * x->carry / 100;

			entry_at(o, a, -part, 'c', at);
			entry_at(o, next, part, 'c', at);
		}
		expire_one(o, a, now, at);
	}
}
