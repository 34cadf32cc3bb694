/* SPDX-License-Identifier: GPL-2.0-or-later
 * roff.h - texts of our tables as source of a manual page, mdoc(7)
 *
 * The pages in doc/man are written by hand except for their lists: the programs print those from the same
 * tables that they work by (budgetctl --manual, budgetd --manual).
 *
 * Threads  pure but for the stream; errors of the stream are left to ferror() */
#ifndef LIB_ROFF_H
#define LIB_ROFF_H
#include <stdio.h>

/* Lines of running text, the last one ended. What roff would take for a request or an escape is only text. */
void roff_text(FILE *to, const char *text);

/* The same as one argument of a macro, in quotes, with a blank before it. It is never taken for a macro. */
void roff_word(FILE *to, const char *text);

/* An option with its argument (NULL = none): " Fl ..." to stand behind .It or at the beginning of a line
 * behind ".". letter 0 = only the long form. */
void roff_option(FILE *to, char letter, const char *name, const char *argument);

#endif
