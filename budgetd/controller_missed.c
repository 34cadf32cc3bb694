/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_missed.c - runs that no pass saw: they came and went between two looks, or while the daemon was
 * away; and runs whose end nobody saw.
 *
 * slurmctld forgets a run when its job is requeued, and an ended job after MinJobAge; slurmdbd's row is then
 * the only trace. A run found there is opened as if it had been seen; it is in no table, so that the next
 * pass settles it from the same row. */
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/rates.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct known {
	int64_t job, start;	/* start INT64_MAX counts all runs of the job */
	int64_t before;		/* runs that began earlier */
	bool found;
};

static int count_run(const struct run *r, void *arg)
{
	struct known *k = arg;

	k->before += r->start < k->start;
	k->found = k->found || r->start == k->start;
	return 0;
}

/* In the writer: the snapshot does not know what this pass has opened. */
static int look_up(struct pass *p, void *arg, struct fault *why)
{
	struct known *k = arg;

	return run_walk_job(p->b->ledger, k->job, count_run, k, why);
}

/* Shards are no whole GPUs and cost something all the same. */
static bool had_a_price(const struct pass *p, const struct run_row *row)
{
	struct gpu_count given;
	amount_t price;

	return row->tres_alloc && tres_read(row->tres_alloc, &given, NULL) == 0 &&
		rates_price(p->b->rates, &given, row->start, &price) == 0 && price > 0;
}

/* The first part of a resized run stands for all; those that follow come when it is settled. */
static bool tells_of_a_run(const struct pass *p, const struct run_row *row)
{
	return row->start && row->end > row->start && row->effective_start == row->start &&
		had_a_price(p, row);
}

static bool is_of_a_project(struct pass *p, const char *account)
{
	struct project project;

	return account && project_find(p->books, account, &project, NULL) == 1;
}

static int meet_row(struct pass *p, const struct run_row *row, const char *admin_comment, struct fault *why)
{
	struct known k = { .job = row->job_id, .start = row->start };
	const struct job_view seen = {
		.job_id = row->job_id,
		.array_job_id = row->array_job_id,
		.array_task_id = row->array_task_id,
		.array_count = 1,
		.het_job_id = row->het_job_id,
		.het_offset = row->het_offset,
		.uid = row->uid,
		.account = row->account,
		.partition = row->partition,
		.qos = row->qos,
		.admin_comment = row->admin_comment ? row->admin_comment : admin_comment,
		.stage = STAGE_RUNNING,
		.base_state = "RUNNING",
		.submit = row->submit,
		.start = row->start,
		.time_limit_s = row->time_limit_s,
		.tres_alloc = row->tres_alloc,
	};

	if (!tells_of_a_run(p, row) || !is_of_a_project(p, row->account))
		return 0;
	if (pass_write(p, LEDGER_HOLDS, look_up, &k, why) < 0)
		return -1;
	return k.found ? 0 : pass_meet_run(p, &seen, why);
}

/* The rows of one run have one start, and stay as they were among each other. */
static int by_start(const void *a, const void *b)
{
	const struct run_row *const *x = a, *const *y = b;

	if ((*x)->start != (*y)->start)
		return (*x)->start < (*y)->start ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

/* The oldest start first: a run that was given more than its hold pays for is the first to get the rest. The
 * comment has the token of the answer, for what was not tied to it yet; NULL = not known. */
static int meet_rows(struct pass *p, const struct run_table *rows, const char *admin_comment,
	struct fault *why)
{
	const struct run_row **row = calloc(rows->count + 1, sizeof(*row));

	if (!row)
		return fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; i < rows->count; i++)
		row[i] = &rows->rows[i];
	qsort(row, rows->count, sizeof(*row), by_start);
	for (size_t i = 0; i < rows->count; i++) {
		struct fault one = {0};

		if (meet_row(p, row[i], admin_comment, &one) < 0)
			log_warning("job %u ran from %jd to %jd and cannot be put in the books: %s",
				row[i]->job_id, (intmax_t)row[i]->start, (intmax_t)row[i]->end, one.text);
	}
	free(row);
	return 0;
}

int pass_find_missed(struct pass *p, int64_t since, struct fault *why)
{
	struct run_table *rows;
	int rc;

	if (slurm_link_runs_between(p->b->slurm, since, p->now, &rows, why) < 0)
		return -1;
	rc = meet_rows(p, rows, NULL, why);
	run_table_free(rows);
	return rc;
}

/* slurmdbd's row of a run comes within seconds of its end; after an outage of slurmdbd it may be on its way
 * for minutes. */
#define ROWS_WAIT_S 600

/* Are the rows of all runs before this restart there? Each requeue gives the job another submit. */
static bool tells_all(const struct run_table *rows, const struct job_view *j)
{
	uint32_t ended = 0;
	int64_t last = -1;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].submit < j->submit && rows->rows[i].end && !rows->rows[i].resized &&
			rows->rows[i].start != last) {
			last = rows->rows[i].start;
			ended++;
		}
	return ended >= j->restarts;
}

/* A job in the queue is tied to its answer first, by this pass or the next, so that its runs are found to be
 * of that answer. */
static int is_followed(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct admission_row a;
	int rc = j->stage == STAGE_PENDING ? pass_admission(p, j, &a, why) : 0;

	return rc < 0 ? -1 : j->stage != STAGE_PENDING || (rc == 1 && a.job != 0);
}

int pass_find_restarted(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct known k = { .job = j->job_id, .start = j->stage == STAGE_PENDING ||
		!j->start ? INT64_MAX : j->start };
	struct run_table *rows;
	int rc;

	if (!j->restarts || asked_about(p->asked, j->job_id, j->submit) || pass_mode(p, j) == ENFORCE_OFF)
		return 0;
	rc = is_followed(p, j, why);
	if (rc <= 0 || run_walk_job(p->books, j->job_id, count_run, &k, why) < 0)
		return rc == 0 ? 0 : -1;
	if (k.before >= j->restarts)
		return 0;
	if (slurm_link_runs_of(p->b->slurm, j->job_id, 1, &rows, why) < 0)
		return -1;
	rc = meet_rows(p, rows, j->admin_comment, why);
	if (rc == 0 && (tells_all(rows, j) || p->now - j->submit > ROWS_WAIT_S))
		asked_put(p->asked, j->job_id, j->submit);
	run_table_free(rows);
	return rc;
}

/* --- runs without an end ------------------------------------------------------------------------ */

#define LOST_AFTER_S 60		/* slurmctld tells slurmdbd within seconds */

struct marking {
	struct run *run;
	int64_t at;
};

static int mark(struct pass *p, void *arg, struct fault *why)
{
	const struct marking *m = arg;

	m->run->lost_at = m->at;
	return run_set_lost(p->b->ledger, m->run->id, m->at, why);
}

int pass_note_lost(struct pass *p, struct run *r, struct fault *why)
{
	struct marking m = { r, p->now };
	size_t used = strlen(p->lost_jobs);

	if (!r->lost_at && pass_write(p, LEDGER_HOLDS, mark, &m, why) < 0)
		return -1;
	if (p->now - r->lost_at < LOST_AFTER_S)
		return 0;
	p->lost++;
	if (used + strlen(r->label) + 3 < sizeof(p->lost_jobs))
		snprintf(p->lost_jobs + used, sizeof(p->lost_jobs) - used, "%s%s", used ? ", " : "",
			r->label);
	return 0;
}

int pass_note_found(struct pass *p, struct run *r, struct fault *why)
{
	struct marking m = { r, 0 };

	return r->lost_at ? pass_write(p, LEDGER_HOLDS, mark, &m, why) : 0;
}
