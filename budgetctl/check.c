/* SPDX-License-Identifier: GPL-2.0-or-later
 * check.c - check: do the books, slurmdbd and slurmctld say the same?
 *
 * The differences and their causes are lib/agreement.c's. People see what differs, with --all what agrees
 * too, and below the table the cause of each kind and what to do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "budgetctl/check.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/when.h"
#include "lib/job_id.h"
#include "settings/enforce.h"

#define SINCE_DEFAULT_S 86400
/* and some seconds, for slurmctld to tell slurmdbd and budgetd to look */
#define PASSES_TO_SETTLE 2
#define SETTLE_MORE_S 5

static const struct column columns[] = {
	{ "difference", "Difference", KIND_TEXT, NULL, false },
	{ "job", "Job", KIND_TEXT, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "start", "Start", KIND_TIME, NULL, false },
	{ "books", "In the books", KIND_LONG_TEXT, "-", false },
	{ "slurmdbd", "In slurmdbd", KIND_LONG_TEXT, "-", false },
	{ "slurmctld", "In slurmctld", KIND_TEXT, "-", false },
	{ "off_units", "Off", KIND_AMOUNT, NULL, false },
	{ "repaired", "Repaired", KIND_YESNO, "", false },
	{ "refunded_units", NULL, KIND_AMOUNT, NULL, false },
	{ "end_books", NULL, KIND_TIME, NULL, false },
	{ "end_slurmdbd", NULL, KIND_TIME, NULL, false },
	{ "gpu_seconds_books", NULL, KIND_COUNT, NULL, false },
	{ "gpu_seconds_slurmdbd", NULL, KIND_COUNT, NULL, false },
	{ "suspended_s", NULL, KIND_DURATION, NULL, false },
	{ "tres_slurmdbd", NULL, KIND_TEXT, NULL, false },
	{ "qos", NULL, KIND_TEXT, NULL, false },
	{ "worth_books_units", NULL, KIND_AMOUNT, NULL, false },
	{ "worth_slurmdbd_units", NULL, KIND_AMOUNT, NULL, false },
	{ "charged_units", NULL, KIND_AMOUNT, NULL, false },
	{ "run", NULL, KIND_COUNT, NULL, false },
	{ "cause", NULL, KIND_LONG_TEXT, NULL, false },
	{ "mend", NULL, KIND_LONG_TEXT, NULL, false },
};

/* What was found, for the table and the last lines. */
struct findings {
	struct json_object *rows;
	size_t of[DIFFERENCES], count, repaired, compared, fresh;
};

/* --- a row ------------------------------------------------------------------------------------------ */

static const char *const tier_name[] = { [SIDE_TIER_OTHER] = "", [SIDE_TIER_FUNDED] = ", funded",
	[SIDE_TIER_FREE] = ", free" };

/* "ended 2026-12-31T12:00:30 with 7,200 GPU-s, funded, vision". NULL for a side that has no such run. */
static const char *side_text(const struct agreement_side *s, char buf[256])
{
	char when[WHEN_TEXT_MAX];
	const char *by = s->project ? s->project : "";

	if (s->presence == ABSENT)
		return NULL;
	if (s->presence == GOES_ON)
		snprintf(buf, 256, "goes on with %jd GPU%s%s%s%s", (intmax_t)s->gpus, s->gpus == 1 ? "" : "s",
			tier_name[s->tier], *by ? ", " : "", by);
	else
		snprintf(buf, 256, "%jd GPU-s to %s%s%s%s", (intmax_t)s->gpu_seconds,
			when_text(s->end, false, when), tier_name[s->tier], *by ? ", " : "", by);
	return buf;
}

static const char *view_text(const struct check_run *r)
{
	return r->view ? r->view->base_state : NULL;
}

static int put_number(struct json_object *o, const char *key, bool there, int64_t v)
{
	return there ? request_number(o, key, v) : json_object_object_add(o, key, NULL);
}

static int put_word(struct json_object *o, const char *key, const char *text)
{
	return text ? request_text(o, key, text) : json_object_object_add(o, key, NULL);
}

static int64_t suspended(const struct check_run *r)
{
	int64_t s = 0;

	for (size_t i = 0; i < r->nrows; i++)
		s = r->rows[i].suspended_s > s ? r->rows[i].suspended_s : s;
	return s;
}

