/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_zone.c - local clocks and the edges of months, over changes of the clocks. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/zone.h"
#include "tests/unit/cases.h"

static struct case_table readings, months;

static struct zone *zone_of(const struct case_row *c)
{
	struct fault why = {""};
	struct zone *z = zone_new(c->col[0], &why);

	ck_assert_msg(z, "line %d: %s", c->line, why.text);
	return z;
}

START_TEST(a_reading_of_the_clock_is_no_one_or_two_moments)
{
	const struct case_row *c = &readings.row[_i];
	struct zone *z = zone_of(c);
	struct zone_reading r;
	int64_t at[2];
	int n;

	ck_assert_int_eq(sscanf(c->col[1], "%d-%d-%dT%d:%d:%d", &r.year, &r.month, &r.day, &r.hour, &r.minute,
				 &r.second),
		6);
	n = zone_moments(z, &r, at);
	ck_assert_msg(n == case_number(c, 2), "line %d: %d moments", c->line, n);
	for (int i = 0; i < n; i++)
		ck_assert_msg(at[i] == case_number(c, 3 + i), "line %d: moment %d is %" PRId64, c->line,
			i + 1, at[i]);
	zone_free(z);
}
END_TEST

START_TEST(a_month_ends_where_the_table_says)
{
	const struct case_row *c = &months.row[_i];
	struct zone *z = zone_of(c);
	int64_t end = 0;
	char text[32];
	int month = zone_month(z, case_number(c, 1), &end);

	snprintf(text, sizeof(text), "%04d-%02d", month / 12, month % 12 + 1);
	ck_assert_msg(!strcmp(text, c->col[2]), "line %d: %s", c->line, text);
	ck_assert_msg(end == case_number(c, 3), "line %d: it ends at %" PRId64, c->line, end);
	zone_free(z);
}
END_TEST

START_TEST(a_month_is_read_as_it_is_written_and_only_so)
{
	static const char *const none[] = { "", "2026", "2026-0", "2026-00", "2026-13", "2026-1", "2026-1-", "2026-12-", "-026-12",
		"1969-12", "9999-12", "2026/12", " 2026-1", "+026-12" };
	int year = 0, month = 0;

	ck_assert_int_eq(zone_month_read("2026-12", &year, &month), 0);
	ck_assert(year == 2026 && month == 12);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		ck_assert_msg(zone_month_read(none[i], &year, &month) < 0 && errno == EINVAL, "%s", none[i]);
	ck_assert(year == 2026 && month == 12);
}
END_TEST

START_TEST(a_day_begins_at_the_local_midnight)
{
	struct zone *z = zone_new("Europe/Berlin", NULL);
	/* 2026-03-29: put forward at 2 */
	const int64_t midnight = 1774738800, noon = midnight + 11 * 3600;

	ck_assert_ptr_nonnull(z);
	ck_assert_int_eq(zone_offset(z, midnight), 3600);
	ck_assert_int_eq(zone_offset(z, noon), 7200);
	ck_assert_int_eq(zone_day(z, midnight), midnight);
	ck_assert_int_eq(zone_day(z, noon), midnight);
	ck_assert_int_eq(zone_day(z, midnight + 23 * 3600 - 1), midnight);
	ck_assert_int_eq(zone_day(z, midnight + 23 * 3600), midnight + 23 * 3600);
	ck_assert_int_eq(zone_day(z, midnight - 1), midnight - 86400);
	ck_assert_int_eq(zone_day(NULL, noon), noon - noon % 86400);
	ck_assert_int_eq(zone_offset(NULL, noon), 0);
	zone_free(z);
}
END_TEST

START_TEST(a_moment_is_written_as_utc)
{
	char text[ZONE_TEXT_MAX];

	ck_assert_str_eq(zone_utc_text(1774738800, text), "2026-03-28T23:00:00Z");
	ck_assert_str_eq(zone_utc_text(0, text), "1970-01-01T00:00:00Z");
	ck_assert_str_eq(zone_utc_text(INT64_MAX, text), "9223372036854775807");
}
END_TEST

START_TEST(a_zone_that_the_system_does_not_have_is_refused)
{
	static const char *const names[] = {
		"Mars/Olympus", "", "/etc/passwd", "../../../etc/passwd", ":UTC", "Europe/"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct fault why = {""};

		ck_assert_msg(!zone_new(names[i], &why), "\"%s\" is a zone", names[i]);
		ck_assert_int_eq(errno, ENOENT);
		ck_assert(strstr(why.text, "knows no time zone"));
	}
}
END_TEST

/* What the C library takes for UTC without a word is not known. */
START_TEST(what_tz_says_is_told_from_what_it_cannot_mean)
{
	static const char *const known[] = {"", "UTC", "Europe/Berlin", ":Europe/Berlin", "CET-1",
		"CET-1CEST,M3.5.0,M10.5.0/3", "<+03>-3", "/etc/passwd"},
		*const unknown[] = {"Europe/Berln", "Mars", "X-1", "<+03", "/no/such/file", ":"};

	ck_assert(zone_variable_known(NULL));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_msg(zone_variable_known(known[i]), "\"%s\" is not known", known[i]);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		ck_assert_msg(!zone_variable_known(unknown[i]), "\"%s\" is known", unknown[i]);
}
END_TEST

START_TEST(the_process_keeps_its_own_zone)
{
	setenv("TZ", "Asia/Tokyo", 1);
	zone_free(zone_new("Europe/Berlin", NULL));
	ck_assert_str_eq(getenv("TZ"), "Asia/Tokyo");
	unsetenv("TZ");
	zone_free(zone_new("Europe/Berlin", NULL));
	ck_assert(!getenv("TZ"));
}
END_TEST

Suite *zone_suite(void)
{
	Suite *s = suite_create("zone");
	TCase *t = tcase_create("zone");

	readings = cases_load("zone_moments.cases", 5);
	cases_check_number(&readings, 2);
	cases_check_number(&readings, 3);
	cases_check_number(&readings, 4);
	months = cases_load("zone_months.cases", 4);
	cases_check_number(&months, 1);
	cases_check_number(&months, 3);
	tcase_add_loop_test(t, a_reading_of_the_clock_is_no_one_or_two_moments, 0, readings.rows);
	tcase_add_loop_test(t, a_month_ends_where_the_table_says, 0, months.rows);
	tcase_add_test(t, a_month_is_read_as_it_is_written_and_only_so);
	tcase_add_test(t, a_day_begins_at_the_local_midnight);
	tcase_add_test(t, a_moment_is_written_as_utc);
	tcase_add_test(t, a_zone_that_the_system_does_not_have_is_refused);
	tcase_add_test(t, what_tz_says_is_told_from_what_it_cannot_mean);
	tcase_add_test(t, the_process_keeps_its_own_zone);
	suite_add_tcase(s, t);
	return s;
}
