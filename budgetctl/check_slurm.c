/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_slurm.c - the sides of slurmdbd and slurmctld (check.h)
 *
 * A resized run has a row for each size, all of the same start; a row's effective start is max(start,
 * submit). GPUs stay allocated to a suspended job, so that a run is its time from start to end, whatever
 * Elapsed says; less its suspended time where the site does not charge that. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "budgetctl/check.h"
#include "budgetctl/say.h"
#include "doctor/trial.h"
#include "lib/tres.h"
#include "settings/enforce.h"

/* --- asking ----------------------------------------------------------------------------------------- */

static int link_open(struct check *c, struct slurm_facts *facts)
{
	struct fault why = { "" };

	if (trial_slurm(&why) < 0 || slurm_link_open(NULL, &c->link, &why) < 0 ||
		slurm_link_facts(c->link, facts, &why) < 0)
		return complain(UNREACHABLE, "Slurm cannot be asked: %s", why.text);
	if (!facts->slurmdbd)
		return complain(UNREACHABLE,
			"Slurm keeps no accounts here: set AccountingStorageType=accounting_storage/slurmdbd");
	if (!facts->gpu_tres)
		return complain(UNREACHABLE,
			"slurmdbd has no GPUs to compare with: set AccountingStorageTRES=gres/gpu");
	snprintf(c->cluster, sizeof(c->cluster), "%s", facts->cluster);
	return DONE;
}

static int tables_load(struct check *c, struct fault *why)
{
	int rc;

	if (c->job)
		rc = slurm_link_runs_of(c->link, (uint32_t)c->job, 1, &c->slurmdbd, why);
	else
		rc = slurm_link_runs_between(c->link, check_from(c), c->now, &c->slurmdbd, why);
	return rc < 0 ? -1 : slurm_link_jobs(c->link, 0, &c->slurmctld, why);
}

int check_slurm_ask(struct check *c)
{
	struct slurm_facts facts;
	struct fault why = { "" };
	int rv = link_open(c, &facts);
	int saved, rc;

	if (rv != DONE)
		return rv;
	saved = trial_quiet();
	rc = tables_load(c, &why);
	trial_quiet_end(saved);
	return rc < 0 ? complain(errno == EPERM ? FORBIDDEN : UNREACHABLE, "%s", why.text) : DONE;
}

/* --- sides ------------------------------------------------------------------------------------------ */

amount_t check_price(const struct check *c, const char *tres, int64_t start, int64_t *gpus)
{
	struct gpu_count given;
	amount_t price = 0;

	*gpus = 0;
	if (!tres || tres_read(tres, &given, NULL) < 0 ||
		rate_price(&c->rate_table, &given, start, &price) < 0)
		return 0;
	*gpus = given.total;
	return price;
}

/* Only where the verdict is carried out does the QOS tell the tier. */
static enum side_tier tier_of(const struct check *c, const char *qos, const char *partition)
{
	const struct settings *s = c->settings;

	if (!qos || settings_enforcement(s, partition) != ENFORCE_ON)
		return SIDE_TIER_OTHER;
	if (!strcmp(qos, s->qos_free))
		return SIDE_TIER_FREE;
	return !strcmp(qos, s->qos_funded) || !strcmp(qos, s->qos_funded_still) ? SIDE_TIER_FUNDED
		: SIDE_TIER_OTHER;
}

/* A run that only Slurm knows concerns the books if its account is a project, and was one when it began. */
static bool is_ours(const struct check *c, const char *account, const char *partition, int64_t start,
	amount_t price)
{
	int64_t since = account ? check_project_since(c, account) : -1;

	return price > 0 && since >= 0 && since <= start &&
		settings_enforcement(c->settings, partition) != ENFORCE_OFF;
}

static void label_of_row(const struct run_row *r, char buf[JOB_NAME_TEXT_MAX])
{
	const struct job_view v = { .job_id = r->job_id, .array_job_id = r->array_job_id,
		.array_task_id = r->array_task_id, .array_count = 1, .het_job_id = r->het_job_id,
		.het_offset = r->het_offset };

	job_view_text(&v, buf);
}

int64_t check_unpaid_pause(const struct check_run *r, const struct run_row *row)
{
	int64_t length = row->end > row->effective_start ? row->end - row->effective_start : 0;

	if (!r->pauses_free)
		return 0;
	return row->suspended_s < length ? row->suspended_s : length;
}

