/* SPDX-License-Identifier: GPL-2.0-or-later
 * cluster_state.h - what the last pass saw, for those who answer in between
 *
 * The loop publishes tables and gives them away; the server reads them under a lock that is never held over
 * I/O.
 *
 * Threads  any */
#ifndef BUDGETD_CLUSTER_STATE_H
#define BUDGETD_CLUSTER_STATE_H
#include "lib/order.h"
#include "slurm_link/job_view.h"
#include "slurm_link/link.h"

struct cluster_state;

struct cluster_state *cluster_state_new(void);	/* NULL and ENOMEM */
void cluster_state_free(struct cluster_state *s);	/* NULL is fine */

/* NULL keeps what is there. Tables become the state's. */
void cluster_state_publish(struct cluster_state *s, const struct slurm_facts *facts,
	struct cluster_view *view, struct job_table *jobs);

/* The highest job id that any pass has seen; 0 = none yet. */
uint32_t cluster_state_newest_job(struct cluster_state *s);

/* Where the time of a pass went: reading Slurm's tables, deciding and writing the books, telling Slurm. What
 * is missing is the file's. */
struct pass_times {
	int64_t all_ms, looked_ms, decided_ms, published_ms;
};
/* error NULL = fine */
void cluster_state_pass_done(struct cluster_state *s, int64_t at, const struct pass_times *took,
	const char *error);

/* What a job asks of the partitions in `names` ("a,b", NULL = the default one): the longest time limit and
 * the largest node. */
struct partition_answer {
	char name[64];			/* of the first one that is known */
	bool known;			/* false: no pass yet, or no such partition */
	/* the default where it has one, else the maximum; may be DURATION_UNLIMITED */
	int64_t time_limit_s;
	int64_t gpus_per_node;
	bool exclusive;
	struct gpu_count gpus;		/* of all of them: the types that the job may get */
};
struct partition_answer cluster_state_partitions(struct cluster_state *s, const char *names);

/* Who may use which account, as slurmdbd last told; the table becomes the state's. */
void cluster_state_publish_accounts(struct cluster_state *s, struct account_table *accounts);
/* May the user submit to the account? False as well when nothing is known yet. */
bool cluster_state_may_use(struct cluster_state *s, const char *user, const char *account);
/* The same by user id, for the thread that answers slurmctld: nobody is asked for a name. `known` is false
 * before slurmdbd was asked. The ids are resolved by cluster_state_publish_accounts, which may ask the site's
 * directory. */
bool cluster_state_may_submit(struct cluster_state *s, uid_t uid, const char *account, bool *known);
/* The account of a submission that names none; "" when there is none, or nothing is known yet. */
void cluster_state_default_account(struct cluster_state *s, const char *user, char *buf, size_t size);

/* The place of the last pending funded job, and the distance of neighbours: those who are submitted until the
 * next pass go behind it, one after the other. A false answer: no pass yet. */
void cluster_state_set_last_place(struct cluster_state *s, int32_t last, int32_t gap);
bool cluster_state_next_place(struct cluster_state *s, int32_t *out);

/* Runs that go on in the books and whose end nobody knows. */
void cluster_state_set_lost(struct cluster_state *s, size_t runs);
/* Jobs whose nodes by name the last pass did not look at as it made room. */
void cluster_state_set_names_left_out(struct cluster_state *s, size_t jobs);
/* Runs that slurmdbd has otherwise, among those that ended in the hours before the last comparison. */
void cluster_state_set_differences(struct cluster_state *s, size_t runs);

/* Jobs whose GPUs are idle, by job id, as the samples up to `until` tell: the array becomes the state's.
 * `unseen`: GPUs of running jobs that no sample tells of, among `used`. */
