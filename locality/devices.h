/* SPDX-License-Identifier: GPL-2.0-or-later
 * devices.h - the GPUs and network cards of a machine, and what they are next to
 *
 * GPU        display controllers and processing accelerators of the PCI bus (classes 0300, 0302, 0380, 1200).
 *            The little graphics chips of management boards are among them and are marked `console`: nobody
 *            computes on them.
 * Node       from the first that tells (node_from): the site's file, which may correct firmware; numa_node of
 *            the device; numa_node of a bridge above it; AMD's KFD links. Else NODE_UNKNOWN.
 * Near CPUs  local_cpulist where it is narrower than the node (a cache's CPUs), else the node's; of a node
 *            without CPUs those of the nearest ones. None where the node is unknown: local_cpulist then has
 *            all CPUs of the machine.
 * Threads    any; an object that is read does not change */
#ifndef LOCALITY_DEVICES_H
#define LOCALITY_DEVICES_H
#include "locality/link.h"
#include "locality/numa.h"
#include "locality/pci.h"
#include "locality/places_file.h"

#define GPUS_MAX 64		/* a node of 16 boards with 4 partitions each */
#define NICS_MAX 64
#define DEVICE_NAME_MAX 32

enum node_from { FROM_NOBODY, FROM_FILE, FROM_DEVICE, FROM_BRIDGE, FROM_KFD, NODE_FROMS };
extern const char *const node_from_name[NODE_FROMS];	/* "none", "file", "numa_node", "bridge", "kfd" */

struct gpu {
	struct pci_address address;
	unsigned vendor, device, class;	/* class without the programming interface: 0x0302 */
	bool console;
	int node;			/* id of the node; NODE_UNKNOWN */
	enum node_from node_from;
	struct cpu_set near_cpus;	/* online or not is the caller's question */
	struct pci_path path;
	struct link link;		/* by devices_links_read */
};

struct nic {
	struct pci_address address;
	unsigned vendor, device, class;
	/* messages between nodes go over it: InfiniBand, Ethernet with verbs, Slingshot, EFA */
	bool fabric;
	char name[DEVICE_NAME_MAX];	/* "mlx5_2", else "eth0", else "" */
	int node;
	struct pci_path path;
};

struct devices {
	int gpus, nics;			/* in the order of the bus */
	struct gpu *gpu;
	struct nic *nic;
};

/* `root` as in sysfs.h, `file` may be NULL. 0, to be freed with devices_free; or -1 and ENOMEM. */
int devices_read(int root, const struct numa *numa, const struct places_file *file, struct devices *out);
/* The links of the GPUs: a quarter of all files, and no task asks for them as it starts. */
void devices_links_read(int root, struct devices *d);
void devices_free(struct devices *d);	/* of one that is all zero, too */

/* The GPU with this address; NULL: there is none. */
const struct gpu *devices_gpu(const struct devices *d, const struct pci_address *a);

/* How near a network card is to a GPU, the nearest first. */
enum nic_distance { NIC_SAME_SWITCH, NIC_SAME_ROOT, NIC_SAME_NODE, NIC_ELSEWHERE, NIC_DISTANCES };
extern const char *const nic_distance_name[NIC_DISTANCES];	/* "switch", "root", "node", "elsewhere" */
enum nic_distance nic_distance(const struct gpu *g, const struct nic *n);

/* The nearest: of several those of the fabric before the others, then in the order of the bus. NULL: there is
 * none. */
const struct nic *nic_nearest(const struct devices *d, const struct gpu *g);

#endif