static void side_of_rows(const struct check *c, struct check_run *r)
{
	const struct run_row *last = &r->rows[r->nrows - 1];
	struct agreement_side *d = &r->a.slurmdbd;

	d->presence = last->end && !last->resized ? ENDED : GOES_ON;
	d->end = d->presence == ENDED ? last->end : 0;
	d->tier = tier_of(c, last->qos, last->partition);
	d->project = last->account;
	for (size_t i = 0; i < r->nrows; i++) {
		int64_t gpus, from = r->rows[i].effective_start;
		amount_t price = check_price(c, r->rows[i].tres_alloc, r->start, &gpus);

		agreement_add_piece(d, from, r->rows[i].end - check_unpaid_pause(r, &r->rows[i]), gpus,
			price);
	}
	r->fresh |= r->start > c->settled || d->end > c->settled;
}

static int row_add(struct check *c, size_t n, const struct run_row *rows, size_t nrows)
{
	struct check_run *r = check_find(c, n, rows->job_id, rows->start);
	int64_t gpus;
	amount_t price = check_price(c, rows->tres_alloc, rows->start, &gpus);

	if (!r && !is_ours(c, rows->account, rows->partition, rows->start, price))
		return DONE;
	if (!r) {
		r = check_add(c, rows->job_id, rows->start);
		if (!r)
			return out_of_memory();
		r->submit = rows->submit;
		label_of_row(rows, r->label);
		r->project = rows->account;
	}
	r->rows = rows;
	r->nrows = nrows;
	side_of_rows(c, r);
	return DONE;
}

/* The rows are sorted by job, submit and start: those of one run follow each other. */
static int rows_add(struct check *c)
{
	const struct run_table *t = c->slurmdbd;
	size_t n = c->count;
	int rv = DONE;

	for (size_t i = 0, k; i < t->count && rv == DONE; i = k) {
		const struct run_row *first = &t->rows[i];

		for (k = i + 1; k < t->count && t->rows[k].job_id == first->job_id &&
			t->rows[k].start == first->start; k++)
			;
		if (first->start)
			rv = row_add(c, n, first, k - i);
	}
	check_sort(c);
	return rv;
}

static bool runs(const struct job_view *j)
{
	return j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED;
}

static int view_add(struct check *c, size_t n, const struct job_view *j)
{
	struct check_run *r = check_find(c, n, j->job_id, j->start);
	struct agreement_side *side;
	int64_t gpus;
	amount_t price = check_price(c, j->tres_alloc ? j->tres_alloc : j->gres_detail, j->start, &gpus);

	if (!r && !(runs(j) && is_ours(c, j->account, j->partition, j->start, price)))
		return DONE;
	if (!r) {
		r = check_add(c, j->job_id, j->start);
		if (!r)
			return out_of_memory();
		r->submit = j->submit;
		job_view_text(j, r->label);
		r->project = j->account;
	}
	r->view = j;
	side = &r->a.slurmctld;
	*side = (struct agreement_side){ .presence = runs(j) ? GOES_ON : ENDED, .end = runs(j) ? 0 : j->end,
		.gpus = gpus, .tier = tier_of(c, j->qos, j->partition), .project = j->account };
	r->fresh |= j->start > c->settled || j->end > c->settled || j->resized > c->settled;
	return DONE;
}

/* Of a job that was requeued just now the row of its last run may still lack its end. */
static void note_requeued(struct check *c, struct check_run *r)
{
	const struct job_view *j = r->view ? NULL : job_table_find(c->slurmctld, (uint32_t)r->job);

	r->fresh |= j && (j->submit > c->settled || j->start > c->settled || j->stage == STAGE_COMPLETING);
}

static bool is_asked_for(const struct check *c, const struct job_view *j)
{
	return !c->job || j->job_id == c->job || j->array_job_id == c->job || j->het_job_id == c->job;
}

int check_slurm_sides(struct check *c)
{
	int rv = rows_add(c);
	size_t n = c->count;

	for (size_t i = 0; i < c->slurmctld->count && rv == DONE; i++) {
		const struct job_view *j = &c->slurmctld->jobs[i];

		if (j->start && j->stage != STAGE_PENDING && is_asked_for(c, j))
			rv = view_add(c, n, j);
	}
	check_sort(c);
	for (size_t i = 0; i < c->count; i++)
		note_requeued(c, &c->runs[i]);
	return rv;
}
