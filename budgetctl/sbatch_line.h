/* SPDX-License-Identifier: GPL-2.0-or-later
 * sbatch_line.h - a command line that is sbatch's, with a few options of ours among its words
 *
 * Where a letter means one thing to us and another to sbatch, it is sbatch's: -n is --ntasks and -t is
 * --time. The one exception is -o (--output): it is ours when its value is the name of a format, else it is
 * the file that sbatch would write.
 *
 * Threads  one */
#ifndef BUDGETCTL_SBATCH_LINE_H
#define BUDGETCTL_SBATCH_LINE_H
#include "budgetctl/arguments.h"
#include "lib/nearest.h"

/* Take our options out of the `n` words, up to "--", into out->value; what is left moves to the front. The
 * number of words left; or -1 after a complaint: one of our options without its argument, or a word that
 * looks like a mistyped option of sbatch. */
int sbatch_line_split(const struct command *c, int n, char **words, struct arguments *out);

/* The options that `name` (without "--") is a slip of the fingers for: "--gpus", "--mem or --mps"; "" when it
 * may be another plugin's. Returns buf. */
const char *sbatch_nearest(const char *name, char buf[NEAREST_TEXT_MAX]);

#endif
