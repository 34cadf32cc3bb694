/* SPDX-License-Identifier: GPL-2.0-or-later
 * placement.c - nodes, runs on them, and who gives way.
 *
 * Room is made by adding what candidates hold, the first to go first, until the job fits on some nodes; then the nodes are chosen, and
 * candidates are put back from the last to the first as long as it still fits there. So the set is minimal, and it holds the ones that
 * the rule names first. Runs on several nodes give all their GPUs at once. */
#include "lib/placement.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct run {
	struct placement_run in;	/* in.parts is this object's */
	int32_t gpus;
	bool there, leaving;
};

struct node {
	struct placement_node in;
	int32_t idle;			/* below 0: promised, and those who leave are still there */
	int32_t coming;			/* of runs that leave */
	int32_t gain;			/* while a choice is made: of candidates; 0 between calls */
	int64_t guard_at;		/* PLACEMENT_NEVER: no guard */
};

struct placement {
	struct node *nodes;
	size_t nnodes;
	struct run *runs;
	size_t nruns, runs_room;
	struct candidate *candidates;	/* scratch, runs_room of them */
	uint32_t *sorted;		/* scratch, nnodes of them */
	int32_t *need;			/* scratch by node: GPUs of the choice there, 0 between calls */
	signed char *beaten;		/* scratch by project: does the job that is asked for beat it? -1: not asked yet */
	size_t projects;		/* of all runs that there were: the largest, and one */
};

struct candidate {
	uint32_t run;
	bool free;
	uint32_t rank;
	int32_t gpus;
	int64_t start, when;
};

/* --- the object ------------------------------------------------------------------------------------------------------------------- */

struct placement *placement_new(const struct placement_node *nodes, size_t count)
{
	struct placement *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->nodes = calloc(count + 1, sizeof(*p->nodes));
	p->sorted = calloc(count + 1, sizeof(*p->sorted));
	p->need = calloc(count + 1, sizeof(*p->need));
	if (!p->nodes || !p->sorted || !p->need) {
		placement_free(p);
		return NULL;
	}
	p->nnodes = count;
	for (size_t i = 0; i < count; i++)
		p->nodes[i] = (struct node){ .in = nodes[i], .idle = nodes[i].gpus, .guard_at = PLACEMENT_NEVER };
	return p;
}

void placement_free(struct placement *p)
{
	int saved = errno;

	for (size_t i = 0; p && i < p->nruns; i++)
		free((void *)p->runs[i].in.parts);
	if (p) {
		free(p->nodes);
		free(p->runs);
		free(p->candidates);
		free(p->sorted);
		free(p->need);
		free(p->beaten);
	}
	free(p);
	errno = saved;
}

void placement_choice_free(struct placement_choice *c)
{
	free(c->parts);
	free(c->victims);
	*c = (struct placement_choice){0};
}

/* A slot for one more run; a place in the table that is not used, or one more. */
static ssize_t run_slot(struct placement *p)
{
	size_t room = p->runs_room ? 2 * p->runs_room : 64;
	struct run *runs;
	struct candidate *candidates;

	for (size_t i = 0; i < p->nruns; i++)
		if (!p->runs[i].there)
			return (ssize_t)i;
	if (p->nruns < p->runs_room)
		return (ssize_t)p->nruns++;
	candidates = reallocarray(p->candidates, room, sizeof(*candidates));
	if (!candidates)
		return -1;
	p->candidates = candidates;
	runs = reallocarray(p->runs, room, sizeof(*runs));
	if (!runs)
		return -1;
	p->runs = runs;
	memset(runs + p->runs_room, 0, (room - p->runs_room) * sizeof(*runs));
	p->runs_room = room;
	return (ssize_t)p->nruns++;
}

static int project_room(struct placement *p, uint32_t project)
{
	size_t room = (size_t)project + 64;
	signed char *beaten;

	if (project < p->projects)
		return 0;
	beaten = realloc(p->beaten, room);
	if (!beaten)
		return -1;
	p->beaten = beaten;
	p->projects = room;
	return 0;
}

static int check_parts(const struct placement *p, const struct placement_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (parts[i].node >= p->nnodes || parts[i].gpus < 0)
			n = 0;
	if (n)
		return 0;
	errno = EINVAL;
	return -1;
}

int placement_add(struct placement *p, const struct placement_run *r, uint32_t *run)
{
	struct placement_part *parts;
	ssize_t slot;
	struct run *x;

	if (check_parts(p, r->parts, r->nparts) < 0)
		return -1;
	parts = calloc(r->nparts, sizeof(*parts));
	slot = parts && project_room(p, r->project) == 0 ? run_slot(p) : -1;
	if (slot < 0) {
		free(parts);
		errno = ENOMEM;
		return -1;
	}
	memcpy(parts, r->parts, r->nparts * sizeof(*parts));
	x = &p->runs[slot];
	*x = (struct run){ .in = *r, .there = true };
	x->in.parts = parts;
	for (size_t i = 0; i < r->nparts; i++) {
		x->gpus += parts[i].gpus;
		p->nodes[parts[i].node].idle -= parts[i].gpus;
	}
	*run = (uint32_t)slot;
	return 0;
}

