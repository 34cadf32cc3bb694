/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_gpus.c - the GPUs of locality/devices.h, as backends (node_gpus.h) */
#include "gpu_check/node_gpus.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "gpu_check/backend_names.h"
#include "locality/devices.h"

static const struct {
	unsigned vendor;
	enum backend_id backend;
} vendors[] = {
	{ PCI_NVIDIA, BACKEND_CUDA },
	{ PCI_AMD, BACKEND_HIP },
	{ PCI_INTEL, BACKEND_LEVEL_ZERO },
};

static const char *backend_of_vendor(unsigned vendor)
{
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (vendors[i].vendor == vendor)
			return backend_name[vendors[i].backend];
	return NULL;
}

static bool in_the_processor(const struct gpu *g)
{
	return g->vendor == PCI_INTEL && g->address.domain == 0 && g->address.bus == 0;
}

static bool computes(const struct gpu *g)
{
	return !g->console && backend_of_vendor(g->vendor) && !in_the_processor(g);
}

/* The graphics of a processor are computed on where there is nothing else. */
static void take(const struct devices *d, struct node_gpus *out)
{
	bool others = false;

	for (int i = 0; i < d->gpus; i++)
		others = others || computes(&d->gpu[i]);
	for (int i = 0; i < d->gpus && i < GPUS_MAX; i++) {
		struct node_gpu *n = &out->gpu[out->count++];

		pci_text(&d->gpu[i].address, n->bus_id);
		n->backend = computes(&d->gpu[i]) ||
			(!others && in_the_processor(&d->gpu[i])) ? backend_of_vendor(d->gpu[i].vendor)
			: NULL;
	}
}

static bool has_bus(int root)
{
	int fd = openat(root, "sys/bus/pci/devices", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e = NULL;
	bool any = false;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!any && (e = readdir(dir)))
		any = e->d_name[0] != '.';
	closedir(dir);
	return any;
}

static int read_devices(int root, struct node_gpus *out)
{
	struct numa numa = { 0 };
	struct devices devices = { 0 };
	int rv = numa_read(root, &numa);

	if (rv == 0)
		rv = devices_read(root, &numa, NULL, &devices);
	if (rv == 0)
		take(&devices, out);
	devices_free(&devices);
	numa_free(&numa);
	return rv;
}

int node_gpus_read(const char *root, struct node_gpus *out, struct fault *why)
{
	int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv;

	memset(out, 0, sizeof(*out));
	if (fd < 0)
		return fault_set(why, "%s: %s", root, strerror(errno));
	out->bus = has_bus(fd);
	out->nvidia_driver = faccessat(fd, "proc/driver/nvidia/version", R_OK, 0) == 0;
	rv = read_devices(fd, out);
	close(fd);
	return rv < 0 ? fault_errno(why, ENOMEM, "there is no memory to look at the GPUs") : 0;
}

bool node_has_gpu(const struct node_gpus *n, const char *bus_id)
{
	for (int i = 0; i < n->count; i++)
		if (!strcmp(n->gpu[i].bus_id, bus_id))
			return true;
	return false;
}
