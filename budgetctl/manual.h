/* SPDX-License-Identifier: GPL-2.0-or-later
 * manual.h - the lists of the manual pages, printed from the tables that the program works by
 *
 * The build fills doc/man with them; nobody else needs `budgetctl --manual LIST`, so that help does not tell
 * of it.
 *
 * Threads  one */
#ifndef BUDGETCTL_MANUAL_H
#define BUDGETCTL_MANUAL_H
#include <stdio.h>

/* commands, options, exit-codes, checks or job-options, as mdoc(7). The exit code; USAGE and a complaint when
 * there is no such list. */
int manual_print(const char *list, FILE *to);

#endif
