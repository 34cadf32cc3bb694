/* SPDX-License-Identifier: GPL-2.0-or-later
 * log.h - lines on stderr: what happened, to whom, the numbers, what to do next
 *
 * A line begins with the level as <N> (sd-daemon(3)), so that the journal knows it; on a terminal with a word
 * instead.
 * Threads  any; a line is one write */
#ifndef BUDGETD_LOG_H
#define BUDGETD_LOG_H

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* needs action: says which */
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
