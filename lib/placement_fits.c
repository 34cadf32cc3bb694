/* SPDX-License-Identifier: GPL-2.0-or-later
 * placement_fits.c - does a job fit, and on which nodes. */
#include "lib/placement_inside.h"
#include <assert.h>
#include <stdlib.h>

bool question_may_use(const struct question *q, const struct node *n)
{
	if (!n->in.gpus || (q->job->kinds && !q->job->kinds[n->in.kind]) || (q->job->kept_only && !n->kept) ||
		(q->job->may_use && !q->job->may_use[n - q->p->nodes]))
		return false;
	return q->job->cleared || n->guard_at == PLACEMENT_NEVER || q->now + q->job->keeps_s <= n->guard_at;
}

int32_t question_has(const struct question *q, const struct node *n)
{
	return n->idle + (q->now_only ? 0 : n->coming + n->gain);
}

void question_count(struct question *q, const struct node *n, int sign)
{
	if (!question_may_use(q, n))
		return;
	q->with_more += question_has(q, n) >= q->more ? (size_t)sign : 0;
	q->with_less += question_has(q, n) >= q->less ? (size_t)sign : 0;
}

struct question question_ask(struct placement *p, const struct placement_job *job, int64_t now, bool now_only)
{
	struct question q = {.p = p, .job = job, .now = now, .now_only = now_only};

	assert(job->nodes > 0 && job->gpus >= (int32_t)job->nodes);
	q.less = job->gpus / (int32_t)job->nodes;
	q.more_nodes = (uint32_t)job->gpus % job->nodes;
	q.more = q.less + (q.more_nodes > 0);
	for (size_t i = 0; i < p->nnodes; i++)
		question_count(&q, &p->nodes[i], 1);
	return q;
}

bool question_fits(const struct question *q)
{
	return q->with_more >= (q->more_nodes ? q->more_nodes : q->job->nodes) &&
	       q->with_less >= q->job->nodes;
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
	if (question_has(q, x) != question_has(q, y))
		return question_has(q, x) < question_has(q, y) ? -1 : 1;
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
static void take_nodes(
	const struct question *q, size_t n, uint32_t most, int32_t gpus, struct placement_choice *c)
{
	for (size_t i = 0; i < n && most > 0; i++) {
		uint32_t node = q->p->sorted[i];

		if (q->p->need[node] || question_has(q, &q->p->nodes[node]) < gpus)
			continue;
		q->p->need[node] = gpus;
		c->parts[c->nparts++] = (struct placement_part){node, gpus};
		most--;
	}
}

/* The job fits: which nodes. need[] is set of them. */
int question_choose(struct question *q, struct placement_choice *c)
{
	struct placement *p = q->p;
	size_t n = 0;

	c->nparts = c->nvictims = 0;
	if (parts_room(c, q->job->nodes) < 0)
		return -1;
	for (uint32_t i = 0; i < p->nnodes; i++)
		if (question_may_use(q, &p->nodes[i]) && question_has(q, &p->nodes[i]) >= q->less)
			p->sorted[n++] = i;
	qsort_r(p->sorted, n, sizeof(*p->sorted), by_room, q);
	take_nodes(q, n, q->more_nodes, q->more, c);
	take_nodes(q, n, q->job->nodes - q->more_nodes, q->less, c);
	assert(c->nparts == q->job->nodes);
	return 0;
}

void question_forget(struct placement *p, const struct placement_choice *c)
{
	for (size_t i = 0; i < c->nparts; i++)
		p->need[c->parts[i].node] = 0;
}

int placement_fits(
	struct placement *p, const struct placement_job *job, int64_t now, struct placement_choice *choice)
{
	struct question q = question_ask(p, job, now, true);

	if (!question_fits(&q))
		return 0;
	if (question_choose(&q, choice) < 0)
		return -1;
	question_forget(p, choice);
	return 1;
}
