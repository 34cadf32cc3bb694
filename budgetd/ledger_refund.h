/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_refund.h - what a run that ended is given back by itself: its node failed, or it was displaced too early (lib/refund.h)
 *
 * It is written with the end of the run, in its transaction: so a run is given back once, however often its end is told, and when slurmdbd
 * is away both wait for it. */
#ifndef BUDGETD_LEDGER_REFUND_H
#define BUDGETD_LEDGER_REFUND_H
#include "budgetd/ledger_run.h"

/* `r` has ended, in this LEDGER_MONEY transaction. What was refunded of it before is taken off. *back is what was given back at each project that
 * paid, 0 for most runs. 0, or -1. */
int run_refund(struct ledger *l, const struct run *r, int64_t node_fail_s, int64_t now, amount_t *back, struct fault *why);

#endif