struct idle_job {
	uint32_t job_id;
	int64_t since;
};
struct idle_jobs {
	struct idle_job *jobs;
	size_t count;
	int64_t until;			/* 0 = nobody looks */
	int64_t used, unseen;		/* GPUs */
};
void cluster_state_publish_idle(struct cluster_state *s, const struct idle_jobs *idle);
int64_t cluster_state_idle_until(struct cluster_state *s);
/* Since when the job's GPUs are idle, and up to when that is known; 0 = they are not. */
int64_t cluster_state_idle_since(struct cluster_state *s, uint32_t job_id, int64_t *until);

/* A node as the last pass saw it. `asked` false: no pass yet. */
struct node_answer {
	bool asked, known, draining;
	char reason[256];		/* "" = none */
};
struct node_answer cluster_state_node(struct cluster_state *s, const char *name);
/* names with commas between, malloced; NULL and ENOMEM */
char *cluster_state_draining(struct cluster_state *s);

struct cluster_health {
	char cluster[SLURM_CLUSTER_MAX];	/* "" = slurmctld was not seen yet */
	char version[32];
	int64_t last_pass_at;
	struct pass_times last_pass;
	size_t jobs, lost_runs, names_left_out, differences, idle_jobs;
	int64_t gpus, healthy_gpus, used_gpus, unseen_gpus;
	struct gpu_count healthy;	/* the same by type */
	char error[FAULT_TEXT_MAX];		/* "" = fine */
};
void cluster_state_health(struct cluster_state *s, struct cluster_health *out);

/* Where each job of the queue stood in the order of the last pass, and by which key. */
struct job_turn {
	uint32_t job, record;		/* (array) job id; of its record: a task may have one of its own */
	enum order_front front;
	size_t position, of;		/* 1 = the first of its tier */
	bool cleared;			/* nodes are cleared for it */
	bool kept_off;			/* it may not start on nodes that are cleared for another one */
	int64_t project, uid;
	int64_t gpus, tasks;		/* of each task; that are eligible */
	int64_t asked_at;		/* what counts as its submit time */
	int team_rank;			/* 0 = none */
	int node;			/* whose path it goes by, in nodes[]; -1 = there is none */
	/* why the one right in front of it in its tier is there; of the first nothing */
	enum order_because because;
	/* of ORDER_BECAUSE_RATIO: its own node and that of the other where their paths part; -1 = one path goes
	 * on below the other */
	int own_at, ahead_at;
};
/* A project, or a user in one, with the ratios that the order was made by. */
struct turn_node {
	int parent;			/* -1 = none */
	int64_t project, uid;		/* uid -1: the project itself */
	int64_t funded_ppm, free_ppm;	/* -1: a share of 0 */
};
struct turn_table {
	struct job_turn *turns;		/* in the order, funded ones first */
	struct turn_node *nodes;
	size_t nturns, nnodes;
	int64_t at;			/* of the pass; 0 = there was none yet */
};
/* The arrays become the state's. */
void cluster_state_publish_turns(struct cluster_state *s, const struct turn_table *t);
/* A copy, to be given to turn_table_free. 0, or -1 and ENOMEM. */
int cluster_state_turns(struct cluster_state *s, struct turn_table *out);
void turn_table_free(struct turn_table *t);
/* Of the record; where it has no turn, the first of the job's. False: the job does not wait. */
bool cluster_state_turn(struct cluster_state *s, uint32_t job, uint32_t record, struct job_turn *out);

/* The nodes that are cleared for a gang: until when, as far as is planned. */
struct gang_guard {
	uint32_t job;			/* (array) job id; 0 = there is none */
	int64_t at;
	bool together;			/* of a het job: free jobs are kept off as well */
	char nodes[256];		/* names with commas between; cut when they are many */
};
void cluster_state_set_guard(struct cluster_state *s, const struct gang_guard *g);
struct gang_guard cluster_state_guard(struct cluster_state *s);

/* Look at jobs under the lock. `each` must be quick and must not call back. */
typedef void (*job_fn)(const struct job_view *j, void *arg);
void cluster_state_each_job(struct cluster_state *s, job_fn each, void *arg);
/* the record, and all of its array */
void cluster_state_job(struct cluster_state *s, uint32_t job_id, job_fn each, void *arg);

#endif
