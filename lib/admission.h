/* SPDX-License-Identifier: GPL-2.0-or-later
 * admission.h - the verdict: funded, free, waiting or refused, and the sentence that says so
 *
 * The one implementation of doc/model.md 3 and 4, used for a submission, a modification, a job met by the
 * loop and a quote. It looks at what is asked and at what there is, and changes nothing: the ledger takes the
 * hold in the same transaction.
 *
 * Unit     amounts in units, times in seconds
 * Threads  pure functions: any thread */
#ifndef LIB_ADMISSION_H
#define LIB_ADMISSION_H
#include <stdbool.h>
#include "lib/amount.h"
#include "lib/budget.h"
#include "lib/gpu_request.h"
#include "lib/job_options.h"
#include "lib/wait_line.h"

#define ADMISSION_TEXT_MAX (FAULT_TEXT_MAX + 64)

/* What becomes of a job of which not one task fits. WAIT: it is accepted and held until there is money. KEEP:
 * it is funded already, and a change that cannot be paid is not made. DECLARE: it waits, and its owner
 * declares something else for it. */
enum admission_exhausted { ADMIT_FREE, ADMIT_REJECT, ADMIT_WAIT, ADMIT_KEEP, ADMIT_DECLARE };

struct admission_rules {
	int64_t default_min_runtime_s, max_min_runtime_s;
	bool hold_time_limit;		/* classic accounting: hold the whole time limit */
	/* between the signal and the requeue of a funded run that is displaced; 0 = none */
	int64_t grace_s;
	bool reject_unlimited;		/* a job without any time limit is refused instead of running free */
};

struct admission_question {
	const struct gpu_request *request;
	const struct job_options *options;
	/* DURATION_UNLIMITED when there is none, after the partition's default */
	int64_t time_limit_s;
	/* of one array task, units a second, by the dearest types it may get */
	amount_t price;
	int64_t user;			/* who asks */
	/* not eligible yet (begin time, dependency, held by its user): no hold now */
	bool deferred;
	bool requeueable;		/* false: displacing it means cancelling it, and the user is told */
	/* by which it is told to go: its script alone, or what srun started in it */
	int signal;
	bool signal_script;
	enum admission_exhausted on_exhausted;
	/* ADMIT_WAIT: the job that waits in front and is not overtaken; 0 = none, -1 = one that has no id
	 * yet */
	int64_t behind;
	int behind_at;			/* index into the path of the project it waits at */
	int64_t behind_user;		/* for whom it does: of a cap its user, else WAIT_ANYBODY */
};

/* A verdict can be for a part of an array: k of n tasks are funded, and the others wait for money, held by
 * the daemon. */
struct admission {
	bool accepted;
	enum job_tier tier;		/* FUNDED or FREE when accepted */
	int64_t min_runtime_s;		/* what is protected; 0 in the free tier */
	amount_t per_task;		/* the hold of one array task, when its time comes; 0 when free */
	int64_t tasks;			/* that are paid for now; 0 when free or deferred */
	amount_t hold;			/* of these; 0 when free or deferred */
	bool waits;			/* tasks of it wait for money */
	int waits_at;			/* then: index into the path of the project that has no more */
	int64_t waits_user;		/* and for whom: the user where it is a cap, else WAIT_ANYBODY */
	/* the job that waits in front of it; 0 = none, or one that has no id yet */
	int64_t behind;
	/* for the user, a sentence a line: what was asked, what there is, which project refused, what to do
	 * next */
	char text[ADMISSION_TEXT_MAX];
};

/* What the job costs before the budget is looked at: minimum runtime after defaults and cuts, per-task and
 * total hold. 0; or -1 with a text: a minimum runtime over the maximum, a price that overflows. */
int admission_price(const struct admission_question *q, const struct admission_rules *rules,
	struct admission *out, struct fault *why);

/* The verdict over `path` (leaf first, `depth` >= 1). Always fills *out; never fails. */
void admission_decide(const struct admission_question *q, const struct admission_rules *rules,
	const struct budget_node *path, int depth, struct admission *out);

#endif
