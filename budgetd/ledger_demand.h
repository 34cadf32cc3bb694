/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_demand.h - what jobs asked for, as the books know it, for what projects were owed (doc/model.md, 10)
 *
 * A run that ended asked for what it was charged, one that goes on and what waits with its hours set aside
 * for its time limit, where the submission named one, else for its minimum runtime. It asked from when it was
 * eligible: from its hold on. Free jobs, and those that wait for money, ask for nothing.
 *
 * All functions want an open transaction (ledger.h). */
#ifndef BUDGETD_LEDGER_DEMAND_H
#define BUDGETD_LEDGER_DEMAND_H
#include "budgetd/ledger.h"
#include "lib/owed.h"

typedef int (*demand_fn)(int64_t project, int64_t uid, const struct demand *d, void *arg);
/* What was asked for after `from`, by whom, in units, in order of time. */
int demand_walk(struct ledger *l, int64_t from, int64_t now, bool holds_limit, demand_fn each, void *arg,
	struct fault *why);

#endif
