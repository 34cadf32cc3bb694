/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_books.c - the side of the books, and what follows when all sides are there (check.h)
 *
 * Where a run was corrected, its last correction is how the books have it: rows of runs that ended are never
 * changed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/check.h"
#include "budgetctl/request.h"

/* --- asking ----------------------------------------------------------------------------------------- */

int64_t row_number(struct json_object *row, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(row, key, &v) ? json_object_get_int64(v) : 0;
}

const char *row_text(struct json_object *row, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(row, key, &v) && v ? json_object_get_string(v) : NULL;
}

static int rates_keep(struct check *c, struct json_object *rows)
{
	size_t n = json_object_array_length(rows);

	c->rates = calloc(n + 1, sizeof(*c->rates));
	if (!c->rates)
		return out_of_memory();
	for (size_t i = 0; i < n; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *type = row_text(row, "gpu_type");

		snprintf(c->rates[i].type, sizeof(c->rates[i].type), "%s", type ? type : "");
		c->rates[i].valid_from = row_number(row, "valid_from");
		c->rates[i].thousandths = row_number(row, "thousandths");
	}
	c->rate_table = (struct rate_table){ c->rates, n };
	return DONE;
}

static int runs_ask(struct check *c)
{
	char since[24];
	char *path;
	int rv;

	snprintf(since, sizeof(since), "%jd", (intmax_t)check_from(c));
	path = request_query("/v1/runs", "since", since, (char *)NULL);
	rv = session_fetch(c->s, path, &c->books);
	free(path);
	return rv;
}

int check_books_ask(struct check *c)
{
	struct json_object *rates = NULL;
	int rv = session_fetch(c->s, "/v1/rates", &rates);

	if (rv == DONE)
		rv = rates_keep(c, rates);
	json_object_put(rates);
	if (rv == DONE)
		rv = session_fetch(c->s, "/v1/projects", &c->projects);
	if (rv == DONE)
		rv = session_fetch(c->s, "/v1/holds", &c->holds);
	return rv == DONE ? runs_ask(c) : rv;
}

int64_t check_project_since(const struct check *c, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(c->projects); i++) {
		struct json_object *row = json_object_array_get_idx(c->projects, i);
		const char *is = row_text(row, "name");

		if (is && !strcmp(is, name))
			return row_number(row, "created_at");
	}
	return -1;
}

/* --- runs ------------------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct check_run *x = a, *y = b;

	if (x->job != y->job)
		return x->job < y->job ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

void check_sort(struct check *c)
{
	if (c->count)
		qsort(c->runs, c->count, sizeof(*c->runs), by_start);
}

struct check_run *check_find(struct check *c, size_t n, int64_t job, int64_t start)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct check_run *r = &c->runs[mid];

		if (r->job < job || (r->job == job && r->start < start))
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && c->runs[low].job == job && c->runs[low].start == start ? &c->runs[low] : NULL;
}

struct check_run *check_add(struct check *c, int64_t job, int64_t start)
{
	struct check_run *more;

	if (c->count == c->room) {
		size_t room = c->room ? 2 * c->room : 256;

		more = realloc(c->runs, room * sizeof(*more));
		if (!more)
			return NULL;
		c->runs = more;
		c->room = room;
	}
	more = &c->runs[c->count++];
	*more = (struct check_run){ .job = job, .start = start, .a.start = start,
		.pauses_free = c->settings->charge_suspended == SUSPENDED_NOT_CHARGED };
	return more;
}

/* --- the side of the books -------------------------------------------------------------------------- */

static enum side_tier tier_of(const char *name)
{
	return name && !strcmp(name, "funded") ? SIDE_TIER_FUNDED : SIDE_TIER_FREE;
}

static void side_of_correction(struct check_run *r, struct json_object *k)
{
	struct agreement_side *b = &r->a.books;

	b->end = row_number(k, "end");
	b->gpu_seconds = row_number(k, "gpu_seconds");
	b->tier = tier_of(row_text(k, "tier"));
	b->project = row_text(k, "project");
	r->a.by_hand = row_text(k, "kind") && !strcmp(row_text(k, "kind"), "by hand");
}

