/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_period.h - months that are closed, and when something is booked (doc/model.md, 4)
 *
 * A month of UTC is closed once and never opened again: nothing is dated in it, or before it, any more, which
 * the database itself refuses. What concerns it later is dated in the open month and names what it corrects.
 *
 * All functions want an open transaction (ledger.h), the writing ones LEDGER_MONEY. */
#ifndef BUDGETD_LEDGER_PERIOD_H
#define BUDGETD_LEDGER_PERIOD_H
#include "budgetd/ledger_money.h"

#define PERIOD_FORCED_MAX 768

struct period {
	int64_t month;			/* year * 12 + month - 1 */
	int64_t starts, ends;		/* its edges: starts <= what is of it < ends */
	int64_t closed_at;
	char actor[USER_NAME_MAX], reason[512];
	char request_id[72];		/* "" = none */
	/* what was open and was closed over; "" = nothing */
	char forced[PERIOD_FORCED_MAX];
};

/* "2026-12". Returns buf; cannot fail. */
#define PERIOD_TEXT_MAX 16
const char *period_text(int64_t month, char buf[static PERIOD_TEXT_MAX]);
/* The month that the text names. 0 and *out with its edges, else empty; -1 and EINVAL. */
int period_parse(const char *text, struct period *out, struct fault *why);

/* Up to when all months are closed; 0 = none is. */
int period_closed_until(struct ledger *l, int64_t *out, struct fault *why);

/* The date of a booking that belongs to `wanted` and is made at `now`: `wanted` while its month is open, else
 * now. 0 and *out; -1. */
int booking_date(struct ledger *l, int64_t wanted, int64_t now, int64_t *out, struct fault *why);

/* The same for a part of a run that began at `part_start` (no part is of two months): now, or, when its month
 * is over by then and open, the last second of that month. */
int booking_date_of_part(struct ledger *l, int64_t part_start, int64_t now, int64_t *out, struct fault *why);
/* The rule itself, for who writes many in one transaction: `closed_until` is of period_closed_until(). Cannot
 * fail. */
int64_t period_date_of_part(int64_t part_start, int64_t now, int64_t closed_until);

/* Close p->month at p->closed_at. `force`: though runs of it are open or may be missing, which p->forced then
 * says. 0; -1: EEXIST and a text that says what is open and what to do. */
int period_close(struct ledger *l, struct period *p, bool force, struct fault *why);

typedef int (*period_fn)(const struct period *p, void *arg);
int period_walk(struct ledger *l, period_fn each, void *arg, struct fault *why);	/* oldest first */
int period_by_month(struct ledger *l, int64_t month, struct period *out, struct fault *why);	/* 1, 0, -1 */

#endif
