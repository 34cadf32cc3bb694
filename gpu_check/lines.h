/* SPDX-License-Identifier: GPL-2.0-or-later
 * lines.h - the report of a helper as lines of text through a pipe
 *
 *   gpu-check 1 BACKEND                 the first line: the version of this protocol
 *   library PATH                        the file that was loaded
 *   version TEXT                        of the driver
 *   count N                             devices that the backend has
 *   device N KIND BUS-ID UUID NAME      one of them; "-" = not known
 *   begin STAGE N a stage begins; N = "-": not of a device. What hangs or crashes has begun and not ended end
 *   STAGE N MICROSECONDS rate N UP DOWN 10^6 bytes a second
 *   no-kernel                           a kernel was wanted and there is nothing to make one with
 *   fail STAGE N CAUSE TEXT             the first failure; nothing but "done" follows
 *   done                                the report is complete
 *
 * Fields are separated by one blank; in a text each byte that is not a printable ASCII character, a blank or
 * "%" is "%XX". The libraries of users run in the helper, so the reader trusts nothing: a line that is too
 * long, unknown, or out of order is an error, and what it keeps has no control characters.
 *
 * Threads  a writer and a reader belong to their callers */
#ifndef GPU_CHECK_LINES_H
#define GPU_CHECK_LINES_H
#include <stdint.h>
#include "gpu_check/report.h"

#define LINE_LENGTH_MAX 1024	/* below PIPE_BUF: a line is written whole */

/* The writer: one write() a line, cut where a text is too long. Errors are not told: nobody is there to hear
 * them. */
void line_hello(int fd, const char *backend);
void line_library(int fd, const char *path);
void line_version(int fd, const char *text);
void line_count(int fd, int count);
void line_device(int fd, int device, const struct device_report *d);
void line_begin(int fd, enum stage stage, int device);
void line_end(int fd, enum stage stage, int device, int64_t us);
void line_rate(int fd, int device, int64_t up_mb_s, int64_t down_mb_s);
void line_no_kernel(int fd);
void line_fail(int fd, enum stage stage, int device, enum cause cause, const char *text);
void line_done(int fd);

/* One line, without its newline, into the report. The line is changed. 0; or -1 with errno EPROTO, and the
 * report is not to be used further. */
int line_read(struct report *r, char *line);

#endif
