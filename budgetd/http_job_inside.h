/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_inside.h - an answer of `why` while it is put together; private to http_jobs.c and
 * http_job_levels.c
 *
 * Threads  as a request; wants the request's transaction on the reader */
#ifndef BUDGETD_HTTP_JOB_INSIDE_H
#define BUDGETD_HTTP_JOB_INSIDE_H
#include "budgetd/http_job_seen.h"
#include "budgetd/ledger_run.h"
#include "budgetd/request.h"
#include "lib/job_id.h"

struct array_counts {
	int64_t all, over;
};

struct explanation {
	struct request *rq;
	struct ledger *l;
	struct job_name name;
	char label[40];			/* of a task, as squeue has it; "" = the job as a whole */
	/* of an array as a whole; all 0 = it is none, or a task of it is asked about */
	struct array_counts tasks;
	struct job_seen seen;
	struct admission_row admission;
	bool admitted;
	struct project project;
	struct path path;
	struct json_object *o, *lines, *levels, *runs;
	amount_t charged, held;
	int64_t run_count;
	struct run lost;		/* one whose end nobody knows; id 0 = none */
	struct fault *why;
};

/* One sentence more. */
void job_tell(struct explanation *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "levels" of the reply, with the sentences about who goes first there, and then about its turn
 * (http_job_turn.h). 0, or -1 with x->why. */
int job_tell_levels(struct explanation *x);

#endif
