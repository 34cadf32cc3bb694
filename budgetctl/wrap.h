/* SPDX-License-Identifier: GPL-2.0-or-later
 * wrap.h - sentences in lines that fit the terminal
 *
 * A pipe and a file get lines as they are: who reads them with a program must not meet a line that was cut.
 *
 * Threads  one */
#ifndef BUDGETCTL_WRAP_H
#define BUDGETCTL_WRAP_H
#include <stdio.h>

/* Columns of the terminal that `to` is: $COLUMNS, else what the terminal says, else 80. 0 = no terminal. */
int wrap_width(FILE *to);

/* On a terminal of fewer columns nothing stands side by side that can stand below. */
#define WRAP_NARROW 60

/* Columns that `length` bytes of UTF-8 take. */
int wrap_columns(const char *text, size_t length);

/* Print `text`, broken between words into lines of at most `width` columns (0 = as it is), `used` of which
 * are taken on the first; what is broken goes on behind `indent` blanks. A word that is longer than a line is
 * not cut. Control characters other than a newline are shown as '?'. Errors of the stream are left to
 * ferror(). */
void wrap_text(FILE *to, const char *text, int width, int used, int indent);

#endif
