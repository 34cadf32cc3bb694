/* SPDX-License-Identifier: GPL-2.0-or-later
 * devices.c - /sys/bus/pci/devices (devices.h); the ladder to a device's node is in device_node.c */
#include "locality/devices.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "locality/device_node.h"
#include "locality/sysfs.h"

#define DEVICES "sys/bus/pci/devices"

enum { CLASS_ETHERNET = 0x0200, CLASS_INFINIBAND = 0x0207 };

static bool is_gpu(unsigned class)
{
	return class == 0x0300 || class == 0x0302 || class == 0x0380 || class == 0x1200;
}

/* Graphics of management boards. AMD's is an ES1000; the other vendors make nothing else. */
static bool is_console(unsigned vendor, unsigned device)
{
	static const struct {
		unsigned vendor, device;	/* device 0: every one */
	} consoles[] = { { 0x1a03, 0 }, { 0x102b, 0 }, { 0x19e5, 0x1711 }, { PCI_AMD, 0x515e } };

	for (size_t i = 0; i < sizeof(consoles) / sizeof(consoles[0]); i++)
		if (consoles[i].vendor == vendor && (!consoles[i].device || consoles[i].device == device))
			return true;
	return false;
}

static unsigned id_read(int root, const char *device, const char *file)
{
	int64_t id = 0;

	sysfs_number(root, &id, DEVICES "/%s/%s", device, file);
	return (unsigned)id;
}

static void gpu_read(int root, const struct numa *numa, const struct places_file *file, const char *name,
	struct gpu *g)
{
	g->vendor = id_read(root, name, "vendor");
	g->device = id_read(root, name, "device");
	g->console = is_console(g->vendor, g->device);
	pci_path_read(root, &g->address, &g->path);
	device_node_find(root, numa, file, g);
}

/* The first name in a folder, but for . and .. ; "" when there is none. */
static void first_name(int root, const char *path, char name[DEVICE_NAME_MAX])
{
	int fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	name[0] = '\0';
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_name[0] != '.' && (!name[0] || strncmp(e->d_name, name, DEVICE_NAME_MAX - 1) < 0))
			snprintf(name, DEVICE_NAME_MAX, "%.*s", DEVICE_NAME_MAX - 1, e->d_name);
	closedir(d);
}

/* Ethernet by class, but with a library of its own instead of verbs: HPE's Slingshot, Amazon's EFA (efa0,
 * efa1, ...). */
static bool has_own_fabric(unsigned vendor, unsigned device)
{
	return (vendor == 0x17db && device == 0x0501) || (vendor == 0x1d0f && device >> 4 == 0xefa);
}

static void nic_read(int root, const struct numa *numa, const char *name, struct nic *n)
{
	char path[SYSFS_PATH_MAX];
	enum node_from from;

	n->vendor = id_read(root, name, "vendor");
	n->device = id_read(root, name, "device");
	snprintf(path, sizeof(path), DEVICES "/%s/infiniband", name);
	first_name(root, path, n->name);
	n->fabric = n->name[0] || n->class == CLASS_INFINIBAND || has_own_fabric(n->vendor, n->device);
	if (!n->name[0]) {
		snprintf(path, sizeof(path), DEVICES "/%s/net", name);
		first_name(root, path, n->name);
	}
	pci_path_read(root, &n->address, &n->path);
	n->node = device_node_told(root, numa, &n->path, &from);
}

/* A virtual function of a card is not a card: it is the same hardware again. */
static bool is_virtual(int folder, const char *name)
{
	char path[DEVICE_NAME_MAX + 16];

	snprintf(path, sizeof(path), "%.*s/physfn", DEVICE_NAME_MAX - 1, name);
	return faccessat(folder, path, F_OK, 0) == 0;
}

static void device_take(int folder, const char *name, struct devices *out)
{
	struct pci_address a;
	int64_t class;

	if (pci_parse(name, &a) < 0 || sysfs_number(folder, &class, "%s/class", name) < 0)
		return;
	class >>= 8;
	if (is_gpu((unsigned)class) && out->gpus < GPUS_MAX)
		out->gpu[out->gpus++] = (struct gpu){ .address = a, .class = (unsigned)class,
			.node = NODE_UNKNOWN };
	else if ((class == CLASS_ETHERNET || class == CLASS_INFINIBAND) && out->nics < NICS_MAX &&
		!is_virtual(folder, name))
		out->nic[out->nics++] = (struct nic){ .address = a, .class = (unsigned)class,
			.node = NODE_UNKNOWN };
}

static int gpus_by_address(const void *a, const void *b)
{
	return pci_compare(&((const struct gpu *)a)->address, &((const struct gpu *)b)->address);
}

static int nics_by_address(const void *a, const void *b)
{
	return pci_compare(&((const struct nic *)a)->address, &((const struct nic *)b)->address);
}

/* Addresses and classes only, in the order of the bus. A machine without a PCI bus has no devices. */
static void bus_read(int root, struct devices *out)
{
	int fd = openat(root, DEVICES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e; (e = readdir(d));)
		device_take(fd, e->d_name, out);
	closedir(d);
	qsort(out->gpu, (size_t)out->gpus, sizeof(*out->gpu), gpus_by_address);
	qsort(out->nic, (size_t)out->nics, sizeof(*out->nic), nics_by_address);
}

int devices_read(int root, const struct numa *numa, const struct places_file *file, struct devices *out)
{
	char name[PCI_TEXT_MAX];

	*out = (struct devices){ .gpu = calloc(GPUS_MAX, sizeof(*out->gpu)),
		.nic = calloc(NICS_MAX, sizeof(*out->nic)) };
	if (!out->gpu || !out->nic) {
		devices_free(out);
		errno = ENOMEM;
		return -1;
	}
	bus_read(root, out);
	for (int i = 0; i < out->gpus; i++)
		gpu_read(root, numa, file, pci_text(&out->gpu[i].address, name), &out->gpu[i]);
	for (int i = 0; i < out->nics; i++)
		nic_read(root, numa, pci_text(&out->nic[i].address, name), &out->nic[i]);
	return 0;
}

void devices_links_read(int root, struct devices *d)
{
	for (int i = 0; i < d->gpus; i++)
		link_read(root, d->gpu[i].vendor, &d->gpu[i].path, &d->gpu[i].link);
}

void devices_free(struct devices *d)
{
	free(d->gpu);
	free(d->nic);
	*d = (struct devices){ .gpus = 0 };
}

const struct gpu *devices_gpu(const struct devices *d, const struct pci_address *a)
{
	for (int i = 0; i < d->gpus; i++)
		if (!pci_compare(&d->gpu[i].address, a))
			return &d->gpu[i];
	return NULL;
}
