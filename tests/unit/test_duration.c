/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_duration.c - lengths of time as people and Slurm write them. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "lib/duration.h"
#include "tests/unit/cases.h"

static struct case_table parse_cases, text_cases;

START_TEST(what_is_typed_is_read_exactly_or_refused_with_a_position)
{
	const struct case_row *c = &parse_cases.row[_i];
	struct fault why = { "" };
	int64_t got = -7;
	int rc = duration_parse(c->col[0], &got, &why);

	if (!case_none(c, 1)) {
		ck_assert_msg(rc == 0, "%s: %s", c->col[0], why.text);
		ck_assert_msg(got == case_number(c, 1), "%s: %" PRId64 ", the table says %s", c->col[0], got,
			c->col[1]);
		return;
	}
	ck_assert_msg(rc == -1 && (errno == EINVAL || errno == EOVERFLOW), "%s was taken for %" PRId64,
		c->col[0], got);
	ck_assert_msg(strstr(why.text, c->col[2]), "%s: the text has no \"%s\": %s", c->col[0], c->col[2],
		why.text);
	ck_assert_int_eq(got, -7);
}
END_TEST

START_TEST(at_most_the_two_largest_units_are_shown)
{
	const struct case_row *c = &text_cases.row[_i];
	char buf[DURATION_TEXT_MAX];

	ck_assert_str_eq(duration_text(case_number(c, 0), buf), c->col[1]);
}
END_TEST

Suite *duration_suite(void)
{
	Suite *s = suite_create("duration");
	TCase *t = tcase_create("duration");

	parse_cases = cases_load("duration.cases", 3);
	cases_check_number(&parse_cases, 1);
	text_cases = cases_load("duration_text.cases", 2);
	cases_check_number(&text_cases, 0);
	tcase_add_loop_test(t, what_is_typed_is_read_exactly_or_refused_with_a_position, 0, parse_cases.rows);
	tcase_add_loop_test(t, at_most_the_two_largest_units_are_shown, 0, text_cases.rows);
	suite_add_tcase(s, t);
	return s;
}
