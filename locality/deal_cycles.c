/* SPDX-License-Identifier: GPL-2.0-or-later
 * deal_cycles.c - circles that make the sum smaller (deal_cycles.h), found with Bellman and Ford over the
 * classes */
#include "locality/deal_cycles.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* From class a to class b: what the sum changes by when `task`, for which that is least, gives a piece of a
 * for one of b. */
struct change {
	int64_t cost;
	int task;		/* -1: nobody has a piece of a, or the sizes differ */
};

struct search {
	struct change *change;	/* [a * classes + b] */
	int64_t *sum;		/* of the cheapest way to a class */
	int *before;		/* on that way */
};

static void changes_find(const struct deal_counts *d, struct change *change)
{
	int n = d->classes;

	for (int i = 0; i < n * n; i++)
		change[i].task = -1;
	for (int t = 0; t < d->tasks; t++) {
		const int64_t *cost = &d->cost[d->kind_of[t] * d->room];

		for (int a = 0; a < n; a++) {
			if (d->has[t * n + a] == 0)
				continue;
			for (int b = 0; b < n; b++) {
				struct change *c = &change[a * n + b];

				if (a != b && d->size[a] == d->size[b] &&
					(c->task < 0 || cost[b] - cost[a] < c->cost))
					*c = (struct change){ cost[b] - cost[a], t };
			}
		}
	}
}

/* One round over all changes. The class whose way got cheaper last; -1: none did. */
static int relax(const struct search *s, int n)
{
	int changed = -1;

	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++) {
			const struct change *c = &s->change[a * n + b];

			if (c->task < 0 || s->sum[a] + c->cost >= s->sum[b])
				continue;
			s->sum[b] = s->sum[a] + c->cost;
			s->before[b] = a;
			changed = b;
		}
	return changed;
}

/* A class on a circle that makes the sum smaller; -1: there is no such circle. */
static int circle_find(const struct search *s, int n)
{
	int at = -1;

	memset(s->sum, 0, (size_t)n * sizeof(*s->sum));
	for (int i = 0; i < n; i++)
		s->before[i] = -1;
	for (int round = 0; round < n; round++)
		if ((at = relax(s, n)) < 0)
			return -1;
	for (int i = 0; i < n; i++)	/* from behind the circle onto it */
		at = s->before[at];
	return at;
}

/* Every change of the circle as often as all of them can be made. */
static void circle_make(const struct deal_counts *d, const struct search *s, int start)
{
	int n = d->classes, times = -1, b = start;

	do {
		int a = s->before[b], has = d->has[s->change[a * n + b].task * n + a];

		times = times < 0 || has < times ? has : times;
		b = a;
	} while (b != start);
	do {
		int a = s->before[b], task = s->change[a * n + b].task;

		d->has[task * n + a] -= times;
		d->has[task * n + b] += times;
		b = a;
	} while (b != start);
}

int deal_cycles(const struct deal_counts *d)
{
	size_t n = (size_t)d->classes;
	struct search s = { .change = calloc(n * n + 1, sizeof(*s.change)),
		.sum = calloc(n + 1, sizeof(*s.sum)), .before = calloc(n + 1, sizeof(*s.before)) };
	int rv = -1, start;

	if (s.change && s.sum && s.before) {
		do {
			changes_find(d, s.change);
			start = circle_find(&s, d->classes);
			if (start >= 0)
				circle_make(d, &s, start);
		} while (start >= 0);
		rv = 0;
	} else {
		errno = ENOMEM;
	}
	free(s.change);
	free(s.sum);
	free(s.before);
	return rv;
}
