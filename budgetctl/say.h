/* SPDX-License-Identifier: GPL-2.0-or-later
 * say.h - sentences to the person at the keyboard
 *
 * Texts may hold what other users wrote (reasons, names), so control characters never reach the terminal.
 *
 * On a terminal sentences are broken between words to its width (wrap.h), in a pipe and a file they are
 * not. No colours are used, so NO_COLOR is always kept.
 *
 * Threads  one */
#ifndef BUDGETCTL_SAY_H
#define BUDGETCTL_SAY_H
#include <stdio.h>
#include "lib/nearest.h"

/* "budgetctl: " and the sentence on stderr; returns `outcome`, so that an error path is one line: return
 * complain(USAGE, "..."). */
int complain(int outcome, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* `text` with control characters other than a newline shown as '?'. Errors of the stream are left to
 * ferror(). */
void say_text(FILE *to, const char *text);

/* `text` and a newline, wrapped to the terminal; the first line has `used` columns already, and what is
 * broken stands below its beginning. */
void say_line(FILE *to, int used, const char *text);

/* The last act of the program: is everything that was printed really written? `outcome`; or REFUSED and a
 * complaint when stdout could not take it (a full disk). A reader who went away (`| head`) has what it
 * wanted: no complaint. */
int out_finish(int outcome);

/* " Did you mean NAME?" for a complaint, "" when none of the candidates (NULLs among them are fine) is close.
 * Returns buf. */
#define HINT_MAX (NEAREST_TEXT_MAX + 32)
const char *nearest_hint(const char *word, const char *prefix, const char *const *candidates, size_t count,
	char buf[HINT_MAX]);

#endif