void placement_remove(struct placement *p, uint32_t run)
{
	struct run *x = &p->runs[run];

	assert(run < p->nruns && x->there);
	for (size_t i = 0; i < x->in.nparts; i++) {
		struct node *n = &p->nodes[x->in.parts[i].node];

		n->idle += x->in.parts[i].gpus;
		n->coming -= x->leaving ? x->in.parts[i].gpus : 0;
	}
	free((void *)x->in.parts);
	*x = (struct run){0};
}

void placement_leave(struct placement *p, uint32_t run)
{
	struct run *x = &p->runs[run];

	assert(run < p->nruns && x->there);
	if (x->leaving)
		return;
	x->leaving = true;
	for (size_t i = 0; i < x->in.nparts; i++)
		p->nodes[x->in.parts[i].node].coming += x->in.parts[i].gpus;
}

void placement_lose_protection(struct placement *p, uint32_t run)
{
	p->runs[run].in.lost_protection = true;
}

int32_t placement_idle(const struct placement *p, uint32_t node)
{
	return p->nodes[node].idle;
}

int64_t placement_idle_all(const struct placement *p)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->nnodes; i++)
		sum += p->nodes[i].idle > 0 ? p->nodes[i].idle : 0;
	return sum;
}

void placement_promise(struct placement *p, const struct placement_part *parts, size_t nparts)
{
	for (size_t i = 0; i < nparts; i++)
		p->nodes[parts[i].node].idle -= parts[i].gpus;
}

void placement_take_back(struct placement *p, const struct placement_part *parts, size_t nparts)
{
	for (size_t i = 0; i < nparts; i++)
		p->nodes[parts[i].node].idle += parts[i].gpus;
}

bool placement_is_clear(const struct placement *p, const struct placement_part *parts, size_t nparts)
{
	for (size_t i = 0; i < nparts; i++)
		if (p->nodes[parts[i].node].idle < 0)
			return false;
	return true;
}

void placement_guard(struct placement *p, const struct placement_part *parts, size_t nparts, int64_t at)
{
	for (size_t i = 0; i < nparts; i++)
		p->nodes[parts[i].node].guard_at = at;
}

void placement_lift_guards(struct placement *p)
{
	for (size_t i = 0; i < p->nnodes; i++)
		p->nodes[i].guard_at = PLACEMENT_NEVER;
}

/* --- what fits -------------------------------------------------------------------------------------------------------------------- */

/* One question. A node counts with what is idle, and, unless `now_only`, with what is on its way and the candidates' gain. */
struct question {
	struct placement *p;
	const struct placement_job *job;
	int64_t now;
	bool now_only;
	int32_t more, less;		/* GPUs of the first `more_nodes` nodes, and of the others */
	uint32_t more_nodes;
	size_t with_more, with_less;	/* nodes that have as many */
};

static bool usable(const struct question *q, const struct node *n)
{
	if (!n->in.gpus || !(n->in.kinds & q->job->kinds))
		return false;
	return q->job->cleared || n->guard_at == PLACEMENT_NEVER || q->now + q->job->keeps_s <= n->guard_at;
}

static int32_t has(const struct question *q, const struct node *n)
{
	return n->idle + (q->now_only ? 0 : n->coming + n->gain);
}

static void count_node(struct question *q, const struct node *n, int sign)
{
	if (!usable(q, n))
		return;
	q->with_more += has(q, n) >= q->more ? (size_t)sign : 0;
	q->with_less += has(q, n) >= q->less ? (size_t)sign : 0;
}

static struct question ask(struct placement *p, const struct placement_job *job, int64_t now, bool now_only)
{
	struct question q = { .p = p, .job = job, .now = now, .now_only = now_only };

	assert(job->nodes > 0 && job->gpus >= (int32_t)job->nodes);
	q.less = job->gpus / (int32_t)job->nodes;
	q.more_nodes = (uint32_t)job->gpus % job->nodes;
	q.more = q.less + (q.more_nodes > 0);
	for (size_t i = 0; i < p->nnodes; i++)
		count_node(&q, &p->nodes[i], 1);
	return q;
}

static bool fits(const struct question *q)
{
	return q->with_more >= (q->more_nodes ? q->more_nodes : q->job->nodes) && q->with_less >= q->job->nodes;
}

