/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller.h - the loop: compare what is with what should be, act on the difference
 *
 * Level-triggered: slurmctld's job table is the truth about jobs, the ledger the truth about money, and each
 * pass starts from both. Nothing is kept from one pass to the next that the next could not find again, so
 * that killing anything at any moment loses nothing (doc/model.md, 7).
 *
 * Threads  one thread runs passes */
#ifndef BUDGETD_CONTROLLER_H
#define BUDGETD_CONTROLLER_H
#include "budgetd/budgetd.h"
#include "lib/fault.h"

struct controller;

/* Over b->ledger, b->snapshot, b->slurm and the other parts; NULL: no memory. */
struct controller *controller_new(struct budgetd *b, struct fault *why);
void controller_free(struct controller *c);	/* NULL is fine */

/* Before anybody is answered: the nodes that are cleared for a gang, as the books have them in `l` (no open
 * transaction). Who submits before the first pass is held off them, too. */
int controller_know_guard(struct budgetd *b, struct ledger *l, struct fault *why);

/* One pass at `now`. -1 when slurmctld could not be asked or the books failed: the next pass tries again. */
int controller_pass(struct controller *c, int64_t now, struct fault *why);

/* When the next run that was told to go is due, as the last pass saw it; 0 = none is. Then is a good time for
 * a pass. */
int64_t controller_next_due(const struct controller *c);

#endif
