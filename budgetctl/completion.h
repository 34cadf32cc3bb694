/* SPDX-License-Identifier: GPL-2.0-or-later
 * completion.h - what a shell may complete, printed from the tables of command.h
 *
 * `budgetctl --completion` is for contrib/completion/budgetctl and stands in no help. One line a thing, a tab
 * between: command  "project add", its arguments as in the help (- for none), its options ("--share=" takes
 * an argument, "-o" too: "-o=") choices  "=--output", the words that may be its argument
 *
 * Threads  one */
#ifndef BUDGETCTL_COMPLETION_H
#define BUDGETCTL_COMPLETION_H
#include <stdio.h>

void completion_print(FILE *to);

#endif
