/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_kept_off.c - who may not start on the nodes that are kept for a gang (doc/model.md, 6)
 *
 * Who stands behind the gang and would still be inside its minimum runtime at the planned start, or could not
 * be displaced by it, is kept off: these nodes are among the excluded ones of its records, beside its user's
 * own. Slurm has no other means that looks at a minimum runtime: reservations and backfill go by time limits.
 * A job that has no other nodes is held instead: Slurm would take it for one that can never run. What cannot
 * start yet (it depends on another job, its begin time is ahead, its user holds it) is kept off all the same,
 * since Slurm starts it without another pass in between: then Slurm takes its priority, and the next pass
 * holds it.
 *
 * Level-triggered: what was written stands in the books first, with what was there before; a record that has
 * exactly such a text has it from us. So it is taken back after any kill, of a run that was requeued as well,
 * and whatever else is found is its user's or an operator's. */
#include "budgetd/held.h"
#include "budgetd/ledger_guard.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/ranking.h"
#include "budgetd/room.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UPDATES_A_SECOND 200		/* as places: each costs slurmctld 0.6 ms */

struct kept_row {
	int64_t admission;
	char *written, *own;
	bool nowhere;
};

struct keeping {
	struct pass *p;
	struct kept_row *rows;		/* by admission */
	size_t nrows, rows_room;
	struct room *room;		/* with a guard */
	bool *guarded;			/* by index of p->cluster->nodes */
	struct fault *why;
};

static int know_row(const struct kept_off *k, void *arg)
{
	struct keeping *x = arg;
	struct kept_row *more = x->rows, *row;
	size_t room = x->rows_room ? 2 * x->rows_room : 64;

	if (x->nrows == x->rows_room) {
		more = reallocarray(x->rows, room, sizeof(*more));
		if (!more)
			return -1;
		x->rows = more;
		x->rows_room = room;
	}
	row = &x->rows[x->nrows++];
	*row = (struct kept_row){ k->admission, strdup(k->written), strdup(k->own), k->nowhere };
	return row->written && row->own ? 0 : -1;
}

/* The first of the admission's rows, or NULL. */
static const struct kept_row *rows_of(const struct keeping *x, int64_t admission)
{
	size_t low = 0, high = x->nrows;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (x->rows[middle].admission < admission)
			low = middle + 1;
		else
			high = middle;
	}
	return low < x->nrows && x->rows[low].admission == admission ? &x->rows[low] : NULL;
}

/* The nodes that are kept now end it: behind others it is of an earlier guard. */
static bool is_of_this_guard(const struct pass *p, const char *written)
{
	size_t all = strlen(written), n = strlen(p->guard.nodes);

	return all >= n && !strcmp(written + all - n, p->guard.nodes) &&
		(all == n || written[all - n - 1] == ',');
}

static bool was_nowhere(const struct keeping *x, const struct waiting *w)
{
	const struct kept_row *end = x->rows + x->nrows, *row = rows_of(x, w->admission.id);

	for (; row && row < end && row->admission == w->admission.id; row++)
		if (row->nowhere && is_of_this_guard(x->p, row->written))
			return true;
	return false;
}

/* What the record has is ours: which of what we wrote. NULL: it is its user's. */
static const struct kept_row *written_in(const struct keeping *x, const struct waiting *w,
	const struct job_view *j)
{
	const struct kept_row *end = x->rows + x->nrows,
		*row = j->excluded ? rows_of(x, w->admission.id) : NULL;

	for (; row && row < end && row->admission == w->admission.id; row++)
		if (!strcmp(row->written, j->excluded))
			return row;
	return NULL;
}

static bool requires_guarded(const struct keeping *x, const struct job_view *j)
{
	const struct pass *p = x->p;

	for (size_t i = 0; j->required && i < p->cluster->node_count; i++)
		if (x->guarded[i] && slurm_link_has_node(j->required, p->cluster->nodes[i].name))
			return true;
	return false;
}

/* A record of it must have one of these nodes, or there are too few others. */
static bool has_nowhere_else(const struct keeping *x, const struct waiting *w)
{
	struct placement_job shape;
	/* of one whose nodes are not known here Slurm finds out (note_nowhere) */
	bool known = room_shape(x->room, w, x->p->ranking, &shape) == 1;

	if (was_nowhere(x, w))
		return true;
	for (size_t i = 0; i < w->nrecords; i++) {
		const struct job_view *j = w->records[i];
		const struct kept_row *row = written_in(x, w, j);

		if (requires_guarded(x, j) || (known && !room_has_others(x->room, &shape, x->guarded,
			row ? row->own : j->excluded)))
			return true;
	}
	return false;
}

/* A het job displaces nobody in Slurm: just before its turn nothing free may begin there. */
static bool free_may_start_there(const struct pass *p)
{
	return !p->guard.together || p->now + GUARD_CLOSES_S(p->b->settings) < p->guard.at;
}

