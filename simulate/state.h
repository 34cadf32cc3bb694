/* SPDX-License-Identifier: GPL-2.0-or-later
 * state.h - the inside of the engine, for its own files
 *
 * Threads  one */
#ifndef SIMULATE_STATE_H
#define SIMULATE_STATE_H
#include "lib/order.h"
#include "lib/placement.h"
#include "lib/window.h"
#include "simulate/engine.h"
#include "simulate/events.h"

enum job_state { JOB_TO_COME, JOB_WAITING, JOB_PROMISED, JOB_RUNNING, JOB_AWAY, JOB_OVER };

struct job {
	enum job_state state;
	uint32_t nodes;
	bool free;                      /* of the free tier */
	bool in_lane, leaving, movable; /* of its run; in_lane of its promise, too */
	int64_t left_s;                 /* work that is left */
	int64_t since;                  /* waiting: since when; running: the start of the run */
	uint32_t run;                   /* as lib/placement names it */
	uint32_t number;                /* of its run, so that an old event is known */
	uint32_t level;                 /* SIM_PRIORITY: 0 is HIGH */
	uint32_t next;                  /* in its class; NOBODY */
	struct placement_part *parts;   /* promised or running */
	size_t nparts;
};

#define NOBODY UINT32_MAX

struct project {
	int leaf;
	uint32_t of, user; /* for lib/placement: its project's node; its own + 1 when it is a user of that */
	int64_t settled;                /* up to when all sums are */
	int64_t funded_gpus, free_gpus; /* held now */
	int64_t inside_gpus;            /* of funded runs inside their minimum runtime */
	int64_t inside_until;           /* sum of GPUs x end of the minimum runtime of those */
	int64_t promised_gpu_s;         /* GPUs x minimum runtime of jobs that will start when others left */
	int64_t movable_gpus;           /* of funded runs past it that nobody has told to go */
	int64_t reach;                  /* GPUs that a job of it could get, by the ranks reach_ranks */
	int64_t reach_ranks;
};

struct user {
	uint32_t lane_job;       /* NOBODY */
	int64_t day, used_gpu_s; /* what the lane gave on that day, ended runs only */
};

/* Waiting jobs that are alike: what holds for one of them in a pass holds for all. In order of submission. */
struct class
{
	uint32_t project, user, level; /* user: of the lane only */
	int32_t gpus;
	bool free, lane;
	int64_t given_up; /* the serving in which none of it could be served */
	uint32_t head, tail;
	uint32_t next; /* class of the same project */
};

struct queue {
	struct class *classes;
	size_t count, room;
	uint32_t *first; /* of each project */
	int64_t jobs;
};

struct engine {
	const struct sim_setup *s;
	struct sim_result *out;
	struct job *jobs;
	struct project *projects;
	struct user *users;
	size_t nprojects;
	struct placement *placement;
	struct placement_choice choice; /* scratch */
	struct queue queue;
	struct order_job *heads; /* scratch: a class each */
	size_t heads_room;
	struct events events;
	struct window *funded_window, *free_window;
	struct fairshare_node *nodes;    /* scratch of ratios */
	struct fairshare *funded, *free; /* of the last pass */
	uint32_t *promised;              /* jobs */
	size_t npromised, promised_room;
	int32_t *promised_before; /* scratch by node, 0 between calls */
	uint32_t *run_job;        /* of each run of lib/placement */
	size_t run_job_room;
	uint32_t *gpu_owner; /* picture: job of each GPU */
	int64_t now, gpus;
	int64_t running_gpus, waiting_gpus; /* asked for and not running: promised and away too */
	int64_t free_movable, leaving_gpus; /* free and not told to go; told to go */
	int64_t left;                       /* jobs that are not over */
	int64_t ranks_made, servings;
	bool guarded; /* some nodes wait for a gang */
};

/* queue.c */
int queue_start(struct queue *q, size_t projects);
void queue_end(struct queue *q);
int queue_push(struct engine *e, uint32_t job);
void queue_take(
	struct engine *e, struct class *c, uint32_t before, uint32_t job); /* before: NOBODY is the head */

/* ranks.c: ratios as they are now */
int ranks_make(struct engine *e, struct fault *why);
void project_settle(struct engine *e, uint32_t project);

/* slurm_model.c */
int job_start(struct engine *e, uint32_t job, const struct placement_part *parts, size_t nparts, bool lane);
int job_stop(struct engine *e, uint32_t job);       /* its run ends: nothing is said of the job */
int job_displace(struct engine *e, uint32_t job);   /* now */
int job_tell_to_go(struct engine *e, uint32_t job); /* after the grace */
int job_promise(struct engine *e, uint32_t job, const struct placement_choice *c, bool lane);
int promises_keep(struct engine *e); /* start those that are clear */

/* contract.c: serve the queue in order. `room`: a pass, which makes room by displacing. */
int queue_serve(struct engine *e, bool room, struct fault *why);
struct placement_job job_shape(const struct engine *e, uint32_t job, bool lane);

#endif
