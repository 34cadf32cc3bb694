/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_owed.c - what each project was owed: entitlement, capped hour by hour at demand; and how it came
 * about over time. */
#include "budgetd/ledger_demand.h"
#include "budgetd/ranking_inside.h"
#include <errno.h>
#include <stdlib.h>

struct asked {
	size_t node;
	struct demand demand;
};

struct owing {
	const struct ranking *r;
	struct asked *asked;		/* in order of time */
	size_t count, room;
	struct demands *of;		/* by node: of it and of all below it */
	struct demand *rows;		/* theirs, one node after the other */
	int64_t *entitled;		/* by step and node */
	size_t steps;
	struct fault *why;
};

static int add_demand(int64_t project, int64_t uid, const struct demand *d, void *arg)
{
	struct owing *x = arg;
	ssize_t node = ranking_node_of(x->r, project, uid);

	if (node < 0 || d->units <= 0 || d->rate <= 0)
		return 0;
	if (x->count == x->room) {
		size_t room = x->room ? x->room * 2 : 256;
		struct asked *asked = reallocarray(x->asked, room, sizeof(*asked));

		if (!asked)
			return fault_errno(x->why, ENOMEM, "out of memory for %zu jobs", room);
		x->asked = asked;
		x->room = room;
	}
	x->asked[x->count++] = (struct asked){ (size_t)node, *d };
	return 0;
}

static ssize_t above(const struct owing *x, size_t node)
{
	return x->r->tree.nodes[node].parent;
}

/* Each demand is its project's, and that of all above it; each node's stay in order of time. */
static int hand_out(struct owing *x, struct fault *why)
{
	size_t all = 0;

	x->of = calloc(x->r->tree.count + 1, sizeof(*x->of));
	for (size_t i = 0; x->of && i < x->count; i++)
		for (ssize_t n = (ssize_t)x->asked[i].node; n >= 0; n = above(x, (size_t)n), all++)
			x->of[n].all++;
	x->rows = calloc(all + 1, sizeof(*x->rows));
	if (!x->of || !x->rows)
		return fault_errno(why, ENOMEM, "out of memory for %zu jobs", x->count);
	all = 0;
	for (size_t n = 0; n < x->r->tree.count; n++) {
		x->of[n].rows = x->rows + all;
		all += x->of[n].all;
		x->of[n].all = 0;
	}
	for (size_t i = 0; i < x->count; i++)
		for (ssize_t n = (ssize_t)x->asked[i].node; n >= 0; n = above(x, (size_t)n))
			x->of[n].rows[x->of[n].all++] = x->asked[i].demand;
	return 0;
}

/* What the node is owed in a step of the window, at most what it is entitled to in it. Steps follow each
 * other. */
static amount_t serve(struct owing *x, size_t node, size_t step)
{
	const struct ranking *r = x->r;
	int64_t at = r->from + (int64_t)step * OWED_STEP_S, to = at + OWED_STEP_S;

	return owed_serve(&x->of[node], at, to < r->now ? to : r->now, x->entitled[step * r->tree.count + node]);
}

static int owing_begin(struct owing *x, struct ledger *l, bool holds_limit, struct fault *why)
{
	const struct ranking *r = x->r;

	x->steps = entitlement_steps(r->from, r->now, OWED_STEP_S);
	x->entitled = calloc(x->steps * r->tree.count + 1, sizeof(*x->entitled));
	if (!x->entitled)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", r->tree.count);
	if (ranking_tree_by_step(&r->tree, r->from, r->now, OWED_STEP_S, x->entitled, why) < 0 ||
		demand_walk(l, r->from, r->now, holds_limit, add_demand, x, why) < 0)
		return -1;
	return hand_out(x, why);
}

static void owing_end(struct owing *x)
{
	free(x->entitled);
	free(x->asked);
	free(x->of);
	free(x->rows);
}

