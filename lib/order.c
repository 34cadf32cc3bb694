/* SPDX-License-Identifier: GPL-2.0-or-later
 * order.c - sort jobs: by project, by turn among tied projects, by the team's own order
 *
 * Sorted as the teams want them, the jobs of one project stand side by side; their submit times, sorted by
 * themselves, are the turns that the project gets, and the n-th job takes the n-th turn. */
#include "lib/order.h"
#include <errno.h>
#include <stdlib.h>

static int cmp(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Rank 0 is "not given": behind all that have one. */
static int compare_team_ranks(int a, int b)
{
	if (!a != !b)
		return !a ? 1 : -1;
	return cmp(a, b);
}

static int by_team(const void *a, const void *b)
{
	const struct order_job *x = a, *y = b;
	int c = cmp(x->front, y->front);

	c = c ? c : cmp(x->project, y->project);
	c = c ? c : compare_team_ranks(x->team_rank, y->team_rank);
	c = c ? c : cmp(x->submit, y->submit);
	return c ? c : cmp(x->job_id, y->job_id);
}

struct turn {
	int64_t submit;
	uint32_t job_id;
};

static int by_time(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;
	int c = cmp(x->submit, y->submit);

	return c ? c : cmp(x->job_id, y->job_id);
}

int order_compare(const struct order_job *a, const struct order_job *b)
{
	int c = cmp(a->front, b->front);

	c = c ? c : cmp(a->project_rank, b->project_rank);
	c = c ? c : cmp(a->turn_submit, b->turn_submit);
	return c ? c : cmp(a->turn_job_id, b->turn_job_id);
}

static int by_turn(const void *a, const void *b)
{
	return order_compare(a, b);
}

enum order_because order_because(const struct order_job *front, const struct order_job *behind)
{
	if (front->front != behind->front)
		return ORDER_BECAUSE_FRONT;
	if (front->project_rank != behind->project_rank)
		return ORDER_BECAUSE_RATIO;
	if (front->project == behind->project && compare_team_ranks(front->team_rank, behind->team_rank))
		return ORDER_BECAUSE_TEAM;
	return ORDER_BECAUSE_TIME;
}

/* `jobs` are all of one project and one front, as their team wants them. */
static void deal_turns(struct order_job *jobs, struct turn *turns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		turns[i] = (struct turn){ jobs[i].submit, jobs[i].job_id };
	qsort(turns, count, sizeof(*turns), by_time);
	for (size_t i = 0; i < count; i++) {
		jobs[i].turn_submit = turns[i].submit;
		jobs[i].turn_job_id = turns[i].job_id;
	}
}

int order_sort(struct order_job *jobs, size_t count)
{
	struct turn *turns;

	if (!count)
		return 0;		/* `jobs` may be NULL, which qsort does not take */
	turns = calloc(count, sizeof(*turns));
	if (!turns) {
		errno = ENOMEM;
		return -1;
	}
	qsort(jobs, count, sizeof(*jobs), by_team);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin; end < count && jobs[end].project == jobs[begin].project &&
			jobs[end].front == jobs[begin].front; end++)
			;
		deal_turns(jobs + begin, turns, end - begin);
	}
	free(turns);
	qsort(jobs, count, sizeof(*jobs), by_turn);
	return 0;
}
