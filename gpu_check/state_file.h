/* SPDX-License-Identifier: GPL-2.0-or-later
 * state_file.h - a state of a node in a file: the baseline, and the mark
 *
 *   gpu-check-state 1
 *   boot BOOT_ID MICROSECONDS           when it was read
 *   gpu BUS_ID VENDOR:DEVICE            hexadecimal
 *   memory BUS_ID UNCORRECTED           of a GPU, where its driver counts
 *   link BUS_ID GT/S LANES              by its lower end: 32.0 16; "-" is not told
 *   errors BUS_ID CORRECTED NONFATAL FATAL
 *   version NAME VALUE                  to the end of the line
 *
 * The baseline is what a node should be: it may be edited, and given to all nodes of one make. The mark is of
 * one boot: from it on errors and the kernel's log count. Lines that begin with # are skipped.
 *
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_STATE_FILE_H
#define GPU_CHECK_STATE_FILE_H
#include "gpu_check/node_state.h"
#include "lib/fault.h"

/* What is kept of a link that was read: the lanes that it has; and the speed that it has when `under_load`,
 * else the one that both ends can do, since an idle GPU tells nothing of it. */
void state_link_kept(const struct node_link *l, bool under_load, struct link_width *out);

/* Replace the file, whole or not at all (trusted.h); `title` is its first line, a comment. 0; or -1 and
 * errno. */
int state_write(int root, const char *path, const char *title, const struct node_state *s, bool under_load,
	struct fault *why);

/* In a link that is read, `now` and `possible` both are what was kept. 1; 0: there is no such file, *out
 * cleared; -1, errno EINVAL with line and reason, EPERM, or that of reading. */
int state_read(int root, const char *path, struct node_state *out, struct fault *why);

#endif
