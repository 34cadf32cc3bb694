/* SPDX-License-Identifier: GPL-2.0-or-later
 * roff.c - texts as mdoc(7) source (roff.h)
 *
 * Every hyphen is written as a minus: who copies an option or a file name out of a page must get the ASCII
 * one. */
#include "lib/roff.h"
#include <string.h>

static void character(FILE *to, char c)
{
	switch (c) {
	case '\\':
		fputs("\\e", to);
		break;
	case '-':
		fputs("\\-", to);
		break;
	case '"':
		fputs("\\(dq", to);
		break;
	default:
		putc(c, to);
	}
}

void roff_text(FILE *to, const char *text)
{
	char last = '\n';

	for (; *text; text++) {
		/* roff sees a sentence's end by that of its line */
		char c = *text == ' ' && last == '.' ? '\n' : *text;

		if (last == '\n' && strchr(".'", c))
			fputs("\\&", to);
		character(to, c);
		last = c;
	}
	putc('\n', to);
}

void roff_word(FILE *to, const char *text)
{
	fputs(" \"\\&", to);
	for (; *text; text++)
		character(to, *text);
	putc('"', to);
}

void roff_option(FILE *to, char letter, const char *name, const char *argument)
{
	if (letter)
		fprintf(to, " Fl %c ,", letter);
	fputs(" Fl \\-", to);
	for (; *name; name++)
		character(to, *name);
	if (argument) {
		fputs(" Ns = Ns Ar", to);
		roff_word(to, argument);
	}
}
