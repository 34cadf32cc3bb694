/* SPDX-License-Identifier: GPL-2.0-or-later
 * options.h - the command line of budgetd, one table for getopt, help and budgetd(8)
 *
 * Threads  one */
#ifndef BUDGETD_OPTIONS_H
#define BUDGETD_OPTIONS_H
#include <stdbool.h>
#include <stdio.h>

enum exit_code { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum mode { MODE_RUN, MODE_CHECK, MODE_INIT, MODE_SAMPLE, MODE_MANUAL };

struct options {
	const char *conf;		/* borrowed, as the next */
	const char *list;		/* of MODE_MANUAL: "settings" or "options" */
	enum mode mode;
	bool detach;
};

/* -1 to go on, else the exit code: help or the version was printed, or a complaint. `out` has its defaults
 * before. */
int options_read(int argc, char **argv, struct options *out);

/* Every option as mdoc(7). */
void options_print_manual(FILE *to);

#endif
