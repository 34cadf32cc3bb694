/* SPDX-License-Identifier: GPL-2.0-or-later
 * number.h - decimal digits to integers, the one reader under every parser here
 *
 * strtoll takes signs, blanks and hexadecimal, which none of our texts may contain.
 *
 * Threads  pure functions: any thread */
#ifndef LIB_NUMBER_H
#define LIB_NUMBER_H
#include <stdint.h>

/* The digits at *p, at least one. 0, *out set and *p behind the last digit; or -1 with *p and *out untouched,
 * errno EINVAL (no digit there) or EOVERFLOW. */
int number_read(const char **p, int64_t *out);

/* The whole of `text` is one number within 0 .. max. 0 and *out set; or -1, *out untouched, errno EINVAL or
 * EOVERFLOW. */
int number_parse(const char *text, int64_t max, int64_t *out);

#endif
