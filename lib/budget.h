/* SPDX-License-Identifier: GPL-2.0-or-later
 * budget.h - what a project has left, at itself and at every ancestor
 *
 * available = amount - unvested - charged - held of the live allocations + credit limit - debt of expired
 * ones (doc/model.md, 2 and 4) The path is checked from the leaf to the root at every node that has
 * allocations: the tightest decides and is named.
 *
 * Unit     amounts in units (amount.h)
 * Threads  pure functions: any thread */
#ifndef LIB_BUDGET_H
#define LIB_BUDGET_H
#include <stdbool.h>
#include "lib/amount.h"

#define PROJECT_NAME_MAX 64
#define BUDGET_DEPTH_MAX 40

/* One project on the way up, with the sums of its allocations. */
struct budget_node {
	char name[PROJECT_NAME_MAX];
	/* has, or ever had, an allocation, and is not set unmetered; else it bounds nothing */
	bool metered;
	amount_t amount;	/* of the live allocations */
	amount_t charged;	/* against the live allocations, by it and all below it */
	amount_t held;		/* likewise */
	amount_t credit;	/* its credit limit */
	amount_t unvested;	/* of the amount, what cannot be used yet (budget_usable) */
	amount_t debt;		/* what expired allocations are below zero: an expiry does not forgive */
	bool no_share;		/* its weight among its siblings is 0: jobs below it are for the free tier */
	/* it has allocations and none of them is live: 0 available, credit included */
	bool expired;
	bool capped;		/* the user who asks may take no more than `cap` of them */
	/* charged (less refunds) and held against the live ones for that user alone */
	amount_t cap, cap_charged, cap_held;
};

/* What is left of the cap of the user who asks. May be negative: a cap can be set below what is used. */
amount_t budget_cap_left(const struct budget_node *n);

/* Is it the cap that leaves least? */
bool budget_cap_binds(const struct budget_node *n);

/* What a project has now that is its own and not spoken for: of its live allocations alone, without its
 * credit. Below zero it is what it uses of its credit. */
amount_t budget_own(const struct budget_node *n);

/* Available at one node, to the user who asks: of the project, or what a cap leaves of it. AMOUNT_UNBOUNDED
 * when it is not metered. May be negative after a pull-back: never clamped. */
#define AMOUNT_UNBOUNDED INT64_MAX
amount_t budget_available(const struct budget_node *n);

/* What of an allocation that vests can be used at `now`: min(amount, vested + burst), vested growing evenly
 * from `starts` (0) to `ends` (all). A second that has begun has not vested. starts < ends; a negative amount
 * is what it is. */
amount_t budget_usable(amount_t amount, amount_t burst, int64_t starts, int64_t ends, int64_t now);

/* What a run has used of its hold of `held` units at `now`: all but what the time is worth that it still
 * covers. `price` is the run's, a second. */
amount_t budget_accrued(amount_t held, amount_t price, int64_t covered_until, int64_t now);

/* The first index, from the leaf (0) up, of the node with the least available, or -1 when none is metered. */
int budget_tightest(const struct budget_node *path, int depth);

/* How many of `tasks` tasks at `per_task` units fit at every node. */
int64_t budget_tasks(const struct budget_node *path, int depth, amount_t per_task, int64_t tasks);

#endif
