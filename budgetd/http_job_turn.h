/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_turn.h - whose turn it is before a job, and which run may give way to it: a part of `why`; private
 * to http_job*.c
 *
 * Threads  as a request; wants the request's transaction on the reader */
#ifndef BUDGETD_HTTP_JOB_TURN_H
#define BUDGETD_HTTP_JOB_TURN_H
#include "budgetd/ledger_run.h"
#include "budgetd/ranking.h"
#include "budgetd/request.h"

struct turn_question {
	struct request *rq;
	struct ledger *l;
	int64_t job;
	uint32_t record;		/* its own id in Slurm, of a task */
	const char *label;		/* of a task; "" = the job as a whole */
	const struct admission_row *admission;
	const struct ranking *ranking;
	const char *partition;		/* "a,b" */
	int64_t time_limit_s;
	bool waits, runs, held, requeueable;
	struct json_object *o, *lines;	/* the reply, and its sentences */
};

/* "turn", "lane", "victim" and "requeueable" of the reply, and the sentences about them. 0 or -1. */
int job_turn_tell(const struct turn_question *x, struct fault *why);

/* What of a run goes on: "protected_until", and "leaving" of one that was told to go; with sentences, or none
 * where `lines` is NULL. 0 or -1. */
int job_run_tell(struct request *rq, struct ledger *l, const struct run *r, struct json_object *run,
	struct json_object *lines, struct fault *why);

#endif
