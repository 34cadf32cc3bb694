/* SPDX-License-Identifier: GPL-2.0-or-later
 * device_node.h - the ladder from a PCI device to its NUMA node; inside this room only (devices.h tells the
 * rule)
 *
 * Threads  any; nothing is kept */
#ifndef LOCALITY_DEVICE_NODE_H
#define LOCALITY_DEVICE_NODE_H
#include "locality/devices.h"

/* What the device tells, or the nearest bridge above it. The node's id, *from set; or NODE_UNKNOWN. */
int device_node_told(int root, const struct numa *numa, const struct pci_path *path, enum node_from *from);

/* Fill in g->node, node_from and near_cpus; address, vendor and path are there. Cannot fail. */
void device_node_find(int root, const struct numa *numa, const struct places_file *file, struct gpu *g);

/* The number of AMD's own node (KFD) of the GPU; -1: it is none of AMD's, or not ours to see (EPERM). */
int kfd_find(int root, const struct pci_address *a);

/* Of `count` GPUs, in one walk. */
void kfd_find_each(int root, const struct pci_address *const a[], int count, int out[]);

#endif
