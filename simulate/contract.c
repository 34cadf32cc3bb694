/* SPDX-License-Identifier: GPL-2.0-or-later
 * contract.c - the waiting jobs served in their order
 *
 * Between passes that is what Slurm does by itself: who fits starts, free runs give way. A pass makes room
 * for the first jobs that do not fit, and has nodes cleared for a gang that waits too long (doc/model.md, 6).
 * Without the contract: EASY backfill, one promise by time limits. */
#include <stdlib.h>
#include "simulate/state.h"

#define DAY    86400
#define DEEPER 20 /* jobs of a class that are looked at when the first would be in a gang's way */

enum served { FAILED = -1, NO, YES };

struct serving {
	struct engine *e;
	bool room; /* a pass */
	int tried; /* kinds of jobs that room was looked for */
	int64_t idle;
	bool guard_set;
};

static bool contract(const struct engine *e)
{
	return e->s->scheduler == SIM_CONTRACT;
}

struct placement_job job_shape(const struct engine *e, uint32_t job, bool lane)
{
	const struct trace_job *t = &e->s->trace->jobs[job];
	const struct job *j = &e->jobs[job];

	return (struct placement_job){.project = e->projects[t->project].of,
		.user = e->projects[t->project].user,
		.front = j->free ? ORDER_FREE
			 : lane  ? ORDER_LANE
				 : ORDER_BY_SHARE,
		.nodes = j->nodes,
		.gpus = t->gpus,
		.keeps_s = contract(e) ? t->min_runtime_s : t->limit_s};
}

/* --- order ------------------------------------------------------------------------------------------ */

static bool lane_open(const struct engine *e, uint32_t job)
{
	const struct trace_job *t = &e->s->trace->jobs[job];
	const struct user *u = &e->users[t->user];
	int64_t used = u->day == e->now - e->now % DAY ? u->used_gpu_s : 0;

	return e->out->jobs[job].lane && !e->jobs[job].free &&
	       lane_is_open(&e->s->lane, u->lane_job != NOBODY, used, t->gpus, t->min_runtime_s);
}

static struct order_job head_of(const struct engine *e, struct class *c)
{
	const struct project *p = &e->projects[c->project];
	uint32_t job = c->head;
	struct order_job o = {.submit = e->s->trace->jobs[job].submit_s,
		.job_id = job,
		.data = c,
		.turn_submit = e->s->trace->jobs[job].submit_s,
		.turn_job_id = job};

	o.front = c->free ? ORDER_FREE : lane_open(e, job) ? ORDER_LANE : ORDER_BY_SHARE;
	if (contract(e) || e->s->scheduler == SIM_FAIRTREE) {
		o.project = (uint32_t)p->leaf;
		o.project_rank = fairshare_rank(c->free ? e->free : e->funded, (size_t)p->leaf);
	} else if (e->s->scheduler == SIM_PRIORITY) {
		o.project = o.project_rank = c->level;
	}
	return o;
}

/* The first of each class that this serving has not given up, in the one order. Their number, or -1. */
static ssize_t heads_make(struct engine *e)
{
	size_t n = 0;

	if (e->heads_room < e->queue.count) {
		struct order_job *heads = reallocarray(e->heads, e->queue.room, sizeof(*heads));

		if (!heads)
			return -1;
		e->heads = heads;
		e->heads_room = e->queue.room;
	}
	for (size_t i = 0; i < e->queue.count; i++)
		if (e->queue.classes[i].head != NOBODY && e->queue.classes[i].given_up != e->servings)
			e->heads[n++] = head_of(e, &e->queue.classes[i]);
	return order_sort(e->heads, n) < 0 ? -1 : (ssize_t)n;
}

/* The class of heads[i] was served: its next job takes its position, or one further back. */
static size_t head_next(struct engine *e, size_t i, size_t n)
{
	struct class *c = e->heads[i].data;
	struct order_job next;

	if (c->head == NOBODY)
		return i + 1;
	next = head_of(e, c);
	for (; i + 1 < n && order_compare(&next, &e->heads[i + 1]) > 0; i++)
		e->heads[i] = e->heads[i + 1];
	e->heads[i] = next;
	return i;
}

/* --- one job ---------------------------------------------------------------------------------------- */

/* GPUs that a job of the project could get at most, so that most that cannot are not looked at further. */
static int64_t reach(struct engine *e, uint32_t project)
{
	struct project *p = &e->projects[project];

	if (p->reach_ranks == e->ranks_made)
		return p->reach + p->movable_gpus;
	p->reach = 0;
	for (size_t i = 0; i < e->nprojects; i++)
		if (i != project && e->projects[i].movable_gpus > 0 &&
			(p->of == e->projects[i].of ||
				fairshare_beats(e->funded, (size_t)p->leaf, (size_t)e->projects[i].leaf,
					e->s->h_ppm)))
			p->reach += e->projects[i].movable_gpus;
	p->reach_ranks = e->ranks_made;
	return p->reach + p->movable_gpus;
}

static enum served make_room(struct serving *v, uint32_t job, struct placement_job *shape)
{
	struct engine *e = v->e;
	const struct placement_rules rules = {e->funded, e->free, e->s->h_ppm};
	int rv;

