/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_kinds.h - nodes that are alike for every job, and which of them will do for one
 *
 * Known of a node are its partitions, its types of GPU, its features, its memory and whether a reservation
 * has it now. A job that would get a node of no kind gets no room: whoever gave way to it would do so in
 * vain.
 *
 * Unit     memory in MB
 * Threads  one object belongs to the pass that made it */
#ifndef BUDGETD_NODE_KINDS_H
#define BUDGETD_NODE_KINDS_H
#include "slurm_link/job_view.h"

struct node_kinds;

/* `c` is borrowed. NULL and ENOMEM. */
struct node_kinds *node_kinds_new(const struct cluster_view *c);
void node_kinds_free(struct node_kinds *k);	/* NULL is fine */

uint32_t node_kinds_of(const struct node_kinds *k, size_t node);	/* by its position in the view */

struct node_kinds_for {
	/* by kind; of two jobs for which the same will do the same pointer. Lives as long as the object */
	const bool *set;
	int64_t largest;		/* GPUs of the largest node among them */
};

/* Which will do for a job that asks for GPUs of these types. `j` and `types` live as long as the object. 1;
 * 0: none; or -1 and ENOMEM. */
int node_kinds_for(struct node_kinds *k, const struct job_view *j, const struct gpu_count *types,
	struct node_kinds_for *out);

#endif
