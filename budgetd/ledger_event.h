/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_event.h - what was done about a run beside money, and the runs that were told to go
 *
 * An event is said once and never changed: it is what `budgetctl events JOB` prints. A run that leaves is
 * present state: it is told now and goes when it is due, and a daemon that was killed in between goes on from
 * there.
 *
 * All functions want an open transaction (ledger.h). */
#ifndef BUDGETD_LEDGER_EVENT_H
#define BUDGETD_LEDGER_EVENT_H
#include "budgetd/ledger_run.h"

/* told = to go, after its grace; displaced = it is gone; noted, warned = it does something that will cost it;
 * unprotected = any funded job may take its GPUs from now on; spared = it was told to go and may stay. */
enum event_what { EVENT_TOLD, EVENT_DISPLACED, EVENT_NOTED, EVENT_WARNED, EVENT_UNPROTECTED, EVENT_SPARED,
	EVENT_WHATS };
const char *event_what_name(enum event_what w);

/* ROTATED: past its minimum runtime, and another project is further below its share. FREE_RECLAIMED: free
 * GPUs that a funded job needs. NODE_DRAIN: its node is to be repaired. HEALTH: its node must not be used any
 * more. IDLE: it does not use its GPUs. OVERDRAWN: its project cannot pay. USER: somebody changed the job by
 * hand. */
enum event_reason { REASON_ROTATED, REASON_FREE_RECLAIMED, REASON_NODE_DRAIN, REASON_HEALTH, REASON_IDLE,
	REASON_OVERDRAWN, REASON_USER, EVENT_REASONS };
const char *event_reason_name(enum event_reason r);
enum event_reason event_reason_read(const char *name);	/* EVENT_REASONS: there is none of that name */

struct event {
	int64_t id, at;
	char cluster[64];
	int64_t job;			/* the raw job id of Slurm */
	int64_t run;			/* 0 = the job was in the queue */
	enum event_what what;
	enum event_reason reason;
	int64_t for_job;		/* who gets its GPUs, 0 = nobody in particular */
	char detail[512];		/* a sentence for people */
};

int event_add(struct ledger *l, const struct event *e, struct fault *why);
/* The last one of a run with that word and reason. 1, 0, -1. */
int event_last(struct ledger *l, int64_t run, enum event_what what, enum event_reason reason,
	struct event *out, struct fault *why);

/* Since `since`, was a run spared that had been told to go for `job`? 1, 0, -1. */
int event_spared_for(struct ledger *l, int64_t job, int64_t since, struct fault *why);
/* An event of a run, dated now. */
int event_of_run(struct ledger *l, const struct run *r, enum event_what what, enum event_reason reason,
	int64_t for_job, const char *detail, int64_t now, struct fault *why);

typedef int (*event_fn)(const struct event *e, void *arg);
/* Of all tasks of an array, or of its task `label` ("12_3", as squeue has it; "" = all); of a job that is no
 * array those of its raw id. Newest first, at most `limit`; before 0 = from the newest. */
int event_walk_tasks(struct ledger *l, int64_t job, const char *label, int64_t before, int64_t limit,
	event_fn each, void *arg, struct fault *why);

/* Its minimum runtime protects a run no more, and that is an event. Said again, nothing happens: 1; else 0;
 * -1. */
int run_unprotect(struct ledger *l, struct run *r, enum event_reason reason, const char *detail, int64_t now,
	struct fault *why);

/* The run has ended: that it was displaced is an event, by us or by Slurm. 1 = it was, 0 = it ended by
 * itself, -1. Once, with its end. */
int run_note_displaced(struct ledger *l, const struct run *r, int64_t now, struct fault *why);

/* --- runs that leave ---------------------------------------------------------------------------- */

struct leaving {
	int64_t run;
	int64_t told_at, due;
	enum event_reason reason;
	int64_t for_job;		/* 0 = nobody in particular */
	int64_t signalled_at;		/* its processes were told; 0 = not yet */
	int64_t made_to_go_at;		/* it lost its place, was requeued or cancelled; 0 = not yet */
};

/* The run is told to go, which is an event with `detail`. One that was told before: only an earlier `due`
 * counts, with its reason and job, and nothing is said again: 1; else 0; -1. */
int leaving_add(struct ledger *l, const struct run *r, const struct leaving *x, const char *detail,
	struct fault *why);
int leaving_of(struct ledger *l, int64_t run, struct leaving *out, struct fault *why);	/* 1, 0, -1 */
/* for_job, signalled_at, made_to_go_at */
int leaving_update(struct ledger *l, const struct leaving *x, struct fault *why);
int leaving_remove(struct ledger *l, int64_t run, struct fault *why);

typedef int (*leaving_fn)(const struct leaving *x, const struct run *r, void *arg);
/* The first told first, ended ones too. */
int leaving_walk(struct ledger *l, const char *cluster, leaving_fn each, void *arg, struct fault *why);

#endif
