/* SPDX-License-Identifier: GPL-2.0-or-later
 * wrap.c - sentences in lines that fit the terminal (wrap.h) */
#include "budgetctl/wrap.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_LEAST   20 /* narrower than that nothing can be read, whatever COLUMNS says */

static int at_least(int width)
{
	return width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

int wrap_width(FILE *to)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!isatty(fileno(to)))
		return 0;
	if (columns && atoi(columns) > 0)
		return at_least(atoi(columns));
	if (ioctl(fileno(to), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return at_least(size.ws_col);
	return WIDTH_DEFAULT;
}

/* Bytes that go on with a character of UTF-8 take no column. */
int wrap_columns(const char *text, size_t length)
{
	int n = 0;

	for (size_t i = 0; i < length; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static void print_bytes(FILE *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		putc((c < 0x20 && c != '\n') || c == 0x7f ? '?' : c, to);
	}
}

/* One line of the text, without its newline. */
static void wrap_line(FILE *to, const char *p, size_t length, int width, int used, int indent)
{
	const char *end = p + length;
	bool begun = used > indent; /* is there something before which a break makes sense? */

	while (p < end) {
		size_t blanks = strspn(p, " ");
		size_t word = strcspn(p + blanks, " \n");
		int columns = (int)blanks + wrap_columns(p + blanks, word);

		if (p + blanks + word > end)
			break;
		if (begun && used + columns > width) {
			fprintf(to, "\n%*s", indent, "");
			used = indent;
			p += blanks;
			columns -= (int)blanks;
			blanks = 0;
		}
		print_bytes(to, p, blanks + word);
		used += columns;
		begun = true;
		p += blanks + word;
	}
}

void wrap_text(FILE *to, const char *text, int width, int used, int indent)
{
	if (!width || indent >= width) {
		print_bytes(to, text, strlen(text));
		return;
	}
	while (*text) {
		size_t length = strcspn(text, "\n");

		wrap_line(to, text, length, width, used, indent);
		text += length;
		if (*text) {
			putc('\n', to);
			text++;
		}
		used = 0;
	}
}
