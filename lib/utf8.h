/* SPDX-License-Identifier: GPL-2.0-or-later
 * utf8.h - is a text UTF-8? Files of sacct and command lines may be in any code; the books and JSON are not
 *
 * Threads  pure functions: any thread */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

/* Bytes of the character at `text`, 1 to 4; 0 when there is none (it is cut, overlong, a surrogate or above
 * U+10FFFF). */
int utf8_character(const char *text);

/* Is all of it UTF-8? "" is. */
int utf8_is_valid(const char *text);

#endif
