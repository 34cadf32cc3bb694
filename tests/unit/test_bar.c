/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_bar.c - bars: as long as what they stand for, never wider than they may be */
#include "budgetctl/bar.h"
#include "tests/unit/suites.h"
#include <inttypes.h>
#include <string.h>

static const struct {
	int64_t first, second, most;
	int columns;
	const char *want;
} bars[] = {
	{ 10, 0, 10, 10, "##########" }, { 5, 5, 10, 10, "#####....." }, { 5, 0, 10, 10, "#####" },
	{ 0, 10, 10, 10, ".........." }, { 0, 0, 10, 10, "" }, { 0, 0, 0, 10, "" },
	{ 1, 0, 1000, 10, "#" }, { 1, 1, 1000, 10, "#." },	/* little is not nothing */
	{ 999, 1, 1000, 10, "#########." },			/* both are seen */
	{ 1, 1, 2, 1, "#" },					/* and nothing is wider than there is room */
	{ INT64_C(1) << 60, 0, INT64_C(1) << 60, 4, "####" },
};

START_TEST(a_bar_is_as_long_as_its_part_of_the_longest)
{
	char buf[BAR_TEXT_MAX];

	bar_text(bars[_i].first, bars[_i].second, bars[_i].most, bars[_i].columns, false, buf);
	ck_assert_msg(!strcmp(buf, bars[_i].want), "%" PRId64 " and %" PRId64 " of %" PRId64 ": \"%s\"",
		bars[_i].first, bars[_i].second, bars[_i].most, buf);
}
END_TEST

START_TEST(the_widest_fits_the_buffer)
{
	char buf[BAR_TEXT_MAX];

	bar_text(1, 1, 2, 100000, true, buf);
	ck_assert_uint_eq(strlen(buf), 3 * BAR_COLUMNS_MAX);
}
END_TEST

Suite *bar_suite(void)
{
	Suite *s = suite_create("bar");
	TCase *t = tcase_create("bar");

	tcase_add_loop_test(t, a_bar_is_as_long_as_its_part_of_the_longest, 0, sizeof(bars) / sizeof(*bars));
	tcase_add_test(t, the_widest_fits_the_buffer);
	suite_add_tcase(s, t);
	return s;
}
