/* SPDX-License-Identifier: GPL-2.0-or-later
 * placement_room.c - who gives way, and when there will be room.
 *
 * Room is made by adding what candidates hold, the first to go first, until the job fits on some nodes; then
 * the nodes are chosen, and candidates are put back from the last to the first as long as it still fits
 * there. So the set is minimal, and it holds the ones that the rule names first. Runs on several nodes give
 * all their GPUs at once. */
#include "lib/placement_inside.h"
#include <stdlib.h>
#include <string.h>

/* --- who gives way ------------------------------------------------------------------------------------- */

/* Before the first may_displace() of a job. */
static void forget_beaten(struct placement *p)
{
	if (p->projects)
		memset(p->beaten, -1, p->projects);
}

bool placement_may_displace(const struct placement_rules *rules, const struct placement_job *job,
	const struct placement_run *r)
{
	if (r->project == job->project && (job->front == ORDER_LANE || job->cleared))
		return true;
	if (r->project != job->project && job->front == ORDER_SLOT && !r->slot)
		return true;
	return fairshare_beats(rules->funded, placement_node_of(job->project, job->user),
		placement_node_of(r->project, r->user), rules->h_ppm);
}

/* The same: what holds for one run of another project, or of another user of this one, holds for all of
 * them. */
static bool may_displace(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *job, const struct placement_run *r)
{
	signed char *beaten = &p->beaten[placement_node_of(r->project, r->user)];

	if (r->project == job->project || (job->front == ORDER_SLOT && !r->slot))
		return placement_may_displace(rules, job, r);
	if (*beaten < 0)
		*beaten = placement_may_displace(rules, job, r);
	return *beaten;
}

static bool is_free(const struct placement_run *r)
{
	return r->free || r->lost_protection;
}

static bool may_go_now(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *job, const struct run *x, int64_t now, bool free_only)
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

	return (struct candidate){.run = run,
		.free = free,
		.rank = f ? fairshare_rank(f, placement_node_of(x->in.project, x->in.user)) : 0,
		.gpus = x->gpus,
		.start = x->in.start};
}

/* What a run holds counts (sign 1), or no longer (-1). */
static void gain(struct question *q, const struct run *x, int sign)
{
	for (size_t i = 0; i < x->in.nparts; i++) {
		struct node *n = &q->p->nodes[x->in.parts[i].node];

		question_count(q, n, -1);
		n->gain += sign * x->in.parts[i].gpus;
		question_count(q, n, 1);
	}
}

/* Is there still enough for the job when this one stays? */
static bool not_needed(const struct question *q, const struct run *x)
{
	for (size_t i = 0; i < x->in.nparts; i++) {
		uint32_t node = x->in.parts[i].node;

		if (q->p->need[node] &&
			question_has(q, &q->p->nodes[node]) - x->in.parts[i].gpus < q->p->need[node])
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

/* The first `n` candidates give their GPUs, which is enough: those that are not needed are put back. No gain
 * is left. */
static int settle(
	struct question *q, const struct candidate *candidates, size_t n, struct placement_choice *c)
{
	int rv = question_choose(q, c);

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
	question_forget(q->p, c);
	return rv < 0 ? -1 : 1;
}

/* Candidates are in their order: take as many as it needs. */
static int make_it_fit(struct question *q, const struct candidate *candidates, size_t n,
	struct placement_choice *c, size_t *used)
{
	size_t i = 0;

	while (!question_fits(q) && i < n)
		gain(q, &q->p->runs[candidates[i++].run], 1);
	*used = i;
	if (question_fits(q))
		return settle(q, candidates, i, c);
	for (size_t k = 0; k < q->p->nnodes; k++)
		q->p->nodes[k].gain = 0;
	return 0;
}

int placement_make_room(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *job, int64_t now, bool free_only, struct placement_choice *choice)
{
	struct question q = question_ask(p, job, now, false);
	int64_t there = 0;
	size_t n = 0, used;

	forget_beaten(p);
	for (size_t i = 0; i < p->nnodes; i++)
		there += question_may_use(&q, &p->nodes[i]) && question_has(&q, &p->nodes[i]) > 0
				 ? question_has(&q, &p->nodes[i])
				 : 0;
	for (uint32_t i = 0; !question_fits(&q) && job->front != ORDER_FREE && i < p->nruns; i++)
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

/* --- when it will fit ---------------------------------------------------------------------------------- */

static int by_when(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->when != y->when)
		return x->when < y->when ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

static bool will_go(struct placement *p, const struct placement_rules *rules, const struct placement_job *job,
	const struct run *x)
{
	if (!x->there || x->leaving || x->in.safe_until == PLACEMENT_NEVER)
		return false;
	return !rules || (!x->in.still && (is_free(&x->in) || may_displace(p, rules, job, &x->in)));
}

int placement_forecast(struct placement *p, const struct placement_rules *rules,
	const struct placement_job *job, int64_t now, struct placement_choice *choice, int64_t *at)
{
	struct question q = question_ask(p, job, now, false);
	size_t n = 0, used = 0;
	int rv;

	forget_beaten(p);
	for (uint32_t i = 0; i < p->nruns; i++) {
		const struct run *x = &p->runs[i];
		int64_t when = rules && is_free(&x->in) ? now : x->in.safe_until;

		if (will_go(p, rules, job, x))
			p->candidates[n++] = (struct candidate){.run = i, .when = when > now ? when : now};
	}
	if (n)
		qsort(p->candidates, n, sizeof(*p->candidates), by_when);
	rv = make_it_fit(&q, p->candidates, n, choice, &used);
	if (rv == 1)
		*at = used ? p->candidates[used - 1].when : now;
	return rv;
}
