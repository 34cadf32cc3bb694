/* SPDX-License-Identifier: GPL-2.0-or-later
 * fault.c - the first error survives to the person who has to act on it. */
#include "lib/fault.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static void fault_fill(struct fault *why, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

static void fault_fill(struct fault *why, const char *fmt, va_list ap)
{
	if (why && !why->text[0])
		vsnprintf(why->text, sizeof(why->text), fmt, ap);
}

int fault_set(struct fault *why, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	fault_fill(why, fmt, ap);
	va_end(ap);
	errno = saved;
	return -1;
}

int fault_errno(struct fault *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fault_fill(why, fmt, ap);
	va_end(ap);
	errno = err;
	return -1;
}
