/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_gpus.h - which GPUs are on this node's bus, and so which backends they need
 *
 * Taken from what the kernel tells, never from which library can be loaded: a node with NVIDIA's GPUs may
 * have AMD's library. Where there are other GPUs, Intel's graphics inside the processor (bus 00) is none to
 * compute on; the chips of management boards never are.
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_NODE_GPUS_H
#define GPU_CHECK_NODE_GPUS_H
#include <stdbool.h>
#include "lib/fault.h"
#include "locality/devices.h"

struct node_gpu {
	char bus_id[PCI_TEXT_MAX];
	/* the vendor's own: "cuda", "hip", "level-zero"; NULL: nobody computes on it */
	const char *backend;
};

struct node_gpus {
	bool bus;			/* the node has a PCI bus at all */
	bool nvidia_driver;		/* NVIDIA's driver is loaded: it has GPUs that are on no bus, too */
	int count;
	struct node_gpu gpu[GPUS_MAX];
};

/* Of the node whose / is `root`. What the kernel does not tell is not there. 0; or -1, *out cleared, errno of
 * open() or ENOMEM. */
int node_gpus_read(const char *root, struct node_gpus *out, struct fault *why);

/* Is there a GPU, of whatever vendor, with this bus id? Emulations say 0000:00:00.0, where most machines have
 * a bridge. */
bool node_has_gpu(const struct node_gpus *n, const char *bus_id);

#endif
