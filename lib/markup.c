/* SPDX-License-Identifier: GPL-2.0-or-later
 * markup.c - text inside HTML and SVG (markup.h). */
#include "lib/markup.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */

/* The character at `s`, and its bytes in *n; -1 and 1 byte when it is none (overlong, a surrogate, cut). */
static int32_t decode(const unsigned char *s, size_t *n)
{
	static const struct { unsigned char mask, lead; int32_t least; } forms[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 } };
	int32_t c;
	size_t k = 0;

	while (k < 4 && (s[0] & forms[k].mask) != forms[k].lead)
		k++;
	*n = 1;
	if (k == 4)
		return -1;
	c = s[0] & (unsigned char)~forms[k].mask;
	for (size_t i = 1; i <= k; i++) {
		if ((s[i] & 0xc0) != 0x80)	/* the NUL at the end as well */
			return -1;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < forms[k].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return -1;
	*n = k + 1;
	return c;
}

static bool has_no_place(int32_t c)
{
	static const struct { int32_t first, last; } places[] = {
		{ -1, 0x08 }, { 0x0b, 0x1f }, { 0x7f, 0x9f },	/* control characters but tab and newline */
		{ 0x200e, 0x200f }, { 0x2028, 0x202e }, { 0x2066, 0x2069 },	/* direction, lines */
		{ 0xfdd0, 0xfdef }, { 0xfffe, 0xffff } };	/* no characters */

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (c >= places[i].first && c <= places[i].last)
			return true;
	return false;
}

void markup_text(FILE *to, const char *text)
{
	size_t n;

	for (const char *at = text ? text : ""; *at; at += n) {
		int32_t c = decode((const unsigned char *)at, &n);

		if (has_no_place(c))
			fputs(REPLACEMENT, to);
		else if (c < 0x80 && strchr("<>&\"'", (int)c) && c)
			fprintf(to, "&#%d;", (int)c);
		else
			fwrite(at, 1, n, to);
	}
}

void markup_query(FILE *to, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

	for (const char *at = text ? text : ""; *at; at++)
		if (strchr(plain, *at))
			fputc(*at, to);
		else
			fprintf(to, "%%%02X", (unsigned)(unsigned char)*at);
}
