/* SPDX-License-Identifier: GPL-2.0-or-later
 * samples.c - sort, and look at a rank. */
#include "tests/bench/samples.h"
#include <stdlib.h>
#include <time.h>

int64_t samples_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int samples_new(struct samples *s, size_t max)
{
	*s = (struct samples){ .ns = calloc(max, sizeof(*s->ns)), .max = max };
	return s->ns ? 0 : -1;
}

void samples_free(struct samples *s)
{
	free(s->ns);
	*s = (struct samples){ 0 };
}

void samples_add(struct samples *s, int64_t ns)
{
	if (s->n < s->max)
		s->ns[s->n++] = ns;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int64_t samples_at(struct samples *s, int permille)
{
	size_t rank = (s->n * (size_t)permille + 999) / 1000;

	if (s->n == 0)
		return 0;
	qsort(s->ns, s->n, sizeof(*s->ns), by_time);
	return s->ns[rank ? rank - 1 : 0];
}
