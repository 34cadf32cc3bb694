/* SPDX-License-Identifier: GPL-2.0-or-later
 * device_node.c - which NUMA node a GPU belongs to (devices.h)
 *
 * -1 in numa_node means that nobody knows. It is never read as 0, and local_cpulist is not asked then: it has
 * every CPU. */
#include "locality/device_node.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "locality/sysfs.h"

#define KFD "sys/class/kfd/kfd/topology/nodes/%d/"

enum { KFD_NODES_MAX = 256 };

const char *const node_from_name[NODE_FROMS] = {
	[FROM_NOBODY] = "none", [FROM_FILE] = "file", [FROM_DEVICE] = "numa_node", [FROM_BRIDGE] = "bridge",
		[FROM_KFD] = "kfd",
};

int device_node_told(int root, const struct numa *numa, const struct pci_path *path, enum node_from *from)
{
	char device[PCI_TEXT_MAX];
	int64_t node;

	for (int at = path->hops - 1; at >= 0; at--) {
		if (sysfs_number(root, &node, "sys/bus/pci/devices/%s/numa_node",
			pci_text(&path->hop[at], device)) < 0)
			continue;
		if (node >= 0 && numa_find(numa, (int)node) >= 0) {
			*from = at == path->hops - 1 ? FROM_DEVICE : FROM_BRIDGE;
			return (int)node;
		}
	}
	*from = FROM_NOBODY;
	return NODE_UNKNOWN;
}

/* --- AMD's own topology ------------------------------------------------------------------------------- */

static int64_t field_number(const char *text, const char *name)
{
	char value[32];

	return sysfs_field(text, name, ' ', value, sizeof(value)) < 0 ? -1 : strtoll(value, NULL, 10);
}

/* The n-th of its nodes with CPUs is the n-th of Linux's: both are made of the same table of the firmware.
 * -1: it has none. */
static int kfd_cpu_node(int root, const struct numa *numa, int kfd)
{
	char text[SYSFS_TEXT_MAX];
	int order = 0;

	for (int i = 0; i <= kfd; i++) {
		if (sysfs_read(root, text, sizeof(text), KFD "properties", i) <= 0 ||
			field_number(text, "cpu_cores_count") <= 0) {
			if (i == kfd)
				return -1;
			continue;
		}
		order++;
	}
	for (int i = 0; i < numa->nodes; i++)
		if (!cpu_set_empty(&numa->node[i].cpus) && --order == 0)
			return numa->node[i].id;
	return -1;
}

struct kfd_place {
	int64_t location;		/* bus << 8 | device << 3 | function */
	int64_t domain;			/* -1: older kernels tell none */
};

/* Of node `i`. 1: of a GPU, *out set; 0: it has none, or is kept from us (the read fails with EPERM, its
 * files are there); -1: there are no more nodes. */
static int kfd_place_read(int root, int i, struct kfd_place *out)
{
	char text[SYSFS_TEXT_MAX];

	if (sysfs_read(root, text, sizeof(text), KFD "properties", i) > 0) {
		out->location = field_number(text, "location_id");
		out->domain = field_number(text, "domain");
		return field_number(text, "cpu_cores_count") <= 0;
	}
	/* node 0 may be hidden as a whole */
	if (i > 0 && errno == ENOENT && sysfs_read(root, text, sizeof(text), KFD "gpu_id", i) < 0 &&
		errno == ENOENT)
		return -1;
	return 0;
}

static bool is_at(const struct kfd_place *p, const struct pci_address *a)
{
	return p->location == (a->bus << 8 | a->device << 3 | a->function) &&
	       (p->domain < 0 || p->domain == a->domain);
}

void kfd_find_each(int root, const struct pci_address *const a[], int count, int out[])
{
	struct kfd_place place;

	for (int j = 0; j < count; j++)
		out[j] = -1;
	for (int i = 0, found; i < KFD_NODES_MAX && (found = kfd_place_read(root, i, &place)) >= 0; i++)
		for (int j = 0; j < count && found; j++)
			if (out[j] < 0 && is_at(&place, a[j]))
				out[j] = i;
}

int kfd_find(int root, const struct pci_address *a)
{
	int number;

	kfd_find_each(root, &a, 1, &number);
	return number;
}

static int kfd_node(int root, const struct numa *numa, const struct pci_address *a)
{
	char text[SYSFS_TEXT_MAX];
	int kfd = kfd_find(root, a), found = NODE_UNKNOWN;
	int64_t best = INT64_MAX;

	for (int i = 0; kfd >= 0 && i < KFD_NODES_MAX; i++) {
		int64_t weight;
		int node;

		if (sysfs_read(root, text, sizeof(text), KFD "io_links/%d/properties", kfd, i) <= 0)
			break;
		weight = field_number(text, "weight");
		node = kfd_cpu_node(root, numa, (int)field_number(text, "node_to"));
		if (node >= 0 && weight >= 0 && weight < best) {
			best = weight;
			found = node;
		}
	}
	return found;
}

/* --- together ----------------------------------------------------------------------------------------- */

/* The one node that has all of these CPUs. */
static int node_of_cpus(const struct numa *numa, const struct cpu_set *cpus)
{
	for (int i = 0; i < numa->nodes; i++)
		if (cpu_set_within(cpus, &numa->node[i].cpus))
			return numa->node[i].id;
	return NODE_UNKNOWN;
}

/* true: the file says it. A node that this machine does not have counts as not said. */
static bool from_file(const struct numa *numa, const struct places_file *file, struct gpu *g)
{
	const struct place_line *l = file ? places_file_find(file, &g->address) : NULL;

	if (!l || (l->node >= 0 && numa_find(numa, l->node) < 0))
		return false;
	g->node_from = FROM_FILE;
	g->node = l->node >= 0 ? l->node : node_of_cpus(numa, &l->cpus);
	g->near_cpus = l->cpus;	/* empty when the line names a node */
	return true;
}

static void near_cpus_find(int root, const struct numa *numa, struct gpu *g)
{
	char device[PCI_TEXT_MAX];
	struct cpu_set local;

	if (!cpu_set_empty(&g->near_cpus) || g->node == NODE_UNKNOWN)
		return;
	numa_nearest_cpus(numa, numa_find(numa, g->node), &g->near_cpus);
	if (g->node_from == FROM_DEVICE &&
		sysfs_list(root, &local, "sys/bus/pci/devices/%s/local_cpulist",
			pci_text(&g->address, device)) == 0 &&
		!cpu_set_empty(&local) && cpu_set_within(&local, &g->near_cpus))
		g->near_cpus = local;
}

void device_node_find(int root, const struct numa *numa, const struct places_file *file, struct gpu *g)
{
	cpu_set_clear(&g->near_cpus);
	if (!from_file(numa, file, g)) {
		g->node = device_node_told(root, numa, &g->path, &g->node_from);
		if (g->node == NODE_UNKNOWN && g->vendor == PCI_AMD) {
			g->node = kfd_node(root, numa, &g->address);
			g->node_from = g->node == NODE_UNKNOWN ? FROM_NOBODY : FROM_KFD;
		}
	}
	near_cpus_find(root, numa, g);
}
