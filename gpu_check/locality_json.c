/* SPDX-License-Identifier: GPL-2.0-or-later
 * locality_json.c - gpu-check locality -o json (locality_view.h); the keys are promised in gpu-check(1)
 *
 * json-c tells of no memory by NULL, which json_object_object_add takes for null: only the text at the end is
 * looked at. */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include "gpu_check/locality_view.h"

static void add(struct json_object *o, const char *key, struct json_object *value)
{
	json_object_object_add(o, key, value);
}

static struct json_object *text_or_null(const char *text)
{
	return text && *text ? json_object_new_string(text) : NULL;
}

static struct json_object *cpus_or_null(const struct cpu_set *s)
{
	char text[CPU_LIST_MAX];

	return text_or_null(cpu_set_text(s, text));
}

static struct json_object *hex(unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%04x", value);
	return json_object_new_string(text);
}

static struct json_object *link_json(const struct link_width *w)
{
	struct json_object *o;
	char gts[16];

	if (!w->tenths_gts && !w->lanes)
		return NULL;
	o = json_object_new_object();
	snprintf(gts, sizeof(gts), "%d.%d", w->tenths_gts / 10, w->tenths_gts % 10);
	add(o, "gts", w->tenths_gts ? json_object_new_double_s(w->tenths_gts / 10.0, gts) : NULL);
	add(o, "width", w->lanes ? json_object_new_int(w->lanes) : NULL);
	return o;
}

static void nic_json(const struct view *v, const struct gpu *g, struct json_object *o)
{
	const struct nic *n = nic_nearest(&v->devices, g);
	char text[PCI_TEXT_MAX];

	add(o, "nearest_nic", n ? json_object_new_string(pci_text(&n->address, text)) : NULL);
	add(o, "nic_name", n ? text_or_null(n->name) : NULL);
	add(o, "nic_distance", n ? json_object_new_string(nic_distance_name[nic_distance(g, n)]) : NULL);
}

static struct json_object *gpu_json(const struct view *v, const struct gpu *g)
{
	struct json_object *o = json_object_new_object();
	const char *vendor = pci_vendor_name(g->vendor);
	char text[PCI_TEXT_MAX];

	add(o, "bus_id", json_object_new_string(pci_text(&g->address, text)));
	add(o, "vendor", vendor ? json_object_new_string(vendor) : hex(g->vendor));
	add(o, "vendor_id", hex(g->vendor));
	add(o, "device_id", hex(g->device));
	add(o, "class", hex(g->class));
	add(o, "console", json_object_new_boolean(g->console));
	add(o, "numa_node", g->node == NODE_UNKNOWN ? NULL : json_object_new_int(g->node));
	add(o, "numa_from", json_object_new_string(node_from_name[g->node_from]));
	add(o, "local_cpus", cpus_or_null(&g->near_cpus));
	add(o, "link_now", link_json(&g->link.now));
	add(o, "link_possible", link_json(&g->link.possible));
	nic_json(v, g, o);
	return o;
}

static struct json_object *node_json(const struct numa *numa, int at)
{
	struct json_object *o = json_object_new_object(), *distances = json_object_new_array();
	const struct node *n = &numa->node[at];

	for (int i = 0; i < numa->nodes; i++)
		json_object_array_add(distances, json_object_new_int(numa->distance[at * numa->nodes + i]));
	add(o, "numa_node", json_object_new_int(n->id));
	add(o, "cpus", cpus_or_null(&n->cpus));
	add(o, "memory", json_object_new_boolean(n->has_memory));
	add(o, "distances", distances);
	return o;
}

static struct json_object *task_json(const struct view *v, int t)
{
	struct json_object *o = json_object_new_object(), *gpus = json_object_new_array();
	char text[PCI_TEXT_MAX];
	int local;
	enum alignment a = alignment_of(&v->deal[t], &local);

	for (int i = 0; i < v->task[t].gpus; i++)
		json_object_array_add(gpus,
			json_object_new_string(pci_text(&v->task[t].gpu[i]->address, text)));
	add(o, "task", json_object_new_int(t));
	add(o, "gpus", gpus);
	add(o, "cpus", cpus_or_null(&v->deal[t].cpus));
	add(o, "count", json_object_new_int(cpu_set_count(&v->deal[t].cpus)));
	add(o, "local", a == ALIGNED_UNKNOWN ? NULL : json_object_new_int(local));
	add(o, "near", json_object_new_string(alignment_name[a]));
	return o;
}

int view_print_json(const struct view *v)
{
	struct json_object *o = json_object_new_object(), *gpus = json_object_new_array(),
		*nodes = json_object_new_array(),
			   *tasks = json_object_new_array();
	const char *text;

	for (int i = 0; i < v->gpus; i++)
		json_object_array_add(gpus, gpu_json(v, v->gpu[i]));
	for (int i = 0; i < v->numa.nodes; i++)
		json_object_array_add(nodes, node_json(&v->numa, i));
	for (int t = 0; t < v->tasks; t++)
		json_object_array_add(tasks, task_json(v, t));
	add(o, "gpus", gpus);
	add(o, "nodes", nodes);
	if (v->tasks)
		add(o, "tasks", tasks);
	else
		json_object_put(tasks);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
	if (text)
		puts(text);
	json_object_put(o);
	errno = text ? errno : ENOMEM;
	return text ? 0 : -1;
}
