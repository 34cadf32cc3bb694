/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_amount.c - GPU-hours as integers: what is typed, what is shown, what a run costs. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "lib/amount.h"
#include "tests/unit/cases.h"

static struct case_table parse_cases, text_cases;

START_TEST(what_is_typed_is_read_exactly_or_refused_with_a_position)
{
	const struct case_row *c = &parse_cases.row[_i];
	struct fault why = { "" };
	amount_t got = -7;
	int rc = amount_parse(c->col[0], &got, &why);

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

START_TEST(what_is_shown_is_rounded_half_away_from_zero)
{
	const struct case_row *c = &text_cases.row[_i];
	char buf[AMOUNT_TEXT_MAX];

	ck_assert_str_eq(amount_text(case_number(c, 0), buf), c->col[1]);
}
END_TEST

START_TEST(a_price_is_gpus_times_seconds_times_rate)
{
	amount_t got = -7;

	ck_assert_int_eq(amount_price(2, 3 * 3600, 1000, &got), 0);
	ck_assert_int_eq(got, 6 * AMOUNT_GPU_HOUR);
	ck_assert_int_eq(amount_price(0, INT64_MAX, INT64_MAX, &got), 0);
	ck_assert_int_eq(got, 0);
	ck_assert_int_eq(amount_price(INT64_MAX, INT64_MAX, 0, &got), 0);
	ck_assert_int_eq(got, 0);
}
END_TEST

START_TEST(a_price_that_cannot_be_is_refused_and_nothing_is_written)
{
	amount_t got = -7;

	ck_assert_int_eq(amount_price(-1, 1, 1, &got), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(amount_price(INT64_MAX, 2, 1, &got), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
	ck_assert_int_eq(amount_price((int64_t)1 << 31, (int64_t)1 << 31, 1000, &got), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
	ck_assert_int_eq(amount_add(INT64_MAX, 1, &got), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
	ck_assert_int_eq(got, -7);
	ck_assert_int_eq(amount_add(2, -5, &got), 0);
	ck_assert_int_eq(got, -3);
}
END_TEST

Suite *amount_suite(void)
{
	Suite *s = suite_create("amount");
	TCase *t = tcase_create("amount");

	parse_cases = cases_load("amount.cases", 3);
	cases_check_number(&parse_cases, 1);
	text_cases = cases_load("amount_text.cases", 2);
	cases_check_number(&text_cases, 0);
	tcase_add_loop_test(t, what_is_typed_is_read_exactly_or_refused_with_a_position, 0, parse_cases.rows);
	tcase_add_loop_test(t, what_is_shown_is_rounded_half_away_from_zero, 0, text_cases.rows);
	tcase_add_test(t, a_price_is_gpus_times_seconds_times_rate);
	tcase_add_test(t, a_price_that_cannot_be_is_refused_and_nothing_is_written);
	suite_add_tcase(s, t);
	return s;
}
