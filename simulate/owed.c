/* SPDX-License-Identifier: GPL-2.0-or-later
 * owed.c - a cluster of its own for each project, hour by hour. */
#include "simulate/owed.h"
#include <stdlib.h>
#include "lib/fraction.h"

#define HOUR 3600

/* One project: its jobs in order of submission. Those that are submitted and not served yet are moved to the
 * front, over those that are. */
struct demand {
	const struct trace *trace;
	uint32_t *jobs;
	size_t all, next; /* jobs; the first that is not submitted yet */
	size_t count;     /* not served yet */
	int64_t *left;    /* GPU-seconds of all jobs of the trace that are not owed yet */
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

static void submit_until(struct demand *d, int64_t t)
{
	for (; d->next < d->all && d->trace->jobs[d->jobs[d->next]].submit_s < t; d->next++)
		if (d->left[d->jobs[d->next]] > 0)
			d->jobs[d->count++] = d->jobs[d->next];
}

/* The beginning of the next hour in which something is asked for. */
static int64_t next_hour(const struct demand *d, int64_t from, int64_t end, int64_t until)
{
	int64_t submit;

	if (d->count)
		return end;
	if (d->next == d->all)
		return until;
	submit = d->trace->jobs[d->jobs[d->next]].submit_s;
	return from + (submit - from) / HOUR * HOUR;
}

static int64_t project_serve(struct demand *d, struct share share, int64_t gpus, int64_t from, int64_t until)
{
	int64_t owed = 0;

	for (int64_t begin = from, end; begin < until; begin = next_hour(d, from, end, until)) {
		end = begin + HOUR < until ? begin + HOUR : until;
		submit_until(d, end);
		owed += hour_serve(d, begin, end,
			given_until(share, gpus, end - from) - given_until(share, gpus, begin - from));
	}
	return owed;
}

/* Jobs by project, each project's in order of submission. first[p + 1]: where those of project p begin. */
static void sort_by_project(const struct trace *t, uint32_t *jobs, size_t *first)
{
	for (size_t i = 0; i < t->count; i++)
		first[t->jobs[i].project + 2]++;
	for (size_t p = 2; p < t->projects.count + 2; p++)
		first[p] += first[p - 1];
	for (uint32_t i = 0; i < t->count; i++)
		jobs[first[t->jobs[i].project + 1]++] = i;
}

static int64_t *demands_of(const struct trace *t, int64_t gpus)
{
	int64_t *left = calloc(t->count + 1, sizeof(*left));

	for (size_t i = 0; left && i < t->count; i++) {
		const struct trace_job *j = &t->jobs[i];

		left[i] = j->min_runtime_s > 0 && j->gpus <= gpus ? j->duration_s * j->gpus : 0;
	}
	return left;
}

int owed_count(const struct trace *t, const struct shares *s, int64_t gpus, int64_t from, int64_t until,
	int64_t *owed)
{
	struct share *shares = shares_of(s);
	uint32_t *jobs = calloc(t->count + 1, sizeof(*jobs));
	size_t *first = calloc(t->projects.count + 3, sizeof(*first));
	int64_t *left = demands_of(t, gpus);
	int rv = shares && jobs && first && left ? 0 : -1;

	if (rv == 0)
		sort_by_project(t, jobs, first); /* now first[p] is where those of p begin */
	for (uint32_t p = 0; rv == 0 && p < t->projects.count; p++) {
		struct demand d = {
			.trace = t, .jobs = jobs + first[p], .all = first[p + 1] - first[p], .left = left};

		owed[p] = project_serve(&d, shares[s->leaf[p]], gpus, from, until);
	}
	free(shares);
	free(jobs);
	free(first);
	free(left);
	return rv;
}
