/* SPDX-License-Identifier: GPL-2.0-or-later
 * entitlement.c - weights and health, stretch by stretch. */
#include "lib/entitlement.h"
#include <errno.h>
#include <stdlib.h>
#include "lib/fraction.h"

#define NONE SIZE_MAX
#define MOVED_BELOW_ITSELF "a project was moved below itself"

/* What is known of a node beside its weight; one more, behind the last, for those without a parent. */
struct part {
	struct share share; /* now */
	int64_t siblings;   /* sum of weights of its children */
	int64_t given;      /* what the whole cluster had when the share was set */
	bool changed;       /* the share, since the window began */
	size_t child, next; /* the first one below, the next one beside; or NONE */
};

struct tree {
	struct fairshare_node *nodes;
	struct part *parts;
	size_t count;
};

static int check(size_t count, const struct weight_change *weights, size_t nweights,
	const struct capacity_change *capacities, size_t ncapacities, struct fault *why)
{
	for (size_t i = 0; i < nweights; i++)
		if (weights[i].node >= count || weights[i].share < 0 ||
			weights[i].share > FAIRSHARE_SHARE_MAX || (i && weights[i].at < weights[i - 1].at) ||
			(weights[i].moves && (weights[i].parent < FAIRSHARE_NO_PARENT ||
				weights[i].parent >= (int)count)))
			return fault_errno(
				why, EINVAL, "change %zu of a weight makes no sense, or is out of order", i);
	for (size_t i = 0; i < ncapacities; i++)
		if (capacities[i].capacity < 0 || (i && capacities[i].at < capacities[i - 1].at))
			return fault_errno(why, EINVAL,
				"change %zu of the healthy GPUs makes no sense, or is out of order", i);
	return ncapacities ? 0 : fault_errno(why, EINVAL, "nobody says how many GPUs there are");
}

/* Capacity x time; below FAIRSHARE_MAX, or -1. */
static int64_t capacity_between(const struct capacity_change *c, size_t n, int64_t from, int64_t to)
{
	fraction_int sum = 0;

	for (size_t i = 0; i < n; i++) {
		int64_t begin = i == 0 || c[i].at < from ? from : c[i].at;
		int64_t end = i + 1 == n || c[i + 1].at > to ? to : c[i + 1].at;

		if (end > begin)
			sum += (fraction_int)(end - begin) * (fraction_int)c[i].capacity;
	}
	return sum < (fraction_int)FAIRSHARE_MAX ? (int64_t)sum : -1;
}

static int64_t capacity_at(const struct capacity_change *c, size_t n, int64_t t)
{
	size_t i = 0;

	while (i + 1 < n && c[i + 1].at <= t)
		i++;
	return c[i].capacity;
}

/* --- the tree as it changes ------------------------------------------------------------------------ */

static size_t above(const struct tree *t, size_t i)
{
	return t->nodes[i].parent == FAIRSHARE_NO_PARENT ? t->count : (size_t)t->nodes[i].parent;
}

static void link_node(struct tree *t, size_t i)
{
	struct part *up = &t->parts[above(t, i)];

	t->parts[i].next = up->child;
	up->child = i;
	up->siblings += t->nodes[i].share;
}

static void unlink_node(struct tree *t, size_t i)
{
	struct part *up = &t->parts[above(t, i)];
	size_t *at = &up->child;

	while (*at != i)
		at = &t->parts[*at].next;
	*at = t->parts[i].next;
	up->siblings -= t->nodes[i].share;
}

/* What it was entitled to by the share that it has had until now. */
static void settle(struct tree *t, size_t i, int64_t given)
{
	struct fraction f = share_of(t->parts[i].share, given - t->parts[i].given);

	t->nodes[i].entitled += (int64_t)(f.num / f.den);
	t->parts[i].given = given;
}

/* Its share anew, by that of the node above; did it change? */
static bool reshare(struct tree *t, size_t i, int64_t given)
{
	const struct part *up = &t->parts[above(t, i)];
	struct part *p = &t->parts[i];
	struct share now = share_below(up->share, t->nodes[i].share, up->siblings);

	if (now.p == p->share.p && now.q == p->share.q)
		return false;
	settle(t, i, given);
	p->share = now;
	p->changed = true;
	return true;
}

/* All below `top`; what is below a node whose share stays has its own, too. */
static void reshare_below(struct tree *t, size_t top, int64_t given)
{
	size_t i = t->parts[top].child;

	while (i != NONE) {
		if (reshare(t, i, given) && t->parts[i].child != NONE) {
			i = t->parts[i].child;
			continue;
		}
		while (t->parts[i].next == NONE && above(t, i) != top)
			i = above(t, i);
		i = t->parts[i].next;
	}
}

static bool is_below(const struct tree *t, int node, uint32_t top)
{
	for (size_t steps = 0; node != FAIRSHARE_NO_PARENT && steps <= t->count; steps++) {
		if ((uint32_t)node == top)
			return true;
		node = t->nodes[node].parent;
	}
	return node != FAIRSHARE_NO_PARENT; /* in a circle */
}

/* At a time when the whole cluster had `given`. */
static int change(struct tree *t, const struct weight_change *c, int64_t given)
{
	size_t before = above(t, c->node);

	if (c->moves && is_below(t, c->parent, c->node))
		return -1;
	unlink_node(t, c->node);
	t->nodes[c->node].share = c->share;
	if (c->moves)
		t->nodes[c->node].parent = c->parent;
	link_node(t, c->node);
	reshare_below(t, before, given);
	if (above(t, c->node) != before)
		reshare_below(t, above(t, c->node), given);
	return 0;
}

