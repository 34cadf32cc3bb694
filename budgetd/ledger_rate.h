/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_rate.h - the dated rates of GPU types, as they were set; never changed, only followed by others
 *
 * All functions want an open transaction (ledger.h). Rates in thousandths, times UTC epoch seconds. */
#ifndef BUDGETD_LEDGER_RATE_H
#define BUDGETD_LEDGER_RATE_H
#include "budgetd/ledger.h"
#include "budgetd/ledger_money.h"
#include "lib/rate.h"

struct rate_row {
	int64_t id, at;
	struct rate rate;
	char actor[USER_NAME_MAX], reason[512], request_id[72];
};

/* r->id is set. 1 and *r the first one when its request id was said before; else 0; -1. EEXIST: it would be
 * in force at `now` or before: what has started is priced. EINVAL: a rate of 0 for whole GPUs, or beyond
 * RATE_MAX. */
int rate_add(struct ledger *l, struct rate_row *r, int64_t now, struct fault *why);

typedef int (*rate_fn)(const struct rate_row *r, void *arg);
int rate_walk(struct ledger *l, rate_fn each, void *arg, struct fault *why);	/* as they were written */

#endif
