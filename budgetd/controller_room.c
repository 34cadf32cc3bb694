/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_room.c - room for the first funded jobs that do not fit: who gives way to whom (doc/model.md, 6)
 *
 * The jobs that wait are served in the one order. One that fits into idle GPUs is left to Slurm; for one that
 * does not, lib/placement picks who gives way, as in `budgetctl simulate`. What is promised counts in the
 * ratios at once, so that a project does not take more in one pass than puts it behind others. Free runs are
 * Slurm's to displace, at once; funded ones are told to go. Het jobs: controller_room_het.c. */
#include "budgetd/controller_room_inside.h"
#include "lib/duration.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVED_MAX 64			/* in one pass: ratios are counted anew after each */

/* --- who is served ------------------------------------------------------------------------------ */

/* Would Slurm start it as soon as there are GPUs? Other reasons are limits and times that no displacement
 * changes. */
static bool waits_for_gpus(const struct waiting *w)
{
	static const char *const reasons[] = { "None", "Priority", "Resources" };

	if (!w->job->reason)
		return true;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (!strcmp(w->job->reason, reasons[i]))
			return true;
	return false;
}

static bool can_start(const struct pass *p, const struct waiting *w)
{
	return w->admission.tier == TIER_FUNDED && w->loose > 0 && w->paid > 0 && !w->job->cron &&
		pass_mode(p, w->job) == ENFORCE_ON && waits_for_gpus(w);
}

/* A het job is served once, with its first component, when all of them can start. */
static bool is_served(const struct pass *p, const struct waiting *w)
{
	for (size_t i = 0; w->job->het_job_id && i < p->nwaiting; i++) {
		const struct waiting *other = &p->waiting[i];

		if (other->job->het_job_id == w->job->het_job_id &&
			(other->job->het_offset < w->job->het_offset || !can_start(p, other)))
			return false;
	}
	return can_start(p, w);
}

