/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_owed.c - what each project was owed: entitlement, capped hour by hour at demand. */
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

static void serve(struct owing *x, const int64_t *entitled, amount_t *out)
{
	const struct ranking *r = x->r;

	for (size_t n = 0; n < r->tree.count; n++) {
		const int64_t *cap = entitled + n;

		for (int64_t at = r->from; at < r->now && x->of[n].all; at += OWED_STEP_S,
			cap += r->tree.count) {
			int64_t to = at + OWED_STEP_S < r->now ? at + OWED_STEP_S : r->now;

			out[n] += owed_serve(&x->of[n], at, to, *cap);
		}
	}
}

int ranking_owed(const struct ranking *r, struct ledger *l, bool holds_limit, amount_t **out,
	struct fault *why)
{
	size_t steps = entitlement_steps(r->from, r->now, OWED_STEP_S);
	int64_t *entitled = calloc(steps * r->tree.count + 1, sizeof(*entitled));
	amount_t *owed = calloc(r->tree.count + 1, sizeof(*owed));
	struct owing x = { .r = r, .why = why };
	int rc = 0;

	if (!entitled || !owed)
		rc = fault_errno(why, ENOMEM, "out of memory for %zu projects", r->tree.count);
	if (rc == 0)
		rc = ranking_tree_by_step(&r->tree, r->from, r->now, OWED_STEP_S, entitled, why);
	if (rc == 0)
		rc = demand_walk(l, r->from, r->now, holds_limit, add_demand, &x, why);
	if (rc == 0)
		rc = hand_out(&x, why);
	if (rc == 0) {
		serve(&x, entitled, owed);
		*out = owed;
	} else {
		free(owed);
	}
	free(entitled);
	free(x.asked);
	free(x.of);
	free(x.rows);
	return rc;
}
