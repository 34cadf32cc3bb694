/* SPDX-License-Identifier: GPL-2.0-or-later
 * placement.c - nodes, the runs on them, and what was promised. */
#include "lib/placement_inside.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		p->nodes[i] =
			(struct node){.in = nodes[i], .idle = nodes[i].gpus, .guard_at = PLACEMENT_NEVER};
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
	slot = parts && project_room(p, placement_node_of(r->project, r->user)) == 0 ? run_slot(p) : -1;
	if (slot < 0) {
		free(parts);
		errno = ENOMEM;
		return -1;
	}
	memcpy(parts, r->parts, r->nparts * sizeof(*parts));
	x = &p->runs[slot];
	*x = (struct run){.in = *r, .there = true};
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

int32_t placement_idle(const struct placement *p, uint32_t node)
{
	return p->nodes[node].idle;
}

static struct placement_part *part_on(const struct run *x, uint32_t node)
{
	for (size_t i = 0; x->there && i < x->in.nparts; i++)
		if (x->in.parts[i].node == node)
			return (struct placement_part *)&x->in.parts[i];
	return NULL;
}

bool placement_tie_idle(struct placement *p, uint32_t node)
{
	int32_t idle = p->nodes[node].idle;
	struct placement_part *most = NULL;
	struct run *of = NULL;

	for (size_t i = 0; i < p->nruns; i++) {
		struct placement_part *part = part_on(&p->runs[i], node);

		if (part && !p->runs[i].in.still && (!most || part->gpus > most->gpus)) {
			most = part;
			of = &p->runs[i];
		}
	}
	if (!most || idle <= 0)
		return false;
	most->gpus += idle;
	of->gpus += idle;
	p->nodes[node].idle = 0;
	p->nodes[node].coming += of->leaving ? idle : 0;
	return true;
}

int64_t placement_idle_all(const struct placement *p)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->nnodes; i++)
		sum += p->nodes[i].idle > 0 ? p->nodes[i].idle : 0;
	return sum;
}

static void promise(struct placement *p, const struct placement_part *parts, size_t nparts, int sign)
{
	for (size_t i = 0; i < nparts; i++) {
		p->nodes[parts[i].node].idle -= sign * parts[i].gpus;
		p->nodes[parts[i].node].promised += sign * parts[i].gpus;
	}
}

void placement_promise(struct placement *p, const struct placement_part *parts, size_t nparts)
{
	promise(p, parts, nparts, 1);
}

void placement_take_back(struct placement *p, const struct placement_part *parts, size_t nparts)
{
	promise(p, parts, nparts, -1);
}

int32_t placement_unused(const struct placement *p, uint32_t node)
{
	return p->nodes[node].idle + p->nodes[node].promised;
}

void placement_guard(struct placement *p, const struct placement_part *parts, size_t nparts, int64_t at)
{
	for (size_t i = 0; i < nparts; i++)
		p->nodes[parts[i].node].guard_at = at;
}

void placement_keep(struct placement *p, uint32_t node)
{
	p->nodes[node].kept = true;
}

void placement_lift_guards(struct placement *p)
{
	for (size_t i = 0; i < p->nnodes; i++)
		p->nodes[i].guard_at = PLACEMENT_NEVER;
}
