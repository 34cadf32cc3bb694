/* SPDX-License-Identifier: GPL-2.0-or-later
 * golden_image.c - the versions of a node (node_read.h)
 *
 * A library's version is the name of the file that its soname is a link to, so nothing has to be loaded or
 * run: libcuda.so.1 -> libcuda.so.535.261.03. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "gpu_check/node_read.h"
#include "locality/sysfs.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The first that is there counts for a name. */
static const struct {
	const char *name, *path;
} files[] = {
	{"kernel", "proc/sys/kernel/osrelease"},
	{"board", "sys/class/dmi/id/product_name"},
	{"bios", "sys/class/dmi/id/bios_version"},
	{"bmc", "sys/class/dmi/id/ec_firmware_release"},
	{"microcode", "sys/devices/system/cpu/cpu0/microcode/version"},
	{"driver-nvidia", "sys/module/nvidia/version"},
	{"driver-amdgpu", "sys/module/amdgpu/version"},
	{"driver-amdgpu", "sys/module/amdgpu/srcversion"},
	{"driver-i915", "sys/module/i915/srcversion"},
	{"driver-xe", "sys/module/xe/srcversion"},
	{"driver-mlx5_core", "sys/module/mlx5_core/version"},
	{"driver-mlx5_core", "sys/module/mlx5_core/srcversion"},
};

static const char *const folders[] = {
	"usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib", "opt/rocm/lib"};

static const char *const libraries[] = {"libcuda.so.1", "libnvidia-ml.so.1", "libnvidia-ptxjitcompiler.so.1",
	"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7", "librocm_smi64.so.1", "libze_loader.so.1",
	"libze_intel_gpu.so.1", "libOpenCL.so.1", "libnccl.so.2", "librccl.so.1"};

static void files_read(int root, struct node_state *out)
{
	char text[FACT_VALUE_MAX];

	for (size_t i = 0; i < COUNT(files); i++)
		if (!state_fact(out, files[i].name) &&
			sysfs_read(root, text, sizeof(text), "%s", files[i].path) > 0)
			state_add_fact(out, files[i].name, text);
}

/* A library that is no link tells no version: its size is not one. */
static void libraries_read(int root, struct node_state *out)
{
	char path[SYSFS_PATH_MAX], target[PATH_MAX];

	for (size_t l = 0; l < COUNT(libraries); l++)
		for (size_t f = 0; f < COUNT(folders) && !state_fact(out, libraries[l]); f++) {
			ssize_t n;

			snprintf(path, sizeof(path), "%s/%s", folders[f], libraries[l]);
			n = readlinkat(root, path, target, sizeof(target) - 1);
			if (n <= 0)
				continue;
			target[n] = '\0';
			state_add_fact(
				out, libraries[l], strrchr(target, '/') ? strrchr(target, '/') + 1 : target);
		}
}

/* Firmware of a GPU: AMD's in a file of the device, NVIDIA's where its driver lists the GPU. */
static void gpu_firmware(int root, const struct gpu *g, struct node_state *out)
{
	char device[PCI_TEXT_MAX], name[FACT_NAME_MAX], text[SYSFS_TEXT_MAX], value[FACT_VALUE_MAX];

	snprintf(name, sizeof(name), "vbios-%s", pci_text(&g->address, device));
	if (sysfs_read(root, value, sizeof(value), "sys/bus/pci/devices/%s/vbios_version", device) > 0)
		state_add_fact(out, name, value);
	else if (sysfs_read(root, text, sizeof(text), "proc/driver/nvidia/gpus/%s/information", device) > 0 &&
		 sysfs_field(text, "Video BIOS", ':', value, sizeof(value)) == 0 && !strchr(value, '?'))
		state_add_fact(out, name, value); /* "??.??..." before the driver has woken it up */
}

static void nic_firmware(int root, const struct nic *n, struct node_state *out)
{
	char name[FACT_NAME_MAX], value[FACT_VALUE_MAX];

	if (!n->name[0] ||
		sysfs_read(root, value, sizeof(value), "sys/class/infiniband/%s/fw_ver", n->name) <= 0)
		return;
	snprintf(name, sizeof(name), "firmware-%s", n->name);
	state_add_fact(out, name, value);
}

void golden_image_read(int root, const struct devices *d, struct node_state *out)
{
	files_read(root, out);
	libraries_read(root, out);
	for (int i = 0; i < d->gpus; i++)
		if (!d->gpu[i].console)
			gpu_firmware(root, &d->gpu[i], out);
	for (int i = 0; i < d->nics; i++)
		nic_firmware(root, &d->nic[i], out);
}
