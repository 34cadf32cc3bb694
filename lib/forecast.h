/* SPDX-License-Identifier: GPL-2.0-or-later
 * forecast.h - when a project has no more GPU-hours, if it goes on spending as it does
 *
 * What is spent is taken from the live allocation that expires first, then from the next one, last from the
 * credit, which a project has only while it has a live allocation (doc/model.md, 4.1). What is left of an
 * allocation at its end is lost, one that starts later helps from then on only.
 *
 * Unit     amounts in units, times UTC epoch seconds
 * Threads  pure functions: any thread */
#ifndef LIB_FORECAST_H
#define LIB_FORECAST_H
#include <stddef.h>
#include "lib/amount.h"

#define FORECAST_GRANTS_MAX 32

struct forecast_grant {
	amount_t left;			/* granted less charged: what is held will be spent */
	int64_t starts, ends;		/* ends 0 = open */
};

/* SPENT: it was all used. EXPIRED: what it had left ended. NEVER: not as it goes on. */
enum forecast_end { FORECAST_NEVER, FORECAST_SPENT, FORECAST_EXPIRED };

/* At `rate` units a second from `now` on: in which way it comes to an end, and in *at when; *at is untouched
 * with NEVER. At most FORECAST_GRANTS_MAX grants are looked at. rate >= 0. */
enum forecast_end forecast(const struct forecast_grant *grants, size_t n, amount_t credit, amount_t rate,
	int64_t now, int64_t *at);

const char *forecast_end_name(enum forecast_end e);	/* "never", "spent", "expired"; static */

#endif
