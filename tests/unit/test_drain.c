/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_drain.c - who leaves a node that drains, and when. */
#include "lib/drain.h"
#include "lib/duration.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>

#define NOW ((int64_t)1767571200)

static struct case_table cases;

/* "none" is 0, "never" DURATION_UNLIMITED, a number minutes from now. */
static int64_t moment(const char *text)
{
	if (!strcmp(text, "none"))
		return 0;
	return strcmp(text, "never") ? NOW + strtoll(text, NULL, 10) * 60 : DURATION_UNLIMITED;
}

START_TEST(run_leaves_as_the_table_says)
{
	const struct case_row *c = &cases.row[_i];
	const struct drain_run r = { .ends = moment(c->col[3]), .ours = strcmp(c->col[1], "other") != 0,
		.funded = strcmp(c->col[1], "funded") == 0, .protected_until = moment(c->col[2]) };
	bool critical = case_number(c, 4);
	int64_t told = drain_tells_at(&r, critical), gone = drain_gone_at(&r, critical, 120, NOW);

	if (!strcmp(c->col[5], "now"))
		ck_assert_msg(told <= NOW, "%s: not told now", c->col[0]);
	else
		ck_assert_msg(told == moment(c->col[5]), "%s: told at %jd", c->col[0],
			(intmax_t)(told - NOW));
	ck_assert_msg(gone == moment(c->col[6]), "%s: gone %jd s from now", c->col[0],
		(intmax_t)(gone - NOW));
}
END_TEST

START_TEST(components_of_a_het_job_go_together_when_the_last_may)
{
	struct drain_run d = { .ends = NOW + 9000, .ours = true, .funded = false };
	const struct drain_run other = { .ends = NOW + 400, .ours = true, .funded = true,
		.protected_until = NOW + 3600 };
	const struct drain_run earlier = { .ends = NOW + 400, .ours = true, .funded = true,
		.protected_until = NOW + 60 };
	const struct drain_run foreign = { .ends = NOW + 400 };

	drain_goes_with(&d, &other);
	drain_goes_with(&d, &earlier);
	ck_assert(drain_tells_at(&d, false) == NOW + 3600 &&
		drain_gone_at(&d, false, 120, NOW) == NOW + 3720);
	drain_goes_with(&d, &foreign);
	ck_assert_int_eq(drain_gone_at(&d, false, 120, NOW), NOW + 9000);
}
END_TEST

Suite *drain_suite(void)
{
	TCase *t = tcase_create("drain");
	Suite *s = suite_create("drain");

	cases = cases_load("drain.cases", 7);
	cases_check_number(&cases, 4);
	tcase_add_loop_test(t, run_leaves_as_the_table_says, 0, cases.rows);
	tcase_add_test(t, components_of_a_het_job_go_together_when_the_last_may);
	suite_add_tcase(s, t);
	return s;
}