/* Was it taken out of the books, as a run that was no run? */
static bool is_taken_out(struct json_object *row)
{
	struct json_object *k = NULL;

	if (!json_object_object_get_ex(row, "correction", &k) || !k)
		return false;
	return row_number(k, "gpu_seconds") == 0 && row_text(k, "kind") &&
		!strcmp(row_text(k, "kind"), "twice");
}

static void side_of_row(const struct check *c, struct check_run *r)
{
	struct agreement_side *b = &r->a.books;
	struct json_object *k = NULL;
	amount_t price = row_number(r->row, "price_units");

	json_object_object_get_ex(r->row, "correction", &k);
	*b = (struct agreement_side){ .end = row_number(r->row, "end"), .gpus = row_number(r->row, "gpus"),
		.gpu_seconds = row_number(r->row, "gpu_seconds"), .tier = tier_of(row_text(r->row, "tier")),
		.project = row_text(r->row, "project") };
	b->presence = b->end ? ENDED : GOES_ON;
	if (k)
		side_of_correction(r, k);
	b->worth = b->gpu_seconds * price / (b->gpus > 0 ? b->gpus : 1);
	r->a.charged = row_number(r->row, "charged_units") - row_number(r->row, "refunded_units");
	r->a.has_hold = row_number(r->row, "held_units") > 0;
	r->a.needs_hold = b->tier == SIDE_TIER_FUNDED &&
		json_object_get_boolean(json_object_object_get(r->row, "answered")) &&
		row_number(r->row, "covered_until") > c->settled;
	r->fresh = r->start > c->settled || b->end > c->settled;
}

/* 12_3 and 12+1 are of job 12, too. */
static bool is_asked_for(const struct check *c, struct json_object *row)
{
	const char *label = row_text(row, "job");

	return !c->job || row_number(row, "job_id") == c->job ||
		(label && strtoll(label, NULL, 10) == c->job);
}

int check_books_sides(struct check *c)
{
	for (size_t i = 0; i < json_object_array_length(c->books); i++) {
		struct json_object *row = json_object_array_get_idx(c->books, i);
		const char *cluster = row_text(row, "cluster");
		struct check_run *r;

		if (is_taken_out(row) || !is_asked_for(c, row) || !cluster ||
			strcmp(cluster, c->cluster) != 0)
			continue;
		r = check_add(c, row_number(row, "job_id"), row_number(row, "start"));
		if (!r)
			return out_of_memory();
		r->submit = row_number(row, "submit");
		r->run = row_number(row, "id");
		r->row = row;
		r->pauses_free = row_text(row, "suspended_s") != NULL;
		snprintf(r->label, sizeof(r->label), "%s", row_text(row, "job") ? row_text(row, "job") : "");
		r->project = row_text(row, "project");
		side_of_row(c, r);
	}
	check_sort(c);
	return DONE;
}

/* --- after all sides are there ---------------------------------------------------------------------- */

static int64_t end_of(const struct check_run *r)
{
	return r->a.books.presence == ENDED ? r->a.books.end : INT64_MAX;
}

/* Two runs of one job that have some time in common: the one that Slurm does not know is too many; if it
 * knows neither or both, the later. */
static void note_twice(struct check_run *x, struct check_run *y)
{
	if (x->job != y->job || x->a.books.presence == ABSENT || y->a.books.presence == ABSENT)
		return;
	if (y->start >= end_of(x) || x->start >= end_of(y))
		return;
	if (y->nrows || y->view)
		(x->nrows || x->view ? y : x)->a.twice = true;
	else
		y->a.twice = true;
}

static bool in_window(const struct check *c, const struct check_run *r)
{
	const struct agreement_side *s[] = { &r->a.books, &r->a.slurmdbd, &r->a.slurmctld };

	for (int i = 0; i < 3; i++)
		if (s[i]->presence == GOES_ON || (s[i]->presence == ENDED && s[i]->end > c->since))
			return true;
	return false;
}

void check_judge(struct check *c)
{
	for (size_t i = 0; i + 1 < c->count; i++)
		for (size_t k = i + 1; k < c->count && c->runs[k].job == c->runs[i].job; k++)
			note_twice(&c->runs[i], &c->runs[k]);
	for (size_t i = 0; i < c->count; i++)
		c->runs[i].judged = !c->runs[i].fresh && in_window(c, &c->runs[i]);
}
