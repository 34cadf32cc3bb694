/* SPDX-License-Identifier: GPL-2.0-or-later
 * say.c - sentences to the person at the keyboard (say.h) */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include "budgetctl/command.h"
#include "budgetctl/say.h"
#include "budgetctl/wrap.h"
#include "lib/fault.h"

void say_text(FILE *to, const char *text)
{
	wrap_text(to, text, 0, 0, 0);
}

void say_line(FILE *to, int used, const char *text)
{
	wrap_text(to, text, wrap_width(to), used, used);
	putc('\n', to);
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
	wrap_text(stderr, text, wrap_width(stderr), (int)strlen("budgetctl: "), 2);
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

const char *nearest_hint(
	const char *word, const char *prefix, const char *const *candidates, size_t count, char buf[HINT_MAX])
{
	char names[NEAREST_TEXT_MAX];
	struct nearest n;

	nearest_begin(&n, word);
	for (size_t i = 0; i < count; i++)
		nearest_offer(&n, candidates[i]);
	buf[0] = '\0';
	if (n.count)
		snprintf(buf, HINT_MAX, " Did you mean %s?", nearest_text(&n, prefix, names));
	return buf;
}