int ranking_owed(const struct ranking *r, struct ledger *l, bool holds_limit, amount_t **out,
	struct fault *why)
{
	amount_t *owed = calloc(r->tree.count + 1, sizeof(*owed));
	struct owing x = { .r = r, .why = why };
	int rc = owed ? owing_begin(&x, l, holds_limit, why)
		: fault_errno(why, ENOMEM, "out of memory for %zu projects", r->tree.count);

	for (size_t n = 0; rc == 0 && n < r->tree.count; n++)
		for (size_t step = 0; step < x.steps && x.of[n].all; step++)
			owed[n] += serve(&x, n, step);
	owing_end(&x);
	if (rc < 0)
		free(owed);
	else
		*out = owed;
	return rc;
}

/* --- over time ------------------------------------------------------------------------------------ */

struct stepping {
	const struct ranking *r;
	size_t node, count;
	struct ranking_step *steps;	/* what is in each, until they are summed up */
};

static bool is_at_or_below(const struct ranking *r, size_t node, int64_t project, int64_t uid)
{
	for (ssize_t i = ranking_node_of(r, project, uid); i >= 0; i = r->tree.nodes[i].parent)
		if ((size_t)i == node)
			return true;
	return false;
}

static void add_part(const struct occupancy_part *p, void *arg)
{
	struct stepping *x = arg;
	amount_t left = p->counted;
	int64_t at = p->from;

	if (!is_at_or_below(x->r, x->node, p->project, p->uid))
		return;
	while (at < p->to && left > 0) {
		size_t step = (size_t)((at - x->r->from) / OWED_STEP_S);
		int64_t end = x->r->from + (int64_t)(step + 1) * OWED_STEP_S, to = end < p->to ? end : p->to;
		amount_t units = p->price * (to - at) < left ? p->price * (to - at) : left;

		/* what was written for a time to come is of the last step */
		x->steps[step < x->count ? step : x->count - 1].occupied += units;
		left -= units;
		at = to;
	}
}

/* What goes on counts as far as its hold goes, as in the ratio. */
static void add_open(const struct open_use *run, void *arg)
{
	struct stepping *x = arg;
	struct occupancy_part p = { .project = run->project, .uid = run->uid, .price = run->price,
		.from = run->charged_to > x->r->from ? run->charged_to : x->r->from,
		.to = run->covered_until < x->r->now ? run->covered_until : x->r->now };

	p.counted = p.to > p.from ? p.price * (p.to - p.from) : 0;
	if (run->paid)
		add_part(&p, x);
}

static void sum_up(struct stepping *x, struct owing *owing)
{
	struct ranking_step sum = {0};

	for (size_t i = 0; i < x->count; i++) {
		int64_t at = x->r->from + (int64_t)(i + 1) * OWED_STEP_S;

		sum.at = at < x->r->now ? at : x->r->now;
		sum.entitled += owing->entitled[i * x->r->tree.count + x->node];
		sum.occupied += x->steps[i].occupied;
		sum.owed += serve(owing, x->node, i);
		x->steps[i] = sum;
	}
}

int ranking_steps(const struct ranking *r, struct ledger *l, bool holds_limit, size_t node,
	struct ranking_step **out, size_t *count, struct fault *why)
{
	struct owing owing = { .r = r, .why = why };
	struct stepping x = { .r = r, .node = node };
	int rc = owing_begin(&owing, l, holds_limit, why);

	x.count = owing.steps;
	x.steps = calloc(x.count + 1, sizeof(*x.steps));
	if (rc == 0 && !x.steps)
		rc = fault_errno(why, ENOMEM, "out of memory for %zu hours", x.count);
	if (rc == 0 && x.count) {
		occupancy_walk_parts(r->occupancy, add_part, &x);
		rc = occupancy_walk_open(l, add_open, &x, why);
	}
	if (rc == 0)
		sum_up(&x, &owing);
	owing_end(&owing);
	if (rc < 0) {
		free(x.steps);
		return -1;
	}
	*out = x.steps;
	*count = x.count;
	return 0;
}
