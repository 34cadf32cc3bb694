/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugin_file.h - for which version a plugin of Slurm was built, read from its file
 *
 * The file is not loaded: nothing in it is run, and one that is broken or hostile can do no harm.
 *
 * Threads  any */
#ifndef DOCTOR_PLUGIN_FILE_H
#define DOCTOR_PLUGIN_FILE_H
#include <stdint.h>

/* The number in its symbol plugin_version; 0 when it has none, cannot be read or is of another kind of
 * machine than this. */
uint32_t plugin_file_version(const char *path);

/* The path of `name` in the first folder of a PluginDir ("a:b") that has it; a name with a '/' is a path.
 * Malloced, the caller's; NULL: nowhere (ENOENT) or ENOMEM. */
char *plugin_file_find(const char *plugin_dir, const char *name);

#endif
