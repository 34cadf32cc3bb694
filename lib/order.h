/* SPDX-License-Identifier: GPL-2.0-or-later
 * order.h - the one order of all pending jobs
 *
 * Rule (doc/model.md, 5 and 6): the debug lane; projects inside a slot of theirs; then the path of ratios of
 * the project; then the team rank, inside one project only; then the original submit time; then the job id.
 * The free tier comes last, in the same way, by the path of its own ratios.
 *
 * Projects that tie are merged, and there team rank and submit time contradict each other: with ranks 1 and 2
 * in project x, x1 (rank 1, submitted last) < x2 (rank 2, first) < y (in between) < x1. So a tie is dealt in
 * two steps: submit time and job id say which *project* is next, its team says which of its jobs takes that
 * turn. A team that ranks its jobs moves nobody else's, and without ranks it is first come, first served.
 *
 * Threads  pure functions: any thread */
#ifndef LIB_ORDER_H
#define LIB_ORDER_H
#include <stddef.h>
#include <stdint.h>

/* What goes before the path of ratios. */
enum order_front { ORDER_LANE = -2, ORDER_SLOT = -1, ORDER_BY_SHARE = 0, ORDER_FREE = 1 };

struct order_job {
	/* given */
	enum order_front front;	/* 0, by share, unless there is a reason */
	/* any number that names the project; one that is divided among its users: the user in it */
	uint32_t project;
	uint32_t project_rank;	/* fairshare_rank of it: the same for all jobs of one project */
	int team_rank;		/* smaller goes first; 0 = not given, and goes behind those that have one */
	int64_t submit;		/* original: a requeue does not change it */
	uint32_t job_id;	/* unique */
	void *data;		/* the caller's */
	/* set by order_sort: the turn that the job takes among the projects that tie with its own. Where
	 * nobody has a team rank it is the job's own submit time and id */
	int64_t turn_submit;
	uint32_t turn_job_id;
};

/* Sort: the first goes first. The result does not depend on the order given. O(n log n).
 * 0; or -1 and ENOMEM with `jobs` untouched. */
int order_sort(struct order_job *jobs, size_t count);

/* Of two jobs that have their turns: below 0 when `a` goes before `b`, 0 only for a job and itself. */
int order_compare(const struct order_job *a, const struct order_job *b);

/* What tells two jobs apart that have their turns: why the one in front is there. */
enum order_because {
	ORDER_BECAUSE_FRONT,	/* what goes before the ratios, and the tier */
	ORDER_BECAUSE_RATIO,	/* the paths of their projects */
	ORDER_BECAUSE_TEAM,	/* one project, whose own order it is */
	ORDER_BECAUSE_TIME,	/* the submit times, or those of the turns that tied projects took */
};
enum order_because order_because(const struct order_job *front, const struct order_job *behind);

#endif
