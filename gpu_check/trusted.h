/* SPDX-License-Identifier: GPL-2.0-or-later
 * trusted.h - files that decide whether a node is drained: opened only when nobody else can have written
 * them, and written whole or not at all
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_TRUSTED_H
#define GPU_CHECK_TRUSTED_H
#include <stdio.h>
#include "lib/fault.h"

/* For reading: a regular file that root or this process's user owns and nobody else may write. `path`
 * below `root` (sysfs.h). To be closed with fclose; or NULL, errno EPERM or that of open (ENOENT without a
 * sentence: it depends on the caller whether that is wrong). */
FILE *trusted_open(int root, const char *path, struct fault *why);

/* A new file beside it, 0644, that trusted_commit renames to `path`. NULL: errno and the sentence. */
struct trusted_new;
FILE *trusted_begin(int root, const char *path, struct trusted_new **out, struct fault *why);

/* Written, synced and renamed. Frees it, whatever comes of it. 0; or -1, errno, and the old file is as it
 * was. */
int trusted_commit(struct trusted_new *n, struct fault *why);

#endif
