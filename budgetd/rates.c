/* SPDX-License-Identifier: GPL-2.0-or-later
 * rates.c - the rates of the books, in memory (rates.h). */
#include "budgetd/rates.h"
#include "budgetd/ledger_rate.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct rates {
	pthread_rwlock_t lock;
	struct rate *rows;
	size_t count;
};

struct rates *rates_new(void)
{
	struct rates *r = calloc(1, sizeof(*r));

	if (r)
		pthread_rwlock_init(&r->lock, NULL);
	return r;
}

void rates_free(struct rates *r)
{
	if (!r)
		return;
	pthread_rwlock_destroy(&r->lock);
	free(r->rows);
	free(r);
}

struct reading {
	struct rate *rows;
	size_t count;
};

static int read_row(const struct rate_row *row, void *arg)
{
	struct reading *x = arg;
	struct rate *rows = reallocarray(x->rows, x->count + 1, sizeof(*rows));

	if (!rows)
		return -1;
	x->rows = rows;
	rows[x->count++] = row->rate;
	return 0;
}

int rates_read(struct rates *r, struct ledger *l, struct fault *why)
{
	struct reading x = {0};
	struct rate *old;

	if (rate_walk(l, read_row, &x, why) < 0) {
		free(x.rows);
		return fault_set(why, "the rates cannot be read: out of memory");
	}
	pthread_rwlock_wrlock(&r->lock);
	old = r->rows;
	r->rows = x.rows;
	r->count = x.count;
	pthread_rwlock_unlock(&r->lock);
	free(old);
	return 0;
}

int rates_price(struct rates *r, const struct gpu_count *given, int64_t at, amount_t *out)
{
	int rc;

	if (!r)
		return rate_price(NULL, given, at, out);
	pthread_rwlock_rdlock(&r->lock);
	rc = rate_price(&(struct rate_table){ r->rows, r->count }, given, at, out);
	pthread_rwlock_unlock(&r->lock);
	return rc;
}

int rates_price_dearest(struct rates *r, const struct gpu_count *asked, int64_t gpus,
	const struct gpu_count *may_get, int64_t at, amount_t *out)
{
	int rc;

	if (!r)
		return rate_price_dearest(NULL, asked, gpus, may_get, at, out);
	pthread_rwlock_rdlock(&r->lock);
	rc = rate_price_dearest(&(struct rate_table){ r->rows, r->count }, asked, gpus, may_get, at, out);
	pthread_rwlock_unlock(&r->lock);
	return rc;
}
