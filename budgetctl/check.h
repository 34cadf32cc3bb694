/* SPDX-License-Identifier: GPL-2.0-or-later
 * check.h - the three sides of every run of a window, side by side; what the files of the command `check`
 * share
 *
 * The books come over the API, slurmdbd and slurmctld over slurm_link, all within moments of each other. What
 * is younger than the settling time (`settled`) is not judged: news of it may still be under way.
 *
 * Ownership  everything lives as long as its struct check
 * Threads    one */
#ifndef BUDGETCTL_CHECK_H
#define BUDGETCTL_CHECK_H
#include <json-c/json.h>
#include "budgetctl/session.h"
#include "lib/agreement.h"
#include "lib/rate.h"
#include "settings/settings.h"
#include "slurm_link/link.h"

struct check_run {
	int64_t job, submit, start;	/* told apart by job and start */
	int64_t run;			/* id in the books, 0 = not there */
	char label[JOB_NAME_TEXT_MAX];	/* 12, 12_3, 12+1 */
	const char *project;		/* by the books, else the account; NULL = not told */
	struct agreement_run a;
	bool fresh;
	bool judged;			/* one of ours, in the window, not fresh */
	/* it costs nothing while it is suspended: by the books, else by the settings */
	bool pauses_free;
	bool repaired;			/* by a correction of this command, or would be (--dry-run) */
	amount_t refunded;		/* by that */
	struct json_object *row;	/* of the books, NULL = not there */
	const struct run_row *rows;	/* of slurmdbd: its pieces */
	size_t nrows;
	const struct job_view *view;	/* of slurmctld: the job with this start, NULL = it is not there */
};

struct check {
	struct session *s;
	struct settings *settings;
	struct slurm_link *link;
	char cluster[SLURM_CLUSTER_MAX];
	int64_t now, settled, since, job;	/* job 0 = all */
	struct rate *rates;
	struct rate_table rate_table;
	struct json_object *books, *holds, *projects;	/* rows of the API */
	struct run_table *slurmdbd;
	struct job_table *slurmctld;
	int64_t *pools;			/* jobs with a hold of the queue, sorted */
	size_t pool_count;
	struct check_run *runs;		/* by job and start */
	size_t count, room;
};

/* check_slurm.c: open the link, ask slurmdbd and slurmctld, add their sides. DONE; or a complaint was
 * made. */
int check_slurm_ask(struct check *c);
int check_slurm_sides(struct check *c);

/* check_books.c: ask budgetd, add the sides of the books; and after all sides are there, what follows from
 * more than one run. */
int check_books_ask(struct check *c);
int check_books_sides(struct check *c);
void check_judge(struct check *c);

/* check_repair.c: correct what can be, one run after the other. A refusal is said, and the others go on. */
int check_repair(struct check *c);

/* What is asked for begins earlier than the window: a run whose ends differ by less is found on both sides of
 * its edge. */
#define CHECK_MARGIN_S 86400
static inline int64_t check_from(const struct check *c)
{
	return c->since > CHECK_MARGIN_S ? c->since - CHECK_MARGIN_S : 1;
}

/* Of the project's row: since when it is one; -1 = there is no such project. */
int64_t check_project_since(const struct check *c, const char *name);
/* The member `key` of a row of the API; 0 and NULL for none. */
int64_t row_number(struct json_object *row, const char *key);
const char *row_text(struct json_object *row, const char *key);

/* The run with this job and start among the first `n`, or NULL: they are sorted. */
struct check_run *check_find(struct check *c, size_t n, int64_t job, int64_t start);
 /* at the end; NULL and ENOMEM */
struct check_run *check_add(struct check *c, int64_t job, int64_t start);
void check_sort(struct check *c);

/* What was given costs a second, and how many GPUs it is; without any 0. */
amount_t check_price(const struct check *c, const char *tres, int64_t start, int64_t *gpus);
/* Suspended seconds of a row of the run that cost nothing. */
int64_t check_unpaid_pause(const struct check_run *r, const struct run_row *row);

#endif
