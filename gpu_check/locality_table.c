/* SPDX-License-Identifier: GPL-2.0-or-later
 * locality_table.c - gpu-check locality for people: a table of GPUs, one of tasks (locality_view.h) */
#include <stdio.h>
#include "gpu_check/locality_view.h"
#include "gpu_check/table.h"

/* --- GPUs --------------------------------------------------------------------------------------------- */

static const char *const gpu_headings[] = { "GPU", "VENDOR", "NODE", "TOLD BY", "CPUS BESIDE IT", "LINK NOW",
	"POSSIBLE", "NEAREST NIC" };
enum { GPU_COLUMNS = sizeof(gpu_headings) / sizeof(gpu_headings[0]) };

static void nic_text(const struct view *v, const struct gpu *g, char *buf, size_t size)
{
	static const char *const told[NIC_DISTANCES] = { "behind the same bridge", "on the same root complex",
		"on the same node", "elsewhere" };
	const struct nic *n = nic_nearest(&v->devices, g);
	char address[PCI_TEXT_MAX];

	buf[0] = '\0';
	if (n)
		snprintf(buf, size, "%s %s", n->name[0] ? n->name : pci_text(&n->address, address),
			told[nic_distance(g, n)]);
}

static int gpu_row(struct libscols_table *t, const struct view *v, const struct gpu *g)
{
	char address[PCI_TEXT_MAX], vendor[32], node[16] = "unknown", cpus[CPU_LIST_MAX], now[LINK_TEXT_MAX],
		possible[LINK_TEXT_MAX], nic[80];
	const char *name = pci_vendor_name(g->vendor);

	if (name)
		snprintf(vendor, sizeof(vendor), "%s%s", name, g->console ? " (console)" : "");
	else
		snprintf(vendor, sizeof(vendor), "%04x:%04x", g->vendor, g->device);
	if (g->node != NODE_UNKNOWN)
		snprintf(node, sizeof(node), "%d", g->node);
	nic_text(v, g, nic, sizeof(nic));
	return table_row(t, (const char *const[]){ pci_text(&g->address, address), vendor, node,
		node_from_name[g->node_from], cpu_set_text(&g->near_cpus, cpus), link_text(&g->link.now, now),
		link_text(&g->link.possible, possible), nic }, GPU_COLUMNS);
}

/* --- tasks -------------------------------------------------------------------------------------------- */

static const char *const task_headings[] = { "TASK", "GPUS", "CPUS", "BESIDE ITS GPUS" };
enum { TASK_COLUMNS = sizeof(task_headings) / sizeof(task_headings[0]) };

static int task_row(struct libscols_table *t, const struct view *v, int task)
{
	char number[16], gpus[GPU_NAMES_MAX], cpus[CPU_LIST_MAX], beside[40] = "unknown";
	int local;

	if (alignment_of(&v->deal[task], &local) != ALIGNED_UNKNOWN)
		snprintf(beside, sizeof(beside), "%d of %d", local, cpu_set_count(&v->deal[task].cpus));
	snprintf(number, sizeof(number), "%d", task);
	return table_row(t, (const char *const[]){ number, view_gpu_names(&v->task[task], gpus),
		cpu_set_text(&v->deal[task].cpus, cpus), beside }, TASK_COLUMNS);
}

int view_print_table(const struct view *v)
{
	struct libscols_table *t;
	int rv = 0;

	if (!v->gpus)
		puts(v->devices.gpus ? "The environment names no GPU of this machine."
				     : "This machine has no GPU on its PCI bus.");
	t = table_new(gpu_headings, GPU_COLUMNS);
	for (int i = 0; t && rv == 0 && i < v->gpus; i++)
		rv = gpu_row(t, v, v->gpu[i]);
	rv = table_end(t, t ? rv : -1);
	if (rv < 0 || !v->tasks)
		return rv;
	putchar('\n');
	t = table_new(task_headings, TASK_COLUMNS);
	for (int i = 0; t && rv == 0 && i < v->tasks; i++)
		rv = task_row(t, v, i);
	return table_end(t, t ? rv : -1);
}
