/* SPDX-License-Identifier: GPL-2.0-or-later
 * kernel_log.h - the kernel's log, record by record
 *
 * /dev/kmsg on a node; in a tree that was copied or made a file, whose lines are such records or as `dmesg`
 * prints them.
 *
 * Unit     microseconds since the boot
 * Threads  any; nothing is kept */
#ifndef GPU_CHECK_KERNEL_LOG_H
#define GPU_CHECK_KERNEL_LOG_H
#include <stdint.h>

/* "6,1234,5678901,-;text" and "[    5.678901] text", also with "<6>" before it. The text, in `line`, and
 * *at_us; or NULL: a line of another kind, such as " SUBSYSTEM=pci" below a record, or, by its priority, what
 * a program wrote and not the kernel. */
const char *log_record(char *line, int64_t *at_us);

/* Call `each` for every record from `since_us` on. 0, also where there is no such file; or -1 and errno: it
 * may not be read. */
int kernel_log_read(
	int root, int64_t since_us, void (*each)(const char *text, int64_t at_us, void *arg), void *arg);

#endif
