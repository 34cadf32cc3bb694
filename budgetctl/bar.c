/* SPDX-License-Identifier: GPL-2.0-or-later
 * bar.c - columns of each kind, half rounded up. */
#include "budgetctl/bar.h"
#include <string.h>

static int columns_of(int64_t part, int64_t most, int columns)
{
	int n = most > 0 ? (int)(((__int128)part * columns * 2 + most) / ((__int128)most * 2)) : 0;

	return part > 0 && n == 0 ? 1 : n;
}

static char *repeat(char *to, const char *sign, int times)
{
	size_t n = strlen(sign);

	for (int i = 0; i < times; i++, to += n)
		memcpy(to, sign, n);
	return to;
}

const char *bar_text(int64_t first, int64_t second, int64_t most, int columns, bool utf8,
	char buf[BAR_TEXT_MAX])
{
	int room = columns < BAR_COLUMNS_MAX ? columns : BAR_COLUMNS_MAX, a, all;
	char *end;

	a = columns_of(first, most, room);
	all = columns_of(first + second, most, room);
	if (second > 0 && all == a) {	/* both are seen */
		if (a > 1)
			a--;
		else
			all++;
	}
	end = repeat(buf, utf8 ? "\u2588" : "#", a);
	end = repeat(end, utf8 ? "\u2591" : ".", all - a < room - a ? all - a : room - a);
	*end = '\0';
	return buf;
}
