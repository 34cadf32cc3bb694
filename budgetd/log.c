/* SPDX-License-Identifier: GPL-2.0-or-later
 * log.c - lines on stderr. */
#include "budgetd/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048

/* Control characters in what users wrote must not start a line of their own. */
static void make_one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = ' ';
}

static void log_line(int level, const char *word, const char *fmt,
	va_list ap) __attribute__((format(printf, 3, 0)));

static void log_line(int level, const char *word, const char *fmt, va_list ap)
{
	char line[LINE_MAX_BYTES];
	int n = getenv("JOURNAL_STREAM") ? snprintf(line, sizeof(line), "<%d>", level) :
					   snprintf(line, sizeof(line), "budgetd: %s", word);
	size_t length;

	vsnprintf(line + n, sizeof(line) - (size_t)n - 1, fmt, ap);
	make_one_line(line);
	length = strlen(line);
	line[length] = '\n';
	if (write(STDERR_FILENO, line, length + 1) < 0)
		return;		/* nowhere left to complain */
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(3, "error: ", fmt, ap);
	va_end(ap);
}

void log_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(4, "warning: ", fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line(6, "", fmt, ap);
	va_end(ap);
}
