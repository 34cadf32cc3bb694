/* SPDX-License-Identifier: GPL-2.0-or-later
 * job_view.h - jobs, runs, partitions and nodes as the daemon sees them, without slurm.h
 *
 * Filled by jobs.c, cluster.c and dbd.c; everyone else reads these plain structs and knows no
 * version of Slurm.
 *
 * Unit       times are UTC epoch seconds, 0 = not known or not yet; lengths are seconds; GPUs are in TRES
 *            strings (lib/tres.h)
 * Ownership  every string belongs to the table it came in and dies with it; NULL = not given; text that Slurm
 *            gives as "" is NULL too
 * Threads    a table is constant once loaded: any number of readers */
#ifndef SLURM_LINK_JOB_VIEW_H
#define SLURM_LINK_JOB_VIEW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "lib/gpu_count.h"
#include "lib/gpu_request.h"

#define JOB_NOT_A_TASK UINT32_MAX	/* array_task_id of a job that is no task of an array, or of the
					 * pending record of many */
#define JOB_TIME_LIMIT_UNSET (-1)	/* the partition's default will apply; DURATION_UNLIMITED is
					 * lib/duration.h's */

/* What the job does with its GPUs. COMPLETING may still hold them (its epilog runs), but is charged up to
 * `end` only; it comes after the end and also between two runs of a requeued job: then base_state is
 * "PENDING", slurmctld has already forgotten the times of the run (start and end are 0), and slurmdbd has to
 * be asked. */
enum job_stage { STAGE_PENDING, STAGE_RUNNING, STAGE_SUSPENDED, STAGE_COMPLETING, STAGE_ENDED };

/* Who holds a pending job whose priority is 0. OTHER: Slurm itself (launch failed, too many requeues, bad
 * constraints). */
enum job_held { HELD_NOT, HELD_BY_USER, HELD_BY_ADMIN, HELD_BY_OTHER };

/* GPUs on one node. */
struct job_gpus {
	uint32_t node;			/* node_view.index */
	int32_t gpus;
};

struct job_view {
	uint32_t job_id;		/* unique in the table; the pending record of an array has the id of
					 * the array */
	uint32_t array_job_id;		/* 0 = not of an array */
	uint32_t array_task_id;		/* or JOB_NOT_A_TASK */
	const char *array_tasks;	/* of the pending record of an array: "0-3,7%2", never cut; else NULL.
					 * A task that starts or is held gets
					 * a record of its own; one that is cancelled while pending just
					 * leaves the expression */
	int64_t array_count;		/* tasks this record stands for: 1, or the count of array_tasks; 0 =
					 * that cannot be read */
	uint32_t het_job_id;		/* job id of the leader, 0 = not het */
	uint32_t het_offset;		/* 0 for the leader and for what is not het */

	uid_t uid;
	const char *name, *account, *partition, *qos;	/* partition may be "a,b" while pending */
	const char *admin_comment, *comment, *dependency;

	enum job_stage stage;
	const char *base_state;		/* static: "PENDING", "RUNNING", "COMPLETED", "CANCELLED", "FAILED",
					 * "TIMEOUT", "NODE_FAIL", "PREEMPTED"... */
	const char *reason;		/* why it waits or failed, as squeue prints it ("Resources"); NULL
					 * when Slurm has none */
	enum job_held held;
	uint32_t priority;
	int32_t site_factor;		/* signed, as published */

	int64_t submit;			/* of this run: Slurm moves it to the time of a requeue, so keep the
					 * first one you saw */
	int64_t eligible;		/* may lie ahead (--begin); 0 while held or depending on another job,
					 * and of an array's pending record */
	int64_t start;			/* of the run; 0 while pending */
	int64_t end;			/* of the run; 0 while it runs or waits */
	int64_t planned_start;		/* pending: when Slurm expects to start it, 0 = no idea */
	int64_t resized;		/* when it last changed its size, 0 = never */
	int64_t suspended_s;		/* of the run so far, up to the table's taken_at */
	int64_t suspend_time;		/* when it was last suspended or resumed, 0 = never */
	int64_t time_limit_s;		/* JOB_TIME_LIMIT_UNSET, DURATION_UNLIMITED or seconds */

	bool batch;			/* has a script; srun and salloc cannot be requeued */
	bool requeueable;		/* batch and not --no-requeue; JobRequeue=0 alone only sets the
					 * default */
	bool cron;			/* a scrontab record: it refuses every update */
	uint32_t restarts;

	const char *tres_req;		/* "cpu=4,mem=8G,node=1,gres/gpu=2"; gres/gpu only with
					 * AccountingStorageTRES */
	const char *tres_alloc;		/* likewise, of the run; NULL while pending */
	const char *gres_detail;	/* of the run, of all its nodes:
					 * "gpu:h100:2(IDX:0-1),gpu:h100:2(IDX:0-1)"; NULL while pending */
	const char *nodes;		/* of the run, "n[1-4]"; NULL while pending */
	/* of the run, a node each; also while it is completing. None when Slurm's GRES details do not say
	 * where its GPUs are */
	const struct job_gpus *parts;
	uint32_t part_count;
	/* of the run, its GPUs that have indices, as lib/gpu_places.h has them: "n1=0-1;n2=0,3"; NULL when
	 * there is none, or they are too many */
	const char *gpu_places;
	const char *excluded,
		/* pending: nodes that it may not get, and that it must get, as they were given: "n[1-4]" */
		*required;
	const char *features;		/* pending: --constraint, as it was given */
	const char *reservation;	/* pending: --reservation */
	/* pending: at least so much of a node, 0 = not said. What is asked for by GPU is not in it */
	int64_t memory_mb;
	uint32_t node_count;		/* allocated, or the least asked for while pending */
	struct gpu_request_input request;	/* what was asked, as gpu_request_read wants it */
};

