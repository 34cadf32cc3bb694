/* SPDX-License-Identifier: GPL-2.0-or-later
 * sysfs.c - a machine's files in /sys and /proc: nodes, cores, GPUs, links, counters, versions */
#include <stdlib.h>
#include <string.h>
#include "gpu_check/gpu_health.h"
#include "gpu_check/node_gpus.h"
#include "gpu_check/node_read.h"
#include "locality/cores.h"
#include "locality/device_names.h"
#include "tests/fuzz/fuzz.h"

#define GPU "sys/bus/pci/devices/0000:c1:00.0/"
#define AMD "sys/bus/pci/devices/0000:c2:00.0/"
#define NIC "sys/bus/pci/devices/0000:c3:00.0/"
#define KFD "sys/class/kfd/kfd/topology/nodes/"

/* The line of the input with this place is what the file has; a bar is a newline there. */
static const char *const files[] = { "sys/devices/system/node/online", "sys/devices/system/node/has_memory",
	"sys/devices/system/node/node0/cpulist", "sys/devices/system/node/node1/cpulist",
	"sys/devices/system/node/node0/distance", "sys/devices/system/node/node0/meminfo",
	"sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
	"sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list", GPU "class", GPU "vendor", GPU "device",
	GPU "numa_node", GPU "local_cpulist", GPU "current_link_speed", GPU "max_link_width", GPU "aer_dev_fatal",
	GPU "aer_dev_correctable", "proc/driver/nvidia/gpus/0000:c1:00.0/information", AMD "class", AMD "vendor",
	AMD "gpu_metrics", AMD "ras/umc_err_count", NIC "class", NIC "vendor", KFD "1/properties",
	KFD "1/io_links/0/properties", "proc/uptime", "proc/sys/kernel/random/boot_id", AMD "vbios_version" };
enum { FILES = sizeof(files) / sizeof(*files) };

/* Only what is another than at the input before is written: files cost time. */
static void machine(const uint8_t *data, size_t size)
{
	static char *had[FILES];
	char *line[FILES];

	fuzz_lines(data, size, FILES, line);
	for (int i = 0; i < FILES; i++) {
		for (char *at = line[i]; (at = strchr(at, '|')); at++)
			*at = '\n';
		if (!had[i] || strcmp(had[i], line[i]) != 0)
			fuzz_file(files[i], line[i], strlen(line[i]));
		free(had[i]);
		had[i] = line[i];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct node_state *s;
	static struct device_name names[GPUS_MAX];
	static struct cpu_set cpus;
	struct numa n = {0};
	struct cores c = {0};
	struct devices d = {0};
	int root = fuzz_folder();

	machine(data, size);
	s = s ? s : calloc(1, sizeof(*s));
	cpu_set_add(&cpus, 0);
	cpu_set_add(&cpus, 3);
	fuzz_must(s && numa_read(root, &n) == 0 && cores_read(root, &n, &cpus, &c) == 0 &&
		devices_read(root, &n, NULL, &d) == 0);
	devices_links_read(root, &d);
	device_names_read(root, &d, names);
	for (int i = 0; i < d.gpus; i++)
		fuzz_must(d.gpu[i].path.hops >= 1 && d.gpu[i].path.hops <= PCI_HOPS_MAX);
	fuzz_must(c.count <= 2 && node_read(root, s) == 0 && s->gpus <= NODE_GPUS_MAX);
	gpu_health_look(root, s);
	devices_free(&d);
	cores_free(&c);
	numa_free(&n);
	return 0;
}
