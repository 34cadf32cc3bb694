/* SPDX-License-Identifier: GPL-2.0-or-later
 * numa.h - the NUMA nodes of a machine, and how far each is from each
 *
 * Nodes are not numbered without holes (POWER9: 0, 8, 252-255), some have no CPUs (memory of GPUs, CXL), some
 * no memory (channels that are not populated). Distances are those of the firmware's SLIT: 10 is the node
 * itself.
 *
 * Threads  any; an object that is read does not change */
#ifndef LOCALITY_NUMA_H
#define LOCALITY_NUMA_H
#include <stdbool.h>
#include "locality/cpu_set.h"

#define NODE_UNKNOWN (-1)	/* never 0: a GPU whose node nobody tells is near to nothing */

struct node {
	int id;			/* as Linux counts */
	struct cpu_set cpus;	/* empty: memory only */
	bool has_memory;
	int package;		/* as Linux counts; -1: unknown, or it has no CPUs */
};

struct numa {
	int nodes;
	struct node *node;	/* by id, rising */
	int *distance;		/* of node[i] to node[j]: distance[i * nodes + j] */
};

/* The nodes below `root` (sysfs.h); none where the kernel tells of none. 0, to be freed with numa_free; or -1
 * and ENOMEM. */
int numa_read(int root, struct numa *out);
void numa_free(struct numa *n);	/* of one that is all zero, too */

/* The place in node[] of the node with this id; -1: there is none. */
int numa_find(const struct numa *n, int id);

/* The place of the node that a CPU belongs to; -1: none. */
int numa_of_cpu(const struct numa *n, int cpu);

/* The nearest nodes to node[at] that have CPUs: itself when it has some, else all at the smallest
 * distance. */
void numa_nearest_cpus(const struct numa *n, int at, struct cpu_set *out);

/* The place of the nearest node to node[at] with memory that a host CPU is at home at (itself, if it has
 * both); of several the first. -1: there is none. */
int numa_nearest_memory(const struct numa *n, int at);

#endif
