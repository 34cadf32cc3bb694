/* SPDX-License-Identifier: GPL-2.0-or-later
 * owed.c - the oldest demand first (owed.h). */
#include "lib/owed.h"

static void take_in(struct demands *d, int64_t to)
{
	for (; d->next < d->all && d->rows[d->next].from < to; d->next++)
		if (d->rows[d->next].units > 0)
			d->rows[d->count++] = d->rows[d->next];
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t owed_serve(struct demands *d, int64_t from, int64_t to, int64_t cap)
{
	int64_t owed = 0;
	size_t kept = 0, i;

	take_in(d, to);
	for (i = 0; i < d->count && owed < cap; i++) {
		struct demand *x = &d->rows[i];
		int64_t most = least((to - (x->from > from ? x->from : from)) * x->rate, x->units);

		most = least(most, cap - owed);
		x->units -= most;
		owed += most;
		if (x->units > 0)
			d->rows[kept++] = *x;
	}
	if (kept == i)
		return owed;
	for (; i < d->count; i++)
		d->rows[kept++] = d->rows[i];
	d->count = kept;
	return owed;
}
