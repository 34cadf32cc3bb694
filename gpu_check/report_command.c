/* SPDX-License-Identifier: GPL-2.0-or-later
 * report_command.c - gpu-check report: what a person looks at first when GPUs are slow and nothing is broken
 *
 * No judgement and no exit status: what is good depends on the program. Where something is often the reason a
 * remark says so. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpu_check/commands.h"
#include "gpu_check/gpu_links.h"
#include "gpu_check/host_facts.h"
#include "gpu_check/nvml.h"
#include "gpu_check/table.h"

struct report_view {
	int root;
	struct numa numa;
	struct devices devices;
	const struct gpu *gpu[GPUS_MAX];
	int gpus, nvidia;
	struct nvlinks nvlinks;
	struct gpu_links links;
	struct fault no_nvlinks;	/* why nobody told of them; "" */
	struct host_facts host;
};

static const char *percent(int64_t hundredths, char buf[static 32])
{
	if (hundredths < 0)
		return "not told";
	snprintf(buf, 32, "%" PRId64 ".%02" PRId64 " %%", hundredths / 100, hundredths % 100);
	return buf;
}

/* --- table -------------------------------------------------------------------------------------------- */

/* "nvlink x18", "switch"; of itself "". Returns buf. */
#define WAY_TEXT_MAX 32
static const char *way_text(const struct report_view *v, int a, int b, char buf[static WAY_TEXT_MAX])
{
	const struct gpu_link *l = &v->links.to[a][b];

	buf[0] = '\0';
	if (a != b)
		snprintf(buf, WAY_TEXT_MAX, l->links ? "%s x%d" : "%s", gpu_way_name[l->way], l->links);
	return buf;
}

static const char *nic_text(const struct report_view *v, const struct gpu *g, char buf[static 80])
{
	const struct nic *n = nic_nearest(&v->devices, g);
	char address[PCI_TEXT_MAX];

	if (!n)
		return "none";
	snprintf(buf, 80, "%s, %s", n->name[0] ? n->name : pci_text(&n->address, address),
		nic_distance_name[nic_distance(g, n)]);
	return buf;
}

static int gpus_print(const struct report_view *v)
{
	const char *headings[GPUS_MAX + 2] = {"GPU"}, *cells[GPUS_MAX + 2];
	char name[GPUS_MAX][PCI_TEXT_MAX], way[GPUS_MAX][WAY_TEXT_MAX], nic[80];
	struct libscols_table *t;
	int rv = 0;

	for (int i = 0; i < v->gpus; i++)
		headings[i + 1] = pci_text(&v->gpu[i]->address, name[i]);
	headings[v->gpus + 1] = "NEAREST NIC";
	t = table_new(headings, (size_t)v->gpus + 2);
	for (int i = 0; t && rv == 0 && i < v->gpus; i++) {
		cells[0] = name[i];
		for (int j = 0; j < v->gpus; j++)
			cells[j + 1] = way_text(v, i, j, way[j]);
		cells[v->gpus + 1] = nic_text(v, v->gpu[i], nic);
		rv = table_row(t, cells, (size_t)v->gpus + 2);
	}
	return table_end(t, t ? rv : -1);
}

/* NVIDIA's links of all GPUs together: a row where there is such a GPU. */
static int nvlink_row(struct libscols_table *t, const struct report_view *v)
{
	int active = 0, possible = 0;
	char text[sizeof(v->no_nvlinks.text) + 16];

	if (v->nvidia == 0)
		return 0;
	for (int i = 0; i < v->gpus; i++) {
		active += v->nvlinks.gpu[i].active;
		possible += v->nvlinks.gpu[i].possible;
	}
	if (v->no_nvlinks.text[0])
		snprintf(text, sizeof(text), "not told: %s", v->no_nvlinks.text);
	else if (possible == 0)
		snprintf(text, sizeof(text), "none");
	else
		snprintf(text, sizeof(text), "%d of %d links are up", active, possible);
	return table_row(t, (const char *const[]){"NVLink", text,
		active < possible ? "without a bridge, or trained down: `nvidia-smi nvlink -s`" : ""}, 3);
}

