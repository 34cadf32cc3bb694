/* SPDX-License-Identifier: GPL-2.0-or-later
 * cores.h - which CPUs are threads of one core, and which cores share a last-level cache
 *
 * Only of the CPUs that somebody may get: a machine has hundreds, a job has a part of them, and each costs a
 * file.
 *
 * Threads  any; an object that is read does not change */
#ifndef LOCALITY_CORES_H
#define LOCALITY_CORES_H
#include "locality/cpu_set.h"
#include "locality/numa.h"

#define CORE_THREADS_MAX 8	/* POWER; what has more is told as several cores */

struct core {
	int threads;			/* of those CPUs that were asked about: with --hint=nomultithread 1 */
	int cpu[CORE_THREADS_MAX];	/* rising */
	int node;			/* its place in numa.node[]; -1: unknown */
	/* the first CPU of those that share its L3; the core's own where there is none */
	int cache;
};

struct cores {
	int count;
	struct core *core;	/* by node, then cache, then first CPU: neighbours stand together */
};

/* The cores of `cpus` below `root` (sysfs.h). A CPU that sysfs knows nothing of is a core of its own. 0, to
 * be freed with cores_free; or -1 and ENOMEM. */
int cores_read(int root, const struct numa *numa, const struct cpu_set *cpus, struct cores *out);
void cores_free(struct cores *c);	/* of one that is all zero, too */

#endif
