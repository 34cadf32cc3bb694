/* SPDX-License-Identifier: GPL-2.0-or-later
 * entitlement.h - what each project was entitled to in a window: dated weights, and GPUs that were healthy
 *
 *   A_n = integral over the window of share(n) x healthy GPUs                  (doc/model.md, 5)
 *
 * A weight is in force from the moment it is set: changing one never changes the past. Healthy GPUs shrink
 * for everybody alike. Each stretch between two changes of weights is rounded down to a unit.
 *
 * Unit     units of amount.h, thousandths of GPUs, seconds
 * Threads  pure functions: any thread */
#ifndef LIB_ENTITLEMENT_H
#define LIB_ENTITLEMENT_H
#include <stddef.h>
#include <stdint.h>
#include "lib/fairshare.h"

struct weight_change {
	int64_t at;
	uint32_t node; /* index in the tree */
	int64_t share; /* from `at` on, 0 .. FAIRSHARE_SHARE_MAX; 0: not there yet, or removed */
};

struct capacity_change {
	int64_t at;
	int64_t capacity; /* thousandths of GPUs that are healthy from `at` on */
};

/* Fill nodes[].share (as it is at `to`), nodes[].entitled (FAIRSHARE_BY_SHARE for those whose share was the
 * same all window long, so that ties stay exact) and *cluster, for fairshare_new. nodes[].share comes with
 * the weights before the first change; both lists are in order of time, and the first capacity is that of all
 * time before. Takes O(changes of weights in the window x nodes).
 * 0; or -1 and EINVAL (from >= to, no capacity, a list out of order, a weight or node that there is not),
 * EOVERFLOW or ENOMEM; `nodes` is then of no use. */
int entitlement_fill(struct fairshare_node *nodes, size_t count, const struct weight_change *weights,
	size_t nweights, const struct capacity_change *capacities, size_t ncapacities, int64_t from,
	int64_t to, struct fairshare_cluster *cluster, struct fault *why);

#endif
