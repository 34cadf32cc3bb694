/* SPDX-License-Identifier: GPL-2.0-or-later
 * markup.h - text from elsewhere inside HTML and SVG: it stays text, whatever is in it
 *
 * Names of projects, users and jobs, reasons and comments are people's own. Each goes through one of these
 * functions; what is ours is written as it is.
 *
 * Threads  pure but for the stream; errors of the stream are left to ferror() */
#ifndef LIB_MARKUP_H
#define LIB_MARKUP_H
#include <stdio.h>

/* As the content of an element, or as the value of an attribute in quotes of either kind. What is no UTF-8,
 * or has no place in a text (control characters, and those that turn the direction of what follows, so that
 * it reads as something else) becomes U+FFFD each; newlines and tabs stay. NULL is nothing. */
void markup_text(FILE *to, const char *text);

/* As the value behind "?key=" of an address, byte by byte: it needs no markup_text. NULL is nothing. */
void markup_query(FILE *to, const char *text);

#endif
