/* SPDX-License-Identifier: GPL-2.0-or-later
 * world.h - a cluster that exists only in this test: its jobs, its slurmdbd, its clock
 *
 * The history moves it; fake_slurm.c shows it to budgetd through the functions of slurm_link/link.h, and
 * world.c to the oracle as it was when the daemon looked. Jobs that ended leave the table after
 * MIN_JOB_AGE_S, and rows of slurmdbd may come late or twice.
 *
 * Unit     times are UTC epoch seconds
 * Threads  one at a time */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H
#include "tests/model/oracle.h"
#include "slurm_link/link.h"

#define MIN_JOB_AGE_S 300
#define WORLD_GPUS (64 * O_TYPES)
#define W_ROWS        512
#define W_FIRST_JOB   100 /* the id of job 0 */
#define W_UID         1000 /* of user 0 */

enum w_state { W_NONE, W_PENDING, W_RUNNING, W_SUSPENDED, W_ENDED };

/* A record of slurmctld: a job, or of an array the tasks that wait together, or one of them. */
struct w_job {
	enum w_state state;
	int first;      /* the record that it was submitted as: that of its array, else itself */
	int het;        /* of a het job: the number of its first component + 1; 0: it is none */
	int all;        /* of an array, the tasks that it was submitted with; 0: it is none */
	uint32_t tasks; /* bit i: it stands for task i */
	int node, user, gpus, type; /* as asked */
	int64_t minimum, limit, begin;
	bool insists, free_tier, dependency;
	enum job_held held;
	int64_t submit, start, end, resized;
	/* seconds suspended, those before the change of size; the last suspension or resumption */
	int64_t paused, paused_first, paused_at;
	bool pauses_blurred; /* between two looks a pause, a change of size and another pause: see compare.c */
	int given, first_given, given_type, restarts;
	char qos[24], comment[64], admin_comment[128];
	/* as Slurm tells them, instead of what was given; static texts */
	const char *alloc, *first_alloc, *detail;
};

/* A run as slurmdbd has it; of a resized one it shows two rows. */
struct w_row {
	int job, array, task, het, node, user, given, first_given, type; /* task O_NONE: of no array */
	int64_t submit, start, end, resized, limit, visible, paused, paused_first;
	char qos[24], admin_comment[128];
	const char *alloc, *first_alloc;
	bool twice;
	bool pauses_blurred;
	bool slow_clock; /* its end is before a look that saw it running */
};

struct slurm_link {
	int64_t now;
	bool slurmctld_away, slurmdbd_away, updates_fail;
	int njobs, nrows;
	struct w_job jobs[O_JOBS];
	struct w_row rows[W_ROWS];
};

/* "p3": the account of a project. */
const char *world_account(int node);
/* "gres:gpu:t1:2", what was asked; "cpu=1,gres/gpu=2,gres/gpu:t1=2", in TRES. Static, the next 16 calls keep
 * it. */
const char *world_request(int gpus, int type);
const char *world_tres(int gpus, int type);

/* The tasks of a record: 1 of what is no array. The lowest of them. */
int world_tasks(const struct w_job *j);
int world_first_task(const struct w_job *j);
/* One task of a record gets a record of its own; the last of a record stays as it is. Its number. */
int world_split(struct slurm_link *w, int job, int task);
/* Is it budgetd that holds it? */
bool world_held_by_us(const struct w_job *j);
/* "0,2,3"; likewise kept for 16 calls. */
const char *world_array(uint32_t tasks);

/* Is the job in slurmctld's table? */
bool world_in_table(const struct slurm_link *w, const struct w_job *j);
/* May Slurm start it? */
bool world_startable(const struct slurm_link *w, const struct w_job *j);

/* A run is over, for good or because its job goes back to the queue. `late` seconds until slurmdbd tells. */
void world_end(struct slurm_link *w, int job, int64_t at, bool requeue, int64_t late, bool twice);

/* It is suspended, or goes on. */
void world_suspend(struct w_job *j, int64_t at);
/* As slurmctld counts it at this moment. */
int64_t world_paused(const struct slurm_link *w, const struct w_job *j);

/* What the daemon can see now, for the oracle. Their number. */
int world_table(const struct slurm_link *w, struct o_seen out[O_JOBS]);
int world_rows(const struct slurm_link *w, struct o_seen out[W_ROWS]);

#endif