/* All jobs that slurmctld knows: pending, running, and those that ended less than MinJobAge ago. Sorted by
 * job id. */
struct job_table {
	struct job_view *jobs;
	size_t count;
	int64_t taken_at;		/* slurmctld's clock: the `since` of the next load */
	char *strings;			/* the one block that all strings are in */
	struct job_gpus *parts;		/* and that of all parts */
};

/* The job, or NULL. Binary search. */
const struct job_view *job_table_find(const struct job_table *t, uint32_t job_id);
void job_table_free(struct job_table *t);	/* NULL is fine; errno is kept */

/* How people and `scontrol` name it: "12", "12_3" (a task), "12_[0-3%2]" (a pending record), "12+1" (het).
 * Returns buf; cut when it does not fit. */
#define JOB_NAME_TEXT_MAX 64
const char *job_view_text(const struct job_view *j, char buf[JOB_NAME_TEXT_MAX]);

/* One row of slurmdbd: a run, a part of a resized run, or a job that never started. */
struct run_row {
	uint32_t job_id, array_job_id, array_task_id, het_job_id, het_offset;	/* as in job_view */
	uid_t uid;
	const char *account, *partition, *qos, *admin_comment;
	const char *state;		/* static: base state, with RESIZING and REQUEUED, which only slurmdbd
					 * knows */
	bool resized;			/* the row ended because the job changed its size: more rows of the
					 * same run follow */
	int64_t submit, eligible, start, end;	/* start 0 = never started, end 0 = not ended or not known
						 * yet */
	int64_t effective_start;	/* max(start, submit): of a resized job's later rows, 0 when start
					 * is */
	int64_t elapsed_s;		/* as Slurm counts it: from the first start, also in a resized job's
					 * later rows */
	int64_t suspended_s;
	int64_t time_limit_s;		/* as in job_view */
	const char *tres_alloc;		/* names, not ids: "cpu=8,node=1,gres/gpu=1,gres/gpu:h100=1"; NULL
					 * when nothing was given */
	const char *nodes;
};

/* Sorted by job id, then submit, then start. */
struct run_table {
	struct run_row *rows;
	size_t count;
	char *strings;
};
void run_table_free(struct run_table *t);	/* NULL is fine; errno is kept */

/* A user in an account, as slurmdbd has it for this cluster. */
struct account_row {
	const char *user, *account;
	bool is_default;		/* the account of a submission that names none */
};

/* Sorted by user, then account; one row for each pair, whatever partitions it is limited to. */
struct account_table {
	struct account_row *rows;
	size_t count;
	char *strings;
};
/* The user's row for the account, or for the default account when `account` is NULL; NULL when there is none.
 * Accounts are compared as Slurm does, whatever their case. */
const struct account_row *account_table_find(const struct account_table *t, const char *user,
	const char *account);
void account_table_free(struct account_table *t);	/* NULL is fine; errno is kept */

struct partition_view {
	const char *name;
	bool is_default, up;
	bool exclusive;			/* OverSubscribe=EXCLUSIVE: every job gets whole nodes */
	int64_t default_time_s;		/* JOB_TIME_LIMIT_UNSET (max_time_s applies), DURATION_UNLIMITED or
					 * seconds */
	int64_t max_time_s;		/* DURATION_UNLIMITED or seconds */
	int64_t gpus_per_node;		/* of its largest node */
	const char *gpu_type;		/* the type that node has most of; NULL = untyped or no GPU */
	struct gpu_count gpus;		/* of all its nodes, healthy or not: the types a job may get */
};

struct node_view {
	const char *name;
	uint32_t index;			/* in Slurm's node table, which jobs count in */
	/* PARTITION_WORDS: bit i % 64 of word i / 64: it is in partitions[i] of its table */
	const uint64_t *partitions;
	bool healthy;			/* can be given work: not DOWN, DRAIN, FAIL, MAINT, powered down, not
					 * responding... */
	/* DRAIN is set, by whomever: its jobs end, it gets none. Not so in a maintenance reservation alone */
	bool draining;
	const char *reason;		/* that was given for it; NULL = none */
	int64_t gpus;
	int32_t cpus_idle;		/* that no job has; a GPU without one cannot be given to anybody */
	const char *gres;		/* "gpu:h100:8(S:0-1)", as Slurm has it */
	const char *features;		/* that it has now, with commas between */
	int64_t memory_mb;		/* all of it */
	/* a reservation has it now: whoever does not name one gets nothing of it */
	bool reserved;
};

#define PARTITION_WORDS(partitions) (((partitions) + 63) / 64)

struct cluster_view {
	struct partition_view *partitions;
	size_t partition_count;
	struct node_view *nodes;
	size_t node_count;
	struct gpu_count gpus;		/* of all nodes */
	struct gpu_count healthy;	/* of those that can be given work */
	char *strings;
	uint64_t *partition_bits;	/* of all nodes */
};

/* By name, NULL when there is none; name NULL = the default partition. */
const struct partition_view *cluster_view_partition(const struct cluster_view *c, const char *name);
void cluster_view_free(struct cluster_view *c);	/* NULL is fine; errno is kept */

#endif
