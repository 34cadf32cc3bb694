/* SPDX-License-Identifier: GPL-2.0-or-later
 * shadow.h - shadow mode: the decision is made, told and written down, and nothing in Slurm is changed
 *
 * Holds and runs are kept in the books as if the verdict held, so that the next decision sees what this one
 * would have taken.
 *
 * Threads  any; each call is a transaction of the writer */
#ifndef BUDGETD_SHADOW_H
#define BUDGETD_SHADOW_H
#include "budgetd/admit.h"
#include "settings/enforce.h"

/* How the partitions of a job take the budget; the default partition is looked up. */
enum enforcement shadow_mode(struct budgetd *b, const char *partitions);

/* Like admit(), for a job of a partition in shadow mode: *out leaves the job as it is, its text says what
 * would be. */
int shadow_admit(struct budgetd *b, const struct question *q, const char *request, int64_t job, int64_t now,
	struct verdict *out, struct fault *why);

#endif
