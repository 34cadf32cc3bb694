/* SPDX-License-Identifier: GPL-2.0-or-later
 * entitlement.c - weights and health, stretch by stretch. */
#include "lib/entitlement.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "lib/fraction.h"

struct part {
	struct share share; /* in this stretch */
	struct share first; /* in the first one of the window */
	int64_t siblings;   /* sum of weights of its children */
	bool changed;
};

static int check(size_t count, const struct weight_change *weights, size_t nweights,
	const struct capacity_change *capacities, size_t ncapacities, struct fault *why)
{
	for (size_t i = 0; i < nweights; i++)
		if (weights[i].node >= count || weights[i].share < 0 ||
			weights[i].share > FAIRSHARE_SHARE_MAX || (i && weights[i].at < weights[i - 1].at))
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

/* Shares as the weights are now. */
static void set_shares(const struct fairshare_node *nodes, struct part *parts, size_t count)
{
	int64_t roots = 0;

	for (size_t i = 0; i < count; i++)
		parts[i].siblings = 0;
	for (size_t i = 0; i < count; i++)
		*(nodes[i].parent == FAIRSHARE_NO_PARENT ? &roots : &parts[nodes[i].parent].siblings) +=
			nodes[i].share;
	for (size_t i = 0; i < count; i++) {
		bool root = nodes[i].parent == FAIRSHARE_NO_PARENT;

		parts[i].share = share_below(root ? share_whole() : parts[nodes[i].parent].share,
			nodes[i].share, root ? roots : parts[nodes[i].parent].siblings);
	}
}

static void add_stretch(
	struct fairshare_node *nodes, struct part *parts, size_t count, int64_t units, bool first)
{
	set_shares(nodes, parts, count);
	for (size_t i = 0; i < count; i++) {
		struct fraction f = share_of(parts[i].share, units);

		if (first)
			parts[i].first = parts[i].share;
		parts[i].changed |=
			parts[i].share.p != parts[i].first.p || parts[i].share.q != parts[i].first.q;
		nodes[i].entitled += (int64_t)(f.num / f.den);
	}
}

/* Weights set by `t` are in force at `t`. The index of the first that is not. */
static size_t apply_until(
	struct fairshare_node *nodes, const struct weight_change *weights, size_t n, size_t i, int64_t t)
{
	for (; i < n && weights[i].at <= t; i++)
		nodes[weights[i].node].share = weights[i].share;
	return i;
}

static int integrate(struct fairshare_node *nodes, struct part *parts, size_t count,
	const struct weight_change *weights, size_t nweights, const struct capacity_change *capacities,
	size_t ncapacities, int64_t from, int64_t to)
{
	size_t next = apply_until(nodes, weights, nweights, 0, from);

	for (int64_t begin = from, end; begin < to; begin = end) {
		int64_t units;

		end = next < nweights && weights[next].at < to ? weights[next].at : to;
		units = capacity_between(capacities, ncapacities, begin, end);
		if (units < 0)
			return -1;
		add_stretch(nodes, parts, count, units, begin == from);
		next = apply_until(nodes, weights, nweights, next, end);
	}
	set_shares(nodes, parts, count);
	for (size_t i = 0; i < count; i++)
		if (!parts[i].changed && parts[i].share.p == parts[i].first.p &&
			parts[i].share.q == parts[i].first.q)
			nodes[i].entitled = FAIRSHARE_BY_SHARE;
	return 0;
}

int entitlement_fill(struct fairshare_node *nodes, size_t count, const struct weight_change *weights,
	size_t nweights, const struct capacity_change *capacities, size_t ncapacities, int64_t from,
	int64_t to, struct fairshare_cluster *cluster, struct fault *why)
{
	struct part *parts;
	int64_t all;
	int rv;

	if (from >= to)
		return fault_errno(why, EINVAL, "the window ends before it begins");
	if (check(count, weights, nweights, capacities, ncapacities, why) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (nodes[i].parent != FAIRSHARE_NO_PARENT &&
			(nodes[i].parent < 0 || (size_t)nodes[i].parent >= i))
			return fault_errno(why, EINVAL, "node %zu: its parent does not stand before it", i);
		nodes[i].entitled = 0;
	}
	all = capacity_between(capacities, ncapacities, from, to);
	parts = calloc(count + 1, sizeof(*parts));
	if (!parts)
		return fault_errno(why, ENOMEM, "out of memory for %zu projects", count);
	rv = all < 0 ? -1
		     : integrate(nodes, parts, count, weights, nweights, capacities, ncapacities, from, to);
	free(parts);
	if (rv < 0)
		return fault_errno(why, EOVERFLOW, "the capacity of the cluster is too large");
	*cluster = (struct fairshare_cluster){capacity_at(capacities, ncapacities, to), all};
	return 0;
}
