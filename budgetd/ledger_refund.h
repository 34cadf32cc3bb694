/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_refund.h - what a run that ended is given back by itself: its node failed, or it was displaced too
 * early (lib/refund.h)
 *
 * It is written with the end of the run, in its transaction: so a run is given back once, however often its
 * end is told, and when slurmdbd is away both wait for it. */
#ifndef BUDGETD_LEDGER_REFUND_H
#define BUDGETD_LEDGER_REFUND_H
#include "budgetd/ledger_run.h"

/* Of charge `charge` up to `units` more do not count in the ratio, whether a project paid them or not; never
 * more than it is. 0 or less: nothing happens. A refund by hand leaves the ratio as it is: the GPUs were
 * used. `cause` as the table has it. */
int charge_uncount(struct ledger *l, int64_t charge, amount_t units, const char *cause, int64_t now,
	struct fault *why);
/* What of it does not count so far. 0 and *out, or -1. */
int charge_uncounted(struct ledger *l, int64_t charge, amount_t *out, struct fault *why);

/* `r` has ended, in this LEDGER_MONEY transaction. That it was displaced is an event (run_note_displaced).
 * What was refunded of it before is taken off. *back is what was given back at each project that paid, 0 for
 * most runs. 0, or -1. */
int run_refund(struct ledger *l, const struct run *r, int64_t node_fail_s, int64_t now, amount_t *back,
	struct fault *why);

#endif
