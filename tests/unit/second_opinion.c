/* SPDX-License-Identifier: GPL-2.0-or-later
 * second_opinion.c - machines as files, and what hwloc says of them; for locality.bats
 *
 *   second_opinion --machines           the names of machines.cases
 *   second_opinion --make NAME DIR      its tree
 *   second_opinion DIR                  "BUS_ID CPUS" of every GPU and network card that hwloc finds below
 *                                       DIR
 *
 * hwloc reads the very same files with code of its own. CASES as in cases.h. */
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/machine_tree.h"

static int say(const char *dir)
{
	hwloc_topology_t t;
	hwloc_obj_t o = NULL;

	setenv("HWLOC_FSROOT", dir, 1);
	setenv("HWLOC_COMPONENTS", "linux,stop", 1);
	setenv("HWLOC_THISSYSTEM", "0", 1);
	if (hwloc_topology_init(&t) < 0 ||
		hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL) < 0 ||
		hwloc_topology_load(t) < 0)
		return EXIT_FAILURE;
	while ((o = hwloc_get_next_pcidev(t, o))) {
		const struct hwloc_pcidev_attr_s *a = &o->attr->pcidev;
		char *cpus;

		if (a->class_id >> 8 != 2 && a->class_id >> 8 != 3 && a->class_id != 0x1200)
			continue;
		if (hwloc_bitmap_list_asprintf(&cpus, hwloc_get_non_io_ancestor_obj(t, o)->cpuset) < 0)
			return EXIT_FAILURE;
		printf("%04x:%02x:%02x.%x %s\n", (unsigned)a->domain, a->bus, a->dev, a->func, cpus);
		free(cpus);
	}
	hwloc_topology_destroy(t);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--machines")) {
		for (int i = 0; i < machine_count(); i++)
			puts(machine_name(i));
		return EXIT_SUCCESS;
	}
	if (argc == 4 && !strcmp(argv[1], "--make")) {
		machine_make(argv[2], MACHINE_HWLOC, argv[3]);
		return EXIT_SUCCESS;
	}
	return argc == 2 ? say(argv[1]) : EXIT_FAILURE;
}
