/* SPDX-License-Identifier: GPL-2.0-or-later
 * window.c - a ring of buckets a project, and their sums. */
#include "lib/window.h"
#include <errno.h>
#include <stdlib.h>

struct window {
	size_t projects, buckets; /* buckets: of the whole window and the one that has begun */
	int64_t first;            /* number of the oldest bucket, epoch / WINDOW_BUCKET_S */
	int64_t *units;           /* [project * buckets + number % buckets] */
	int64_t *sums;
};

/* Of the bucket that holds t, also before the epoch. */
static int64_t bucket_of(int64_t t)
{
	return t >= 0 ? t / WINDOW_BUCKET_S : -((WINDOW_BUCKET_S - 1 - t) / WINDOW_BUCKET_S);
}

static int64_t *cell(const struct window *w, size_t project, int64_t number)
{
	int64_t n = (int64_t)w->buckets, k = (number % n + n) % n;

	return &w->units[project * w->buckets + (size_t)k];
}

struct window *window_new(size_t projects, int64_t length_s, int64_t now)
{
	struct window *w;

	if (length_s <= 0 || length_s % WINDOW_BUCKET_S) {
		errno = EINVAL;
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->projects = projects;
	w->buckets = (size_t)(length_s / WINDOW_BUCKET_S) + 1;
	w->first = bucket_of(now - length_s);
	w->units = calloc(projects * w->buckets + 1, sizeof(*w->units));
	w->sums = calloc(projects + 1, sizeof(*w->sums));
	if (w->units && w->sums)
		return w;
	window_free(w);
	return NULL;
}

void window_free(struct window *w)
{
	if (w) {
		free(w->units);
		free(w->sums);
	}
	free(w);
}

static void forget(struct window *w, int64_t number)
{
	for (size_t p = 0; p < w->projects; p++) {
		int64_t *c = cell(w, p, number);

		w->sums[p] -= *c;
		*c = 0;
	}
}

void window_move(struct window *w, int64_t now)
{
	int64_t first = bucket_of(now) - (int64_t)w->buckets + 1, n = (int64_t)w->buckets;

	/* a leap over the whole window empties every bucket once */
	for (int64_t i = w->first; i < first && i < w->first + n; i++)
		forget(w, i);
	if (first > w->first)
		w->first = first;
}

void window_add(struct window *w, size_t project, int64_t from, int64_t to, int64_t units_a_second)
{
	if (from < window_from(w))
		from = window_from(w);
	while (from < to) {
		int64_t number = bucket_of(from), end = (number + 1) * WINDOW_BUCKET_S;
		int64_t units = ((end < to ? end : to) - from) * units_a_second;

		*cell(w, project, number) += units;
		w->sums[project] += units;
		from = end;
	}
}

int64_t window_sum(const struct window *w, size_t project)
{
	return w->sums[project];
}

int64_t window_from(const struct window *w)
{
	return w->first * WINDOW_BUCKET_S;
}
