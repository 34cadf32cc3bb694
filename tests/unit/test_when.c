/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_when.c - moments as people type them, over changes of the clocks */
#include "budgetctl/when.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static struct case_table cases;

START_TEST(a_moment_is_read_as_the_table_says)
{
	const struct case_row *c = &cases.row[_i];
	struct fault why = { "" };
	int64_t at = -1;
	int rv;

	setenv("TZ", c->col[0], 1);
	tzset();
	rv = when_parse(c->col[2], case_number(c, 1), &at, &why);
	if (case_none(c, 3)) {
		ck_assert_msg(rv == -1 && errno == EINVAL, "line %d: \"%s\" was taken as %jd", c->line,
			c->col[2], (intmax_t)at);
		ck_assert_msg(at == -1, "line %d: a refusal changed the result", c->line);
		ck_assert_msg(why.text[0], "line %d: a refusal without a text", c->line);
		return;
	}
	ck_assert_msg(rv == 0, "line %d: %s", c->line, why.text);
	ck_assert_msg(at == case_number(c, 3), "line %d: \"%s\" is %jd, the table says %s", c->line,
		c->col[2], (intmax_t)at, c->col[3]);
}
END_TEST

START_TEST(a_moment_beyond_all_years_is_still_shown)
{
	char buf[WHEN_TEXT_MAX];

	ck_assert_str_eq(when_text(INT64_MAX, true, buf), "@9223372036854775807");
}
END_TEST

Suite *when_suite(void)
{
	Suite *s = suite_create("when");
	TCase *t = tcase_create("moments");

	cases = cases_load("when.cases", 4);
	cases_check_number(&cases, 1);
	cases_check_number(&cases, 3);
	tcase_add_loop_test(t, a_moment_is_read_as_the_table_says, 0, cases.rows);
	tcase_add_test(t, a_moment_beyond_all_years_is_still_shown);
	suite_add_tcase(s, t);
	return s;
}