/* Where least must be moved first, then the fullest. */
static int by_room(const void *a, const void *b, void *context)
{
	const struct question *q = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct node *x = &q->p->nodes[i], *y = &q->p->nodes[j];
	int32_t sx = q->more - (x->idle + x->coming), sy = q->more - (y->idle + y->coming);

	sx = q->now_only || sx < 0 ? 0 : sx;
	sy = q->now_only || sy < 0 ? 0 : sy;
	if (sx != sy)
		return sx < sy ? -1 : 1;
	if (has(q, x) != has(q, y))
		return has(q, x) < has(q, y) ? -1 : 1;
	return (i > j) - (i < j);
}

static int parts_room(struct placement_choice *c, size_t n)
{
	struct placement_part *parts;

	if (n <= c->parts_room)
		return 0;
	parts = reallocarray(c->parts, n, sizeof(*parts));
	if (!parts)
		return -1;
	c->parts = parts;
	c->parts_room = n;
	return 0;
}

/* Up to `most` parts of `gpus` each, of nodes that have none yet. */
static void take_nodes(const struct question *q, size_t n, uint32_t most, int32_t gpus, struct placement_choice *c)
{
	for (size_t i = 0; i < n && most > 0; i++) {
		uint32_t node = q->p->sorted[i];

		if (q->p->need[node] || has(q, &q->p->nodes[node]) < gpus)
			continue;
		q->p->need[node] = gpus;
		c->parts[c->nparts++] = (struct placement_part){ node, gpus };
		most--;
	}
}

/* The job fits: which nodes. need[] is set of them. */
static int choose_nodes(struct question *q, struct placement_choice *c)
{
	struct placement *p = q->p;
	size_t n = 0;

	c->nparts = c->nvictims = 0;
	if (parts_room(c, q->job->nodes) < 0)
		return -1;
	for (uint32_t i = 0; i < p->nnodes; i++)
		if (usable(q, &p->nodes[i]) && has(q, &p->nodes[i]) >= q->less)
			p->sorted[n++] = i;
	qsort_r(p->sorted, n, sizeof(*p->sorted), by_room, q);
	take_nodes(q, n, q->more_nodes, q->more, c);
	take_nodes(q, n, q->job->nodes - q->more_nodes, q->less, c);
	assert(c->nparts == q->job->nodes);
	return 0;
}

static void forget_need(struct placement *p, const struct placement_choice *c)
{
	for (size_t i = 0; i < c->nparts; i++)
		p->need[c->parts[i].node] = 0;
}

int placement_fits(struct placement *p, const struct placement_job *job, int64_t now, struct placement_choice *choice)
{
	struct question q = ask(p, job, now, true);

	if (!fits(&q))
		return 0;
	if (choose_nodes(&q, choice) < 0)
		return -1;
	forget_need(p, choice);
	return 1;
}

/* --- who gives way ---------------------------------------------------------------------------------------------------------------- */

/* Before the first may_displace() of a job. */
static void forget_beaten(struct placement *p)
{
	if (p->projects)
		memset(p->beaten, -1, p->projects);
}

/* Whatever its safe time. */
static bool may_displace(struct placement *p, const struct placement_rules *rules, const struct placement_job *job,
	const struct placement_run *r)
{
	signed char *beaten = &p->beaten[r->project];

	if (r->project == job->project)
		return job->front == ORDER_LANE || job->cleared;
	if (job->front == ORDER_SLOT && !r->slot)
		return true;
	if (*beaten < 0)
		*beaten = fairshare_beats(rules->funded, job->project, r->project, rules->h_ppm);
	return *beaten;
}

static bool is_free(const struct placement_run *r)
{
	return r->free || r->lost_protection;
}

static bool may_go_now(struct placement *p, const struct placement_rules *rules, const struct placement_job *job, const struct run *x,
	int64_t now, bool free_only)
{
	if (!x->there || x->leaving || x->in.still)
		return false;
	if (is_free(&x->in))
		return true;
	return !free_only && x->in.safe_until <= now && may_displace(p, rules, job, &x->in);
}

static int by_rule(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->free != y->free)
		return x->free ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->gpus != y->gpus)
		return x->gpus < y->gpus ? -1 : 1;
	if (x->start != y->start)
		return x->start > y->start ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

static struct candidate candidate_of(const struct placement_rules *rules, const struct run *x, uint32_t run)
{
	bool free = is_free(&x->in);
	const struct fairshare *f = free ? rules->free : rules->funded;

	return (struct candidate){ .run = run, .free = free, .rank = f ? fairshare_rank(f, x->in.project) : 0, .gpus = x->gpus,
		.start = x->in.start };
}

/* What a run holds counts (sign 1), or no longer (-1). */
static void gain(struct question *q, const struct run *x, int sign)
{
	for (size_t i = 0; i < x->in.nparts; i++) {
		struct node *n = &q->p->nodes[x->in.parts[i].node];

		count_node(q, n, -1);
		n->gain += sign * x->in.parts[i].gpus;
		count_node(q, n, 1);
	}
}