/* As it is when the window begins, with all that was set by then. */
static int begin(struct tree *t, const struct weight_change *weights, size_t nweights, int64_t from,
	size_t *next)
{
	size_t n = 0;

	for (size_t i = 0; i <= t->count; i++)
		t->parts[i] = (struct part){ .share = { 0, 1 }, .child = NONE, .next = NONE };
	t->parts[t->count].share = share_whole();
	for (size_t i = 0; i < t->count; i++)
		link_node(t, i);
	for (; n < nweights && weights[n].at <= from; n++)
		if (change(t, &weights[n], 0) < 0)
			return -1;
	*next = n;
	reshare_below(t, t->count, 0);
	for (size_t i = 0; i < t->count; i++)
		t->parts[i].changed = false;
	return 0;
}

/* What happened, and how far it is integrated. */
struct history {
	const struct weight_change *weights;
	size_t nweights, next; /* the first that is not in force yet */
	const struct capacity_change *capacities;
	size_t ncapacities;
	int64_t now, given; /* up to when; what the whole cluster had until then */
};

static void go_to(struct history *h, int64_t t)
{
	h->given += capacity_between(h->capacities, h->ncapacities, h->now, t);
	h->now = t;
}

/* All changes up to `to`, and everybody's entitlement up to there. */
static int integrate(struct tree *t, struct history *h, int64_t to)
{
	for (; h->next < h->nweights && h->weights[h->next].at <= to; h->next++) {
		go_to(h, h->weights[h->next].at);
		if (change(t, &h->weights[h->next], h->given) < 0)
			return -1;
	}
	go_to(h, to);
	for (size_t i = 0; i < t->count; i++)
		settle(t, i, h->given);
	return 0;
}

/* --- the whole ------------------------------------------------------------------------------------- */

static int check_nodes(struct fairshare_node *nodes, size_t count, struct fault *why)
{
	struct tree t = { .nodes = nodes, .count = count };

	for (size_t i = 0; i < count; i++)
		if (nodes[i].parent < FAIRSHARE_NO_PARENT || nodes[i].parent >= (int)count)
			return fault_errno(why, EINVAL, "node %zu: there is no node %d", i, nodes[i].parent);
	for (size_t i = 0; i < count; i++) {
		if (is_below(&t, nodes[i].parent, (uint32_t)i))
			return fault_errno(why, EINVAL, "node %zu: it is below itself", i);
		nodes[i].entitled = 0;
	}
	return 0;
}

static int set_up(struct tree *t, struct history *h, int64_t from, int64_t to, struct fault *why)
{
	if (from >= to)
		return fault_errno(why, EINVAL, "the window ends before it begins");
	if (check(t->count, h->weights, h->nweights, h->capacities, h->ncapacities, why) < 0 ||
		check_nodes(t->nodes, t->count, why) < 0)
		return -1;
	if (capacity_between(h->capacities, h->ncapacities, from, to) < 0)
		return fault_errno(why, EOVERFLOW, "the capacity of the cluster is too large");
	t->parts = calloc(t->count + 1, sizeof(*t->parts));
	if (!t->parts)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", t->count);
	h->now = from;
	if (begin(t, h->weights, h->nweights, from, &h->next) == 0)
		return 0;
	free(t->parts);
	return fault_errno(why, EINVAL, MOVED_BELOW_ITSELF);
}

int entitlement_fill(struct fairshare_node *nodes, size_t count, const struct weight_change *weights,
	size_t nweights, const struct capacity_change *capacities, size_t ncapacities, int64_t from,
	int64_t to, struct fairshare_cluster *cluster, struct fault *why)
{
	struct tree t = {.nodes = nodes, .count = count};
	struct history h = {
		.weights = weights, .nweights = nweights, .capacities = capacities,
			.ncapacities = ncapacities};
	int rv;

	if (set_up(&t, &h, from, to, why) < 0)
		return -1;
	rv = integrate(&t, &h, to);
	for (size_t i = 0; i < count; i++)
		if (!t.parts[i].changed)
			nodes[i].entitled = FAIRSHARE_BY_SHARE;
	free(t.parts);
	*cluster = (struct fairshare_cluster){capacity_at(capacities, ncapacities, to), h.given};
	return rv < 0 ? fault_errno(why, EINVAL, MOVED_BELOW_ITSELF) : 0;
}

size_t entitlement_steps(int64_t from, int64_t to, int64_t step_s)
{
	return to > from ? (size_t)((to - from + step_s - 1) / step_s) : 0;
}

int entitlement_by_step(struct fairshare_node *nodes, size_t count, const struct weight_change *weights,
	size_t nweights, const struct capacity_change *capacities, size_t ncapacities, int64_t from,
	int64_t to, int64_t step_s, int64_t *out, struct fault *why)
{
	struct tree t = {.nodes = nodes, .count = count};
	struct history h = {
		.weights = weights, .nweights = nweights, .capacities = capacities,
			.ncapacities = ncapacities};
	int rv = 0;

	if (set_up(&t, &h, from, to, why) < 0)
		return -1;
	for (int64_t at = from; at < to && rv == 0; at += step_s, out += count) {
		for (size_t i = 0; i < count; i++)
			nodes[i].entitled = 0;
		rv = integrate(&t, &h, at + step_s < to ? at + step_s : to);
		for (size_t i = 0; i < count; i++)
			out[i] = nodes[i].entitled;
	}
	free(t.parts);
	return rv < 0 ? fault_errno(why, EINVAL, MOVED_BELOW_ITSELF) : 0;
}
