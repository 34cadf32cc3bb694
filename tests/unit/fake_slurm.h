/* SPDX-License-Identifier: GPL-2.0-or-later
 * fake_slurm.h - slurm_link/link.h over a table in memory, so that whole passes of the loop run without a
 * cluster
 *
 * What budgetd updates shows in the table, as slurmctld's would. Nothing starts or ends by itself: the test
 * says so.
 *
 * Threads  one: the tables are the program's */
#ifndef UNIT_FAKE_SLURM_H
#define UNIT_FAKE_SLURM_H
#include "slurm_link/link.h"

#define FAKE_JOBS_MAX 80

struct fake_job {
	struct job_view view;		/* admin_comment and qos point to what is below once they are set */
	char admin_comment[256], qos[64], tres[256], excluded[256];
	int signals, signal;		/* that it got; the last one */
	bool script_only;
	struct job_gpus part;		/* where it runs */
	char told[512];			/* the last line on its output; */
	int lines;			/* how many */
	bool released;			/* by an update; */
	char released_with[256];	/* its excluded nodes then */
	char held_with[256];		/* and when we held it last */
	int requeued, cancelled;	/* how often it was asked for: the test does it */
};

/* A node of 8 GPUs; there is none before. Jobs run on it by their view.nodes. */
struct fake_node {
	char name[16], reason[256];
	bool draining, deleted;
	int drained, undrained;		/* how often we did */
};
struct fake_node *fake_slurm_node(const char *name);

const char *fake_slurm_logged(void);	/* the last line of the log that is no warning; "" = none */
void fake_slurm_reset(void);		/* no jobs, no GPUs */
/* the next job tables are as slurmctld had them then; 0 = never mind */
void fake_slurm_taken_at(int64_t at);
void fake_slurm_is_busy(bool busy);	/* excluded nodes are not set, EAGAIN */
void fake_slurm_healthy(int64_t gpus);	/* that many can be given work */
void fake_slurm_nodes(int nodes, int gpus);	/* n0, n1... of so many GPUs each, in partition "gpu" */

void fake_slurm_partitions(size_t count);	/* of which "gpu" is the last */
/* what n0... have of features, memory_mb, reserved; nothing before */
struct node_view *fake_slurm_like(int node);

/* A job that waits, of uid 1000: `gpus` by Slurm's own count. It has the QOS and the token of its answer.
 * Sorted by id by the caller. */
struct fake_job *fake_slurm_pending(uint32_t id, const char *account, int gpus, const char *qos,
	const char *token);
void fake_slurm_gpus(struct fake_job *f, int gpus);
/* Component `offset` of the het job `leader`. */
void fake_slurm_het(struct fake_job *f, uint32_t leader, uint32_t offset);
/* It runs since `start`. */
void fake_slurm_start(struct fake_job *f, int64_t start);
void fake_slurm_on(struct fake_job *f, uint32_t node, int gpus);	/* on that node */

#endif
