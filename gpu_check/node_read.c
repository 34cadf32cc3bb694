/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_read.c - links and counters on the ways to a node's cards (node_read.h) */
#include "gpu_check/node_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "locality/numa.h"
#include "locality/sysfs.h"

#define DEVICE "sys/bus/pci/devices/%s/"

enum { BUSY_PERCENT = 20 }; /* below it a GPU may have its link turned down between two pieces of work */

/* --- counters ----------------------------------------------------------------------------------------- */

/* A file of lines "RxErr 0", at the end the sum: "TOTAL_ERR_COR 0". */
static void counter_take(char *text, enum aer which, struct node_errors *e)
{
	char *save = NULL, *name, *number;
	size_t used = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		name = line + strspn(line, " ");
		number = strchr(name, ' ');
		if (!number)
			continue;
		*number++ = '\0';
		if (!strncmp(name, "TOTAL_ERR_", 10)) {
			e->count[which] = strtoll(number, NULL, 10);
			e->told[which] = true;
		} else if (strtoll(number, NULL, 10) > 0 && used < sizeof(e->kinds[which])) {
			used += (size_t)snprintf(e->kinds[which] + used, sizeof(e->kinds[which]) - used,
				"%s%s %s", used ? " " : "", name, number);
		}
	}
}

static void errors_read(int root, const struct pci_address *at, struct node_state *s)
{
	static const char *const file[AERS] = {"aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal"};
	struct node_errors e = {.at = *at};
	char device[PCI_TEXT_MAX], text[SYSFS_TEXT_MAX];
	bool told = false;

	if (s->errors == NODE_HOPS_MAX || state_errors(s, at))
		return;
	for (int a = 0; a < AERS; a++)
		if (sysfs_read(root, text, sizeof(text), DEVICE "%s", pci_text(at, device), file[a]) > 0) {
			counter_take(text, a, &e);
			told = told || e.told[a];
		}
	if (told)
		s->error[s->errors++] = e;
}

/* --- links -------------------------------------------------------------------------------------------- */

static unsigned number_of(int root, const struct pci_address *at, const char *file)
{
	char device[PCI_TEXT_MAX];
	int64_t value = 0;

	sysfs_number(root, &value, DEVICE "%s", pci_text(at, device), file);
	return (unsigned)value;
}

static bool is_busy(int root, const struct pci_address *gpu)
{
	return number_of(root, gpu, "gpu_busy_percent") >= BUSY_PERCENT; /* AMD; others do not tell */
}

/* `vendor` of the card, on whose `path` hop `at` is the lower end; a GPU's own switch idles with it. */
static void link_add(
	int root, const struct pci_path *path, int at, unsigned vendor, bool gpu, struct node_state *s)
{
	struct node_link *l = &s->link[s->links];
	bool own = at == path->hops - 1 || number_of(root, &path->hop[at], "vendor") == vendor;

	if (s->links == NODE_HOPS_MAX || state_link(s, &path->hop[at]))
		return;
	*l = (struct node_link){.at = path->hop[at],
		.above = path->hop[at - 1],
		.of = path->hop[path->hops - 1],
		.idles = gpu && own};
	link_between(root, &l->above, &l->at, &l->now, &l->possible);
	l->works = l->idles && is_busy(root, &l->of);
	if (l->now.lanes || l->now.tenths_gts)
		s->links++;
}

static void way_read(int root, const struct pci_path *path, unsigned vendor, bool gpu, struct node_state *s)
{
	for (int at = 1; at < path->hops; at += 2)
		link_add(root, path, at, vendor, gpu, s);
	for (int at = 0; at < path->hops; at++)
		errors_read(root, &path->hop[at], s);
}

/* --- together ----------------------------------------------------------------------------------------- */

static void devices_take(int root, const struct devices *d, struct node_state *s)
{
	for (int i = 0; i < d->gpus; i++) {
		const struct gpu *g = &d->gpu[i];

		if (g->console || s->gpus == NODE_GPUS_MAX)
			continue;
		s->gpu[s->gpus++] = (struct node_card){
			.at = g->address, .vendor = g->vendor, .device = g->device };
		way_read(root, &g->path, g->vendor, true, s);
	}
	for (int i = 0; i < d->nics; i++)
		if (d->nic[i].fabric)
			way_read(root, &d->nic[i].path, d->nic[i].vendor, false, s);
}

#define UPTIME_MAX_S 1e10		/* three hundred years: beyond it the text is none of the kernel's */

static void moment_read(int root, struct node_state *s)
{
	char text[64];
	double up;

	sysfs_read(root, s->boot, sizeof(s->boot), "proc/sys/kernel/random/boot_id");
	if (sysfs_read(root, text, sizeof(text), "proc/uptime") <= 0)
		return;
	up = strtod(text, NULL);
	if (up > 0 && up < UPTIME_MAX_S)
		s->at_us = (int64_t)(up * 1e6);
}

int node_read(int root, struct node_state *out)
{
	struct numa numa = {.nodes = 0};
	struct devices d = {.gpus = 0};
	int rv = -1;

	memset(out, 0, sizeof(*out));
	if (numa_read(root, &numa) == 0 && devices_read(root, &numa, NULL, &d) == 0) {
		moment_read(root, out);
		devices_take(root, &d, out);
		golden_image_read(root, &d, out);
		rv = 0;
	}
	devices_free(&d);
	numa_free(&numa);
	return rv;
}
