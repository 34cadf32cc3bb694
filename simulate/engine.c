/* SPDX-License-Identifier: GPL-2.0-or-later
 * engine.c - the loop over events, and what is counted while time goes on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "simulate/state.h"

#define DAY             86400
#define FAIRTREE_PASS_S 300 /* PriorityCalcPeriod */

const char *const sim_scheduler_name[SIM_SCHEDULERS] = {
	[SIM_CONTRACT] = "contract",
	[SIM_PRIORITY] = "priority",
	[SIM_FIFO] = "fifo",
	[SIM_FAIRTREE] = "fairtree",
};

struct sim_setup sim_defaults(void)
{
	return (struct sim_setup){.nodes = 16,
		.gpus_per_node = 8,
		.seed = 1,
		.pass_s = 30,
		.grace_s = 120,
		.kept_out_s = 31,
		.window_s = 7 * DAY,
		.guard_after_s = PLACEMENT_CLEARED_AFTER_S,
		.h_ppm = FAIRSHARE_H_PPM,
		.most = PLACEMENT_KINDS_TRIED,
		.lane = lane_defaults(),
		.until = SIM_UNTIL_AUTO};
}

/* --- beginning and end ------------------------------------------------------------------------------ */

static int check(const struct sim_setup *s, struct fault *why)
{
	if (s->nodes < 1 || s->gpus_per_node < 1 || (int64_t)s->nodes * s->gpus_per_node > 1000000)
		return fault_errno(why, EINVAL, "a cluster has 1 to 1,000,000 GPUs");
	if (s->pass_s < 1 || s->grace_s < 0 || s->kept_out_s < 0)
		return fault_errno(why, EINVAL, "a pass takes a second at least");
	return 0;
}

/* A share of 0, its own or of one above it. */
static bool is_without_share(const struct shares *s, int node)
{
	while (node != FAIRSHARE_NO_PARENT && s->nodes[node].share > 0)
		node = s->nodes[node].parent;
	return node != FAIRSHARE_NO_PARENT;
}

/* Over as few nodes as hold it. */
static void job_init(struct engine *e, uint32_t i)
{
	const struct sim_setup *s = e->s;
	const struct trace_job *t = &s->trace->jobs[i];
	struct job *j = &e->jobs[i];
	uint64_t dice = trace_random(s->seed, t->project);

	*j = (struct job){.nodes = (uint32_t)((t->gpus - 1) / s->gpus_per_node + 1),
		.left_s = t->duration_s,
		.next = NOBODY};
	j->free = t->min_runtime_s == 0 || is_without_share(s->shares, s->shares->leaf[t->project]);
	if (s->scheduler == SIM_PRIORITY) /* the project's habit: always, every other job, never */
		j->level = dice % 3 == 0 ? 0 : dice % 3 == 1 ? trace_random(s->seed + 1, i) % 2 : 1;
	e->out->jobs[i] = (struct sim_job){.first_start = -1,
		.end = -1,
		.lane = !j->free && lane_takes(&s->lane, t->gpus, t->min_runtime_s, t->limit_s),
		.too_large = t->gpus > e->gpus};
	if (s->scheduler != SIM_CONTRACT && e->out->jobs[i].lane)
		e->out->jobs[i].lane = false;
}

static int placement_init(struct engine *e)
{
	struct placement_node *nodes = calloc((size_t)e->s->nodes, sizeof(*nodes));

	for (int i = 0; nodes && i < e->s->nodes; i++)
		nodes[i] = (struct placement_node){.gpus = e->s->gpus_per_node};
	if (nodes)
		e->placement = placement_new(nodes, (size_t)e->s->nodes);
	free(nodes);
	return e->placement ? 0 : -1;
}

