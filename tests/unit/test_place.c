/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_place.c - places are a strict order, wider apart than the site's own weights, and few jobs move when
 * one comes or goes */
#include "lib/place.h"
#include "tests/unit/suites.h"
#include <stdlib.h>

#define MANY 1500

static const struct {
	const char *what;
	int64_t weights, gap;
} gaps[] = {
	{ "no weights at all", 0, 100 },
	{ "a site that says nonsense", -5, 100 },
	{ "just below the least", 99, 100 },
	{ "one more than what they sum to", 100, 101 },
	{ "usual weights", 161000, 161001 },
	{ "the largest that fits", 799999, 800000 },
	{ "larger than what fits is cut", 800000, 800000 },
	{ "absurd weights are cut", INT64_MAX, 800000 },
};

START_TEST(gaps_are_as_the_table_says)
{
	ck_assert_msg(place_gap(gaps[_i].weights) == gaps[_i].gap, "%s: %jd", gaps[_i].what,
		(intmax_t)place_gap(gaps[_i].weights));
}
END_TEST

static void check_order(const int32_t *out, size_t n, int32_t gap)
{
	ck_assert_int_ge((int64_t)place_running(gap) - out[0], gap);
	for (size_t i = 1; i < n && i < PLACE_EXACT; i++)
		ck_assert_msg(out[i - 1] - out[i] >= gap, "positions %zu and %zu: %d and %d", i - 1, i,
			out[i - 1], out[i]);
	for (size_t i = PLACE_EXACT; i < n; i++)
		ck_assert_int_eq(out[i], PLACE_BEHIND);
	ck_assert_int_gt(out[n - 1], gap);	/* above a free job, which has 0 */
}

static size_t moved(const int32_t *a, const int32_t *b, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += a[i] != b[i];
	return count;
}

START_TEST(every_pair_of_neighbours_is_a_gap_apart)
{
	static const size_t counts[] = { 1, 2, 17, 999, 1000, 1001, MANY };
	int32_t gap = (int32_t)gaps[_i].gap, now[MANY] = {0}, out[MANY];

	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		ck_assert_int_eq(place_assign(now, counts[k], gap, out), 0);
		check_order(out, counts[k], gap);
	}
}
END_TEST

START_TEST(free_jobs_stand_below_all_funded_ones)
{
	static const size_t counts[] = { 1, 2, 17, 999, 1000, 1001, MANY };
	int32_t gap = (int32_t)gaps[_i].gap, now[MANY] = {0}, out[MANY], again[MANY];

	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
		size_t n = counts[k];

		ck_assert_int_eq(place_assign_free(now, n, gap, out), 0);
		ck_assert_int_ge(PLACE_BEHIND - (int64_t)out[0], gap);
		for (size_t i = 1; i < n && out[i - 1]; i++)
			ck_assert_msg(out[i - 1] - out[i] >= gap, "positions %zu and %zu: %d and %d", i - 1,
				i, out[i - 1], out[i]);
		ck_assert(n > PLACE_EXACT || gap > 1000 || out[n - 1] > 0);
		ck_assert_int_eq(place_assign_free(out, n, gap, again), 0);
		ck_assert_uint_eq(moved(out, again, n), 0);
	}
}
END_TEST

START_TEST(an_order_that_stands_moves_nobody)
{
	int32_t now[500] = {0}, out[500], again[500];

	place_assign(now, 500, 1000, out);
	place_assign(out, 500, 1000, again);
	ck_assert_uint_eq(moved(out, again, 500), 0);
}
END_TEST

/* Job 0 of 10 leaves, or one comes to each position: at most the newcomer is told its place. */
START_TEST(one_that_comes_or_goes_moves_nobody_else)
{
	int32_t now[10] = {0}, out[10], with[11] = {0}, after[11];

	place_assign(now, 10, 1000, out);
	place_assign(out + 1, 9, 1000, after);
	ck_assert_uint_eq(moved(out + 1, after, 9), 0);
	for (size_t at = 0; at <= 10; at++) {
		for (size_t i = 0; i < 10; i++)
			with[i < at ? i : i + 1] = out[i];
		with[at] = 0;
		place_assign(with, 11, 1000, after);
		check_order(after, 11, 1000);
		ck_assert_uint_eq(moved(with, after, 11), 1);
	}
}
END_TEST

START_TEST(submitted_one_after_the_other_they_stand_in_that_order_already)
{
	int32_t now[200], out[200], last = PLACE_TOP;

	for (size_t i = 0; i < 200; i++)
		now[i] = last = place_behind(last, 1000);
	place_assign(now, 200, 1000, out);
	ck_assert_uint_eq(moved(now, out, 200), 0);
	while (last != PLACE_BEHIND) {
		int32_t next = place_behind(last, 800000);

		ck_assert_int_lt(next, last);
		last = next;
	}
}
END_TEST

/* Whatever stands there, the result is an order. */
START_TEST(any_places_at_all_become_an_order)
{
	int32_t now[MANY], out[MANY], gap = (int32_t)gaps[_i % 8].gap;
	unsigned seed = (unsigned)_i;
	size_t n = (size_t)(rand_r(&seed) % MANY) + 1;

	for (size_t i = 0; i < n; i++)
		now[i] = (int32_t)((int64_t)rand_r(&seed) * 2 - INT32_MAX);
	ck_assert_int_eq(place_assign(now, n, gap, out), 0);
	check_order(out, n, gap);
}
END_TEST

Suite *place_suite(void)
{
	Suite *s = suite_create("place");
	TCase *t = tcase_create("rule");

	tcase_add_loop_test(t, gaps_are_as_the_table_says, 0, sizeof(gaps) / sizeof(gaps[0]));
	tcase_add_loop_test(t, free_jobs_stand_below_all_funded_ones, 0, sizeof(gaps) / sizeof(gaps[0]));
	tcase_add_loop_test(t, every_pair_of_neighbours_is_a_gap_apart, 0, sizeof(gaps) / sizeof(gaps[0]));
	tcase_add_test(t, an_order_that_stands_moves_nobody);
	tcase_add_test(t, one_that_comes_or_goes_moves_nobody_else);
	tcase_add_test(t, submitted_one_after_the_other_they_stand_in_that_order_already);
	tcase_add_loop_test(t, any_places_at_all_become_an_order, 0, 64);
	suite_add_tcase(s, t);
	return s;
}
