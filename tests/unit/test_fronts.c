/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_fronts.c - what goes before the path of ratios (lane, slots) and the window that the ratios are of */
#include "lib/lane.h"
#include "lib/slot.h"
#include "lib/window.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>

#define MONDAY ((int64_t)1767571200)
#define DAY    86400

static struct case_table lanes, slots;

START_TEST(lane_is_as_the_table_says)
{
	const struct case_row *c = &lanes.row[_i];
	struct lane_limits l = lane_defaults();
	bool takes = lane_takes(&l, case_number(c, 1), case_number(c, 2), case_number(c, 3));

	ck_assert_msg(takes == case_number(c, 6), "%s: taken %d", c->col[0], takes);
	if (!case_none(c, 7))
		ck_assert_msg(lane_is_open(&l, case_number(c, 4), case_number(c, 5), case_number(c, 1),
				      case_number(c, 2)) == case_number(c, 7),
			"%s: open, the table says %s", c->col[0], c->col[7]);
}
END_TEST

START_TEST(a_site_without_a_lane_has_none)
{
	const struct lane_limits none = {0};

	ck_assert(!lane_takes(&none, 1, 1, 1));
}
END_TEST

START_TEST(slot_is_as_the_table_says)
{
	const struct case_row *c = &slots.row[_i];
	const struct slot s = {case_number(c, 1) * 3600, case_number(c, 2) * 3600, 500000};
	int64_t now = MONDAY + case_number(c, 3) * 3600;

	ck_assert_msg(slot_is_open(&s, now) == case_number(c, 5), "%s: open, the table says %s", c->col[0],
		c->col[5]);
	ck_assert_msg(slot_goes_first(&s, now, case_number(c, 4), 100) == case_number(c, 6),
		"%s: first, the table says %s", c->col[0], c->col[6]);
}
END_TEST

/* --- the window ------------------------------------------------------------------------------------ */

START_TEST(what_was_used_leaves_the_window_bucket_by_bucket)
{
	struct window *w = window_new(2, 7 * DAY, MONDAY);

	ck_assert_ptr_nonnull(w);
	ck_assert_int_eq(window_from(w), MONDAY - 7 * DAY);
	window_move(w, MONDAY + 1000);
	window_add(w, 1, MONDAY, MONDAY + 1000, 8000);
	ck_assert_int_eq(window_sum(w, 1), 8000000);
	ck_assert_int_eq(window_sum(w, 0), 0);
	window_move(w, MONDAY + 7 * DAY + 299);
	ck_assert_int_eq(window_sum(w, 1), 8000000);
	window_move(w, MONDAY + 7 * DAY + 300);
	ck_assert_int_eq(window_sum(w, 1), 8000 * 700);
	ck_assert_int_eq(window_from(w), MONDAY + 300);
	window_move(w, MONDAY + 7 * DAY + 900);
	ck_assert_int_eq(window_sum(w, 1), 8000 * 100);
	window_move(w, MONDAY + 30 * DAY);
	ck_assert_int_eq(window_sum(w, 1), 0);
	window_free(w);
}
END_TEST

START_TEST(what_is_before_the_window_does_not_count)
{
	struct window *w = window_new(1, 3600, MONDAY);

	window_add(w, 0, MONDAY - 90000, MONDAY, 1);
	ck_assert_int_eq(window_sum(w, 0), 3600);
	window_add(w, 0, MONDAY - 90000, MONDAY - 80000, 1);
	ck_assert_int_eq(window_sum(w, 0), 3600);
	window_move(w, MONDAY - 5000); /* not back */
	ck_assert_int_eq(window_from(w), MONDAY - 3600);
	window_free(w);
}
END_TEST

/* A run that is counted a little at every pass is the run. */
START_TEST(pieces_sum_to_the_whole)
{
	struct window *a = window_new(1, 86400, 0), *b = window_new(1, 86400, 0);

	for (int64_t t = 0, step = 13; t < 80000; t += step, step = step * 7 % 977) {
		window_move(a, t + step);
		window_add(a, 0, t, t + step, 7);
		window_move(b, t + step);
		window_add(b, 0, 0, t + step, 7);
		window_add(b, 0, 0, t + step, -7);
		ck_assert_int_eq(window_sum(a, 0), 7 * (t + step));
		ck_assert_int_eq(window_sum(b, 0), 0);
	}
	window_free(a);
	window_free(b);
}
END_TEST

START_TEST(a_window_of_no_whole_buckets_is_refused)
{
	ck_assert_ptr_null(window_new(1, 301, 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(window_new(1, 0, 0));
	window_free(NULL);
}
END_TEST

Suite *fronts_suite(void)
{
	Suite *s = suite_create("fronts");
	TCase *t = tcase_create("rule");

	lanes = cases_load("lane.cases", 8);
	slots = cases_load("slot.cases", 7);
	for (int i = 1; i < 8; i++)
		cases_check_number(&lanes, i);
	for (int i = 1; i < 7; i++)
		cases_check_number(&slots, i);
	tcase_add_loop_test(t, lane_is_as_the_table_says, 0, lanes.rows);
	tcase_add_test(t, a_site_without_a_lane_has_none);
	tcase_add_loop_test(t, slot_is_as_the_table_says, 0, slots.rows);
	tcase_add_test(t, what_was_used_leaves_the_window_bucket_by_bucket);
	tcase_add_test(t, what_is_before_the_window_does_not_count);
	tcase_add_test(t, pieces_sum_to_the_whole);
	tcase_add_test(t, a_window_of_no_whole_buckets_is_refused);
	suite_add_tcase(s, t);
	return s;
}
