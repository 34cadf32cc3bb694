/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_seen.h - what the last pass saw of the job, the task or the component that somebody asks about
 *
 * Threads  any: the queue is looked at under the lock of cluster_state.h */
#ifndef BUDGETD_HTTP_JOB_SEEN_H
#define BUDGETD_HTTP_JOB_SEEN_H
#include "budgetd/budgetd.h"
#include "lib/fault.h"
#include "lib/job_id.h"

/* Copied from under the lock. Of several records the states of the first, or of one that waits. */
struct job_seen {
	bool found;
	uint32_t record;		/* its own job id in Slurm: of a task another one than the array's */
	char state[32], reason[64], partition[256];
	/* held: by us, for lack of money */
	int64_t planned_start, waiting_tasks, held_tasks, running, suspended;
	int32_t place;
	bool requeueable;
	int64_t time_limit_s;
};

/* By the ids that Slurm gives: a task is named by its array, whatever SLURM_JOB_ID is in it, and a component
 * by the id that it has itself. */
void job_name_resolve(struct cluster_state *s, struct job_name *name);

void job_seen_look(struct cluster_state *s, const struct job_name *name, struct job_seen *out);

/* The fault of a job that the books have nothing of. Returns -1. ENOENT; or EAGAIN for a job id that is newer
 * than all that the passes have seen: it may have been submitted since the last one. */
int job_unknown(const struct budgetd *b, int64_t job, int64_t now, struct fault *why);

#endif
