/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_gpus.h - which GPUs are on this node's bus, and so which backends they need
 *
 * Taken from what the kernel tells, never from which library can be loaded: a node with NVIDIA's GPUs may have AMD's library. Where there
 * are GPUs of several vendors, Intel's graphics inside the processor (bus 00) is none to compute on.
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_NODE_GPUS_H
#define GPU_CHECK_NODE_GPUS_H
#include <stdbool.h>
#include "gpu_check/bus_id.h"

#define NODE_GPUS_MAX 64

struct node_gpu {
	char bus_id[BUS_ID_MAX];
	const char *backend;		/* "cuda", "hip", "level-zero": the vendor's own */
};

struct node_gpus {
	bool bus;			/* the node has a PCI bus at all */
	bool nvidia_driver;		/* NVIDIA's driver is loaded: it has GPUs that are on no bus, too */
	int count;
	struct node_gpu gpu[NODE_GPUS_MAX];
};

/* Of the node whose / is `root`. Cannot fail: what cannot be read is not there. */
void node_gpus_read(const char *root, struct node_gpus *out);

/* Is there a device with this bus id, GPU or not? */
bool node_has_device(const char *root, const char *bus_id);

#endif