static const char *iommu_remark(const struct host_facts *h)
{
	return h->iommu == IOMMU_TRANSLATES ? "every copy of the GPU is translated, and GPUs may not reach "
					      "each other: iommu=pt on the kernel's command line"
					    : "";
}

static int host_rows(struct libscols_table *t, const struct host_facts *h)
{
	char pages[96] = "not told", some[32], some_long[32], full[32], pressure[160], steal[32],
	     throttled[32] = "not told";

	if (h->huge_pages >= 0)
		snprintf(pages, sizeof(pages),
			"%" PRId64 " of %" PRId64 " KiB, %" PRId64 " free; transparent: %s", h->huge_pages,
			h->huge_kib, h->huge_free, h->transparent[0] ? h->transparent : "not told");
	snprintf(pressure, sizeof(pressure),
		"%s of the last 10 s, %s of 300 s; all tasks at once: %s of 10 s", percent(h->some_10, some),
		percent(h->some_300, some_long), percent(h->full_10, full));
	if (h->throttled >= 0)
		snprintf(throttled, sizeof(throttled), "%" PRId64 " times", h->throttled);
	const char *const row[][3] = {
		{"IOMMU", iommu_name[h->iommu], iommu_remark(h)},
		{"huge pages", pages, ""},
		{"waiting for memory", h->some_10 < 0 ? "not told" : pressure,
			h->full_300 > 100 ? "jobs wait for memory: it is short, or swap is used" : ""},
		{"stolen by a hypervisor", percent(h->steal, steal),
			h->steal > 100 ? "others use these CPUs: the machine is virtual and shared" : ""},
		{"CPUs throttled by heat", throttled,
			h->throttled > 0 ? "since the boot: look at fans and air" : ""},
		{"governor of CPU 0", h->governor[0] ? h->governor : "not told",
			!strcmp(h->governor, "powersave") ? "without intel_pstate this is the lowest clock"
							  : ""},
	};

	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (table_row(t, row[i], 3) < 0)
			return -1;
	return 0;
}

static int table_print(const struct report_view *v)
{
	static const char *const headings[] = {"HOST", "", "REMARK"};
	struct libscols_table *t;

	if (v->gpus == 0)
		puts("This machine has no GPU on its PCI bus.");
	else if (gpus_print(v) < 0)
		return -1;
	putchar('\n');
	t = table_new(headings, 3);
	return table_end(t, t && nvlink_row(t, v) == 0 ? host_rows(t, &v->host) : -1);
}

/* --- JSON --------------------------------------------------------------------------------------------- */

static void add(struct json_object *to, const char *key, struct json_object *value)
{
	json_object_object_add(to, key, value);
}

static void add_text(struct json_object *to, const char *key, const char *text)
{
	add(to, key, text && text[0] ? json_object_new_string(text) : NULL);
}

static void add_number(struct json_object *to, const char *key, int64_t n)
{
	add(to, key, n < 0 ? NULL : json_object_new_int64(n));
}

static void add_percent(struct json_object *to, const char *key, int64_t hundredths)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64 ".%02" PRId64, hundredths / 100, hundredths % 100);
	add(to, key, hundredths < 0 ? NULL : json_object_new_double_s((double)hundredths / 100, text));
}

static struct json_object *link_json(const struct gpu_link *l)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "way", gpu_way_name[l->way]);
	add_number(o, "links", l->links ? l->links : -1);
	if (l->way == WAY_NVLINK)
		add(o, "switched", json_object_new_boolean(l->switched));
	return o;
}

static struct json_object *gpu_json(const struct report_view *v, int i)
{
	struct json_object *o = json_object_new_object(), *links = json_object_new_object();
	bool told = v->gpu[i]->vendor == PCI_NVIDIA && !v->no_nvlinks.text[0];
	const struct nic *n = nic_nearest(&v->devices, v->gpu[i]);
	char text[PCI_TEXT_MAX];

