/* SPDX-License-Identifier: GPL-2.0-or-later
 * device_names.h - what drivers call a GPU beside its bus id, and whether this process may use it
 *
 * The kernel tells all of it in files: no library of a vendor is loaded, no device is opened (an idle one
 * would wake up).
 *
 * Threads  any; an object that is read does not change */
#ifndef LOCALITY_DEVICE_NAMES_H
#define LOCALITY_DEVICE_NAMES_H
#include "locality/devices.h"

enum allowed {
	ALLOWED_UNKNOWN, /* there are no device files at all: a tree, or a driver that is not loaded */
	ALLOWED_YES,
	ALLOWED_NO /* the cgroup says no, or its file is not in this container while those of others are */
};

#define DEVICE_UUID_MAX 64
struct device_name {
	char uuid[DEVICE_UUID_MAX];	/* "GPU-8f6d..."; "" unknown */
	int file;			/* N of /dev/nvidiaN or /dev/dri/renderDN; -1 unknown */
	int order; /* its place among the GPUs of its vendor as the runtime counts: AMD's KFD, else the bus */
	enum allowed allowed;
};

/* Of devices->gpu[i] in out[i]; `root` as in sysfs.h. Cannot fail. */
void device_names_read(int root, const struct devices *devices, struct device_name out[GPUS_MAX]);

#endif
