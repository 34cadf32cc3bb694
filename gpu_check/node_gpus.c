/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_gpus.c - /sys/bus/pci/devices, read for GPUs (node_gpus.h) */
#include "gpu_check/node_gpus.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHNAME_MAX 512
#define DEVICES      "sys/bus/pci/devices"

static const struct {
	unsigned long vendor;
	const char *backend;
} vendors[] = {
	{ 0x10de, "cuda" },
	{ 0x1002, "hip" },
	{ 0x8086, "level-zero" },
};

static unsigned long read_hex(const char *root, const char *bus_id, const char *file)
{
	char path[PATHNAME_MAX], text[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s/%s", root, bus_id, file);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	return strtoul(text, NULL, 16);
}

/* Display controllers (03xx) and processing accelerators (1200). */
static bool computes(unsigned long class)
{
	return class >> 16 == 0x03 || class >> 8 == 0x1200;
}

static void take_device(const char *root, const char *name, struct node_gpus *out)
{
	struct node_gpu *g = &out->gpu[out->count];
	unsigned long vendor;

	if (out->count == NODE_GPUS_MAX || bus_id_read(name, g->bus_id) < 0 || !computes(read_hex(root, name, "class")))
		return;
	vendor = read_hex(root, name, "vendor");
	for (size_t i = 0; i < sizeof(vendors) / sizeof(vendors[0]); i++)
		if (vendors[i].vendor == vendor) {
			g->backend = vendors[i].backend;
			out->count++;
			return;
		}
}

static bool in_the_processor(const struct node_gpu *g)
{
	return !strcmp(g->backend, "level-zero") && !strncmp(g->bus_id, "0000:00:", 8);
}

static void drop_processor_graphics(struct node_gpus *out)
{
	int others = 0, kept = 0;

	for (int i = 0; i < out->count; i++)
		others += !in_the_processor(&out->gpu[i]);
	for (int i = 0; others > 0 && i < out->count; i++)
		if (!in_the_processor(&out->gpu[i]))
			out->gpu[kept++] = out->gpu[i];
	if (others > 0)
		out->count = kept;
}

static int by_bus_id(const void *a, const void *b)
{
	return strcmp(((const struct node_gpu *)a)->bus_id, ((const struct node_gpu *)b)->bus_id);
}

void node_gpus_read(const char *root, struct node_gpus *out)
{
	char path[PATHNAME_MAX];
	struct dirent *e;
	DIR *dir;

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/version", root);
	out->nvidia_driver = access(path, R_OK) == 0;
	snprintf(path, sizeof(path), "%s/" DEVICES, root);
	dir = opendir(path);
	if (!dir)
		return;
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.') {
			out->bus = true;
			take_device(root, e->d_name, out);
		}
	closedir(dir);
	qsort(out->gpu, (size_t)out->count, sizeof(out->gpu[0]), by_bus_id);
	drop_processor_graphics(out);
}

bool node_has_device(const char *root, const char *bus_id)
{
	char path[PATHNAME_MAX];

	snprintf(path, sizeof(path), "%s/" DEVICES "/%s", root, bus_id);
	return access(path, F_OK) == 0;
}
