/* SPDX-License-Identifier: GPL-2.0-or-later
 * say.c - sentences to the person at the keyboard (say.h)
 *
 * nearest() counts the letters to insert, drop, replace or swap with a neighbour (optimal string
 * alignment). */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/command.h"
#include "budgetctl/say.h"
#include "lib/fault.h"

#define WORD_MAX 32			/* longer words are no slip of the fingers */

void say_text(FILE *to, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		putc((*p < 0x20 && *p != '\n') || *p == 0x7f ? '?' : *p, to);
}

int complain(int outcome, const char *fmt, ...)
{
	char text[2 * FAULT_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fflush(stdout);			/* rows come before the reason why there are no more */
	fputs("budgetctl: ", stderr);
	say_text(stderr, text);
	putc('\n', stderr);
	return outcome;
}

int out_finish(int outcome)
{
	bool failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return outcome;
	if (errno == EPIPE)
		return outcome;
	return complain(outcome ? outcome : REFUSED, "the output could not be written: %s",
		errno ? strerror(errno) : "an earlier write failed");
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(const char *a, const char *b)
{
	size_t d[WORD_MAX + 1][WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return SIZE_MAX;
	for (size_t i = 0; i <= na; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		for (size_t j = 1; j <= nb; j++) {
			d[i][j] = least(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
				1 + least(d[i - 1][j], d[i][j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], 1 + d[i - 2][j - 2]);
		}
	}
	return d[na][nb];
}

const char *nearest(const char *word, const char *const *candidates, size_t count)
{
	size_t best = (strlen(word) + 1) / 3 + 1;	/* a third of the letters wrong is still a slip */
	const char *found = NULL;

	if (best < 2)
		best = 2;
	for (size_t i = 0; i < count; i++) {
		size_t d = candidates[i] ? distance(word, candidates[i]) : SIZE_MAX;

		if (d < best) {
			best = d;
			found = candidates[i];
		}
	}
	return found;
}

const char *nearest_hint(
	const char *word, const char *prefix, const char *const *candidates, size_t count, char buf[HINT_MAX])
{
	const char *found = nearest(word, candidates, count);

	buf[0] = '\0';
	if (found)
		snprintf(buf, HINT_MAX, " Did you mean %s%s?", prefix, found);
	return buf;
}
