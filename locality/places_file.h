/* SPDX-License-Identifier: GPL-2.0-or-later
 * places_file.h - what a site knows better than its firmware: gpu-places.conf
 *
 * A line each, "BUS_ID node N" or "BUS_ID cpus LIST"; the bus id may have * and ? as in a shell, the first
 * line that fits counts. Blank lines and what follows # are skipped.
 *      0000:c?:00.0   node 3
 *      0000:d1:00.0   cpus 0-7,64-71
 *
 * Threads  any; an object that is read does not change */
#ifndef LOCALITY_PLACES_FILE_H
#define LOCALITY_PLACES_FILE_H
#include "lib/fault.h"
#include "locality/cpu_set.h"
#include "locality/pci.h"

struct place_line {
	char *pattern;
	int node;		/* -1: `cpus` counts */
	struct cpu_set cpus;
};

struct places_file {
	int lines;
	struct place_line *line;
};

/* `path` below `root` (sysfs.h). 0, to be freed with places_file_free; a file that is not there has no lines;
 * or -1, errno EINVAL with line and reason, or that of reading. */
int places_file_read(int root, const char *path, struct places_file *out, struct fault *why);
void places_file_free(struct places_file *f);	/* of one that is all zero, too */

/* The line for this device; NULL: none. */
const struct place_line *places_file_find(const struct places_file *f, const struct pci_address *a);

#endif
