/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_capacity.h - what the healthy GPUs were worth over time, for what projects are entitled to
 * (doc/model.md, 5)
 *
 * A row is in force until the next one. Nobody looks while budgetd is away: what it saw last is taken to have
 * lasted until it looks again, and what it saw first to have been so before.
 *
 * All functions want an open transaction (ledger.h).
 * Unit     units a second: thousandths of GPUs at rate 1.000 */
#ifndef BUDGETD_LEDGER_CAPACITY_H
#define BUDGETD_LEDGER_CAPACITY_H
#include "budgetd/ledger.h"
#include "lib/amount.h"

/* What was seen last; 1, 0 = nobody has looked yet, -1. */
int capacity_last(struct ledger *l, amount_t *out, struct fault *why);
/* From `at` on it is `units`; LEDGER_HOLDS will do. */
int capacity_add(struct ledger *l, int64_t at, amount_t units, struct fault *why);

typedef int (*capacity_fn)(int64_t at, amount_t units, void *arg);
/* What was in force at `from`, then what followed, up to `to`, in order of time. */
int capacity_walk(struct ledger *l, int64_t from, int64_t to, capacity_fn each, void *arg, struct fault *why);

#endif
