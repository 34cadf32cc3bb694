/* SPDX-License-Identifier: GPL-2.0-or-later
 * rates.h - the rates of the books, at hand for everybody who prices something
 *
 * Read from the ledger at the start and after each change; a change is rare, and a submission must not read a
 * table for it.
 *
 * Threads  any. `r` NULL: every GPU at 1.000 */
#ifndef BUDGETD_RATES_H
#define BUDGETD_RATES_H
#include "budgetd/ledger.h"
#include "lib/rate.h"

struct rates;

struct rates *rates_new(void);		/* empty; NULL and ENOMEM */
void rates_free(struct rates *r);	/* NULL is fine */

/* Read them anew; wants an open transaction on `l`. On failure they stay as they were. */
int rates_read(struct rates *r, struct ledger *l, struct fault *why);

/* rate_price */
int rates_price(struct rates *r, const struct gpu_count *given, int64_t at, amount_t *out);
/* rate_price_dearest */
int rates_price_dearest(struct rates *r, const struct gpu_count *asked, int64_t gpus,
	const struct gpu_count *may_get, int64_t at, amount_t *out);
#endif
