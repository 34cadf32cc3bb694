/* SPDX-License-Identifier: GPL-2.0-or-later
 * device_names.c - /proc/driver/nvidia, drm and KFD (device_names.h)
 *
 * faccessat asks the device cgroup, too: the kernel's check of an inode does, before anything is opened. */
#include "locality/device_names.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "locality/device_node.h"
#include "locality/sysfs.h"

static void nvidia_read(int root, const struct pci_address *a, struct device_name *out)
{
	char address[PCI_TEXT_MAX], text[SYSFS_TEXT_MAX], minor[16];

	if (sysfs_read(root, text, sizeof(text), "proc/driver/nvidia/gpus/%s/information",
		    pci_text(a, address)) <= 0)
		return;
	if (sysfs_field(text, "GPU UUID", ':', out->uuid, sizeof(out->uuid)) < 0 || strchr(out->uuid, '?'))
		out->uuid[0] = '\0';	/* "GPU-????????-..." before the driver has looked */
	if (sysfs_field(text, "Device Minor", ':', minor, sizeof(minor)) == 0)
		out->file = atoi(minor);
}

/* N of drm/renderDN; -1: there is none. */
static int render_number(int root, const struct pci_address *a)
{
	char address[PCI_TEXT_MAX], path[SYSFS_PATH_MAX];
	int fd, number = -1;
	DIR *d;

	snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/drm", pci_text(a, address));
	fd = openat(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	for (struct dirent *e; (e = readdir(d));)
		if (!strncmp(e->d_name, "renderD", 7))
			number = atoi(e->d_name + 7);
	closedir(d);
	return number;
}

static bool file_usable(int root, const struct gpu *g, int file, int *there)
{
	char path[64];

	snprintf(path, sizeof(path), g->vendor == PCI_NVIDIA ? "dev/nvidia%d" : "dev/dri/renderD%d", file);
	if (faccessat(root, path, F_OK, 0) == 0)
		*there = 1;
	return faccessat(root, path, R_OK | W_OK, AT_EACCESS) == 0;
}

/* By vendor: where no GPU has its file, nobody can tell. */
static void allowed_find(int root, const struct devices *d, unsigned vendor, struct device_name out[GPUS_MAX])
{
	bool usable[GPUS_MAX] = { false };
	int there = 0;

	for (int i = 0; i < d->gpus; i++)
		if (d->gpu[i].vendor == vendor && out[i].file >= 0)
			usable[i] = file_usable(root, &d->gpu[i], out[i].file, &there);
	for (int i = 0; i < d->gpus && there; i++)
		if (d->gpu[i].vendor == vendor && out[i].file >= 0)
			out[i].allowed = usable[i] ? ALLOWED_YES : ALLOWED_NO;
}

static void order_find(int root, const struct devices *d, struct device_name out[GPUS_MAX])
{
	const struct pci_address *amd[GPUS_MAX];
	int place[GPUS_MAX], kfd[GPUS_MAX], count = 0;

	for (int i = 0; i < d->gpus; i++)
		if (d->gpu[i].vendor == PCI_AMD)
			amd[count++] = &d->gpu[i].address;
	memset(kfd, -1, sizeof(kfd));
	if (count > 0)
		kfd_find_each(root, amd, count, kfd);
	for (int i = 0, at = 0; i < d->gpus; i++) {
		int number = d->gpu[i].vendor == PCI_AMD ? kfd[at++] : -1;

		place[i] = number >= 0 ? number : GPUS_MAX * 16 + i;	/* those that KFD hides come last */
	}
	for (int i = 0; i < d->gpus; i++)
		for (int j = 0; j < d->gpus; j++)
			out[i].order += d->gpu[j].vendor == d->gpu[i].vendor && !d->gpu[j].console &&
					place[j] < place[i];
}

void device_names_read(int root, const struct devices *devices, struct device_name out[GPUS_MAX])
{
	static const unsigned vendors[] = { PCI_NVIDIA, PCI_AMD, PCI_INTEL };

	for (int i = 0; i < devices->gpus; i++) {
		out[i] = (struct device_name){ .file = -1 };
		if (devices->gpu[i].vendor == PCI_NVIDIA)
			nvidia_read(root, &devices->gpu[i].address, &out[i]);
		else
			out[i].file = render_number(root, &devices->gpu[i].address);
	}
	order_find(root, devices, out);
	for (size_t v = 0; v < sizeof(vendors) / sizeof(vendors[0]); v++)
		allowed_find(root, devices, vendors[v], out);
}
