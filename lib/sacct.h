/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct.h - one row of Slurm's accounting as a run, or the reason why it is none
 *
 * Rule     a row is one run, from max(Start, Submit) to End: a resized job has several rows of the same
 *          Start, each with its own Submit and with an Elapsed that is counted from Start, and they are
 *          pieces of one run. Suspended time counts: GPUs stay allocated. Steps repeat what their job has
 *          and never count. What was allocated counts (AllocTRES; AllocGRES where that names no GPU), never
 *          what was asked for.
 * Threads  pure functions: any thread */
#ifndef LIB_SACCT_H
#define LIB_SACCT_H
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"
#include "lib/gpu_count.h"
#include "lib/zone.h"

/* The columns that are looked at; their names stand in one table in sacct.c. */
enum sacct_field {
	SACCT_JOB_RAW,
	SACCT_JOB,
	SACCT_CLUSTER,
	SACCT_ACCOUNT,
	SACCT_USER,
	SACCT_UID,
	SACCT_SUBMIT,
	SACCT_START,
	SACCT_END,
	SACCT_ELAPSED_RAW,
	SACCT_ELAPSED,
	SACCT_SUSPENDED,
	SACCT_STATE,
	SACCT_ALLOC_TRES,
	SACCT_ALLOC_GRES,
	SACCT_QOS,
	SACCT_PARTITION,	/* counts for nothing: where it stands decides on no row */
	SACCT_FIELDS
};

struct sacct_row {
	int64_t line;			/* of the file, where the row begins; the first one is 1 */
	const char *field[SACCT_FIELDS]; /* NULL = the file has no such column */
};

enum sacct_kind {
	SACCT_ASIDE,		/* cannot be counted; why */
	SACCT_RUN,
	SACCT_STEP,		/* belongs to a job that has its own row */
	SACCT_NOT_STARTED	/* waits, or was cancelled in the queue: there was no run */
};

/* Points into its row. */
struct sacct_run {
	const char *cluster, *job, *account, *user;	/* cluster "" = not told */
	int64_t submit, start;	/* with cluster and job the key of a row; start alone: of a run */
	int64_t from, end;	/* what this row has of the run; from <= end */
	int64_t suspended;	/* seconds of it, as sacct says; 0 = not told */
	struct gpu_count gpus;
	const char *tres;	/* what they were read from */
	const char *label;	/* as people write the job: 12_3 */
	const char *uid;	/* as text; "" = the file has no such column */
	const char *partition, *qos, *state;	/* "" = not told */
};

/* Is `end` further behind `now` than the clocks of two machines differ (a minute)? Then the run cannot have
 * ended: the row is to be set aside, with SACCT_IN_FUTURE as the reason. 1 or 0. */
int sacct_ends_in_future(int64_t end, int64_t now);
#define SACCT_IN_FUTURE "it ends in the future"

/* Does `name`, `length` bytes, in any case, name this column? */
int sacct_field_is(enum sacct_field f, const char *name, size_t length);

/* Are the columns there that a run needs? 0; or -1, errno EINVAL, `why` names those that are missing. */
int sacct_columns_check(const int there[SACCT_FIELDS], struct fault *why);

/* "123", "123_4", "123_[1-9]", "123+1", "123.batch": the number of a job, with what Slurm adds. */
int sacct_job_is_valid(const char *text, size_t length);

/* The row as a run. *out is set for SACCT_RUN only, `why` for SACCT_ASIDE only. */
enum sacct_kind sacct_run_read(
	const struct sacct_row *row, const struct zone *z, struct sacct_run *out, struct fault *why);

#endif
