/* SPDX-License-Identifier: GPL-2.0-or-later
 * entitlement.h - what each project was entitled to in a window: dated weights, and GPUs that were healthy
 *
 *   A_n = integral over the window of share(n) x healthy GPUs                  (doc/model.md, 5)
 *
 * A weight is in force from the moment it is set: changing one never changes the past, nor does moving a
 * project in the tree. Healthy GPUs shrink for everybody alike. What a project was entitled to between two
 * changes of its own share is rounded down to a unit.
 *
 * Unit     units of amount.h, thousandths of GPUs, seconds
 * Threads  pure functions: any thread */
#ifndef LIB_ENTITLEMENT_H
#define LIB_ENTITLEMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/fairshare.h"

struct weight_change {
	int64_t at;
	uint32_t node; /* index in the tree */
	int64_t share; /* from `at` on, 0 .. FAIRSHARE_SHARE_MAX; 0: not there yet, or removed */
	bool moves;    /* from `at` on it is below `parent`: an index, or FAIRSHARE_NO_PARENT */
	int parent;
};

struct capacity_change {
	int64_t at;
	int64_t capacity; /* thousandths of GPUs that are healthy from `at` on */
};

/* Fill nodes[].share and .parent (as they are at `to`), nodes[].entitled (FAIRSHARE_BY_SHARE for those whose
 * share was the same all window long, so that ties stay exact) and *cluster, for fairshare_new. The nodes
 * come with weights and parents as they were before the first change, in the order that fairshare_new wants
 * of the parents at `to`; both lists are in order of time, and the first capacity is that of all time before.
 * Takes O(nodes), and for each change of the window O(siblings, and what is below those whose share it
 * changes). 0; or -1 and EINVAL (from >= to, no capacity, a list out of order, a weight or node that there is
 * not, a node below itself), EOVERFLOW or ENOMEM; `nodes` is then of no use. */
int entitlement_fill(struct fairshare_node *nodes, size_t count, const struct weight_change *weights,
	size_t nweights, const struct capacity_change *capacities, size_t ncapacities, int64_t from,
	int64_t to, struct fairshare_cluster *cluster, struct fault *why);

/* The same step by step: out[i * count + node] is what the node was entitled to in step i of the window, each
 * `step_s` long but the last; out[] has entitlement_steps() x count places. `nodes` come as for
 * entitlement_fill, and are of no use afterwards. */
size_t entitlement_steps(int64_t from, int64_t to, int64_t step_s);
int entitlement_by_step(struct fairshare_node *nodes, size_t count, const struct weight_change *weights,
	size_t nweights, const struct capacity_change *capacities, size_t ncapacities, int64_t from,
	int64_t to, int64_t step_s, int64_t *out, struct fault *why);

#endif
