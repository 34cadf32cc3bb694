/* SPDX-License-Identifier: GPL-2.0-or-later
 * owed.h - what each project was owed: its entitlement, capped hour by hour at its demand
 *
 * The demand of a job counts once: what it was owed in one hour is not owed again in the next, so a short job
 * that waits for a day is owed no more than it asked for. It is what the project would have had on a cluster
 * of its own, as large as its share, that wastes nothing: the oldest job first, none faster than it can run.
 * It does not depend on the scheduler. Free jobs, and those that the cluster is too small for, are owed
 * nothing.
 *
 * Unit     GPU-seconds
 * Threads  pure function */
#ifndef SIMULATE_OWED_H
#define SIMULATE_OWED_H
#include "simulate/shares.h"
#include "simulate/trace.h"

/* owed[] by project of the trace, between two times of the trace. 0, or -1 and ENOMEM. */
int owed_count(const struct trace *t, const struct shares *s, int64_t gpus, int64_t from, int64_t until,
	int64_t *owed);

#endif