static bool may_start_there(const struct pass *p, const struct waiting *gang, const struct waiting *w)
{
	const struct placement_rules rules = { ranking_funded(p->ranking), NULL,
		p->b->settings->hysteresis_percent * 10000 };
	ssize_t its = ranking_node(p->ranking, gang->admission.project),
		other = ranking_node(p->ranking, w->admission.project);
	struct placement_job job = { .project = (uint32_t)its,
		.user = ranking_user_of(p->ranking, gang->admission.project, gang->admission.uid),
		.front = gang->front, .cleared = true };
	struct placement_run run = { .project = (uint32_t)other,
		.user = ranking_user_of(p->ranking, w->admission.project, w->admission.uid),
		.slot = pass_slot_is_open(p, w->admission.project) };

	if (p->now + w->admission.min_runtime_s > p->guard.at || its < 0 || other < 0)
		return false;
	return placement_may_displace(&rules, &job, &run);
}

static bool are_one(const struct waiting *a, const struct waiting *b)
{
	return a->job->het_job_id && a->job->het_job_id == b->job->het_job_id;
}

static bool is_bound(const struct pass *p, const struct waiting *w)
{
	return !w->job->cron && pass_mode(p, w->job) == ENFORCE_ON;
}

static void keep_off(const struct keeping *x, struct waiting *w)
{
	w->kept_off = true;
	w->nowhere = has_nowhere_else(x, w);
}

static void choose_free(struct keeping *x)
{
	for (size_t i = 0; i < x->p->nwaiting; i++) {
		struct waiting *w = &x->p->waiting[i];

		if (w->admission.tier == TIER_FREE && is_bound(x->p, w))
			keep_off(x, w);
	}
}

