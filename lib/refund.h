/* SPDX-License-Identifier: GPL-2.0-or-later
 * refund.h - which runs are given back by themselves, and how much of them (doc/model.md, 4)
 *
 * A run that its node ended: what was charged for the last hours of it, at most `node_fail_s`; what lies
 * before had time for a checkpoint. A funded run that was displaced before its minimum runtime: all of it,
 * for it was promised that time. Nothing else: not what its user cancelled, not what failed, not what was
 * displaced later.
 *
 * Unit     amounts in units, times UTC epoch seconds
 * Threads  pure functions: any thread */
#ifndef LIB_REFUND_H
#define LIB_REFUND_H
#include <stdbool.h>
#include "lib/amount.h"

enum refund_cause { REFUND_NONE, REFUND_NODE_FAILURE, REFUND_DISPLACED };

struct refund_run {
	const char *state;		/* Slurm's word for the end: "NODE_FAIL", "PREEMPTED"... */
	bool funded, displaced;		/* displaced: run_gave_way */
	/* it had lost its protection by then: nothing was promised any more */
	bool unprotected;
	int64_t start, end;
	int64_t min_runtime_s;		/* what was promised */
	/* the site's: how much of a run a node failure gives back; 0 = nothing */
	int64_t node_fail_s;
};

/* Did a run that ended in `state` give its GPUs to others? Slurm says so itself of what it displaced; one
 * that was told to go did, unless its work was done by then, its time was over, or its node failed. */
bool run_gave_way(const char *state, bool told);

/* Why, and in *since from when on, its charges are given back. *since is untouched with REFUND_NONE. */
enum refund_cause refund_cause(const struct refund_run *r, int64_t *since);

/* What a charge took for its seconds from `since` on, with the remainder of a price that is no whole number a
 * second. */
amount_t refund_of_part(amount_t units, int64_t part_start, int64_t part_end, int64_t since);

#endif
