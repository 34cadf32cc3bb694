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

#endif