static int allocate(struct engine *e)
{
	const struct trace *t = e->s->trace;

	e->out->jobs = calloc(t->count, sizeof(*e->out->jobs));
	e->out->projects = calloc(e->nprojects, sizeof(*e->out->projects));
	e->jobs = calloc(t->count, sizeof(*e->jobs));
	e->projects = calloc(e->nprojects, sizeof(*e->projects));
	e->users = calloc(t->users.count, sizeof(*e->users));
	e->nodes = calloc(e->s->shares->count, sizeof(*e->nodes));
	e->promised_before = calloc((size_t)e->s->nodes, sizeof(*e->promised_before));
	e->funded_window = window_new(e->nprojects, e->s->window_s, e->now);
	e->free_window = window_new(e->nprojects, e->s->window_s, e->now);
	if (e->s->picture)
		e->gpu_owner = calloc((size_t)e->gpus, sizeof(*e->gpu_owner));
	if (!e->out->jobs || !e->out->projects || !e->jobs || !e->projects || !e->users || !e->nodes ||
		!e->promised_before || !e->funded_window || !e->free_window ||
		(e->s->picture && !e->gpu_owner))
		return -1;
	return placement_init(e) < 0 ? -1 : queue_start(&e->queue, e->nprojects);
}

static int engine_start(struct engine *e)
{
	const struct trace *t = e->s->trace;

	e->nprojects = t->projects.count;
	e->gpus = (int64_t)e->s->nodes * e->s->gpus_per_node;
	e->now = e->out->from = t->jobs[0].submit_s;
	if (allocate(e) < 0)
		return -1;
	for (size_t i = 0; i < e->nprojects; i++) {
		const int leaf = e->s->shares->leaf[i], *divided = e->s->shares->divided;

		e->projects[i] = (struct project){.leaf = leaf, .settled = e->now, .reach_ranks = -1,
			.of = (uint32_t)(divided ? divided[i] : leaf),
			.user = divided ? (uint32_t)leaf + 1 : 0};
	}
	for (size_t i = 0; i < t->users.count; i++)
		e->users[i].lane_job = NOBODY;
	for (int64_t i = 0; e->gpu_owner && i < e->gpus; i++)
		e->gpu_owner[i] = NOBODY;
	for (uint32_t i = 0; i < t->count; i++)
		job_init(e, i);
	e->left = (int64_t)t->count;
	return 0;
}

static void engine_end(struct engine *e)
{
	int saved = errno;

	for (size_t i = 0; e->jobs && i < e->s->trace->count; i++)
		free(e->jobs[i].parts);
	placement_free(e->placement);
	placement_choice_free(&e->choice);
	queue_end(&e->queue);
	events_free(&e->events);
	window_free(e->funded_window);
	window_free(e->free_window);
	fairshare_free(e->funded);
	fairshare_free(e->free);
	free(e->jobs);
	free(e->projects);
	free(e->users);
	free(e->nodes);
	free(e->heads);
	free(e->promised);
	free(e->promised_before);
	free(e->run_job);
	free(e->gpu_owner);
	errno = saved;
}

void sim_result_free(struct sim_result *r)
{
	free(r->jobs);
	free(r->projects);
	free(r->segments);
	*r = (struct sim_result){0};
}

/* --- events ----------------------------------------------------------------------------------------- */

static void minimum_ends(struct engine *e, uint32_t job)
{
	const struct trace_job *t = &e->s->trace->jobs[job];
	struct project *p = &e->projects[t->project];

	e->jobs[job].movable = true;
	p->inside_gpus -= t->gpus;
	p->inside_until -= t->gpus * (e->jobs[job].since + t->min_runtime_s);
	p->movable_gpus += t->gpus;
}

static int job_end(struct engine *e, uint32_t job)
{
	e->out->jobs[job].end = e->now;
	if (job_stop(e, job) < 0)
		return -1;
	e->jobs[job].state = JOB_OVER;
	e->left--;
	return 0;
}

static int happen(struct engine *e, const struct event *ev)
{
	const struct job *j = &e->jobs[ev->job];
	enum job_state wanted = ev->kind == EVENT_BACK ? JOB_AWAY : JOB_RUNNING;

	if (j->number != ev->run || j->state != wanted)
		return 0; /* of a run that is over */
	switch (ev->kind) {
	case EVENT_END:
		return job_end(e, ev->job);
	case EVENT_LEAVE:
		return job_displace(e, ev->job);
	case EVENT_MINIMUM:
		minimum_ends(e, ev->job);
		return 0;
	case EVENT_BACK:
		return queue_push(e, ev->job);
	}
	return 0;
}

