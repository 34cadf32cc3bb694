/* SPDX-License-Identifier: GPL-2.0-or-later
 * nearness.h - how far each CPU of a machine is from a set of GPUs
 *
 * Order   by the SLIT distance from the nearest of the GPUs; at the same distance the GPU's own CPUs (a
 *         cache's) first, then those of the same package. The steps are so far apart that a sum over all CPUs
 *         of a machine keeps that order.
 * Threads pure functions; an object belongs to its caller */
#ifndef LOCALITY_NEARNESS_H
#define LOCALITY_NEARNESS_H
#include "locality/cores.h"
#include "locality/devices.h"

struct nearness {
	/* of at least one GPU it is known where it is; else everything is equally near */
	bool known;
	struct cpu_set local;	/* the GPUs' near CPUs */
	int nodes;
	/* of a CPU of node[i] that is not local; the costs are compared, never told */
	int64_t *node_cost;
};

/* Of `count` GPUs; those whose node is unknown do not count. 0, to be freed with nearness_free; or -1 and
 * ENOMEM. */
int nearness_of(const struct numa *numa, const struct gpu *const gpus[], int count, struct nearness *out);
void nearness_free(struct nearness *n);	/* of one that is all zero, too */

/* What a CPU of the core costs; 0 for all of them when nothing is known. */
int64_t nearness_cost(const struct nearness *n, const struct core *core, int cpu);

#endif
