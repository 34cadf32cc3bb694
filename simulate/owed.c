/* SPDX-License-Identifier: GPL-2.0-or-later
 * owed.c - a cluster of its own for each project, hour by hour. */
#include "simulate/owed.h"
#include <stdlib.h>
#include "lib/fraction.h"

#define HOUR 3600

struct demand {
	const struct trace *trace;
	uint32_t *jobs; /* of one project that are not served yet, the oldest first */
	int64_t *left;  /* GPU-seconds of all jobs of the trace that are not owed yet */
	size_t count;
};

static struct share *shares_of(const struct shares *s)
{
	struct share *out = calloc(s->count + 1, sizeof(*out));
	int64_t *siblings = calloc(s->count + 1, sizeof(*siblings)); /* [0] of those without a parent */

	for (size_t i = 0; siblings && i < s->count; i++)
		siblings[s->nodes[i].parent + 1] += s->nodes[i].share;
	for (size_t i = 0; out && siblings && i < s->count; i++) {
		int parent = s->nodes[i].parent;
		struct share up = parent < 0 ? share_whole() : out[parent];

		out[i] = share_below(up, s->nodes[i].share, siblings[parent + 1]);
	}
	if (!siblings) {
		free(out);
		out = NULL;
	}
	free(siblings);
	return out;
}

/* The demand between two times, at most `cap`; what is owed of it is taken from the jobs. */
static int64_t hour_serve(struct demand *d, int64_t from, int64_t to, int64_t cap)
{
	int64_t owed = 0;
	size_t kept = 0, i;

	for (i = 0; i < d->count && owed < cap; i++) {
		uint32_t job = d->jobs[i];
		const struct trace_job *t = &d->trace->jobs[job];
		int64_t most = (to - (t->submit_s > from ? t->submit_s : from)) * t->gpus;

		if (most > d->left[job])
			most = d->left[job];
		if (most > cap - owed)
			most = cap - owed;
		d->left[job] -= most;
		owed += most;
		if (d->left[job] > 0)
			d->jobs[kept++] = job;
	}
	for (; i < d->count; i++)
		d->jobs[kept++] = d->jobs[i];
	d->count = kept;
	return owed;
}

/* The whole of what its share gives until a time: hours are differences of it, so that small shares lose
 * nothing. */
static int64_t given_until(struct share share, int64_t gpus, int64_t seconds)
{
	struct fraction f = share_of(share, gpus * seconds);

	return (int64_t)(f.num / f.den);
}

static int64_t project_serve(struct demand *d, uint32_t project, bool owes, struct share share, int64_t gpus,
	int64_t from, int64_t until)
{
	const struct trace *t = d->trace;
	int64_t owed = 0;
	size_t next = 0;

	d->count = 0;
	for (int64_t begin = from, end; owes && begin < until; begin = end) {
		end = begin + HOUR < until ? begin + HOUR : until;
		for (; next < t->count && t->jobs[next].submit_s < end; next++)
			if (t->jobs[next].project == project && d->left[next] > 0)
				d->jobs[d->count++] = (uint32_t)next;
		owed += hour_serve(d, begin, end,
			given_until(share, gpus, end - from) - given_until(share, gpus, begin - from));
	}
	return owed;
}

int owed_count(const struct trace *t, const struct shares *s, int64_t gpus, int64_t from, int64_t until,
	int64_t *owed)
{
	struct share *shares = shares_of(s);
	struct demand d = {.trace = t,
		.jobs = calloc(t->count + 1, sizeof(*d.jobs)),
		.left = calloc(t->count + 1, sizeof(*d.left))};
	int rv = shares && d.jobs && d.left ? 0 : -1;

	for (size_t i = 0; rv == 0 && i < t->count; i++) {
		const struct trace_job *j = &t->jobs[i];

		d.left[i] = j->min_runtime_s > 0 && j->gpus <= gpus ? j->duration_s * j->gpus : 0;
	}
	for (uint32_t p = 0; rv == 0 && p < t->projects.count; p++) {
		int leaf = s->leaf[p];

		owed[p] = project_serve(&d, p, s->nodes[leaf].share > 0, shares[leaf], gpus, from, until);
	}
	free(shares);
	free(d.jobs);
	free(d.left);
	return rv;
}
