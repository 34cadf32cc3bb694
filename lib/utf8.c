/* SPDX-License-Identifier: GPL-2.0-or-later
 * utf8.c - is a text UTF-8 (utf8.h): the forms of RFC 3629, 3 */
#include "lib/utf8.h"
#include <stddef.h>
#include <stdint.h>

int utf8_character(const char *text)
{
	static const struct {
		unsigned char mask, lead;
		int length;
		uint32_t least;
	} forms[] = {
		{0x80, 0x00, 1, 0},
		{0xe0, 0xc0, 2, 0x80},
		{0xf0, 0xe0, 3, 0x800},
		{0xf8, 0xf0, 4, 0x10000},
	};
	const unsigned char *s = (const unsigned char *)text;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		uint32_t c = s[0] & (uint32_t)(unsigned char)~forms[i].mask;

		if ((s[0] & forms[i].mask) != forms[i].lead)
			continue;
		for (int n = 1; n < forms[i].length; n++) {
			if ((s[n] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (s[n] & 0x3f);
		}
		return c < forms[i].least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0
											 : forms[i].length;
	}
	return 0;
}

int utf8_is_valid(const char *text)
{
	for (int n; *text; text += n) {
		n = utf8_character(text);
		if (!n)
			return 0;
	}
	return 1;
}
