/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_asked.c - a job that was requeued is asked about once for each restart, whatever is forgotten in
 * between */
#include "budgetd/asked.h"
#include "tests/unit/suites.h"

#define MANY 200000		/* more than are kept */

START_TEST(each_restart_is_asked_about_once)
{
	struct asked *a = asked_new();

	ck_assert_ptr_nonnull(a);
	ck_assert(!asked_about(a, 7, 100));
	asked_put(a, 7, 100);
	ck_assert(asked_about(a, 7, 100));
	ck_assert(!asked_about(a, 7, 200));	/* it was requeued again */
	asked_put(a, 7, 200);
	ck_assert(asked_about(a, 7, 200));
	ck_assert(!asked_about(a, 7, 100));
	asked_free(a);
}
END_TEST

START_TEST(jobs_that_share_a_place_and_more_than_are_kept_are_told_apart)
{
	struct asked *a = asked_new();

	for (uint32_t job = 1; job <= MANY; job++) {
		uint32_t far = job * 131072u + 5;	/* all of the same place */

		if (job <= 64)
			asked_put(a, far, job);
		ck_assert(job > 64 || asked_about(a, far, job));
		asked_put(a, job, 1);
		ck_assert(asked_about(a, job, 1));
	}
	ck_assert(!asked_about(a, 1, 1));	/* forgotten: it is asked about once more */
	ck_assert(!asked_about(a, MANY, 2));
	asked_free(a);
	asked_free(NULL);
}
END_TEST

Suite *asked_suite(void)
{
	TCase *t = tcase_create("asked");
	Suite *s = suite_create("asked");

	tcase_add_test(t, each_restart_is_asked_about_once);
	tcase_add_test(t, jobs_that_share_a_place_and_more_than_are_kept_are_told_apart);
	suite_add_tcase(s, t);
	return s;
}
