/* SPDX-License-Identifier: GPL-2.0-or-later
 * engine.h - a trace replayed on a cluster, event by event
 *
 * With the contract (doc/model.md, 5 and 6) it decides by the functions of lib/ that budgetd decides by:
 * fairshare, order, placement, lane. Around them stands a plain model of Slurm: jobs that fit start in the
 * order of their places whenever something ends or is submitted; free runs give way at once; a displaced job
 * waits kept_out_s and is requeued; without the contract, EASY backfill by time limits with a promise to the
 * first job that does not fit. A run that is displaced has kept whole multiples of its minimum runtime (free:
 * of 15 minutes); the rest of it is lost and is done again.
 *
 * Same trace, setup and seed: the same result, on every machine.
 *
 * Unit     seconds as in the trace, GPU-seconds
 * Threads  one engine belongs to one thread */
#ifndef SIMULATE_ENGINE_H
#define SIMULATE_ENGINE_H
#include "lib/lane.h"
#include "simulate/shares.h"
#include "simulate/trace.h"

enum sim_scheduler {
	SIM_CONTRACT,
	SIM_PRIORITY, /* what users say: a third of the projects always HIGH, a third now and then, a third
			 never */
	SIM_FIFO,     /* first come, first served */
	SIM_FAIRTREE, /* the order of shares, nobody displaced: Slurm's multifactor plugin by itself */
	SIM_SCHEDULERS
};

extern const char *const sim_scheduler_name[SIM_SCHEDULERS];

#define SIM_UNTIL_AUTO INT64_MIN

struct sim_setup {
	const struct trace *trace;
	const struct shares *shares;
	int nodes, gpus_per_node;
	enum sim_scheduler scheduler;
	uint64_t seed;
	int64_t pass_s, grace_s, kept_out_s, window_s, guard_after_s, h_ppm;
	int most; /* jobs that room is made for in one pass */
	struct lane_limits lane;
	/* Figures stop here. AUTO: at the last submission, when jobs wait then and it is a day or more behind
	 * the first one; else at the end of the last job. */
	int64_t until;
	bool picture; /* keep segments */
};

/* The defaults of budgetd, 30 s passes, 16 nodes of 8. */
struct sim_setup sim_defaults(void);

struct sim_job {
	int64_t first_start; /* -1: not yet */
	int64_t end;         /* -1: not yet, or cancelled */
	uint32_t runs;
	bool lane;      /* of a shape for the debug lane */
	bool too_large; /* for the cluster: never in the queue */
};

struct sim_project {
	int64_t delivered_gpu_s, free_gpu_s; /* funded and free, until the figures stop */
	int64_t lost_gpu_s;                  /* done in runs that were displaced, and to be done again */
	int64_t displaced, reclaimed;        /* runs: funded, free */
};

/* One GPU was one project's from .. to. */
struct sim_segment {
	uint32_t gpu; /* node * gpus_per_node + n */
	uint32_t project;
	bool free;
	int64_t from, to;
};

struct sim_result {
	struct sim_job *jobs; /* as in the trace */
	struct sim_project *projects;
	struct sim_segment *segments;
	size_t nsegments, segments_room;
	int64_t from, until;                          /* first submission; where the figures stop */
	int64_t used_gpu_s;                           /* both tiers */
	int64_t usable_gpu_s;                         /* at each moment min(GPUs, GPUs asked for) */
	int64_t cancelled, too_large, most_displaced; /* jobs; of one job */
	int64_t passes;
};

/* 0 and *out, to be freed by sim_result_free; or -1: EINVAL (no node, no GPU, no pass), ENOMEM, EOVERFLOW. */
int sim_run(const struct sim_setup *s, struct sim_result *out, struct fault *why);
void sim_result_free(struct sim_result *r);

#endif
