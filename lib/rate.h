/* SPDX-License-Identifier: GPL-2.0-or-later
 * rate.h - what a GPU-hour of a type costs, and from when on
 *
 * A rate is dated and never changed: of those of a type, the one that was last in force counts. A type
 * without a rate of its own has the default rate (of type ""), and without that 1.000. Shards and MPS are
 * types as well ("shard", "mps"), priced each; without a rate of their own they cost nothing. The rate of a
 * run is the one at its start (doc/model.md, 4).
 *
 * Unit     rates in thousandths, prices in units a second (amount.h)
 * Threads  pure functions: any thread */
#ifndef LIB_RATE_H
#define LIB_RATE_H
#include <stddef.h>
#include "lib/amount.h"
#include "lib/gpu_count.h"

#define RATE_MAX 1000000			/* 1000.000 */
#define RATE_SHARD "shard"
#define RATE_MPS "mps"

struct rate {
	char type[GPU_TYPE_MAX];	/* "" = the default */
	int64_t valid_from;
	int64_t thousandths;
};

/* Rows in the order in which they were written: of equal dates the later one counts. */
struct rate_table {
	const struct rate *rows;
	size_t count;
};

/* In thousandths; an empty table has 1.000 for every GPU. */
int64_t rate_of(const struct rate_table *t, const char *type, int64_t at);

/* What was given costs a second: each device once, by its type. 0 and *out; or -1, *out untouched,
 * EOVERFLOW. */
int rate_price(const struct rate_table *t, const struct gpu_count *given, int64_t at, amount_t *out);

/* The most that what is asked for may cost a second: what has no type by the dearest of the types in
 * `may_get` (whose counts do not matter; none = the default rate). `gpus` is the upper bound of GPUs; those
 * that `asked` does not count are untyped. 0, or -1 as above. */
int rate_price_dearest(const struct rate_table *t, const struct gpu_count *asked, int64_t gpus,
	const struct gpu_count *may_get, int64_t at, amount_t *out);

#endif