static int compare_shapes(const struct placement_job *x, const struct placement_job *y)
{
	const int64_t a[] = { x->project, x->user, x->front, x->cleared, x->nodes, x->gpus,
		(int64_t)(intptr_t)x->kinds, (int64_t)(intptr_t)x->may_use };
	const int64_t b[] = { y->project, y->user, y->front, y->cleared, y->nodes, y->gpus,
		(int64_t)(intptr_t)y->kinds, (int64_t)(intptr_t)y->may_use };

	for (size_t i = 0; i < sizeof(a) / sizeof(a[0]); i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

struct shaped {
	struct placement_job shape;
	uint32_t het_job;
	struct order_job job;
};

static bool is_one_kind(const struct shaped *x, const struct shaped *y)
{
	return compare_shapes(&x->shape, &y->shape) == 0 && x->het_job == y->het_job;
}

static int by_kind(const void *a, const void *b)
{
	const struct shaped *x = a, *y = b;
	int c = compare_shapes(&x->shape, &y->shape);

	c = c ? c : (x->het_job > y->het_job) - (x->het_job < y->het_job);
	return c ? c : order_compare(&x->job, &y->job);
}

/* Sorted by kind, and within each as the one order has them. Their number, or -1. */
static ssize_t shape_all(struct serving *v, struct shaped *out)
{
	size_t n = 0;

	for (size_t i = 0; i < v->njobs; i++) {
		int rc = room_shape(v->room, v->jobs[i].data, v->ranking, &out[n].shape);

		if (rc < 0)
			return -1;
		out[n].job = v->jobs[i];
		out[n].het_job = ((const struct waiting *)v->jobs[i].data)->job->het_job_id;
		n += rc == 1;
	}
	qsort(out, n, sizeof(*out), by_kind);
	return (ssize_t)n;
}

static int group(struct serving *v)
{
	struct shaped *s = calloc(v->njobs + 1, sizeof(*s));
	ssize_t shaped = s ? shape_all(v, s) : -1;
	size_t n = shaped < 0 ? 0 : (size_t)shaped;

	v->kinds = calloc(n + 1, sizeof(*v->kinds));
	v->heads = calloc(n + 1, sizeof(*v->heads));
	for (size_t i = 0; v->kinds && i < n; i++) {
		v->jobs[i] = s[i].job;
		if (i == 0 || !is_one_kind(&s[i - 1], &s[i]))
			v->kinds[v->nkinds++] = (struct kind){ .shape = s[i].shape, .het_job = s[i].het_job,
				.jobs = &v->jobs[i] };
		v->kinds[v->nkinds - 1].njobs++;
	}
	free(s);
	return shaped >= 0 && v->kinds && v->heads ? 0 : -1;
}

static int collect(struct serving *v)
{
	v->jobs = calloc(v->p->nwaiting + 1, sizeof(*v->jobs));
	if (!v->jobs)
		return -1;
	for (size_t i = 0; i < v->p->nwaiting; i++)
		if (is_served(v->p, &v->p->waiting[i]))
			v->jobs[v->njobs++] = pass_order_job(&v->p->waiting[i], v->ranking);
	return order_sort(v->jobs, v->njobs) < 0 ? -1 : group(v);
}

/* By the ratios as they are now. Their number, or -1. */
static ssize_t heads(struct serving *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->nkinds; i++) {
		struct kind *k = &v->kinds[i];

		if (k->given_up || k->served == k->njobs)
			continue;
		v->heads[n] = pass_order_job(k->jobs[k->served].data, v->ranking);
		v->heads[n++].data = k;
	}
	return order_sort(v->heads, n) < 0 ? -1 : (ssize_t)n;
}

/* --- one job ------------------------------------------------------------------------------------ */

/* What its user is told: why, for whom, and how long there is left. */
static void describe(const struct serving *v, const struct room_run *victim, const struct waiting *w,
	char *out, size_t size)
{
	const struct fairshare *f = ranking_funded(v->ranking);
	/* then its users are what is compared, where it has any */
	bool same = victim->run.project == w->admission.project;
	ssize_t from = same ? ranking_node_of(v->ranking, victim->run.project, victim->run.uid)
		: ranking_node(v->ranking, victim->run.project);
	ssize_t to = same ? ranking_node_of(v->ranking, w->admission.project, w->admission.uid)
		: ranking_node(v->ranking, w->admission.project);
	char left[DURATION_TEXT_MAX], ran[DURATION_TEXT_MAX], theirs[FAIRSHARE_TEXT_MAX],
		ours[FAIRSHARE_TEXT_MAX];

	duration_text(v->p->now - victim->run.start, ran);
	snprintf(out, size,
		"after %s its %jd GPU%s to job %u (%s), whose %s has used %s of its share, and this one %s of its own; it has %s left",
		ran, (intmax_t)victim->run.gpus, victim->run.gpus == 1 ? " goes" : "s go",
		pass_array_or_job_id(w->job), w->job->account ? w->job->account : "",
		same && from != ranking_node(v->ranking, victim->run.project) ? "user" : "project",
		fairshare_text(fairshare_ratio_ppm(f, (size_t)to), theirs),
		fairshare_text(fairshare_ratio_ppm(f, (size_t)from), ours), duration_text(v->grace_s, left));
}

static enum event_reason reason_of(const struct pass *p, const struct run *r)
{
	if (r->tier == TIER_FREE)
		return REASON_FREE_RECLAIMED;
	if (r->free_since && r->free_since <= p->now)
		return REASON_OVERDRAWN;
	return r->unprotected_at ? event_reason_read(r->unprotected_why) : REASON_ROTATED;
}

static int tell_run(struct serving *v, const struct room_run *victim, const struct waiting *w)
{
	struct going g = { .run = victim->run.id, .for_job = pass_array_or_job_id(w->job),
		.grace_s = v->grace_s, .reason = reason_of(v->p, &victim->run) };
	char detail[384];

	describe(v, victim, w, detail, sizeof(detail));
	g.detail = detail;
	return pass_tell(v->p, &g, v->why) < 0 ? -1 : 0;
}

int serve_tell_victim(struct serving *v, uint32_t name, const struct waiting *w)
{
	const struct room_run *victim = room_run(v->room, name), *x;
	uint32_t het_job = victim ? victim->job->het_job_id : 0;
	int rc = 0;

	placement_leave(room_placement(v->room), name);
	if (!victim)
		return 0;		/* it began just now: the next pass knows it */
	if (victim->run.tier == TIER_FREE && !w->job->het_job_id)
		return 0;		/* Slurm does that by itself, as soon as the job fits then */
	if (!het_job)
		return tell_run(v, victim, w);
	for (size_t at = 0; rc == 0 && (x = room_next_of_het(v->room, het_job, &at)); )
		rc = tell_run(v, x, w);
	return rc;
}

enum served serve_out_of_memory(const struct serving *v)
{
	fault_errno(v->why, ENOMEM, "out of memory");
	return FAILED;
}

int serve_was_in_vain(struct serving *v, const struct waiting *w)
{
	return event_spared_for(v->p->books, pass_array_or_job_id(w->job), v->p->now - IN_VAIN_S, v->why);
}

struct placement_rules serve_rules(const struct serving *v)
{
	return (struct placement_rules){ ranking_funded(v->ranking), ranking_free_tier(v->ranking),
		v->p->b->settings->hysteresis_percent * 10000 };
}

static enum served make_room(struct serving *v, const struct kind *k, const struct waiting *w)
{
	const struct placement_rules rules = serve_rules(v);
	int rc;

	v->looked = false;
	if (v->tried >= v->p->b->settings->displace_kinds)
		return NO;
	rc = serve_was_in_vain(v, w);
	if (rc < 0)
		return FAILED;
	v->looked = rc == 0;
	rc = rc ? 0 : placement_make_room(room_placement(v->room), &rules, &k->shape, v->p->now, false,
		&v->choice);
	if (rc < 0)
		return serve_out_of_memory(v);
	v->tried += rc == 0;
	for (size_t i = 0; rc == 1 && i < v->choice.nvictims; i++)
		if (serve_tell_victim(v, v->choice.victims[i], w) < 0)
			return FAILED;
	return rc == 1 ? YES : NO;
}

/* It fits now: since when, as far as nodes are kept for it. */
static int64_t fits_since(const struct pass *p, const struct waiting *w)
{
	return p->guard.admission == w->admission.id && p->guard.at < p->now ? p->guard.at : p->now;
}

/* The first gang that waited long keeps its nodes: those that it is promised, now or once who is told to go
 * is gone, or will get first. */
static enum served keep_nodes(struct serving *v, const struct kind *k, const struct waiting *w, bool fits,
	enum served got)
{
	const struct placement_rules rules = serve_rules(v);
	int64_t promised = got == NO ? 0 : fits ? fits_since(v->p, w) : v->p->now + v->p->b->settings->grace_s;
	int up;

	if (got == FAILED || !k->shape.cleared || v->p->next_guard.nodes[0] || (got == NO && !v->looked))
		return got;
	up = pass_guard_gives_up(v->p, w, fits, v->why);
	if (up != 0)
		return up < 0 ? FAILED : got;
	return pass_guard_choose(v->p, v->room, &rules, &k->shape, w, &v->choice, promised) < 0
		? serve_out_of_memory(v) : got;
}

/* Tasks of it that room is made for in this pass. */
static int64_t tasks_of(const struct waiting *w)
{
	int64_t tasks = w->loose < w->paid ? w->loose : w->paid;

	return w->front == ORDER_SLOT && w->first_tasks < tasks ? w->first_tasks : tasks;
}

static enum served serve(struct serving *v, struct kind *k)
{
	const struct waiting *w = k->jobs[k->served].data;
	int fits = placement_fits(room_placement(v->room), &k->shape, v->p->now, &v->choice);
	enum served got = fits < 0 ? serve_out_of_memory(v) : fits ? YES : make_room(v, k, w);

	got = keep_nodes(v, k, w, fits == 1, got);
	if (got != YES)
		return got;
	placement_promise(room_placement(v->room), v->choice.parts, v->choice.nparts);
	if (++k->tasks >= tasks_of(w)) {
		k->served++;
		k->tasks = 0;
	}
	return ranking_add_entry(v->ranking, w->admission.project, w->admission.uid, w->admission.per_task,
		v->why) < 0 ? FAILED : YES;
}

/* --- all ---------------------------------------------------------------------------------------- */

/* From the front again after each that was served: what it is promised has changed the order. */
static int serve_all(struct serving *v)
{
	ssize_t n = heads(v), i = 0;

	for (int served = 0; n >= 0 && i < n && served < SERVED_MAX; ) {
		struct kind *k = v->heads[i].data;
		enum served got = k->het_job ? serve_het(v, k) : serve(v, k);

		if (got == FAILED)
			return -1;
		served += got == YES;
		k->given_up = got == NO;
		i++;
		if (got == YES) {
			n = heads(v);
			i = 0;
		}
	}
	return n < 0 ? fault_errno(v->why, ENOMEM, "out of memory") : 0;
}

int pass_make_room(struct pass *p, struct fault *why)
{
	struct serving v = { .p = p, .grace_s = p->b->settings->grace_s, .why = why };
	int rc;

	if (p->b->settings->displace == DISPLACE_OFF)
		return 0;
	if (!pass_ranking(p, why) || room_new(p, p->ranking, &v.room, why) < 0)
		return -1;
	v.ranking = p->ranking;
	rc = collect(&v) < 0 ? fault_errno(why, ENOMEM, "out of memory") : serve_all(&v);
	rc = rc < 0 ? -1 : pass_guard_note(p, why);
	p->names_left_out = room_names_left_out(v.room);
	placement_choice_free(&v.choice);
	room_free(v.room);
	free(v.jobs);
	free(v.kinds);
	free(v.heads);
	return rc;
}
