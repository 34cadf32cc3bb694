/* SPDX-License-Identifier: GPL-2.0-or-later
 * placement_inside.h - the inside of placement.h, for its own files
 *
 * Threads  one */
#ifndef LIB_PLACEMENT_INSIDE_H
#define LIB_PLACEMENT_INSIDE_H
#include "lib/placement.h"

struct run {
	struct placement_run in; /* in.parts is this object's */
	int32_t gpus;
	bool there, leaving;
};

struct node {
	struct placement_node in;
	int32_t idle;     /* below 0: promised, and those who leave are still there */
	int32_t promised; /* not idle, and no run has them */
	int32_t coming;   /* of runs that leave */
	int32_t gain;     /* while a choice is made: of candidates; 0 between calls */
	int64_t guard_at; /* PLACEMENT_NEVER: no guard */
	bool kept;        /* placement_keep */
};

/* The node in the rules' fairshare that says how much was had: the project's, or its user's. */
static inline uint32_t placement_node_of(uint32_t project, uint32_t user)
{
	return user ? user - 1 : project;
}

struct placement {
	struct node *nodes;
	size_t nnodes;
	struct run *runs;
	size_t nruns, runs_room;
	struct candidate *candidates; /* scratch, runs_room of them */
	uint32_t *sorted;             /* scratch, nnodes of them */
	int32_t *need;                /* scratch by node: GPUs of the choice there, 0 between calls */
	/* scratch by node of the tree: does the job beat it? -1: not asked yet */
	signed char *beaten;
	size_t projects;              /* room of beaten[]: above those of all runs that there were */
};

struct candidate {
	uint32_t run;
	bool free;
	uint32_t rank;
	int32_t gpus;
	int64_t start, when;
};

/* One question. A node counts with what is idle, and, unless `now_only`, with what is on its way and the
 * candidates' gain. */
struct question {
	struct placement *p;
	const struct placement_job *job;
	int64_t now;
	bool now_only;
	int32_t more, less; /* GPUs of the first `more_nodes` nodes, and of the others */
	uint32_t more_nodes;
	size_t with_more, with_less; /* nodes that have as many */
};

/* Counts the nodes as they are. */
struct question question_ask(
	struct placement *p, const struct placement_job *job, int64_t now, bool now_only);

/* Whatever is idle there: is the node of a kind for the job, and does no guard forbid it? */
bool question_may_use(const struct question *q, const struct node *n);

/* GPUs of the node that count. */
int32_t question_has(const struct question *q, const struct node *n);

/* The node counts (sign 1), or no longer (-1): around a change of it. */
void question_count(struct question *q, const struct node *n, int sign);

bool question_fits(const struct question *q);

/* It fits: which nodes. p->need[] has their GPUs until question_forget. 0, or -1 and ENOMEM. */
int question_choose(struct question *q, struct placement_choice *c);
void question_forget(struct placement *p, const struct placement_choice *c);

#endif
