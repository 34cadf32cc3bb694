/* SPDX-License-Identifier: GPL-2.0-or-later
 * owed.c - a cluster of its own for each project, hour by hour. */
#include "simulate/owed.h"
#include <stdlib.h>
#include "lib/fraction.h"
#include "lib/owed.h"

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

/* The whole of what its share gives until a time: hours are differences of it, so that small shares lose
 * nothing. */
static int64_t given_until(struct share share, int64_t gpus, int64_t seconds)
{
	struct fraction f = share_of(share, gpus * seconds);

	return (int64_t)(f.num / f.den);
}

/* The beginning of the next hour in which something is asked for. */
static int64_t next_hour(const struct demands *d, int64_t from, int64_t end, int64_t until)
{
	if (d->count)
		return end;
	if (d->next == d->all)
		return until;
	return from + (d->rows[d->next].from - from) / OWED_STEP_S * OWED_STEP_S;
}

static int64_t project_serve(struct demands *d, struct share share, int64_t gpus, int64_t from, int64_t until)
{
	int64_t owed = 0;

	for (int64_t begin = from, end; begin < until; begin = next_hour(d, from, end, until)) {
		end = begin + OWED_STEP_S < until ? begin + OWED_STEP_S : until;
		owed += owed_serve(d, begin, end,
			given_until(share, gpus, end - from) - given_until(share, gpus, begin - from));
	}
	return owed;
}

/* Jobs by project, each project's in order of submission. first[p + 1]: where those of project p begin. Free
 * jobs and those that the cluster is too small for are owed nothing. */
static void sort_by_project(const struct trace *t, int64_t gpus, struct demand *jobs, size_t *first)
{
	for (size_t i = 0; i < t->count; i++)
		first[t->jobs[i].project + 2]++;
	for (size_t p = 2; p < t->projects.count + 2; p++)
		first[p] += first[p - 1];
	for (size_t i = 0; i < t->count; i++) {
		const struct trace_job *j = &t->jobs[i];
		bool owed = j->min_runtime_s > 0 && j->gpus <= gpus;

		jobs[first[j->project + 1]++] =
			(struct demand){j->submit_s, j->gpus, owed ? j->duration_s * j->gpus : 0};
	}
}

int owed_count(const struct trace *t, const struct shares *s, int64_t gpus, int64_t from, int64_t until,
	int64_t *owed)
{
	struct share *shares = shares_of(s);
	struct demand *jobs = calloc(t->count + 1, sizeof(*jobs));
	size_t *first = calloc(t->projects.count + 3, sizeof(*first));
	int rv = shares && jobs && first ? 0 : -1;

	if (rv == 0)
		sort_by_project(t, gpus, jobs, first); /* now first[p] is where those of p begin */
	for (uint32_t p = 0; rv == 0 && p < t->projects.count; p++) {
		struct demands d = {.rows = jobs + first[p], .all = first[p + 1] - first[p]};

		owed[p] = project_serve(&d, shares[s->leaf[p]], gpus, from, until);
	}
	free(shares);
	free(jobs);
	free(first);
	return rv;
}
