/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_balance.h - how the balance of a project came about over time
 *
 * All functions want an open transaction (ledger.h). */
#ifndef BUDGETD_LEDGER_BALANCE_H
#define BUDGETD_LEDGER_BALANCE_H
#include "budgetd/ledger.h"
#include "lib/amount.h"

/* What entries between two multiples of `step_s` after `from` came to, in units, in order of time: `step` 0 is
 * the first after `from`, -1 all that is before. Of the allocations of the project, itself and not what is
 * below it, that are live at `now`: all together they are its balance. */
typedef int (*balance_fn)(int64_t step, amount_t units, void *arg);
int balance_walk(struct ledger *l, int64_t project, int64_t now, int64_t from, int64_t step_s, balance_fn each,
	void *arg, struct fault *why);

/* The first start and the last end of those allocations; 0 = there is none, or one without an end. */
int balance_span(struct ledger *l, int64_t project, int64_t now, int64_t *starts, int64_t *ends,
	struct fault *why);

#endif