static int put_run(struct json_object *o, const struct check_run *r)
{
	const struct agreement_side *b = &r->a.books, *d = &r->a.slurmdbd;
	const struct run_row *last = r->nrows ? &r->rows[r->nrows - 1] : NULL;
	bool in_books = b->presence != ABSENT;
	char text[256];

	if (put_word(o, "job", r->label) < 0 || put_word(o, "project", r->project) < 0 ||
		put_number(o, "start", true, r->start) < 0 || put_word(o, "books", side_text(b, text)) < 0 ||
		put_word(o, "slurmdbd", side_text(d, text)) < 0 ||
		put_word(o, "slurmctld", view_text(r)) < 0 ||
		put_number(o, "end_books", b->presence == ENDED, b->end) < 0 ||
		put_number(o, "end_slurmdbd", d->presence == ENDED, d->end) < 0 ||
		put_number(o, "gpu_seconds_books", in_books, b->gpu_seconds) < 0 ||
		put_number(o, "gpu_seconds_slurmdbd", last, d->gpu_seconds) < 0)
		return -1;
	return put_number(o, "suspended_s", last, suspended(r)) < 0 ||
		put_word(o, "tres_slurmdbd", last ? last->tres_alloc : NULL) < 0 ||
		put_word(o, "qos", last ? last->qos : r->view ? r->view->qos : NULL) < 0 ||
		put_number(o, "worth_books_units", in_books, b->worth) < 0 ||
		put_number(o, "worth_slurmdbd_units", last, d->worth) < 0 ||
		put_number(o, "charged_units", in_books, r->a.charged) < 0 ||
		put_number(o, "run", in_books, r->run) < 0 ? -1 : 0;
}

/* `o` becomes a row; NULL: out of memory. d DIFFERENCES: the run agrees. */
static int row_keep(struct findings *f, struct json_object *o, enum difference d, amount_t off)
{
	const struct difference_row *k = d < DIFFERENCES ? &difference_table[d] : NULL;

	if (!o || put_word(o, "difference", k ? k->id : "none") < 0 ||
		put_number(o, "off_units", true, off) < 0 || put_word(o, "cause", k ? k->cause : NULL) < 0 ||
		put_word(o, "mend", k ? k->mend : NULL) < 0 || json_object_array_add(f->rows, o) < 0) {
		json_object_put(o);
		return out_of_memory();
	}
	if (k) {
		f->of[d]++;
		f->count++;
	}
	return DONE;
}

static int run_keep(struct findings *f, const struct check_run *r, enum difference d)
{
	struct json_object *o = json_object_new_object();

	bool mended = r->repaired && d < DIFFERENCES && difference_table[d].repair;

	if (o && (put_run(o, r) < 0 ||
		json_object_object_add(o, "repaired", mended ? json_object_new_boolean(true) : NULL) < 0 ||
		put_number(o, "refunded_units", mended, r->refunded) < 0)) {
		json_object_put(o);
		o = NULL;
	}
	f->repaired += mended;
	return row_keep(f, o, d, d < DIFFERENCES ? agreement_off(&r->a, d) : 0);
}

static int runs_compare(struct check *c, struct findings *f)
{
	int rv = DONE;

	for (size_t i = 0; i < c->count && rv == DONE; i++) {
		const struct check_run *r = &c->runs[i];
		unsigned set = r->judged ? agreement_of(&r->a) : 0;

		f->compared += r->judged;
		f->fresh += r->fresh;
		for (int d = 0; d < DIFFERENCES && rv == DONE; d++)
			if (set & 1u << d)
				rv = run_keep(f, r, (enum difference)d);
		if (rv == DONE && r->judged && !set && session_option(c->s, OPT_ALL))
			rv = run_keep(f, r, DIFFERENCES);
	}
	return rv;
}

/* --- holds and the jobs that they are for ------------------------------------------------------------- */

/* The record of an array has the array's id while tasks of it wait; without one its tasks may still run. */
static bool is_in_slurm(const struct check *c, int64_t job)
{
	if (job_table_find(c->slurmctld, (uint32_t)job))
		return true;
	for (size_t i = 0; i < c->slurmctld->count; i++)
		if (c->slurmctld->jobs[i].array_job_id == job)
			return true;
	return false;
}