/* Those behind the gang in the order; to one that is no het job a free one gives way at any time. */
static int choose(struct keeping *x)
{
	struct pass *p = x->p;
	struct order_job *jobs = calloc(p->nwaiting + 1, sizeof(*jobs));
	const struct waiting *gang = NULL;
	size_t n = 0;

	for (size_t i = 0; jobs && i < p->nwaiting; i++)
		if (p->waiting[i].admission.tier == TIER_FUNDED)
			jobs[n++] = pass_order_job(&p->waiting[i], p->ranking);
	if (!jobs || order_sort(jobs, n) < 0) {
		free(jobs);
		return fault_errno(x->why, ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n; i++) {
		struct waiting *w = jobs[i].data;

		if (w->admission.id == p->guard.admission)
			gang = w;
		else if (gang && is_bound(p, w) && !are_one(gang, w) && !may_start_there(p, gang, w))
			keep_off(x, w);
	}
	free(jobs);
	if (!free_may_start_there(p))
		choose_free(x);
	return 0;
}

static int write_row(struct pass *p, void *arg, struct fault *why)
{
	return kept_off_add(p->b->ledger, arg, p->now, why);
}

/* Has it? */
static bool set_excluded(struct keeping *x, const struct job_view *j, const char *nodes)
{
	const struct job_update u = { .excluded = nodes };
	struct pass *p = x->p;
	struct fault problem = {0};
	char record[RECORD_MAX];

	p->updates++;
	if (slurm_link_update(p->b->slurm, pass_record(j, record), &u, &problem) == 0)
		return true;
	if (errno != EAGAIN && errno != ENOENT && errno != EBUSY)
		log_warning("job %u: the nodes that it is kept off could not be set: %s", j->job_id,
			problem.text);
	return false;
}

/* In the books first: what stands there is taken back, whatever happens in between. */
static int keep_record_off(struct keeping *x, struct waiting *w, const struct job_view *j, const char *own)
{
	struct kept_off k = { .admission = w->admission.id, .own = own };
	char *written = NULL;
	int rc = -1;

	if (asprintf(&written, "%s%s%s", own, *own ? "," : "", x->p->guard.nodes) < 0)
		return fault_errno(x->why, ENOMEM, "out of memory");
	k.written = written;
	if (j->excluded && !strcmp(j->excluded, written))
		rc = 0;
	else
		rc = pass_write(x->p, LEDGER_HOLDS, write_row, &k, x->why);
	if (rc == 0 && (!j->excluded || strcmp(j->excluded, written) != 0) && !set_excluded(x, j, written))
		w->not_yet = true;
	free(written);
	return rc;
}

/* Slurm knows more of the job than we do, and has found that no other node would ever do. */
static int note_nowhere(struct keeping *x, const struct kept_row *row)
{
	struct kept_off k = { row->admission, row->written, row->own, true };

	return pass_write(x->p, LEDGER_HOLDS, write_row, &k, x->why);
}

/* Before it has its nodes again: Slurm looks at a job that was changed at once, and it would start on them.
 * Is it held? */
static bool hold_first(struct pass *p, const struct job_view *j)
{
	struct fault problem = {0};

	if (job_held_by_us(j) || pass_mark(p, j, NULL, NULL, true, &problem) == 0)
		return true;
	if (errno != EAGAIN)
		log_warning("job %u has no other nodes than those that it is kept off, and could not be held: %s",
			j->job_id, problem.text);
	return false;
}

static int follow_record(struct keeping *x, struct waiting *w, const struct job_view *j)
{
	const struct kept_row *row = written_in(x, w, j);
	const char *own = row ? row->own : j->excluded ? j->excluded : "";
	bool stuck = row && j->held == HELD_BY_OTHER && j->reason && !strcmp(j->reason, "BadConstraints");

	if (j->cron)
		return 0;
	if (x->p->updates >= (size_t)(UPDATES_A_SECOND * x->p->b->settings->pass_interval_s)) {
		w->not_yet = w->kept_off;
		return 0;
	}
	if (stuck && note_nowhere(x, row) < 0)
		return -1;
	if (w->kept_off && !stuck && (!w->nowhere || !pass_is_eligible(x->p, j)))
		return keep_record_off(x, w, j, own);
	if (row && w->kept_off && !hold_first(x->p, j))
		w->not_yet = true;
	else if (row)
		set_excluded(x, j, own);
	return 0;
}

static int drop_rows(struct pass *p, void *arg, struct fault *why)
{
	return kept_off_drop(p->b->ledger, *(const int64_t *)arg, why);
}

/* Of an array others than those that wait may have it still. */
static bool has_nothing_of_ours(const struct keeping *x, const struct waiting *w)
{
	return !w->kept_off && w->admission.tasks <= 1 && !written_in(x, w, w->job);
}

static int follow_all(struct keeping *x)
{
	int rc = 0;

	for (size_t i = 0; i < x->p->nwaiting && rc == 0; i++) {
		struct waiting *w = &x->p->waiting[i];
		bool known = rows_of(x, w->admission.id);

		for (size_t k = 0; k < w->nrecords && rc == 0 && (w->kept_off || known); k++)
			rc = follow_record(x, w, w->records[k]);
		if (rc == 0 && known && has_nothing_of_ours(x, w))
			rc = pass_write(x->p, LEDGER_HOLDS, drop_rows, &w->admission.id, x->why);
	}
	return rc;
}

/* Does slurmctld know a record of it? One that has ended may be requeued as long as it does. */
static bool is_known(const struct pass *p, const struct admission_row *a)
{
	bool known = job_table_find(p->jobs, (uint32_t)a->job);

	for (size_t i = 0; !known && a->tasks > 1 && i < p->jobs->count; i++)
		known = p->jobs->jobs[i].array_job_id == (uint32_t)a->job;
	return known;
}

/* Of jobs that are gone nothing is to be put back. */
static int forget_gone(struct keeping *x)
{
	int64_t last = 0;
	int rc = 0;

	for (size_t i = 0; i < x->nrows && rc >= 0; i++) {
		struct admission_row a;
		int64_t id = x->rows[i].admission;

		if (id == last || pass_find_waiting(x->p, id))
			continue;
		last = id;
		rc = admission_by_id(x->p->books, id, &a, x->why);
		if (rc == 1 && !is_known(x->p, &a))
			rc = pass_write(x->p, LEDGER_HOLDS, drop_rows, &id, x->why);
	}
	return rc < 0 ? -1 : 0;
}

/* Who is no business of ours any more has nothing of ours left. */
static int let_back_where_off(struct keeping *x)
{
	struct pass *p = x->p;
	int rc = 0;

	for (size_t i = 0; x->nrows && i < p->jobs->count && rc == 0; i++) {
		const struct job_view *j = &p->jobs->jobs[i];
		struct waiting w = { .job = j };

		if (j->stage != STAGE_PENDING || !j->excluded || pass_mode(p, j) != ENFORCE_OFF)
			continue;
		rc = pass_admission(p, j, &w.admission, x->why);
		rc = rc == 1 ? follow_record(x, &w, j) : rc;
	}
	return rc;
}

static int look_around(struct keeping *x)
{
	struct pass *p = x->p;

	x->guarded = calloc(p->cluster->node_count + 1, sizeof(*x->guarded));
	if (!x->guarded)
		return fault_errno(x->why, ENOMEM, "out of memory");
	for (size_t i = 0; i < p->cluster->node_count; i++)
		x->guarded[i] = slurm_link_has_node(p->guard.nodes, p->cluster->nodes[i].name);
	return pass_ranking(p, x->why) && room_new(p, p->ranking, &x->room, x->why) == 0 ? 0 : -1;
}

int pass_keep_off(struct pass *p, struct fault *why)
{
	struct keeping x = { .p = p, .why = why };
	int rc = pass_guard_load(p, why);

	if (rc == 0 && kept_off_walk(p->books, know_row, &x, why) < 0)
		rc = why->text[0] ? -1 : fault_errno(why, ENOMEM, "out of memory");
	if (rc == 0 && p->guard.nodes[0])
		rc = look_around(&x) < 0 ? -1 : choose(&x);
	if (rc == 0)
		rc = follow_all(&x) < 0 || forget_gone(&x) < 0 ? -1 : let_back_where_off(&x);
	for (size_t i = 0; i < x.nrows; i++) {
		free(x.rows[i].written);
		free(x.rows[i].own);
	}
	free(x.rows);
	free(x.guarded);
	room_free(x.room);
	return rc;
}