/* Is there still enough for the job when this one stays? */
static bool not_needed(const struct question *q, const struct run *x)
{
	for (size_t i = 0; i < x->in.nparts; i++) {
		uint32_t node = x->in.parts[i].node;

		if (q->p->need[node] && has(q, &q->p->nodes[node]) - x->in.parts[i].gpus < q->p->need[node])
			return false;
	}
	return true;
}

static int victim_push(struct placement_choice *c, uint32_t run)
{
	if (c->nvictims == c->victims_room) {
		size_t room = c->victims_room ? 2 * c->victims_room : 16;
		uint32_t *victims = reallocarray(c->victims, room, sizeof(*victims));

		if (!victims)
			return -1;
		c->victims = victims;
		c->victims_room = room;
	}
	c->victims[c->nvictims++] = run;
	return 0;
}

/* The first `n` candidates give their GPUs, which is enough: those that are not needed are put back. No gain is left. */
static int settle(struct question *q, const struct candidate *candidates, size_t n, struct placement_choice *c)
{
	int rv = choose_nodes(q, c);

	for (size_t i = n; rv == 0 && i-- > 0;) {
		const struct run *x = &q->p->runs[candidates[i].run];

		if (not_needed(q, x))
			gain(q, x, -1);
		else
			rv = victim_push(c, candidates[i].run);
	}
	for (size_t i = 0; i < q->p->nnodes; i++)
		q->p->nodes[i].gain = 0;
	for (size_t i = 0; rv == 0 && i < c->nvictims / 2; i++) {
		uint32_t swap = c->victims[i];

		c->victims[i] = c->victims[c->nvictims - 1 - i];
		c->victims[c->nvictims - 1 - i] = swap;
	}
	forget_need(q->p, c);
	return rv < 0 ? -1 : 1;
}

/* Candidates are in their order: take as many as it needs. */
static int make_it_fit(struct question *q, const struct candidate *candidates, size_t n, struct placement_choice *c, size_t *used)
{
	size_t i = 0;

	while (!fits(q) && i < n)
		gain(q, &q->p->runs[candidates[i++].run], 1);
	*used = i;
	if (fits(q))
		return settle(q, candidates, i, c);
	for (size_t k = 0; k < q->p->nnodes; k++)
		q->p->nodes[k].gain = 0;
	return 0;
}

int placement_make_room(struct placement *p, const struct placement_rules *rules, const struct placement_job *job, int64_t now, bool free_only,
	struct placement_choice *choice)
{
	struct question q = ask(p, job, now, false);
	int64_t there = 0;
	size_t n = 0, used;

	forget_beaten(p);
	for (size_t i = 0; i < p->nnodes; i++)
		there += usable(&q, &p->nodes[i]) && has(&q, &p->nodes[i]) > 0 ? has(&q, &p->nodes[i]) : 0;
	for (uint32_t i = 0; !fits(&q) && job->front != ORDER_FREE && i < p->nruns; i++)
		if (may_go_now(p, rules, job, &p->runs[i], now, free_only)) {
			p->candidates[n++] = candidate_of(rules, &p->runs[i], i);
			there += p->runs[i].gpus;
		}
	if (there < job->gpus)
		return 0;
	if (n)
		qsort(p->candidates, n, sizeof(*p->candidates), by_rule);
	return make_it_fit(&q, p->candidates, n, choice, &used);
}

/* --- when it will fit ------------------------------------------------------------------------------------------------------------- */

static int by_when(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

static bool will_go(struct placement *p, const struct placement_rules *rules, const struct placement_job *job, const struct run *x)
{
	if (!x->there || x->leaving || x->in.safe_until == PLACEMENT_NEVER)
		return false;
	return !rules || (!x->in.still && (is_free(&x->in) || may_displace(p, rules, job, &x->in)));
}

int placement_forecast(struct placement *p, const struct placement_rules *rules, const struct placement_job *job, int64_t now,
	struct placement_choice *choice, int64_t *at)
{
	struct question q = ask(p, job, now, false);
	size_t n = 0, used = 0;
	int rv;

	forget_beaten(p);
	for (uint32_t i = 0; i < p->nruns; i++) {
		const struct run *x = &p->runs[i];
		int64_t when = rules && is_free(&x->in) ? now : x->in.safe_until;

		if (will_go(p, rules, job, x))
			p->candidates[n++] = (struct candidate){ .run = i, .when = when > now ? when : now };
	}
	if (n)
		qsort(p->candidates, n, sizeof(*p->candidates), by_when);
	rv = make_it_fit(&q, p->candidates, n, choice, &used);
	if (rv == 1)
		*at = used ? p->candidates[used - 1].when : now;
	return rv;
}