static int hold_keep(struct findings *f, enum difference d, const char *job, const char *project,
	const char *state)
{
	struct json_object *o = json_object_new_object();

	if (o && (put_word(o, "job", job) < 0 || put_word(o, "project", project) < 0 ||
			 put_word(o, d == DIFFERS_NO_JOB ? "books" : "slurmctld", state) < 0)) {
		json_object_put(o);
		o = NULL;
	}
	return row_keep(f, o, d, 0);
}

/* An open hold of the queue. Those of runs are compared with their runs. */
static int hold_compare(struct check *c, struct findings *f, struct json_object *hold)
{
	const char *state = row_text(hold, "state"), *job = row_text(hold, "job");
	int64_t since = row_number(hold, "opened_at") + (job ? 0 : c->settings->unbound_hold_s);
	char text[96], units[AMOUNT_TEXT_MAX];

	if (!state || !strcmp(state, "running") || !strcmp(state, "closed") || since > c->settled)
		return DONE;
	if ((c->job && (!job || strtoll(job, NULL, 10) != c->job)) ||
		(job && is_in_slurm(c, strtoll(job, NULL, 10))))
		return DONE;
	snprintf(text, sizeof(text), "hold %jd: %s GPU-h", (intmax_t)row_number(hold, "id"),
		amount_text(row_number(hold, "units"), units));
	return hold_keep(f, DIFFERS_NO_JOB, job, row_text(hold, "project"), text);
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The jobs that have a hold while they wait, in their order. */
static int pools_list(struct check *c)
{
	size_t n = json_object_array_length(c->holds);

	c->pools = calloc(n + 1, sizeof(*c->pools));
	if (!c->pools)
		return out_of_memory();
	for (size_t i = 0; i < n; i++) {
		struct json_object *hold = json_object_array_get_idx(c->holds, i);
		const char *label = row_text(hold, "job"), *state = row_text(hold, "state");

		if (label && state && !strcmp(state, "pending"))
			c->pools[c->pool_count++] = strtoll(label, NULL, 10);
	}
	qsort(c->pools, c->pool_count, sizeof(*c->pools), by_number);
	return DONE;
}

/* Waits for nothing but its turn, in the funded tier. An array's record does not tell since when it is
 * eligible. */
static bool should_hold(const struct check *c, const struct job_view *j)
{
	bool funded = j->qos &&
		(!strcmp(j->qos, c->settings->qos_funded) || !strcmp(j->qos, c->settings->qos_funded_still));

	if (j->stage != STAGE_PENDING || !funded || j->held != HELD_NOT || j->dependency ||
		j->submit > c->settled)
		return false;
	if (j->eligible > c->settled || (j->eligible == 0 && !j->array_job_id) ||
		(j->reason && !strcmp(j->reason, "BeginTime")))
		return false;
	return j->account && check_project_since(c, j->account) >= 0 &&
		settings_enforcement(c->settings, j->partition) == ENFORCE_ON;
}

static int waiting_compare(struct check *c, struct findings *f, const struct job_view *j)
{
	char text[JOB_NAME_TEXT_MAX];
	int64_t job = j->array_job_id ? j->array_job_id : j->job_id, gpus = 0;

	if ((c->job && job != c->job) || !should_hold(c, j) ||
		check_price(c, j->tres_req, c->now, &gpus) <= 0 ||
		bsearch(&job, c->pools, c->pool_count, sizeof(*c->pools), by_number))
		return DONE;
	return hold_keep(f, DIFFERS_NO_HOLD, job_view_text(j, text), j->account, j->base_state);
}

static int holds_compare(struct check *c, struct findings *f)
{
	int rv = pools_list(c);

	for (size_t i = 0; i < json_object_array_length(c->holds) && rv == DONE; i++)
		rv = hold_compare(c, f, json_object_array_get_idx(c->holds, i));
	for (size_t i = 0; i < c->slurmctld->count && rv == DONE; i++)
		rv = waiting_compare(c, f, &c->slurmctld->jobs[i]);
	return rv;
}

/* --- telling ---------------------------------------------------------------------------------------- */

static void causes_print(const struct findings *f)
{
	char text[1024];

	for (int d = 0; d < DIFFERENCES; d++) {
		const struct difference_row *k = &difference_table[d];

		if (!f->of[d])
			continue;
		snprintf(text, sizeof(text), "%s (%zu): %s. Cause: %s. What to do: %s.", k->id, f->of[d],
			k->about, k->cause, k->mend);
		say_line(stdout, 0, text);
	}
}

static void summary_print(const struct check *c, const struct findings *f)
{
	char text[320], when[WHEN_TEXT_MAX], repaired[96] = "";

	if (session_option(c->s, OPT_REPAIR))
		snprintf(repaired, sizeof(repaired), session_option(c->s, OPT_DRY_RUN)
			? "; %zu would be repaired, nothing was written (--dry-run)" : "; %zu repaired",
			f->repaired);
	snprintf(text, sizeof(text),
		"%zu runs since %s compared: %zu difference%s; %zu too young to be judged%s", f->compared,
		when_text(c->since, false, when), f->count, f->count == 1 ? "" : "s", f->fresh, repaired);
	say_line(stdout, 0, text);
}

static int findings_print(struct check *c, const struct findings *f)
{
	struct table *t = table_new(columns, ARRAY_SIZE(columns), &c->s->style, false);
	bool people = c->s->style.format == FORMAT_TABLE;
	bool good = t && table_add(t, f->rows) == 0 &&
		(!json_object_array_length(f->rows) && people ? true : table_print(t) == 0);

	table_free(t);
	if (!good)
		return out_of_memory();
	if (people) {
		causes_print(f);
		summary_print(c, f);
	}
	return DONE;
}

/* --- the command ------------------------------------------------------------------------------------ */

static int options_read(struct check *c)
{
	const char *since = session_option(c->s, OPT_SINCE), *job = session_option(c->s, OPT_JOB);
	struct fault why = { "" };
	struct job_name named = {0};

	c->now = time(NULL);
	c->since = job ? 1 : c->now - SINCE_DEFAULT_S;
	if (since && when_parse(since, c->now, &c->since, &why) < 0)
		return complain(USAGE, "--since: %s", why.text);
	if (c->since > c->now || c->since < 1)
		return complain(USAGE, "--since %s is not in the past", since);
	if (session_option(c->s, OPT_DRY_RUN) && !session_option(c->s, OPT_REPAIR))
		return complain(USAGE, "--dry-run belongs to --repair: check alone writes nothing");
	if (job && job_id_parse(job, &named, &why) < 0)
		return complain(USAGE, "%s", why.text);
	c->job = named.job;
	return DONE;
}

static int settings_read(struct check *c)
{
	struct fault why = { "" };
	int rv = session_settings(c->s, &c->settings, &why);

	if (rv != DONE)
		return complain(rv, "%s", why.text);
	if (c->s->hidden)
		return complain(FORBIDDEN, "you may not read %s: run check as root or as SlurmUser",
			c->s->hidden);
	c->settled = c->now - PASSES_TO_SETTLE * c->settings->pass_interval_s - SETTLE_MORE_S;
	return DONE;
}

/* The books first: what they have is then in slurmdbd too, or too young. */
static int sides_gather(struct check *c)
{
	int rv = check_books_ask(c);

	if (rv == DONE)
		rv = check_slurm_ask(c);
	if (rv == DONE)
		rv = check_books_sides(c);
	if (rv == DONE)
		rv = check_slurm_sides(c);
	if (rv == DONE)
		check_judge(c);
	return rv;
}

static void check_drop(struct check *c)
{
	free(c->runs);
	run_table_free(c->slurmdbd);
	job_table_free(c->slurmctld);
	slurm_link_close(c->link);
	json_object_put(c->books);
	json_object_put(c->holds);
	json_object_put(c->projects);
	free(c->rates);
	free(c->pools);
	settings_free(c->settings);
}

int cmd_check(struct session *s)
{
	struct check c = { .s = s };
	struct findings f = { .rows = json_object_new_array() };
	int rv = f.rows ? options_read(&c) : out_of_memory();

	if (rv == DONE)
		rv = settings_read(&c);
	if (rv == DONE)
		rv = sides_gather(&c);
	if (rv == DONE && session_option(s, OPT_REPAIR))
		rv = check_repair(&c);
	if (rv == DONE)
		rv = runs_compare(&c, &f);
	if (rv == DONE)
		rv = holds_compare(&c, &f);
	if (rv == DONE)
		rv = findings_print(&c, &f);
	else if (rv == REFUSED)
		rv = UNREACHABLE;	/* 1 is for differences, and only for those */
	json_object_put(f.rows);
	check_drop(&c);
	return rv == DONE && f.count > (session_option(s, OPT_DRY_RUN) ? 0 : f.repaired) ? REFUSED : rv;
}