	if (!contract(e) || e->jobs[job].free)
		return NO;
	if (v->room ? shape->gpus > e->gpus - e->running_gpus + e->free_movable + e->leaving_gpus +
					    reach(e, e->s->trace->jobs[job].project)
		    : !e->free_movable)
		return NO;
	rv = placement_make_room(e->placement, &rules, shape, e->now, !v->room, &e->choice);
	/* Slurm by itself waits for nobody */
	if (rv != 1 || (!v->room && !e->choice.nvictims))
		return rv < 0 ? FAILED : NO;
	if (job_promise(e, job, &e->choice, shape->front == ORDER_LANE) < 0)
		return FAILED;
	for (size_t i = 0; i < e->choice.nvictims; i++) {
		uint32_t victim = e->run_job[e->choice.victims[i]];

		if ((e->jobs[victim].free ? job_displace(e, victim) : job_tell_to_go(e, victim)) < 0)
			return FAILED;
	}
	v->idle = placement_idle_all(e->placement);
	return YES;
}

static enum served start_if_fits(struct serving *v, uint32_t job, const struct placement_job *shape)
{
	struct engine *e = v->e;
	int rv;

	if (shape->gpus > v->idle)
		return NO;
	rv = placement_fits(e->placement, shape, e->now, &e->choice);
	if (rv != 1)
		return rv < 0 ? FAILED : NO;
	if (job_start(e, job, e->choice.parts, e->choice.nparts, shape->front == ORDER_LANE) < 0)
		return FAILED;
	v->idle -= shape->gpus;
	return YES;
}

/* The first job that must wait has its nodes kept: in EASY any, with the contract a gang that waited long. */
static enum served guard(struct serving *v, uint32_t job, struct placement_job *shape)
{
	struct engine *e = v->e;
	const struct placement_rules rules = {e->funded, e->free, e->s->h_ppm};
	enum served got = NO;
	int64_t at;
	int rv;

	if (v->guard_set || (contract(e) && (!v->room || shape->nodes < 2 ||
						    e->now - e->jobs[job].since < e->s->guard_after_s)))
		return NO;
	shape->cleared = true;
	if (contract(e))
		got = make_room(v, job, shape);
	if (got != NO)
		return got;
	rv = placement_forecast(e->placement, contract(e) ? &rules : NULL, shape, e->now, &e->choice, &at);
	if (rv != 1)
		return rv < 0 ? FAILED : NO;
	placement_guard(e->placement, e->choice.parts, e->choice.nparts, at);
	v->guard_set = e->guarded = true;
	return NO;
}

static enum served serve(struct serving *v, uint32_t job, const struct order_job *o)
{
	struct placement_job shape = job_shape(v->e, job, o->front == ORDER_LANE);
	enum served got = start_if_fits(v, job, &shape);

	if (got != NO)
		return got;
	if (v->room && v->tried >= v->e->s->most)
		return NO;
	got = make_room(v, job, &shape);
	if (got == NO)
		got = guard(v, job, &shape);
	v->tried += got == NO;
	return got;
}

/* The first job of the class that can be served. Others than the first only when a gang's nodes are what it
 * lacks. */
static enum served class_serve(struct serving *v, const struct order_job *o)
{
	struct engine *e = v->e;
	struct class *c = o->data;
	uint32_t before = NOBODY, job = c->head;
	int64_t keeps = INT64_MAX;

	for (int i = 0; job != NOBODY && i < DEEPER; i++, before = job, job = e->jobs[job].next) {
		struct placement_job shape = job_shape(e, job, false);
		enum served got;

		if (i > 0 && (!e->guarded || shape.keeps_s >= keeps || shape.gpus > v->idle))
			continue;
		keeps = shape.keeps_s;
		got = i == 0 ? serve(v, job, o) : start_if_fits(v, job, &shape);
		if (got == NO)
			continue;
		/* its place in the list is as it was: nothing was put in */
		if (got == YES)
			queue_take(e, c, before, job);
		return got;
	}
	return NO;
}

/* A pass counts ratios anew after each job that it served, with the entry penalty of that one: a burst is
 * felt at once, and a project does not take more in one pass than puts it behind others. The position to go
 * on at, with *n of heads; or -1. */
static ssize_t served_next(struct serving *v, size_t i, ssize_t *n, struct fault *why)
{
	if (!v->room || !contract(v->e))
		return (ssize_t)head_next(v->e, i, (size_t)*n);
	if (ranks_make(v->e, why) < 0)
		return -1;
	*n = heads_make(v->e);
	return *n < 0 ? -1 : 0;
}

/* Nothing idle, and no room to be made: all others wait. */
static bool is_full(const struct serving *v)
{
	return !v->idle && (!v->room || v->tried >= v->e->s->most) && !(contract(v->e) && v->e->free_movable);
}

int queue_serve(struct engine *e, bool room, struct fault *why)
{
	struct serving v = {.e = e, .room = room, .idle = placement_idle_all(e->placement)};
	ssize_t n, i = 0;

	if (!e->queue.jobs || (!room && is_full(&v)))
		return 0;
	e->servings++;
	if (room || !contract(e)) {
		placement_lift_guards(e->placement);
		e->guarded = false;
	}
	n = heads_make(e);
	while (i >= 0 && i < n && !is_full(&v)) {
		struct class *c = e->heads[i].data;
		enum served got = class_serve(&v, &e->heads[i]);

		if (got == FAILED)
			return -1;
		if (got == NO)
			c->given_up = e->servings;
		i = got == YES ? served_next(&v, (size_t)i, &n, why) : i + 1;
	}
	return n < 0 || i < 0 ? -1 : promises_keep(e);
}
