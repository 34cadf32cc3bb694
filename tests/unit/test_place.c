/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_place.c - places are a strict order, wider apart than the site's own weights, with runs above and free jobs below */
#include "lib/place.h"
#include "tests/unit/suites.h"

static const struct {
	const char *what;
	int64_t weights, gap;
} gaps[] = {
	{ "no weights at all", 0, 100 },
	{ "a site that says nonsense", -5, 100 },
	{ "just below the least", 99, 100 },
	{ "one more than what they sum to", 100, 101 },
	{ "usual weights", 161000, 161001 },
	{ "the largest that fits", 499999, 500000 },
	{ "larger than what fits is cut", 500000, 500000 },
	{ "absurd weights are cut", INT64_MAX, 500000 },
};

START_TEST(gaps_are_as_the_table_says)
{
	ck_assert_msg(place_gap(gaps[_i].weights) == gaps[_i].gap, "%s: %jd", gaps[_i].what, (intmax_t)place_gap(gaps[_i].weights));
}
END_TEST

/* For every gap of the table: the site's weights cannot turn two neighbours around. */
START_TEST(every_pair_of_neighbours_is_a_gap_apart)
{
	int32_t gap = (int32_t)gaps[_i].gap;

	ck_assert_int_ge((int64_t)place_running(gap) - place_pending(0, gap), gap);
	for (size_t i = 1; i <= PLACE_EXACT; i++)
		ck_assert_int_eq(place_pending(i - 1, gap) - place_pending(i, gap), gap);
	ck_assert_int_gt(place_pending(PLACE_EXACT, gap), gap);	/* above a free job, which has 0 */
}
END_TEST

START_TEST(those_behind_the_exact_ones_stand_together)
{
	int32_t gap = place_gap(1000);

	ck_assert_int_eq(place_pending(PLACE_EXACT + 1, gap), place_pending(PLACE_EXACT, gap));
	ck_assert_int_eq(place_pending(SIZE_MAX, gap), place_pending(PLACE_EXACT, gap));
	ck_assert_int_eq(place_newcomer(gap), place_pending(PLACE_EXACT, gap));
}
END_TEST

Suite *place_suite(void)
{
	Suite *s = suite_create("place");
	TCase *t = tcase_create("rule");

	tcase_add_loop_test(t, gaps_are_as_the_table_says, 0, sizeof(gaps) / sizeof(gaps[0]));
	tcase_add_loop_test(t, every_pair_of_neighbours_is_a_gap_apart, 0, sizeof(gaps) / sizeof(gaps[0]));
	tcase_add_test(t, those_behind_the_exact_ones_stand_together);
	suite_add_tcase(s, t);
	return s;
}
