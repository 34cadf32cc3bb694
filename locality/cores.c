/* SPDX-License-Identifier: GPL-2.0-or-later
 * cores.c - cpuN/topology and cpuN/cache (cores.h): once for each core and each cache, not for each CPU */
#include "locality/cores.h"
#include <errno.h>
#include <stdlib.h>
#include "locality/sysfs.h"

#define CPUS "sys/devices/system/cpu"

static int by_place(const void *a, const void *b)
{
	const struct core *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->cache != y->cache)
		return x->cache < y->cache ? -1 : 1;
	return x->cpu[0] - y->cpu[0];
}

/* The threads of the core of `cpu` among `left`, which are taken out of it. */
static void threads_take(int folder, int cpu, struct cpu_set *left, struct core *core)
{
	struct cpu_set siblings;

	if (sysfs_list(folder, &siblings, "cpu%d/topology/thread_siblings_list", cpu) < 0) {
		cpu_set_clear(&siblings);
		cpu_set_add(&siblings, cpu);
	}
	cpu_set_and(&siblings, &siblings, left);
	for (int c = cpu_set_next(&siblings, 0); c >= 0 && core->threads < CORE_THREADS_MAX;
		c = cpu_set_next(&siblings, c + 1)) {
		core->cpu[core->threads++] = c;
		cpu_set_remove(left, c);
	}
}

/* `seen` has the CPUs of the cache that was read last: cores of one stand mostly one after the other. */
static int cache_of(int folder, int cpu, struct cpu_set *seen)
{
	if (!cpu_set_has(seen, cpu) &&
		sysfs_list(folder, seen, "cpu%d/cache/index3/shared_cpu_list", cpu) < 0)
		cpu_set_clear(seen);
	return cpu_set_has(seen, cpu) ? cpu_set_next(seen, 0) : cpu;
}

int cores_read(int root, const struct numa *numa, const struct cpu_set *cpus, struct cores *out)
{
	struct cpu_set left = *cpus, cache = { { 0 } };
	int room = cpu_set_count(cpus), folder;

	*out = (struct cores){ .core = calloc((size_t)room + 1, sizeof(*out->core)) };
	if (!out->core) {
		errno = ENOMEM;
		return -1;
	}
	folder = sysfs_folder(root, CPUS);
	for (int cpu = cpu_set_next(&left, 0); cpu >= 0; cpu = cpu_set_next(&left, cpu + 1)) {
		struct core *core = &out->core[out->count];

		threads_take(folder, cpu, &left, core);
		if (!core->threads)
			continue;	/* its siblings do not name it: cannot be, and must not loop */
		out->count++;
		core->node = numa_of_cpu(numa, cpu);
		core->cache = cache_of(folder, cpu, &cache);
	}
	sysfs_leave(folder);
	qsort(out->core, (size_t)out->count, sizeof(*out->core), by_place);
	return 0;
}

void cores_free(struct cores *c)
{
	free(c->core);
	*c = (struct cores){ .count = 0 };
}
