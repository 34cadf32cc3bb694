/* SPDX-License-Identifier: GPL-2.0-or-later
 * nearness.c - distances from a set of GPUs (nearness.h) */
#include "locality/nearness.h"
#include <errno.h>
#include <stdlib.h>

enum {
	STEP = 1 << 20,		/* one of SLIT; more than all ties of CPUS_MAX CPUs together */
	TIE_LOCAL = 0, TIE_PACKAGE = 1, TIE_OTHER = 2,
	FARTHEST = 255,		/* of SLIT */
};

/* Is node[at] where the GPU is? One whose file names CPUs of several nodes is at all of these. */
static bool is_home(const struct numa *numa, const struct gpu *g, int at)
{
	return g->node != NODE_UNKNOWN ? numa->node[at].id == g->node
		: cpu_set_meets(&g->near_cpus, &numa->node[at].cpus);
}

static void gpu_add(const struct numa *numa, const struct gpu *g, struct nearness *out)
{
	for (int home = 0; home < numa->nodes; home++) {
		int near;

		if (!is_home(numa, g, home))
			continue;
		/* a node without CPUs is in no package */
		near = numa_of_cpu(numa, cpu_set_next(&g->near_cpus, 0));
		for (int i = 0; i < numa->nodes; i++) {
			bool same = near >= 0 && numa->node[near].package == numa->node[i].package;
			int64_t cost = (int64_t)numa->distance[home * numa->nodes + i] * STEP + (same
				? TIE_PACKAGE : TIE_OTHER);

			if (cost < out->node_cost[i])
				out->node_cost[i] = cost;
		}
	}
}

int nearness_of(const struct numa *numa, const struct gpu *const gpus[], int count, struct nearness *out)
{
	*out = (struct nearness){ .nodes = numa->nodes,
		.node_cost = calloc((size_t)numa->nodes + 1, sizeof(*out->node_cost)) };
	if (!out->node_cost) {
		errno = ENOMEM;
		return -1;
	}
	for (int i = 0; i < numa->nodes; i++)
		out->node_cost[i] = (int64_t)FARTHEST * STEP + TIE_OTHER;
	for (int i = 0; i < count; i++) {
		if (cpu_set_empty(&gpus[i]->near_cpus))
			continue;
		out->known = true;
		cpu_set_or(&out->local, &out->local, &gpus[i]->near_cpus);
		gpu_add(numa, gpus[i], out);
	}
	return 0;
}

void nearness_free(struct nearness *n)
{
	free(n->node_cost);
	*n = (struct nearness){ .nodes = 0 };
}

int64_t nearness_cost(const struct nearness *n, const struct core *core, int cpu)
{
	int64_t cost = (int64_t)FARTHEST * STEP + TIE_OTHER;

	if (!n->known)
		return 0;
	if (core->node >= 0 && core->node < n->nodes)
		cost = n->node_cost[core->node];
	return cpu_set_has(&n->local, cpu) ? cost - cost % STEP + TIE_LOCAL : cost;
}
