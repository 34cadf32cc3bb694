/* SPDX-License-Identifier: GPL-2.0-or-later
 * progress.h - a bar on the terminal while a file is read: rows so far, rows a second, and the time that is
 * left
 *
 * Only when stderr is a terminal, and only after a second: what is done at once shows nothing.
 *
 * Threads  one */
#ifndef BUDGETCTL_PROGRESS_H
#define BUDGETCTL_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
	bool on, shown;
	int64_t whole;			/* bytes of the file; 0 = not known: a pipe */
	int64_t since_ms, drawn_ms;
	unsigned calls;
};

void progress_start(struct progress *p, FILE *file);
void progress_step(struct progress *p, FILE *file, int64_t rows); /* cheap: for every row */
void progress_end(struct progress *p);	/* wipes the bar */

#endif
