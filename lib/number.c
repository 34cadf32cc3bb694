/* SPDX-License-Identifier: GPL-2.0-or-later
 * number.c - decimal digits and nothing else: no sign, no blank, no locale. */
#include "lib/number.h"
#include <errno.h>

int number_read(const char **p, int64_t *out)
{
	const char *s = *p;
	int64_t n = 0;

	if (*s < '0' || *s > '9') {
		errno = EINVAL;
		return -1;
	}
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(n, (int64_t)10, &n) ||
			__builtin_add_overflow(n, (int64_t)(*s - '0'), &n)) {
			errno = EOVERFLOW;
			return -1;
		}
	*p = s;
	*out = n;
	return 0;
}

int number_parse(const char *text, int64_t max, int64_t *out)
{
	int64_t n;

	if (number_read(&text, &n) < 0)
		return -1;
	if (*text || n > max) {
		errno = *text ? EINVAL : EOVERFLOW;
		return -1;
	}
	*out = n;
	return 0;
}
