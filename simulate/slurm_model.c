/* SPDX-License-Identifier: GPL-2.0-or-later
 * slurm_model.c - what Slurm does: jobs start, end, are displaced and requeued. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "simulate/state.h"

#define DAY 86400

static const struct trace_job *job_of(const struct engine *e, uint32_t job)
{
	return &e->s->trace->jobs[job];
}

/* --- the picture ------------------------------------------------------------------------------------ */

static int segment_add(struct engine *e, uint32_t gpu, uint32_t job)
{
	struct sim_result *r = e->out;

	if (r->nsegments == r->segments_room) {
		size_t room = r->segments_room ? 2 * r->segments_room : 1024;
		struct sim_segment *segments = reallocarray(r->segments, room, sizeof(*segments));

		if (!segments)
			return -1;
		r->segments = segments;
		r->segments_room = room;
	}
	r->segments[r->nsegments++] = (struct sim_segment){
		gpu, job_of(e, job)->project, e->jobs[job].free, e->jobs[job].since, e->now};
	return 0;
}

/* Which GPUs of its nodes: the first that nobody has. `from` NOBODY takes them, else they are given back. */
static int gpus_own(struct engine *e, uint32_t job, uint32_t from, uint32_t to)
{
	uint32_t per_node = (uint32_t)e->s->gpus_per_node;
	const struct job *j = &e->jobs[job];

	for (size_t i = 0; e->gpu_owner && i < j->nparts; i++) {
		int32_t left = j->parts[i].gpus;

		for (uint32_t g = j->parts[i].node * per_node; left > 0; g++) {
			assert(g < (j->parts[i].node + 1) * per_node);
			if (e->gpu_owner[g] != from)
				continue;
			e->gpu_owner[g] = to;
			left--;
			if (from != NOBODY && segment_add(e, g, job) < 0)
				return -1;
		}
	}
	return 0;
}

/* --- starts ----------------------------------------------------------------------------------------- */

static int run_add(struct engine *e, uint32_t job, int64_t safe_s)
{
	struct job *j = &e->jobs[job];
	const struct project *p = &e->projects[job_of(e, job)->project];
	const struct placement_run r = {.project = p->of,
		.user = p->user,
		.free = j->free,
		.start = e->now,
		.safe_until = e->now + safe_s,
		.parts = j->parts,
		.nparts = j->nparts};

	if (placement_add(e->placement, &r, &j->run) < 0)
		return -1;
	if (j->run >= e->run_job_room) {
		size_t room = 2 * (size_t)j->run + 64;
		uint32_t *run_job = reallocarray(e->run_job, room, sizeof(*run_job));

		if (!run_job)
			return -1;
		e->run_job = run_job;
		e->run_job_room = room;
	}
	e->run_job[j->run] = job;
	return 0;
}

/* The GPUs count for their project from now on (sign 1), or no longer. */
static void count(struct engine *e, uint32_t job, int sign)
{
	const struct trace_job *t = job_of(e, job);
	struct project *p = &e->projects[t->project];
	const struct job *j = &e->jobs[job];
	int64_t gpus = sign * t->gpus;

	project_settle(e, t->project);
	e->running_gpus += gpus;
	e->leaving_gpus += j->leaving ? gpus : 0;
	if (j->free) {
		p->free_gpus += gpus;
		e->free_movable += j->leaving ? 0 : gpus;
		return;
	}
	p->funded_gpus += gpus;
	if (j->movable) {
		p->movable_gpus += j->leaving ? 0 : gpus;
		return;
	}
	p->inside_gpus += gpus;
	p->inside_until += gpus * (j->since + t->min_runtime_s);
}

static int announce(struct engine *e, uint32_t job)
{
	const struct trace_job *t = job_of(e, job);
	const struct job *j = &e->jobs[job];

	if (!j->free && t->min_runtime_s < j->left_s &&
		events_add(&e->events, e->now + t->min_runtime_s, EVENT_MINIMUM, job, j->number) < 0)
		return -1;
	return events_add(&e->events, e->now + j->left_s, EVENT_END, job, j->number);
}

static int parts_keep(struct job *j, const struct placement_part *parts, size_t nparts)
{
	if (j->parts == parts)
		return 0;
	j->parts = calloc(nparts, sizeof(*parts));
	if (!j->parts)
		return -1;
	memcpy(j->parts, parts, nparts * sizeof(*parts));
	j->nparts = nparts;
	return 0;
}

int job_start(struct engine *e, uint32_t job, const struct placement_part *parts, size_t nparts, bool lane)
{
	const struct trace_job *t = job_of(e, job);
	struct sim_job *out = &e->out->jobs[job];
	struct job *j = &e->jobs[job];
	bool contract = e->s->scheduler == SIM_CONTRACT;

	if (parts_keep(j, parts, nparts) < 0 ||
		run_add(e, job, contract ? t->min_runtime_s : t->limit_s) < 0 ||
		gpus_own(e, job, NOBODY, job) < 0)
		return -1;
	j->state = JOB_RUNNING;
	j->since = e->now;
	j->leaving = j->movable = false;
	j->number++;
	j->in_lane = lane;
	if (lane)
		e->users[t->user].lane_job = job;
	count(e, job, 1);
	assert(e->running_gpus <= e->gpus);
	e->waiting_gpus -= t->gpus;
	if (out->first_start < 0)
		out->first_start = e->now;
	out->runs++;
	return announce(e, job);
}

