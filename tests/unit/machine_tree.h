/* SPDX-License-Identifier: GPL-2.0-or-later
 * machine_tree.h - the machines of machines.cases, as trees of sysfs files
 *
 * So much of /sys as the product reads and as hwloc needs to read the same. What nobody published is left
 * out: no links, no UUIDs; tests put in what they need (machine_put).
 *
 * Failure  ends the run with a message: a tree that is not there must not pass
 * Threads  one */
#ifndef UNIT_MACHINE_TREE_H
#define UNIT_MACHINE_TREE_H
#include <stddef.h>

int machine_count(void);
const char *machine_name(int i);

/* How much of it: files cost time. Each has what those before it have. */
enum machine_part {
	MACHINE_DEVICES,	/* nodes and the bus */
	MACHINE_CORES,		/* and cpuN/, lists only */
	MACHINE_HWLOC,		/* and the masks and names that hwloc reads */
};

/* Make the tree of a machine in the folder `dir`, which is there. */
void machine_make(const char *name, enum machine_part part, const char *dir);

/* A new temporary folder, with the tree of the machine (NULL: empty). Returns the path, in `dir`. */
#define MACHINE_DIR_MAX 256
const char *machine_temporary(const char *name, enum machine_part part, char dir[static MACHINE_DIR_MAX]);
void machine_remove(const char *dir);	/* a folder of machine_temporary, with all in it */

/* A file below `dir`, folders made on the way, with the text and a newline; text NULL: remove the file. */
void machine_put(const char *dir, const char *text, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));

/* The facts of a device. NULL at i = how many there are. */
struct machine_device {
	const char *path, *bus_id, *class, *node, *cpus, *name;	/* "-" for none */
	unsigned vendor, device;
};
const struct machine_device *machine_device(const char *name, int i);

#endif
