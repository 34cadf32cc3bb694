/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_order.c - jobs in order, from a table; and what must hold of any order */
#include "lib/order.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOBS_MAX 32
#define MANY 50000

static struct case_table cases;

static int64_t number(const struct case_row *row, int column)
{
	char *end;
	int64_t n = strtoll(row->col[column], &end, 10);

	if (end == row->col[column] || *end)
		cases_die(&cases, row, "%s is not a number", row->col[column]);
	return n;
}

static enum order_front front_of(const struct case_row *row)
{
	static const struct {
		const char *word;
		enum order_front front;
	} fronts[] = { { "lane", ORDER_LANE }, { "slot", ORDER_SLOT }, { "free", ORDER_FREE } };

	for (size_t i = 0; row->n == 7 && i < sizeof(fronts) / sizeof(fronts[0]); i++)
		if (!strcmp(row->col[6], fronts[i].word))
			return fronts[i].front;
	if (row->n != 6)
		cases_die(&cases, row, "a job has five numbers, and perhaps lane, slot or free");
	return ORDER_BY_SHARE;
}

static struct order_job job_of(const struct case_row *row)
{
	return (struct order_job){ .front = front_of(row), .job_id = (uint32_t)number(row, 1),
		.project = (uint32_t)number(row, 2), .project_rank = (uint32_t)number(row, 3),
		.team_rank = (int)number(row, 4), .submit = number(row, 5) };
}

static void check_order(const char *name, const struct order_job *jobs, int count, const struct case_row *row)
{
	if (row->n != count + 1)
		cases_die(&cases, row, "the order names %d jobs of %d", row->n - 1, count);
	for (int i = 0; i < count; i++)
		ck_assert_msg(jobs[i].job_id == number(row, i + 1),
			"%s: job %u stands at %d, the table says %s", name, jobs[i].job_id, i + 1,
			row->col[i + 1]);
}

static bool is(int row, const char *word)
{
	return row < cases.rows && !strcmp(cases.row[row].col[0], word);
}

/* The loop runs over all lines; only those that begin a case do something. */
START_TEST(jobs_are_in_the_order_of_the_table)
{
	struct order_job jobs[JOBS_MAX], reverse[JOBS_MAX];
	int count = 0, row = _i + 1;

	if (!is(_i, "case"))
		return;
	for (; is(row, "job") && count < JOBS_MAX; row++)
		jobs[count++] = job_of(&cases.row[row]);
	if (!is(row, "order") || !(row + 1 == cases.rows || is(row + 1, "case")))
		cases_die(&cases, &cases.row[row < cases.rows ? row : _i],
			"after its jobs a case has one line with their order");
	for (int i = 0; i < count; i++)
		reverse[i] = jobs[count - 1 - i];
	ck_assert_int_eq(order_sort(jobs, (size_t)count), 0);
	check_order(cases.row[_i].col[1], jobs, count, &cases.row[row]);
	ck_assert_int_eq(order_sort(reverse, (size_t)count), 0);
	check_order(cases.row[_i].col[1], reverse, count, &cases.row[row]);
}
END_TEST

/* A fixed sequence, so that a failure comes back: numbers as in Numerical Recipes' quick generator. */
static uint32_t next_number(uint32_t *state)
{
	return *state = *state * 1664525u + 1013904223u;
}

static struct order_job *many_jobs(bool team_ranks)
{
	struct order_job *jobs = calloc(MANY, sizeof(*jobs));
	uint32_t state = 7;

	ck_assert_ptr_nonnull(jobs);
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t project = (next_number(&state) >> 16) % 40;
		int rank = (int)((next_number(&state) >> 16) % 5);

		jobs[i] = (struct order_job){ .job_id = i + 1, .project = project,
			.project_rank = project / 4, .team_rank = team_ranks && project % 2 ? rank : 0,
			.submit = (next_number(&state) >> 16) % 1000 };
	}
	return jobs;
}

/* Half of the projects rank their jobs: the places that the other half gets must not move by one. */
START_TEST(a_team_rank_moves_no_job_of_another_project)
{
	struct order_job *with = many_jobs(true), *without = many_jobs(false);

	ck_assert_int_eq(order_sort(with, MANY), 0);
	ck_assert_int_eq(order_sort(without, MANY), 0);
	for (int i = 0; i < MANY; i++) {
		ck_assert_uint_eq(with[i].project, without[i].project);
		if (with[i].project % 2 == 0)
			ck_assert_uint_eq(with[i].job_id, without[i].job_id);
	}
	free(with);
	free(without);
}
END_TEST

START_TEST(no_job_is_lost_and_projects_keep_to_their_rank)
{
	struct order_job *jobs = many_jobs(true);
	char *seen = calloc(MANY + 1, 1);

	ck_assert_ptr_nonnull(seen);
	ck_assert_int_eq(order_sort(jobs, MANY), 0);
	for (int i = 0; i < MANY; i++) {
		ck_assert_int_eq(seen[jobs[i].job_id]++, 0);
		ck_assert(i == 0 || jobs[i - 1].project_rank <= jobs[i].project_rank);
	}
	free(seen);
	free(jobs);
}
END_TEST

static const struct {
	struct order_job front, behind;
	enum order_because because;
} reasons[] = {
	{ { .front = ORDER_LANE, .project_rank = 9 }, { .front = ORDER_SLOT }, ORDER_BECAUSE_FRONT },
	{ { .project = 1, .project_rank = 1, .team_rank = 9 }, { .project = 2, .project_rank = 2, .team_rank = 1 }, ORDER_BECAUSE_RATIO },
	{ { .project = 1, .team_rank = 1, .submit = 9 }, { .project = 1, .team_rank = 2, .submit = 1 }, ORDER_BECAUSE_TEAM },
	{ { .project = 1, .team_rank = 1 }, { .project = 1 }, ORDER_BECAUSE_TEAM },
	{ { .project = 1, .submit = 1 }, { .project = 1, .submit = 2 }, ORDER_BECAUSE_TIME },
	/* ranks of two teams that tie say nothing of each other */
	{ { .project = 1, .team_rank = 7 }, { .project = 2, .team_rank = 3 }, ORDER_BECAUSE_TIME },
};

START_TEST(what_tells_two_jobs_apart_is_named)
{
	ck_assert_int_eq(order_because(&reasons[_i].front, &reasons[_i].behind), reasons[_i].because);
}
END_TEST

START_TEST(no_jobs_are_no_error)
{
	ck_assert_int_eq(order_sort(NULL, 0), 0);
}
END_TEST

Suite *order_suite(void)
{
	Suite *s = suite_create("order");
	TCase *t = tcase_create("rule");

	cases = cases_load_words("order.cases");
	tcase_add_loop_test(t, jobs_are_in_the_order_of_the_table, 0, cases.rows);
	tcase_add_test(t, a_team_rank_moves_no_job_of_another_project);
	tcase_add_test(t, no_job_is_lost_and_projects_keep_to_their_rank);
	tcase_add_loop_test(t, what_tells_two_jobs_apart_is_named, 0, sizeof(reasons) / sizeof(reasons[0]));
	tcase_add_test(t, no_jobs_are_no_error);
	suite_add_tcase(s, t);
	return s;
}