int job_promise(struct engine *e, uint32_t job, const struct placement_choice *c, bool lane)
{
	struct job *j = &e->jobs[job];

	if (parts_keep(j, c->parts, c->nparts) < 0)
		return -1;
	if (e->npromised == e->promised_room) {
		size_t room = e->promised_room ? 2 * e->promised_room : 64;
		uint32_t *promised = reallocarray(e->promised, room, sizeof(*promised));

		if (!promised)
			return -1;
		e->promised = promised;
		e->promised_room = room;
	}
	e->promised[e->npromised++] = job;
	placement_promise(e->placement, j->parts, j->nparts);
	e->projects[job_of(e, job)->project].promised_gpu_s +=
		job_of(e, job)->gpus * job_of(e, job)->min_runtime_s;
	j->state = JOB_PROMISED;
	j->in_lane = lane;
	if (lane)
		e->users[job_of(e, job)->user].lane_job = job;
	return 0;
}

/* The GPUs are there, and nobody has them who was promised before. */
static bool promise_is_clear(const struct engine *e, const struct job *j)
{
	for (size_t i = 0; i < j->nparts; i++) {
		uint32_t node = j->parts[i].node;

		if (placement_unused(e->placement, node) - e->promised_before[node] < j->parts[i].gpus)
			return false;
	}
	return true;
}

static void promise_waits(struct engine *e, const struct job *j, int sign)
{
	for (size_t i = 0; i < j->nparts; i++)
		e->promised_before[j->parts[i].node] += sign * j->parts[i].gpus;
}

static int promise_keep(struct engine *e, uint32_t job)
{
	const struct trace_job *t = job_of(e, job);
	struct job *j = &e->jobs[job];

	placement_take_back(e->placement, j->parts, j->nparts);
	e->projects[t->project].promised_gpu_s -= t->gpus * t->min_runtime_s;
	return job_start(e, job, j->parts, j->nparts, j->in_lane);
}

int promises_keep(struct engine *e)
{
	size_t kept = 0;
	int rv = 0;

	for (size_t i = 0; i < e->npromised; i++) {
		struct job *j = &e->jobs[e->promised[i]];

		if (rv == 0 && promise_is_clear(e, j)) {
			rv = promise_keep(e, e->promised[i]);
		} else {
			promise_waits(e, j, 1);
			e->promised[kept++] = e->promised[i];
		}
	}
	e->npromised = kept;
	for (size_t i = 0; i < kept; i++)
		promise_waits(e, &e->jobs[e->promised[i]], -1);
	return rv;
}

/* --- ends ------------------------------------------------------------------------------------------- */

/* What the lane gave counts on the day on which the run ends, from that day's beginning. */
static void lane_settle(struct engine *e, uint32_t job)
{
	struct user *u = &e->users[job_of(e, job)->user];
	int64_t midnight = e->now - e->now % DAY, since = e->jobs[job].since;

	if (u->day != midnight)
		u->used_gpu_s = 0;
	u->day = midnight;
	u->used_gpu_s += (e->now - (since > midnight ? since : midnight)) * job_of(e, job)->gpus;
	u->lane_job = NOBODY;
}

int job_stop(struct engine *e, uint32_t job)
{
	struct job *j = &e->jobs[job];

	if (j->in_lane)
		lane_settle(e, job);
	count(e, job, -1);
	placement_remove(e->placement, j->run);
	if (gpus_own(e, job, job, NOBODY) < 0)
		return -1;
	free(j->parts);
	j->parts = NULL;
	j->nparts = 0;
	j->in_lane = false;
	return 0;
}

int job_tell_to_go(struct engine *e, uint32_t job)
{
	struct job *j = &e->jobs[job];

	count(e, job, -1);
	j->leaving = true;
	count(e, job, 1);
	placement_leave(e->placement, j->run);
	return events_add(&e->events, e->now + e->s->grace_s, EVENT_LEAVE, job, j->number);
}

/* What is kept of its work are whole multiples of its minimum runtime. */
int job_displace(struct engine *e, uint32_t job)
{
	const struct trace_job *t = job_of(e, job);
	struct sim_project *out = &e->out->projects[t->project];
	struct job *j = &e->jobs[job];
	int64_t step = t->min_runtime_s > 0 ? t->min_runtime_s : TRACE_MIN_RUNTIME_S,
		lasted = e->now - j->since;
	int64_t kept = t->resumable ? lasted / step * step : 0;

	assert(j->free || lasted >= t->min_runtime_s); /* nobody is displaced inside the minimum runtime */
	*(j->free ? &out->reclaimed : &out->displaced) += 1;
	out->lost_gpu_s += (lasted - kept) * t->gpus;
	if (job_stop(e, job) < 0)
		return -1;
	if (!t->resumable) {
		j->state = JOB_OVER;
		e->out->cancelled++;
		e->left--;
		return 0;
	}
	j->left_s -= kept;
	j->state = JOB_AWAY;
	e->waiting_gpus += t->gpus;
	return events_add(&e->events, e->now + e->s->kept_out_s, EVENT_BACK, job, j->number);
}
