/* SPDX-License-Identifier: GPL-2.0-or-later
 * divide.c - every project of a trace divided among its users (divide.h). */
#include "simulate/divide.h"
#include <stdlib.h>
#include <string.h>

/* Which of the engine's projects each (project, user) is: pairs by first appearance, found by sorting. */
struct pair {
	uint32_t project, user, job;
};

static int by_pair(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->project != y->project)
		return x->project < y->project ? -1 : 1;
	if (x->user != y->user)
		return x->user < y->user ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static bool same(const struct pair *x, const struct pair *y)
{
	return x->project == y->project && x->user == y->user;
}

/* The jobs of d->trace get theirs; its number. */
static size_t number(struct divided *d, const struct pair *p)
{
	size_t n = 0;

	for (size_t i = 0; i < d->trace.count; i++) {
		if (i == 0 || !same(&p[i - 1], &p[i]))
			d->project_of[n++] = p[i].project;
		d->trace.jobs[p[i].job].project = (uint32_t)(n - 1);
	}
	return n;
}

static int add_nodes(struct divided *d, const struct shares *s)
{
	size_t n = d->trace.projects.count;
	struct shares *to = &d->shares;

	to->nodes = calloc(s->count + n + 1, sizeof(*to->nodes));
	to->leaf = calloc(n + 1, sizeof(*to->leaf));
	to->divided = calloc(n + 1, sizeof(*to->divided));
	if (!to->nodes || !to->leaf || !to->divided)
		return -1;
	memcpy(to->nodes, s->nodes, s->count * sizeof(*to->nodes));
	to->count = s->count + n;
	for (size_t i = 0; i < n; i++) {
		to->divided[i] = s->leaf[d->project_of[i]];
		to->leaf[i] = (int)(s->count + i);
		to->nodes[to->leaf[i]] = (struct fairshare_node){
			.parent = to->divided[i], .share = 1, .entitled = FAIRSHARE_BY_SHARE};
	}
	return 0;
}

int divide_make(struct divided *d, const struct trace *t, const struct shares *s)
{
	struct pair *p = calloc(t->count + 1, sizeof(*p));

	*d = (struct divided){.trace = {.count = t->count, .users = t->users}};
	d->trace.jobs = calloc(t->count + 1, sizeof(*d->trace.jobs));
	d->project_of = calloc(t->count + 1, sizeof(*d->project_of));
	if (!p || !d->trace.jobs || !d->project_of) {
		free(p);
		return -1;
	}
	memcpy(d->trace.jobs, t->jobs, t->count * sizeof(*t->jobs));
	for (size_t i = 0; i < t->count; i++)
		p[i] = (struct pair){t->jobs[i].project, t->jobs[i].user, (uint32_t)i};
	qsort(p, t->count, sizeof(*p), by_pair);
	d->trace.projects.count = number(d, p);
	free(p);
	return add_nodes(d, s);
}

int divide_fold(const struct divided *d, size_t projects, struct sim_result *r)
{
	struct sim_project *whole = calloc(projects + 1, sizeof(*whole));

	if (!whole)
		return -1;
	for (size_t i = 0; i < d->trace.projects.count; i++) {
		const struct sim_project *u = &r->projects[i];
		struct sim_project *p = &whole[d->project_of[i]];

		p->delivered_gpu_s += u->delivered_gpu_s;
		p->free_gpu_s += u->free_gpu_s;
		p->lost_gpu_s += u->lost_gpu_s;
		p->displaced += u->displaced;
		p->reclaimed += u->reclaimed;
	}
	for (size_t i = 0; i < r->nsegments; i++)
		r->segments[i].project = d->project_of[r->segments[i].project];
	free(r->projects);
	r->projects = whole;
	return 0;
}

void divide_free(struct divided *d)
{
	free(d->trace.jobs);
	free(d->project_of);
	free(d->shares.nodes);
	free(d->shares.leaf);
	free(d->shares.divided);
	*d = (struct divided){0};
}
