/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_shadow.h - what shadow mode would have done, for whom
 *
 * Shadow mode writes no token into Slurm, so an answer is tied to its job by user, account, number of GPUs
 * and time, in the order of submission. All functions want an open transaction (ledger.h). */
#ifndef BUDGETD_LEDGER_SHADOW_H
#define BUDGETD_LEDGER_SHADOW_H
#include "budgetd/ledger_project.h"

struct shadow {
	int64_t id, at;
	int64_t job;			/* 0 = not seen yet */
	char kind[12];			/* funded, free, refused, displaced */
	int64_t admission;		/* 0 = refused */
	char account[PROJECT_NAME_MAX], partition[64];
	int64_t uid, gpus;
	int64_t for_job;		/* of `displaced`, else 0 */
	char text[1536];
};

/* With a job, each kind is said once: the first one stays. */
int shadow_note(struct ledger *l, const struct shadow *s, struct fault *why);
/* Is the job known to shadow mode, whatever the kind? 1, 0, -1. */
int shadow_known(struct ledger *l, int64_t job, struct fault *why);

/* The oldest answer that no job has claimed, of s->uid, s->account and s->gpus, given from s->at - 2 s to
 * s->at + 2 s: s->job becomes its job, and *admission its admission (0 = it was refused). 1, 0, -1. */
int shadow_bind(struct ledger *l, const struct shadow *s, int64_t *admission, struct fault *why);
int shadow_expire_unbound(struct ledger *l, int64_t before, struct fault *why);

typedef int (*shadow_fn)(const struct shadow *s, void *arg);
/* Those with a job, newest first; account NULL = all; `funded` = those that would be funded too; before 0 =
 * from the newest. */
int shadow_walk(struct ledger *l, const char *account, bool funded, int64_t before, int64_t limit,
	shadow_fn each, void *arg, struct fault *why);

#endif
