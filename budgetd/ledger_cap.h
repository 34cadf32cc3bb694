/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_cap.h - what one user may take of the allocations of a project, and what each has taken
 *
 * A cap bounds what is held and charged, less refunds, for the jobs of one user in the project and all below
 * it, against the allocations of the project that are live: as long as they live, over just the sums that its
 * balance shows. It takes nothing back when it is set below what is used. The rule is lib/budget's.
 *
 * All functions want an open transaction (ledger.h). Amounts in units. */
#ifndef BUDGETD_LEDGER_CAP_H
#define BUDGETD_LEDGER_CAP_H
#include "budgetd/ledger_project.h"

#define CAP_NONE (-1)

struct cap {
	int64_t project, uid;
	char user[USER_NAME_MAX];
	amount_t units;			/* CAP_NONE removes it */
	amount_t charged, held;		/* read only */
};

/* Write it. EEXIST: the project has no allocation that is live or to come, so that there is nothing to
 * cap. */
int cap_set(struct ledger *l, const struct cap *c, int64_t now, struct fault *why);

typedef int (*cap_fn)(const struct cap *c, void *arg);
/* by name */
int cap_walk(struct ledger *l, int64_t project, int64_t now, cap_fn each, void *arg, struct fault *why);
/* 1, 0, -1 */
int cap_of(struct ledger *l, int64_t project, int64_t uid, int64_t now, struct cap *out, struct fault *why);

/* The uid that has a cap under this name. 1, 0, -1. */
int cap_user(struct ledger *l, int64_t project, const char *user, int64_t *uid, struct fault *why);

/* Fill the cap of `uid` into the node of `project`. 1 = there is one, 0, -1. */
int cap_load(struct ledger *l, int64_t project, int64_t uid, int64_t now, struct budget_node *n,
	struct fault *why);

/* For ledger_hold and ledger_money: what is held, or charged, for the user of the hold or of the charge
 * changes by `by`. */
int user_sum_hold(struct ledger *l, int64_t allocation, int64_t hold, amount_t by, struct fault *why);
int user_sum_charge(struct ledger *l, int64_t allocation, int64_t charge, amount_t by, struct fault *why);

#endif