static int submit(struct engine *e, uint32_t job)
{
	if (e->out->jobs[job].too_large) {
		e->jobs[job].state = JOB_OVER;
		e->out->too_large++;
		e->left--;
		return 0;
	}
	e->waiting_gpus += e->s->trace->jobs[job].gpus;
	return queue_push(e, job);
}

/* --- time ------------------------------------------------------------------------------------------- */

static void move_to(struct engine *e, int64_t t)
{
	int64_t lasted = t - e->now, asked = e->running_gpus + e->waiting_gpus;

	e->out->used_gpu_s += e->running_gpus * lasted;
	e->out->usable_gpu_s += (asked < e->gpus ? asked : e->gpus) * lasted;
	e->now = t;
}

static int64_t pass_step(const struct engine *e)
{
	return e->s->scheduler == SIM_FAIRTREE ? FAIRTREE_PASS_S : e->s->pass_s;
}

/* Passes are at whole multiples of their interval, while somebody waits. */
static int64_t next_pass(const struct engine *e)
{
	int64_t step = pass_step(e);

	return e->queue.jobs && (e->s->scheduler == SIM_CONTRACT || e->s->scheduler == SIM_FAIRTREE)
		? (e->now / step + 1) * step : INT64_MAX;
}

static int pass(struct engine *e, struct fault *why)
{
	e->out->passes++;
	return ranks_make(e, why) < 0 ? -1 : queue_serve(e, true, why);
}

/* All that happens at one moment. `next`: of the trace. */
static int moment(struct engine *e, size_t *next)
{
	const struct trace *t = e->s->trace;

	while (events_next(&e->events) && events_next(&e->events)->at <= e->now) {
		struct event ev = events_take(&e->events);

		if (happen(e, &ev) < 0)
			return -1;
	}
	for (; *next < t->count && t->jobs[*next].submit_s <= e->now; ++*next)
		if (submit(e, (uint32_t)*next) < 0)
			return -1;
	return promises_keep(e);
}

static bool stops_here(const struct engine *e, size_t next)
{
	bool last = next == e->s->trace->count;

	if (e->s->until != SIM_UNTIL_AUTO)
		return e->now >= e->s->until;
	return last && (!e->left || (e->queue.jobs && e->now - e->out->from >= DAY &&
					    e->now == e->s->trace->jobs[next - 1].submit_s));
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int loop(struct engine *e, struct fault *why)
{
	const struct trace *t = e->s->trace;
	int64_t until = e->s->until == SIM_UNTIL_AUTO ? INT64_MAX : e->s->until;
	size_t next = 0;

	if (ranks_make(e, why) < 0)
		return -1;
	while (moment(e, &next) == 0) {
		bool due = e->now % pass_step(e) == 0;

		if ((due ? pass(e, why) : queue_serve(e, false, why)) < 0)
			return -1;
		if (stops_here(e, next))
			return 0;
		int64_t at = earlier(next_pass(e), next < t->count ? t->jobs[next].submit_s : INT64_MAX);

		at = earlier(at, events_next(&e->events) ? events_next(&e->events)->at : INT64_MAX);
		move_to(e, earlier(at, until));
	}
	return -1;
}

/* Runs that go on where the figures stop count up to there. */
static int finish(struct engine *e)
{
	e->out->until = e->now;
	for (uint32_t i = 0; i < e->s->trace->count; i++) {
		int64_t displaced = (int64_t)e->out->jobs[i].runs - 1;

		if (displaced > e->out->most_displaced)
			e->out->most_displaced = displaced;
		if (e->jobs[i].state == JOB_RUNNING && job_stop(e, i) < 0)
			return -1;
	}
	return 0;
}

int sim_run(const struct sim_setup *s, struct sim_result *out, struct fault *why)
{
	struct engine e = {.s = s, .out = out};
	int rv;

	*out = (struct sim_result){0};
	if (check(s, why) < 0)
		return -1;
	rv = engine_start(&e) < 0 || loop(&e, why) < 0 || finish(&e) < 0 ? -1 : 0;
	engine_end(&e);
	if (rv < 0) {
		sim_result_free(out);
		return fault_set(why, "%s", strerror(errno ? errno : ENOMEM));
	}
	return 0;
}
