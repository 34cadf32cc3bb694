/* SPDX-License-Identifier: GPL-2.0-or-later
 * placement.h - what fits on which nodes, and which runs give way so that it fits
 *
 * One object is the cluster as one pass sees it: nodes, the runs on them, the jobs that were promised room.
 * budgetd and `budgetctl simulate` ask it the same questions.
 *
 * Rules (doc/model.md, 6). A run gives way to a funded job when it is free or lost its protection; or when it
 * is past its minimum runtime and the job beats it (fairshare_beats; two users of one project by what each of
 * them had), or is of the job's own project and the job is in the debug lane or has its nodes cleared. A slot
 * beats every project without an open slot. A free job displaces nobody. Chosen are: free runs before funded
 * ones, those of the project that is most over-served first, then those with the fewest GPUs, then the
 * youngest; those that are not needed are put back, and none is touched unless the job then fits.
 *
 * Unit     GPUs, seconds; nodes by their index
 * Threads  an object belongs to one thread */
#ifndef LIB_PLACEMENT_H
#define LIB_PLACEMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/fairshare.h"
#include "lib/order.h"

#define PLACEMENT_NEVER INT64_MAX
#define PLACEMENT_KINDS_TRIED 20       /* in one pass: further jobs that do not fit are not looked at */
#define PLACEMENT_CLEARED_AFTER_S 43200 /* a job for several nodes that waited so long has them cleared */

struct placement;

struct placement_node {
	int32_t gpus;  /* 0: drained or down */
	uint32_t kind; /* nodes that are alike for every job have the same; any numbers from 0 on */
};

/* GPUs of one node: a part of a run, or of what a job would get. */
struct placement_part {
	uint32_t node;
	int32_t gpus;
};

struct placement_run {
	uint32_t project;     /* index in the rules' fairshare */
	/* where the project is divided among its users: index of this one's node, + 1; else 0 */
	uint32_t user;
	bool free;            /* of the free tier */
	bool lost_protection; /* its hold could not be extended: any funded job may take it */
	bool still;           /* never picked: Slurm could not displace it cleanly */
	bool slot;            /* its project has an open slot */
	int64_t start;
	int64_t safe_until; /* start + minimum runtime; a scheduler without one: + time limit */
	const struct placement_part *parts; /* copied; at least one */
	size_t nparts;
};

struct placement_job {
	uint32_t project, user; /* as in placement_run */
	enum order_front front;
	bool cleared;    /* a gang that waited so long that nodes are cleared for it */
	uint32_t nodes;  /* over how many, at least 1; the first `gpus % nodes` get one GPU more */
	int32_t gpus;    /* of all nodes together, >= nodes */
	const bool *kinds; /* by a node's kind: will such a node do? Borrowed. NULL: all will */
	const bool *may_use; /* by a node's index: may it have that one? Borrowed. NULL: all */
	int64_t keeps_s; /* how long it will certainly keep them: its minimum runtime */
	bool kept_only;  /* of the nodes that will do only those of placement_keep */
};

struct placement_rules {
	const struct fairshare *funded; /* ratios of the funded tier */
	const struct fairshare *free;   /* of the free tier, by free use; the same nodes. NULL: all tie */
	int64_t h_ppm;                  /* hysteresis */
};

/* What a job would get. Belongs to the caller; placement_choice_free when done with it. */
struct placement_choice {
	struct placement_part *parts;
	size_t nparts;
	uint32_t *victims; /* runs, as placement_add named them; in the order in which they were picked */
	size_t nvictims;
	size_t parts_room, victims_room;
};

/* `nodes` is copied. NULL and ENOMEM. */
struct placement *placement_new(const struct placement_node *nodes, size_t count);
void placement_free(struct placement *p); /* NULL is fine; errno is kept */
void placement_choice_free(struct placement_choice *c);

/* A run is on its nodes. Its name in *run: small numbers, used again after placement_remove.
 * 0; or -1: ENOMEM, EINVAL (no part, or a node that there is not). */
int placement_add(struct placement *p, const struct placement_run *r, uint32_t *run);
void placement_remove(struct placement *p, uint32_t run);

/* The run is told to go: it is no victim again, and its GPUs are on their way to whoever is chosen next. */
void placement_leave(struct placement *p, uint32_t run);

void placement_stay(struct placement *p, uint32_t run); /* it need not go after all */

/* GPUs of a node that nobody has or was promised; below 0 while those who leave are still there. */
int32_t placement_idle(const struct placement *p, uint32_t node);
int64_t placement_idle_all(const struct placement *p); /* all that is above 0 */

/* What is idle there can be used once the largest run there is gone, not before: it counts as that one's.
 * False: nothing is idle, or no run is there that may go. */
bool placement_tie_idle(struct placement *p, uint32_t node);

/* Does it fit into what is idle now? The fullest nodes that do are taken. `choice` has the parts and no
 * victim. 1, 0, or -1 and ENOMEM. */
int placement_fits(
	struct placement *p, const struct placement_job *job, int64_t now, struct placement_choice *choice);

/* Who gives way to a funded job so that it fits into what is idle, on its way or theirs? 1 with parts and
 * victims (none: it waits for those who leave); 0, it does not fit whoever goes; or -1 and ENOMEM.
 * `free_only`: what Slurm does by itself, at once. */
int placement_make_room(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *job, int64_t now, bool free_only, struct placement_choice *choice);

/* The same two for `n` jobs that start together or not at all: a choice for each, or none is touched. The
 * first ones are placed first. */
int placement_fit_together(struct placement *p, const struct placement_job *jobs, size_t n, int64_t now,
	struct placement_choice *choices);
int placement_make_room_together(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *jobs, size_t n, int64_t now, struct placement_choice *choices);

/* May the job displace a protected run of that project, once its safe time is over? Of *job and *r it takes
 * project, user, front, cleared and slot. */
bool placement_may_displace(const struct placement_rules *rules, const struct placement_job *job,
	const struct placement_run *r);

/* Promise, or take back, the GPUs of a choice: they are not idle for anybody else. A run that starts there
 * replaces its promise: take it back, then add the run. */
void placement_promise(struct placement *p, const struct placement_part *parts, size_t nparts);
void placement_take_back(struct placement *p, const struct placement_part *parts, size_t nparts);

/* GPUs of a node that no run has, promised or not. */
int32_t placement_unused(const struct placement *p, uint32_t node);

/* The gang guard: the nodes that are empty enough for `job` first, as runs end their safe time, and from when
 * on. Only runs that it may displace then count, and idle GPUs. With rules NULL every run counts: then it is
 * the plain forecast of a scheduler by time limits. 1 with the parts and *at; 0: never; or -1 and ENOMEM. */
int placement_forecast(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *job, int64_t now, struct placement_choice *choice, int64_t *at);

/* Until it is lifted, jobs start on these nodes only when they are sure to be gone, or to be past their
 * minimum runtime, by `at`; the gang itself (job.cleared) does not mind. */
void placement_guard(struct placement *p, const struct placement_part *parts, size_t nparts, int64_t at);
void placement_lift_guards(struct placement *p);

/* A gang's nodes are to stay the same while others would do as well: these nodes, one more at each call, are
 * those that a job with `kept_only` is offered. */
void placement_keep(struct placement *p, uint32_t node);

#endif
