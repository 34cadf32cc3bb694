/* SPDX-License-Identifier: GPL-2.0-or-later
 * help.h - help, printed from the tables of command.h
 *
 * Threads  one */
#ifndef BUDGETCTL_HELP_H
#define BUDGETCTL_HELP_H
#include <stdio.h>
#include "budgetctl/arguments.h"

/* The command's help, else that of all commands of the noun, else that of the program. */
void help_print(const struct arguments *a, FILE *to);

/* What the command's row has no room for: the first paragraph (nth 0), the next ..., NULL behind the last.
 * Static. */
const char *help_note(const struct command *c, size_t nth);

#endif
