/* SPDX-License-Identifier: GPL-2.0-or-later
 * host_facts.c - reading them (host_facts.h) */
#include "gpu_check/host_facts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "locality/sysfs.h"

#define CPU "sys/devices/system/cpu/"

const char *const iommu_name[IOMMUS] = {"unknown", "off", "passthrough", "translating"};

/* --- the host ----------------------------------------------------------------------------------------- */

/* The type of the group that the kernel put the GPU in. One without a group is not behind an IOMMU. */
static enum iommu iommu_of(int root, const struct gpu *g)
{
	char text[32], device[PCI_TEXT_MAX];

	if (sysfs_read(root, text, sizeof(text), "sys/bus/pci/devices/%s/iommu_group/type",
		    pci_text(&g->address, device)) <= 0)
		return IOMMU_OFF;
	return strcmp(text, "identity") ? IOMMU_TRANSLATES : IOMMU_PASSES;
}

static void iommu_read(int root, const struct devices *d, struct host_facts *out)
{
	for (int i = 0; i < d->gpus; i++) {
		enum iommu one = iommu_of(root, &d->gpu[i]);

		if (!d->gpu[i].console && one > out->iommu)
			out->iommu = one;
	}
}

static int64_t meminfo(const char *text, const char *name)
{
	char value[32];

	return sysfs_field(text, name, ':', value, sizeof(value)) < 0 ? -1 : strtoll(value, NULL, 10);
}

/* "always [madvise] never": what is in brackets. */
static void pages_read(int root, struct host_facts *out)
{
	char text[SYSFS_TEXT_MAX], *at, *end;

	sysfs_read(root, text, sizeof(text), "proc/meminfo");
	out->huge_pages = meminfo(text, "HugePages_Total");
	out->huge_free = meminfo(text, "HugePages_Free");
	out->huge_kib = meminfo(text, "Hugepagesize");
	sysfs_read(root, text, sizeof(text), "sys/kernel/mm/transparent_hugepage/enabled");
	at = strchr(text, '[');
	end = at ? strchr(at, ']') : NULL;
	if (end)
		snprintf(out->transparent, sizeof(out->transparent), "%.*s", (int)(end - at - 1), at + 1);
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=0" */
static int64_t pressure(const char *text, const char *line, const char *average)
{
	char rest[128];
	const char *at;
	double percent;

	if (sysfs_field(text, line, ' ', rest, sizeof(rest)) < 0 || !(at = strstr(rest, average)))
		return -1;
	percent = strtod(at + strlen(average), NULL);
	return percent >= 0 && percent <= 100 ? (int64_t)(percent * 100 + 0.5) : -1;
}

static void pressure_read(int root, struct host_facts *out)
{
	char text[SYSFS_TEXT_MAX];

	sysfs_read(root, text, sizeof(text), "proc/pressure/memory");
	out->some_10 = pressure(text, "some", "avg10=");
	out->some_300 = pressure(text, "some", "avg300=");
	out->full_10 = pressure(text, "full", "avg10=");
	out->full_300 = pressure(text, "full", "avg300=");
}

#define COUNTER_MAX 1e18		/* more than 64 bits of jiffies would be */

/* "cpu  user nice system idle iowait irq softirq steal ...": guests are in user already. */
static void steal_read(int root, struct host_facts *out)
{
	char text[SYSFS_TEXT_MAX], value[256], *p = value, *end;
	double sum = 0, steal = 0;

	out->steal = -1;
	sysfs_read(root, text, sizeof(text), "proc/stat");
	if (sysfs_field(text, "cpu", ' ', value, sizeof(value)) < 0)
		return;
	for (int i = 0; i < 8; i++, p = end) {
		steal = strtod(p, &end);
		if (end == p || !(steal >= 0 && steal < COUNTER_MAX))
			return;
		sum += steal;
	}
	out->steal = sum > 0 ? (int64_t)(steal * 10000 / sum + 0.5) : 0;
}

/* A package's counter stands at each of its CPUs: of each package the largest is the count. */
static void throttling_read(int root, struct host_facts *out)
{
	struct cpu_set online;
	int64_t most[256], package, n;

	out->throttled = -1;
	memset(most, 0, sizeof(most));
	if (sysfs_list(root, &online, CPU "online") < 0)
		return;
	for (int cpu = cpu_set_next(&online, 0); cpu >= 0; cpu = cpu_set_next(&online, cpu + 1)) {
		if (sysfs_number(root, &n, CPU "cpu%d/thermal_throttle/package_throttle_count", cpu) < 0 ||
			sysfs_number(root, &package, CPU "cpu%d/topology/physical_package_id", cpu) < 0 ||
			package < 0 || package > 255)
			continue;
		if (out->throttled < 0)
			out->throttled = 0;
		if (n > most[package]) {
			out->throttled += n - most[package];
			most[package] = n;
		}
	}
}

void host_facts_read(int root, const struct devices *d, struct host_facts *out)
{
	*out = (struct host_facts){.iommu = IOMMU_UNKNOWN};
	iommu_read(root, d, out);
	pages_read(root, out);
	pressure_read(root, out);
	steal_read(root, out);
	throttling_read(root, out);
	sysfs_read(root, out->governor, sizeof(out->governor), CPU "cpu0/cpufreq/scaling_governor");
}
