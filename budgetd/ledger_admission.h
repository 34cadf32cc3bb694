/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_admission.h - answers to submissions
 *
 * An admission is the answer to one submission; its token ties it to the job that turns up later. What is set
 * aside for it is a hold (ledger_hold.h).
 *
 * All functions want an open transaction (ledger.h). 0 or -1 with `why` unless said otherwise; "1, 0, -1" is
 * found, not there, failed. *out is untouched unless it was found. */
#ifndef BUDGETD_LEDGER_ADMISSION_H
#define BUDGETD_LEDGER_ADMISSION_H
#include "budgetd/ledger.h"
#include "lib/amount.h"
#include "lib/job_options.h"
#include "lib/token.h"
#include "lib/wait_line.h"

struct admission_row {
	int64_t id;
	char token[TOKEN_MAX];
	int64_t at, uid, project;
	enum job_tier tier;
	int64_t min_runtime_s, team_rank, gpus, tasks;
	amount_t per_task;
	int64_t job;			/* 0 = not seen yet */
	bool insists;			/* --gpu-tier=funded: never the free tier instead */
	/* tasks of it wait for money since then, held in the queue by the daemon; 0 = none does */
	int64_t parked_at;
	int64_t waits_at;		/* the project that has no more; 0 when parked_at is */
	/* whose cap there leaves no more; WAIT_ANYBODY: the project has no more for anybody */
	int64_t waits_user;
	int64_t waits_behind;		/* the job in front of it there, 0 = it is the first */
	int64_t user_held_at;		/* its user holds tasks of it since then; 0 = none */
	/* a change was accepted then, and hours set aside for it: Slurm has not shown it yet; 0 = none */
	int64_t changing_at;
	char seen[160];			/* the job as it was priced; "" = not seen yet */
	const char *request;		/* written by admission_add; admission_request reads it back */
};

int admission_add(struct ledger *l, struct admission_row *a, struct fault *why);	/* a->id is set */
/* 1, 0, -1 */
int admission_by_id(struct ledger *l, int64_t id, struct admission_row *out, struct fault *why);
/* 1, 0, -1 */
int admission_by_token(struct ledger *l, const char *token, struct admission_row *out, struct fault *why);
/* the newest; 1, 0, -1 */
int admission_by_job(struct ledger *l, int64_t job, struct admission_row *out, struct fault *why);
/* Write what may change after the answer: project, tier, minimum runtime, rank, gpus, tasks, per_task, job,
 * parked_at, waits_at, waits_user, waits_behind, user_held_at, changing_at, seen. */
int admission_update(struct ledger *l, const struct admission_row *a, struct fault *why);

/* The first of those that wait for money that `project` has no more of, for anybody or for the user `uid`: by
 * team rank, then by age. 1, 0, -1. */
int admission_head(struct ledger *l, int64_t project, int64_t uid, struct admission_row *out,
	struct fault *why);

/* All that wait for money. */
typedef int (*admission_fn)(const struct admission_row *a, void *arg);
int admission_walk_parked(struct ledger *l, admission_fn each, void *arg, struct fault *why);

/* The question as it came. *out is malloc'ed, the caller frees it. */
int admission_request(struct ledger *l, int64_t id, char **out, struct fault *why);

/* The question as it is asked from now on. */
int admission_ask_anew(struct ledger *l, int64_t id, const char *request, struct fault *why);

/* Does a task of it run? Its hold is open then. 1, 0, -1. */
int admission_runs(struct ledger *l, int64_t admission, struct fault *why);

#endif