	add_text(o, "bus_id", pci_text(&v->gpu[i]->address, text));
	add_text(o, "nic_name", n ? n->name[0] ? n->name : pci_text(&n->address, text) : NULL);
	add_text(o, "nic_distance", n ? nic_distance_name[nic_distance(v->gpu[i], n)] : NULL);
	for (int j = 0; j < v->gpus; j++)
		if (i != j)
			add(links, pci_text(&v->gpu[j]->address, text), link_json(&v->links.to[i][j]));
	add(o, "gpu_links", links);
	add_number(o, "nvlinks", told ? v->nvlinks.gpu[i].possible : -1);
	add_number(o, "nvlinks_up", told ? v->nvlinks.gpu[i].active : -1);
	return o;
}

static struct json_object *host_json(const struct host_facts *h)
{
	struct json_object *o = json_object_new_object();

	add_text(o, "iommu", iommu_name[h->iommu]);
	add_number(o, "huge_pages", h->huge_pages);
	add_number(o, "huge_pages_free", h->huge_free);
	add_number(o, "huge_page_kib", h->huge_kib);
	add_text(o, "transparent_huge_pages", h->transparent);
	add_percent(o, "memory_some_10s_percent", h->some_10);
	add_percent(o, "memory_some_300s_percent", h->some_300);
	add_percent(o, "memory_full_10s_percent", h->full_10);
	add_percent(o, "memory_full_300s_percent", h->full_300);
	add_percent(o, "steal_percent", h->steal);
	add_number(o, "cpu_throttled", h->throttled);
	add_text(o, "governor", h->governor);
	return o;
}

static int json_print(const struct report_view *v)
{
	struct json_object *o = json_object_new_object(), *gpus = json_object_new_array();
	const char *text;

	for (int i = 0; i < v->gpus; i++)
		json_object_array_add(gpus, gpu_json(v, i));
	add(o, "gpus", gpus);
	add_text(o, "nvlink_not_told", v->no_nvlinks.text);
	add(o, "host", host_json(&v->host));
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		puts(text);
	json_object_put(o);
	errno = text ? errno : ENOMEM;
	return text ? 0 : -1;
}

/* --- the command -------------------------------------------------------------------------------------- */

/* NVML is asked for this machine, and in a tree only where it is named. */
static void links_read(const struct options *o, struct report_view *v)
{
	const char *library = o->nvml ? o->nvml : strcmp(o->root, "/") ? NULL : NVML_LIBRARY;

	if (v->nvidia > 0 && library)
		nvlink_read(library, NVML_DEADLINE_MS, v->gpu, v->gpus, &v->nvlinks, &v->no_nvlinks);
	else if (v->nvidia > 0)
		fault_set(&v->no_nvlinks, "no file has them, and NVML is not asked about a copied tree");
	gpu_links_read(v->root, v->gpu, v->gpus, &v->nvlinks, &v->links);
}

static int view_read(const struct options *o, struct report_view *v)
{
	if (numa_read(v->root, &v->numa) < 0 || devices_read(v->root, &v->numa, NULL, &v->devices) < 0)
		return complain(EXIT_FAILED, "%s cannot be read: %s", o->root, strerror(errno));
	for (int i = 0; i < v->devices.gpus; i++)
		if (!v->devices.gpu[i].console)
			v->gpu[v->gpus++] = &v->devices.gpu[i];
	for (int i = 0; i < v->gpus; i++)
		v->nvidia += v->gpu[i]->vendor == PCI_NVIDIA;
	links_read(o, v);
	host_facts_read(v->root, &v->devices, &v->host);
	return EXIT_DONE;
}

int report_command(const struct options *o)
{
	struct report_view *v = calloc(1, sizeof(*v));
	int rv;

	if (!v)
		return complain(EXIT_FAILED, "no memory");
	v->root = open(o->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rv = v->root < 0 ? complain(EXIT_FAILED, "%s: %s", o->root, strerror(errno)) : view_read(o, v);
	if (rv == EXIT_DONE && (o->json ? json_print : table_print)(v) < 0)
		rv = complain(EXIT_FAILED, "no memory");
	devices_free(&v->devices);
	numa_free(&v->numa);
	if (v->root >= 0)
		close(v->root);
	free(v);
	return rv;
}
