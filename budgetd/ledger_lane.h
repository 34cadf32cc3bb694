/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_lane.h - who stands in the debug lane, and what it gave each user today
 *
 * What a user had of it comes from the parts of the runs that began in it and from those that go on, never
 * from a counter of its own.
 *
 * All functions want an open transaction (ledger.h). GPU-seconds: GPUs x seconds, not weighted by rates. */
#ifndef BUDGETD_LEDGER_LANE_H
#define BUDGETD_LEDGER_LANE_H
#include <stddef.h>
#include "budgetd/ledger.h"

/* These admissions stand in the lane now, and no others: a run of theirs that begins before that changes
 * began in it. */
int lane_set(struct ledger *l, const int64_t *admissions, size_t count, struct fault *why);
typedef int (*lane_job_fn)(int64_t admission, void *arg);
int lane_walk(struct ledger *l, lane_job_fn each, void *arg, struct fault *why);	/* the oldest first */

/* The run began, in the lane when its admission stands in it. */
int lane_run_began(struct ledger *l, int64_t run, int64_t admission, struct fault *why);

struct lane_user {
	int64_t uid, running, used_gpu_s;
};
typedef int (*lane_user_fn)(const struct lane_user *u, void *arg);
/* By uid: who had something of the lane since `since`, up to `now`, or has a run in it. A run whose end
 * nobody knows keeps nobody out. */
int lane_use(struct ledger *l, int64_t since, int64_t now, lane_user_fn each, void *arg, struct fault *why);
/* Runs that ended by then are of no day that anybody asks for: forgotten, so that `lane_use` stays short. In
 * the writer. */
int lane_forget(struct ledger *l, int64_t before, struct fault *why);

#endif
