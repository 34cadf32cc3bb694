/* SPDX-License-Identifier: GPL-2.0-or-later
 * machine_tree.c - facts to files (machine_tree.h) */
#include "tests/unit/machine_tree.h"
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "locality/cpu_set.h"
#include "tests/unit/cases.h"

#define CPU "sys/devices/system/cpu/"
#define NODE "sys/devices/system/node/"

static const struct case_table *facts(void)
{
	static struct case_table t;

	if (!t.rows)
		t = cases_load_words("machines.cases");
	return &t;
}

static void die(const char *what)
{
	fprintf(stderr, "machine_tree: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct cpu_set cpus_of(const char *list)
{
	struct cpu_set s = { { 0 } };

	if (strcmp(list, "-") && cpu_set_parse(list, &s) < 0)
		die(list);
	return s;
}

/* --- files -------------------------------------------------------------------------------------------- */

static void folders_make(const char *path)
{
	char part[1024];

	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			die(part);
	}
}

void machine_put(const char *dir, const char *text, const char *path_format, ...)
{
	char path[1024];
	int n = snprintf(path, sizeof(path), "%s/", dir);
	va_list ap;
	FILE *f;

	va_start(ap, path_format);
	vsnprintf(path + n, sizeof(path) - (size_t)n, path_format, ap);
	va_end(ap);
	if (!text) {
		if (unlink(path) < 0 && errno != ENOENT)
			die(path);
		return;
	}
	f = fopen(path, "w");
	if (!f && errno == ENOENT) {	/* mostly the folder is there */
		folders_make(path);
		f = fopen(path, "w");
	}
	if (!f || fprintf(f, "%s\n", text) < 0 || fclose(f) != 0)
		die(path);
}

/* As a list and, with a name for it, as the mask of hexadecimal words that hwloc reads. */
static void put_cpus(const char *dir, const struct cpu_set *s, const char *folder, const char *list_name,
	const char *mask_name)
{
	char list[CPU_LIST_MAX], mask[1024] = "";
	size_t n = 0;
	int words = 8;	/* 256 CPUs are enough here */

	machine_put(dir, cpu_set_text(s, list), "%s/%s", folder, list_name);
	if (!mask_name)
		return;
	for (int i = words - 1; i >= 0; i--)
		n += (size_t)snprintf(mask + n, sizeof(mask) - n, "%08x%s",
			(unsigned)(s->word[i / 2] >> i % 2 * 32), i ? "," : "");
	machine_put(dir, mask, "%s/%s", folder, mask_name);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *w)
{
	(void)st, (void)kind, (void)w;
	return remove(path);
}

void machine_remove(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *machine_temporary(const char *name, enum machine_part part, char dir[static MACHINE_DIR_MAX])
{
	/* thousands of files, for a moment */
	const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");

	snprintf(dir, MACHINE_DIR_MAX, "%s/machine.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		die(dir);
	if (name)
		machine_make(name, part, dir);
	return dir;
}

/* --- the facts of one machine ------------------------------------------------------------------------- */

int machine_count(void)
{
	int n = 0;

	for (int i = 0; i < facts()->rows; i++)
		n += !strcmp(facts()->row[i].col[0], "machine");
	return n;
}

const char *machine_name(int i)
{
	for (int r = 0; r < facts()->rows; r++)
		if (!strcmp(facts()->row[r].col[0], "machine") && i-- == 0)
			return facts()->row[r].col[1];
	return NULL;
}

/* The i-th row of this kind of the machine; NULL behind the last. */
static const struct case_row *fact(const char *name, const char *kind, int i)
{
	int r = 0;

	while (r < facts()->rows &&
		(strcmp(facts()->row[r].col[0], "machine") || strcmp(facts()->row[r].col[1], name)))
		r++;
	if (r == facts()->rows) {
		fprintf(stderr, "machines.cases has no %s\n", name);
		exit(1);
	}
	for (r++; r < facts()->rows && strcmp(facts()->row[r].col[0], "machine"); r++)
		if (!strcmp(facts()->row[r].col[0], kind) && i-- == 0)
			return &facts()->row[r];
	return NULL;
}

const struct machine_device *machine_device(const char *name, int i)
{
	static struct machine_device d;
	const struct case_row *c = fact(name, "pci", i);

	if (!c)
		return NULL;
	d = (struct machine_device){ .path = c->col[1], .bus_id = strrchr(c->col[1], '/') + 1,
		.class = c->col[3], .node = c->col[4], .cpus = c->col[5], .name = c->col[6] };
	if (sscanf(c->col[2], "%x:%x", &d.vendor, &d.device) != 2)
		cases_die(facts(), c, "no vendor and device");
	return &d;
}

/* --- nodes, cores, caches ----------------------------------------------------------------------------- */

static void package_make(const char *name, bool masks, const char *dir, int cpu)
{
	const struct case_row *c;
	char folder[128];

	snprintf(folder, sizeof(folder), CPU "cpu%d/topology", cpu);
	for (int i = 0; (c = fact(name, "package", i)); i++) {
		struct cpu_set s = cpus_of(c->col[2]);

		if (!cpu_set_has(&s, cpu))
			continue;
		machine_put(dir, c->col[1], "%s/physical_package_id", folder);
		if (masks)
			put_cpus(dir, &s, folder, "core_siblings_list", "core_siblings");
	}
}

static void nodes_make(const char *name, bool masks, const char *dir)
{
	struct cpu_set ids = { { 0 } }, memory = { { 0 } }, with_cpu = { { 0 } };
	char text[CPU_LIST_MAX];
	const struct case_row *c;

	for (int i = 0; (c = fact(name, "node", i)); i++) {
		int id = atoi(c->col[1]);
		struct cpu_set cpus = cpus_of(c->col[2]);
		char folder[128], distances[256] = "";

		snprintf(folder, sizeof(folder), NODE "node%d", id);
		cpu_set_add(&ids, id);
		if (strcmp(c->col[3], "-"))
			cpu_set_add(&memory, id);
		if (!cpu_set_empty(&cpus))
			cpu_set_add(&with_cpu, id);
		put_cpus(dir, &cpus, folder, "cpulist", masks ? "cpumap" : NULL);
		if (!cpu_set_empty(&cpus))
			package_make(name, masks, dir, cpu_set_next(&cpus, 0));
		for (int j = 4; j < c->n; j++)
			strcat(strcat(distances, j > 4 ? " " : ""), c->col[j]);
		if (c->n > 4)
			machine_put(dir, distances, "%s/distance", folder);
		snprintf(text, sizeof(text), "Node %d MemTotal:        %s kB", id,
			strcmp(c->col[3], "-") ? "16777216" : "0");
		machine_put(dir, text, "%s/meminfo", folder);
	}
	machine_put(dir, cpu_set_text(&ids, text), NODE "online");
	machine_put(dir, cpu_set_text(&memory, text), NODE "has_memory");
	machine_put(dir, cpu_set_text(&with_cpu, text), NODE "has_cpu");
}

static struct cpu_set threads_of(int cpu, int threads, int apart)
{
	struct cpu_set s = { { 0 } };
	int first = apart == 1 ? cpu - cpu % threads : cpu % apart;

	for (int i = 0; i < threads; i++)
		cpu_set_add(&s, first + i * apart);
	return s;
}

/* The word of the row, from `column` on, that has the CPU. */
static struct cpu_set group_of(const struct case_row *c, int column, int cpu)
{
	for (; c && column < c->n; column++) {
		struct cpu_set s = cpus_of(c->col[column]);

		if (cpu_set_has(&s, cpu))
			return s;
	}
	return (struct cpu_set){ { 0 } };
}

/* All CPUs, and the list of them. */
static struct cpu_set online_make(const char *name, const char *dir)
{
	struct cpu_set all = { { 0 } }, one;
	char text[CPU_LIST_MAX];
	const struct case_row *c;

	for (int i = 0; (c = fact(name, "node", i)); i++) {
		one = cpus_of(c->col[2]);
		cpu_set_or(&all, &all, &one);
	}
	machine_put(dir, cpu_set_text(&all, text), CPU "online");
	machine_put(dir, cpu_set_text(&all, text), CPU "possible");
	machine_put(dir, cpu_set_text(&all, text), CPU "present");
	return all;
}

static void cpus_make(const char *name, bool masks, const struct cpu_set *all, const char *dir)
{
	const struct case_row *threads = fact(name, "threads", 0);
	char text[32], folder[128];

	for (int cpu = cpu_set_next(all, 0); cpu >= 0; cpu = cpu_set_next(all, cpu + 1)) {
		struct cpu_set one = threads_of(cpu, atoi(threads->col[1]), atoi(threads->col[2]));

		snprintf(folder, sizeof(folder), CPU "cpu%d", cpu);
		cpu_set_and(&one, &one, all);
		put_cpus(dir, &one, folder, "topology/thread_siblings_list",
			masks ? "topology/thread_siblings" : NULL);
		snprintf(text, sizeof(text), "%d", cpu_set_next(&one, 0));
		one = group_of(fact(name, "l3", 0), 1, cpu);
		put_cpus(dir, &one, folder, "cache/index3/shared_cpu_list",
			masks ? "cache/index3/shared_cpu_map" : NULL);
		if (!masks)
			continue;
		machine_put(dir, text, "%s/topology/core_id", folder);
		package_make(name, masks, dir, cpu);
		machine_put(dir, "3", "%s/cache/index3/level", folder);
		machine_put(dir, "Unified", "%s/cache/index3/type", folder);
		machine_put(dir, "16384K", "%s/cache/index3/size", folder);
	}
}

/* --- the bus ------------------------------------------------------------------------------------------ */

static void identity_put(const char *dir, const char *path, unsigned class, unsigned vendor, unsigned device)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%04x00", class);
	machine_put(dir, text, "sys/devices/%s/class", path);
	snprintf(text, sizeof(text), "0x%04x", vendor);
	machine_put(dir, text, "sys/devices/%s/vendor", path);
	machine_put(dir, text, "sys/devices/%s/subsystem_vendor", path);
	snprintf(text, sizeof(text), "0x%04x", device);
	machine_put(dir, text, "sys/devices/%s/device", path);
	machine_put(dir, text, "sys/devices/%s/subsystem_device", path);
	machine_put(dir, "0x00", "sys/devices/%s/revision", path);
}

static void place_put(const char *dir, const char *path, const struct machine_device *d)
{
	struct cpu_set cpus = cpus_of(d->cpus);
	char folder[512], link[600], target[600];

	snprintf(folder, sizeof(folder), "sys/devices/%s", path);
	machine_put(dir, d->node, "%s/numa_node", folder);
	put_cpus(dir, &cpus, folder, "local_cpulist", "local_cpus");
	snprintf(link, sizeof(link), "%s/sys/bus/pci/devices/%s", dir, strrchr(path, '/') + 1);
	snprintf(target, sizeof(target), "../../../devices/%s", path);
	folders_make(link);
	if (symlink(target, link) < 0 && errno != EEXIST)
		die(link);
}

static void device_make(const char *dir, const struct machine_device *d)
{
	char path[512];

	/* its bridges */
	for (const char *p = strchr(strchr(d->path, '/') + 1, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(path, sizeof(path), "%.*s", (int)(p - d->path), d->path);
		identity_put(dir, path, 0x0604, 0x1022, 0x1453);
		place_put(dir, path, d);
	}
	identity_put(dir, d->path, (unsigned)strtoul(d->class, NULL, 16), d->vendor, d->device);
	place_put(dir, d->path, d);
	if (strcmp(d->name, "-"))
		machine_put(dir, "", "sys/devices/%s/%s/%s/uevent", d->path,
			strncmp(d->name, "mlx", 3) ? "net" : "infiniband", d->name);
}

void machine_make(const char *name, enum machine_part part, const char *dir)
{
	const struct machine_device *d;
	struct cpu_set all = online_make(name, dir);

	nodes_make(name, part == MACHINE_HWLOC, dir);
	if (part >= MACHINE_CORES)
		cpus_make(name, part == MACHINE_HWLOC, &all, dir);
	for (int i = 0; (d = machine_device(name, i)); i++)
		device_make(dir, d);
}
