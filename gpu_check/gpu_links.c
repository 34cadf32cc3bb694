/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_links.c - the best way between two GPUs (gpu_links.h) */
#include "gpu_check/gpu_links.h"
#include <stdlib.h>
#include <string.h>
#include "locality/device_node.h"
#include "locality/sysfs.h"

#define KFD_LINK "sys/class/kfd/kfd/topology/nodes/%d/io_links/%d/properties"

enum { KFD_XGMI = 11, KFD_LINKS_MAX = 256 };

const char *const gpu_way_name[WAYS] = {"nvlink", "xgmi", "switch", "root", "node", "elsewhere"};

static struct gpu_link pci_way(const struct gpu *a, const struct gpu *b)
{
	struct gpu_link l = {.way = WAY_ELSEWHERE};

	if (a->path.host[0] && !strcmp(a->path.host, b->path.host))
		l.way = a->path.hops > 1 && b->path.hops > 1 && !pci_compare(&a->path.hop[0], &b->path.hop[0])
				? WAY_SWITCH
				: WAY_ROOT;
	else if (a->node != NODE_UNKNOWN && a->node == b->node)
		l.way = WAY_NODE;
	return l;
}

/* --- AMD ---------------------------------------------------------------------------------------------- */

static long number_of(const char *text, const char *name)
{
	char value[32];

	return sysfs_field(text, name, ' ', value, sizeof(value)) < 0 ? -1 : strtol(value, NULL, 10);
}

/* The driver tells what one link moves and what all of them do. */
static int links_of(const char *text)
{
	long one = number_of(text, "min_bandwidth"), all = number_of(text, "max_bandwidth");

	return one > 0 && all >= one && all / one < 256 ? (int)(all / one) : 0;
}

/* `kfd`: the numbers of the GPUs there, -1: none. */
static void xgmi_read(int root, const int kfd[], int from, int gpus, struct gpu_links *out)
{
	char text[SYSFS_TEXT_MAX];

	for (int i = 0; kfd[from] >= 0 && i < KFD_LINKS_MAX; i++) {
		if (sysfs_read(root, text, sizeof(text), KFD_LINK, kfd[from], i) <= 0)
			return;
		for (int to = 0; number_of(text, "type") == KFD_XGMI && to < gpus; to++)
			if (to != from && kfd[to] >= 0 && kfd[to] == number_of(text, "node_to"))
				out->to[from][to] =
					(struct gpu_link){.way = WAY_XGMI, .links = links_of(text)};
	}
}

/* --- together ----------------------------------------------------------------------------------------- */

void gpu_links_read(int root, const struct gpu *const gpu[], int gpus, const struct nvlinks *nvlinks,
	struct gpu_links *out)
{
	const struct pci_address *at[GPUS_MAX] = {NULL};
	int kfd[GPUS_MAX];

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < gpus; i++)
		at[i] = &gpu[i]->address;
	kfd_find_each(root, at, gpus, kfd);
	for (int a = 0; a < gpus; a++) {
		for (int b = 0; b < gpus; b++) {
			struct gpu_link *l = &out->to[a][b];
			bool switched = false;
			int links = a == b ? 0 : nvlink_between(nvlinks, a, b, &switched);

			*l = pci_way(gpu[a], gpu[b]);
			if (links)
				*l = (struct gpu_link){WAY_NVLINK, links, switched};
		}
		xgmi_read(root, kfd, a, gpus, out);
	}
}
