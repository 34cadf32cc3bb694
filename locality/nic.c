/* SPDX-License-Identifier: GPL-2.0-or-later
 * nic.c - which network card is nearest to a GPU (devices.h): by the bridges that both are below, then by the
 * node */
#include "locality/devices.h"
#include <stddef.h>
#include <string.h>

const char *const nic_distance_name[NIC_DISTANCES] = {
	[NIC_SAME_SWITCH] = "switch", [NIC_SAME_ROOT] = "root", [NIC_SAME_NODE] = "node",
		[NIC_ELSEWHERE] = "elsewhere",
};

/* Bridges that both ways begin with. */
static int common_bridges(const struct pci_path *a, const struct pci_path *b)
{
	int n = 0;

	while (n < a->hops - 1 && n < b->hops - 1 && !pci_compare(&a->hop[n], &b->hop[n]))
		n++;
	return n;
}

enum nic_distance nic_distance(const struct gpu *g, const struct nic *n)
{
	if (g->path.host[0] && !strcmp(g->path.host, n->path.host))
		return common_bridges(&g->path, &n->path) > 0 ? NIC_SAME_SWITCH : NIC_SAME_ROOT;
	return g->node != NODE_UNKNOWN && g->node == n->node ? NIC_SAME_NODE : NIC_ELSEWHERE;
}

static bool nearer(const struct gpu *g, const struct nic *a, const struct nic *b)
{
	enum nic_distance da = nic_distance(g, a), db = nic_distance(g, b);

	if (da != db)
		return da < db;
	if (common_bridges(&g->path, &a->path) != common_bridges(&g->path, &b->path))
		return common_bridges(&g->path, &a->path) > common_bridges(&g->path, &b->path);
	return a->fabric && !b->fabric;
}

const struct nic *nic_nearest(const struct devices *d, const struct gpu *g)
{
	const struct nic *best = NULL;

	for (int i = 0; i < d->nics; i++)
		if (!best || nearer(g, &d->nic[i], best))
			best = &d->nic[i];
	return best;
}
