/* SPDX-License-Identifier: GPL-2.0-or-later
 * sysfs.h - small text files below a root: /sys, /proc and the site's own
 *
 * The root is a folder that is open: "/" on a node, a captured or a made tree in tests. Paths have no slash
 * at their beginning.
 *
 * Threads  any; nothing is kept */
#ifndef LOCALITY_SYSFS_H
#define LOCALITY_SYSFS_H
#include <stddef.h>
#include <stdint.h>
#include "locality/cpu_set.h"

#define SYSFS_PATH_MAX 512
#define SYSFS_TEXT_MAX 4096	/* the kernel gives at most a page */

/* The whole file, NUL-terminated, without the newline at its end; what does not fit is cut. The length; or -1
 * and errno of openat or read, buf is "". */
int sysfs_read(int root, char *buf, size_t size, const char *path_format, ...)
	__attribute__((format(printf, 4, 5)));

/* A folder to be a root itself, for files that are next to each other: a path is walked again for each of
 * them. To be closed with sysfs_leave; or -1 and errno, and what is read below that is not there. */
int sysfs_folder(int root, const char *path_format, ...) __attribute__((format(printf, 2, 3)));
void sysfs_leave(int folder);	/* -1 is fine; errno is kept */

/* A whole number, decimal with or without a sign, or hexadecimal with 0x. 0 and *out set; or -1, *out
 * untouched. */
int sysfs_number(int root, int64_t *out, const char *path_format, ...) __attribute__((format(printf, 3, 4)));

/* A list of CPUs or of nodes. 0 and *out set; or -1, *out untouched. */
int sysfs_list(int root, struct cpu_set *out, const char *path_format, ...)
	__attribute__((format(printf, 3, 4)));

/* The value behind `name` in a file of lines "name value" (`separator` ' ') or "Name: value" (':'). 0, buf
 * set, without blanks around; or -1: no such line, buf is "". */
int sysfs_field(const char *text, const char *name, char separator, char *buf, size_t size);

#endif
