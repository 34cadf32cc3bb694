/* SPDX-License-Identifier: GPL-2.0-or-later
 * rate.c - dated prices of GPU types (rate.h). */
#include "lib/rate.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The row of a type that is in force at `at`, or NULL. */
static const struct rate *in_force(const struct rate_table *t, const char *type, int64_t at)
{
	const struct rate *best = NULL;

	for (size_t i = 0; t && i < t->count; i++)
		if (t->rows[i].valid_from <= at && strcmp(t->rows[i].type, type) == 0 &&
			(!best || t->rows[i].valid_from >= best->valid_from))
			best = &t->rows[i];
	return best;
}

int64_t rate_of(const struct rate_table *t, const char *type, int64_t at)
{
	const struct rate *r = in_force(t, type, at);

	if (r)
		return r->thousandths;
	if (strcmp(type, RATE_SHARD) == 0 || strcmp(type, RATE_MPS) == 0)
		return 0;
	r = in_force(t, "", at);
	return r ? r->thousandths : AMOUNT_RATE_ONE;
}

static int add(int64_t count, int64_t rate, amount_t *sum)
{
	amount_t one;

	return amount_price(count, 1, rate, &one) < 0 ? -1 : amount_add(*sum, one, sum);
}

static int64_t dearest(const struct rate_table *t, const struct gpu_count *may_get, int64_t at)
{
	int64_t most = -1;

	for (int i = 0; may_get && i < may_get->ntypes; i++) {
		int64_t rate = rate_of(t, may_get->types[i].type, at);

		if (rate > most)
			most = rate;
	}
	return most < 0 ? rate_of(t, "", at) : most;
}

/* All that is typed, and what is no GPU; `untyped` for the rest. */
static int price(const struct rate_table *t, const struct gpu_count *c, int64_t more, int64_t untyped,
	int64_t at, amount_t *out)
{
	amount_t sum = 0;

	for (int i = 0; i < c->ntypes; i++)
		if (add(c->types[i].count, c->types[i].type[0] ? rate_of(t, c->types[i].type, at) : untyped,
			&sum) < 0)
			return -1;
	if (add(more, untyped, &sum) < 0 || add(c->shards, rate_of(t, RATE_SHARD, at), &sum) < 0 ||
		add(c->mps, rate_of(t, RATE_MPS, at), &sum) < 0)
		return -1;
	*out = sum;
	return 0;
}

int rate_price(const struct rate_table *t, const struct gpu_count *given, int64_t at, amount_t *out)
{
	return price(t, given, 0, rate_of(t, "", at), at, out);
}

int rate_price_dearest(const struct rate_table *t, const struct gpu_count *asked, int64_t gpus,
	const struct gpu_count *may_get, int64_t at, amount_t *out)
{
	return price(t, asked, gpus > asked->total ? gpus - asked->total : 0, dearest(t, may_get, at), at,
		out);
}
