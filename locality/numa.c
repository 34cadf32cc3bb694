/* SPDX-License-Identifier: GPL-2.0-or-later
 * numa.c - /sys/devices/system/node (numa.h) */
#include "locality/numa.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "locality/sysfs.h"

#define NODES "sys/devices/system/node"

enum { SELF = 10, ELSEWHERE = 20 };	/* what Linux assumes itself where firmware tells nothing */

/* A line of numbers, one for each node that is online, in their order. */
static void distances_read(int folder, struct numa *n, int at)
{
	char text[SYSFS_TEXT_MAX], *p = text, *end;

	for (int j = 0; j < n->nodes; j++)
		n->distance[at * n->nodes + j] = at == j ? SELF : ELSEWHERE;
	if (sysfs_read(folder, text, sizeof(text), "node%d/distance", n->node[at].id) <= 0)
		return;
	for (int j = 0; j < n->nodes; j++, p = end) {
		long d = strtol(p, &end, 10);

		if (end == p || d <= 0 || d > 255)
			return;
		n->distance[at * n->nodes + j] = (int)d;
	}
}

/* Memory: by has_memory, and on kernels or in trees without it, by what is there of the node's memory. */
static bool has_memory(int folder, int id, const struct cpu_set *with_memory, bool told)
{
	char text[SYSFS_TEXT_MAX];

	if (told)
		return cpu_set_has(with_memory, id);
	return sysfs_read(folder, text, sizeof(text), "node%d/meminfo", id) > 0 &&
		!strstr(text, "MemTotal:        0 kB");
}

static void node_read(int root, int folder, int id, struct node *node)
{
	int64_t package = -1;
	int cpu;

	node->id = id;
	sysfs_list(folder, &node->cpus, "node%d/cpulist", id);
	cpu = cpu_set_next(&node->cpus, 0);
	if (cpu >= 0)
		sysfs_number(root, &package, "sys/devices/system/cpu/cpu%d/topology/physical_package_id",
			cpu);
	node->package = (int)package;
}

/* `folder` is that of the nodes. */
static int nodes_read(int root, int folder, struct numa *out)
{
	struct cpu_set online, with_memory;
	bool told = sysfs_list(folder, &with_memory, "has_memory") == 0;

	if (sysfs_list(folder, &online, "online") < 0 || cpu_set_empty(&online))
		return 0;
	out->nodes = cpu_set_count(&online);
	out->node = calloc((size_t)out->nodes, sizeof(*out->node));
	out->distance = calloc((size_t)out->nodes * (size_t)out->nodes, sizeof(*out->distance));
	if (!out->node || !out->distance) {
		numa_free(out);
		errno = ENOMEM;
		return -1;
	}
	for (int id = cpu_set_next(&online, 0), i = 0; id >= 0; id = cpu_set_next(&online, id + 1), i++) {
		node_read(root, folder, id, &out->node[i]);
		out->node[i].has_memory = has_memory(folder, id, &with_memory, told);
	}
	for (int i = 0; i < out->nodes; i++)
		distances_read(folder, out, i);
	return 0;
}

int numa_read(int root, struct numa *out)
{
	int folder = sysfs_folder(root, NODES), rv;

	*out = (struct numa){ .nodes = 0 };
	rv = nodes_read(root, folder, out);
	sysfs_leave(folder);
	return rv;
}

void numa_free(struct numa *n)
{
	free(n->node);
	free(n->distance);
	*n = (struct numa){ .nodes = 0 };
}

int numa_find(const struct numa *n, int id)
{
	for (int i = 0; i < n->nodes; i++)
		if (n->node[i].id == id)
			return i;
	return -1;
}

int numa_of_cpu(const struct numa *n, int cpu)
{
	for (int i = 0; i < n->nodes; i++)
		if (cpu_set_has(&n->node[i].cpus, cpu))
			return i;
	return -1;
}

void numa_nearest_cpus(const struct numa *n, int at, struct cpu_set *out)
{
	int best = -1;

	cpu_set_clear(out);
	if (!cpu_set_empty(&n->node[at].cpus)) {
		*out = n->node[at].cpus;
		return;
	}
	for (int j = 0; j < n->nodes; j++) {
		int d = n->distance[at * n->nodes + j];

		if (cpu_set_empty(&n->node[j].cpus) || (best >= 0 && d > best))
			continue;
		if (best < 0 || d < best)
			cpu_set_clear(out);
		best = d;
		cpu_set_or(out, out, &n->node[j].cpus);
	}
}

int numa_nearest_memory(const struct numa *n, int at)
{
	int found = -1;

	if (n->node[at].has_memory && !cpu_set_empty(&n->node[at].cpus))
		return at;
	for (int j = 0; j < n->nodes; j++)
		if (n->node[j].has_memory && !cpu_set_empty(&n->node[j].cpus) &&
			(found < 0 || n->distance[at * n->nodes + j] < n->distance[at * n->nodes + found]))
			found = j;
	return found;
}
