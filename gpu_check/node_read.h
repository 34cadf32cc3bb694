/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_read.h - the state of a node (node_state.h), from sysfs and procfs below a root
 *
 * No library of a vendor is loaded, no GPU is woken up.
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_NODE_READ_H
#define GPU_CHECK_NODE_READ_H
#include "gpu_check/node_state.h"
#include "locality/devices.h"

/* `root` as in sysfs.h. What the kernel does not tell is not there. 0; or -1 and ENOMEM. */
int node_read(int root, struct node_state *out);

/* The versions of a node: kernel, firmware of board, processor, GPUs and network cards, drivers, and the
 * files that the libraries of drivers are links to. Put behind the facts that are there. */
void golden_image_read(int root, const struct devices *d, struct node_state *out);

#endif
