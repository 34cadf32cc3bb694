/* SPDX-License-Identifier: GPL-2.0-or-later
 * forecast.c - from one change to the next: a source is empty, an allocation begins or ends. */
#include "lib/forecast.h"
#include <stdbool.h>
#include <string.h>

struct state {
	struct forecast_grant grants[FORECAST_GRANTS_MAX];
	size_t n;
	amount_t credit, rate;
	amount_t carried;		/* of a source that was emptied within a second */
	int64_t t;
	bool lost;			/* an allocation ended with something left */
};

static bool is_live(const struct forecast_grant *g, int64_t t)
{
	return g->starts <= t && (!g->ends || t < g->ends);
}

/* Live, with something left, and the first to end. */
static struct forecast_grant *source_of(struct state *s)
{
	struct forecast_grant *first = NULL;

	for (size_t i = 0; i < s->n; i++) {
		struct forecast_grant *g = &s->grants[i];

		if (is_live(g, s->t) && g->left > 0 &&
			(!first || (g->ends && (!first->ends || g->ends < first->ends))))
			first = g;
	}
	return first;
}

static bool any_live(const struct state *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (is_live(&s->grants[i], s->t))
			return true;
	return false;
}

/* The next moment at which an allocation begins or ends; 0 = there is none. */
static int64_t next_change(const struct state *s)
{
	int64_t next = 0;

	for (size_t i = 0; i < s->n; i++) {
		const int64_t edges[] = { s->grants[i].starts, s->grants[i].ends };

		for (int e = 0; e < 2; e++)
			if (edges[e] > s->t && (!next || edges[e] < next))
				next = edges[e];
	}
	return next;
}

static void go_on(struct state *s, int64_t to)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->grants[i].ends > s->t && s->grants[i].ends <= to && s->grants[i].left > 0)
			s->lost = true;
	s->t = to;
}

/* Spend from `left` until it is empty or `next` comes. */
static void spend(struct state *s, amount_t *left, int64_t next)
{
	amount_t have = *left + s->carried;
	int64_t lasts = have / s->rate;

	if (next && next - s->t <= lasts) {
		*left = have - (next - s->t) * s->rate;
		s->carried = 0;
		go_on(s, next);
		return;
	}
	s->carried = have - lasts * s->rate;
	*left = 0;
	s->t += lasts;
}

enum forecast_end forecast(const struct forecast_grant *grants, size_t n, amount_t credit, amount_t rate,
	int64_t now, int64_t *at)
{
	struct state s = { .n = n < FORECAST_GRANTS_MAX ? n : FORECAST_GRANTS_MAX, .credit = credit,
		.rate = rate, .t = now };

	memcpy(s.grants, grants, s.n * sizeof(*grants));
	for (;;) {
		struct forecast_grant *g = source_of(&s);
		amount_t *left = g ? &g->left : &s.credit;
		int64_t next = next_change(&s);

		if (!any_live(&s) || *left <= 0) {
			*at = s.t;
			return !any_live(&s) || s.lost ? FORECAST_EXPIRED : FORECAST_SPENT;
		}
		if (rate == 0 && !next)
			return FORECAST_NEVER;
		if (rate == 0)
			go_on(&s, next);
		else
			spend(&s, left, next);
	}
}

const char *forecast_end_name(enum forecast_end e)
{
	static const char *const names[] = { "never", "spent", "expired" };

	return names[e];
}
