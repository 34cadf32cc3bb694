/* SPDX-License-Identifier: GPL-2.0-or-later
 * queue.c - waiting jobs, those that are alike together
 *
 * Ten thousand jobs wait, but they are of a few dozen kinds: when the first of a kind does not fit, none of
 * the others does. The number of a job is its position by submission, so a class is sorted by it. */
#include <stdlib.h>
#include "simulate/state.h"

int queue_start(struct queue *q, size_t projects)
{
	*q = (struct queue){.first = calloc(projects + 1, sizeof(*q->first))};
	for (size_t i = 0; q->first && i < projects; i++)
		q->first[i] = NOBODY;
	return q->first ? 0 : -1;
}

void queue_end(struct queue *q)
{
	free(q->classes);
	free(q->first);
	*q = (struct queue){0};
}

static bool is_of(const struct class *c, const struct class *of)
{
	return c->gpus == of->gpus && c->free == of->free && c->lane == of->lane && c->user == of->user &&
	       c->level == of->level;
}

static struct class *class_find(struct engine *e, const struct class *of)
{
	struct queue *q = &e->queue;

	for (uint32_t i = q->first[of->project]; i != NOBODY; i = q->classes[i].next)
		if (is_of(&q->classes[i], of))
			return &q->classes[i];
	if (q->count == q->room) {
		size_t room = q->room ? 2 * q->room : 64;
		struct class *classes = reallocarray(q->classes, room, sizeof(*classes));

		if (!classes)
			return NULL;
		q->classes = classes;
		q->room = room;
	}
	q->classes[q->count] = *of;
	q->classes[q->count].head = q->classes[q->count].tail = NOBODY;
	q->classes[q->count].next = q->first[of->project];
	q->first[of->project] = (uint32_t)q->count;
	return &q->classes[q->count++];
}

/* One that comes back stands where it stood: it keeps its submit time. */
static void insert(struct engine *e, struct class *c, uint32_t job)
{
	uint32_t *at = &c->head;

	if (c->tail != NOBODY && c->tail < job)
		at = &e->jobs[c->tail].next;
	while (*at != NOBODY && *at < job)
		at = &e->jobs[*at].next;
	e->jobs[job].next = *at;
	*at = job;
	if (e->jobs[job].next == NOBODY)
		c->tail = job;
}

int queue_push(struct engine *e, uint32_t job)
{
	const struct trace_job *t = &e->s->trace->jobs[job];
	bool lane = e->out->jobs[job].lane;
	struct class of = {.project = t->project,
		.user = lane ? t->user : NOBODY,
		.level = e->jobs[job].level,
		.gpus = t->gpus,
		.free = e->jobs[job].free,
		.lane = lane};
	struct class *c = class_find(e, &of);

	if (!c)
		return -1;
	insert(e, c, job);
	e->jobs[job].state = JOB_WAITING;
	e->jobs[job].since = e->now;
	e->queue.jobs++;
	return 0;
}

void queue_take(struct engine *e, struct class *c, uint32_t before, uint32_t job)
{
	uint32_t next = e->jobs[job].next;

	*(before == NOBODY ? &c->head : &e->jobs[before].next) = next;
	if (c->tail == job)
		c->tail = before;
	e->jobs[job].next = NOBODY;
	e->queue.jobs--;
}
