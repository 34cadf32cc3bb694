/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_notice.c - what people are told of, once for each crossing. */
#include "lib/notice.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY 86400
#define NOW ((int64_t)1767571200)

static struct case_table lives;

START_TEST(a_budget_is_told_of_as_the_table_says)
{
	const struct case_row *c = &lives.row[_i];
	struct notice_budget b = { 0 };
	struct notice_levels l;
	char steps[512], told[512] = "", *rest = steps, *step;

	ck_assert_int_eq(notice_levels_parse("80 95 100", 5, &l, NULL), 0);
	snprintf(steps, sizeof(steps), "%s", c->col[1]);
	while ((step = strsep(&rest, " "))) {
		struct notice_use u = { 0 };
		int64_t at;

		if (!*step)
			continue;
		if (sscanf(step, "%" SCNd64 "/%" SCNd64 "+%" SCNd64, &u.used, &u.amount, &u.refunded) < 2)
			cases_die(&lives, c, "%s is no step", step);
		at = notice_budget_next(&l, &b, &u);
		snprintf(told + strlen(told), sizeof(told) - strlen(told), at ? "%s%" PRId64 : "%s-",
			*told ? " " : "", at);
	}
	ck_assert_msg(!strcmp(told, c->col[2]), "%s: told %s, the table says %s", c->col[0], told, c->col[2]);
}
END_TEST

START_TEST(thresholds_are_rising_percentages)
{
	static const char *const bad[] = { "0", "80 80", "95 80", "1001", "-5", "8O", "80%", "80.5",
		"1 2 3 4 5 6 7 8 9", "99999999999" };
	struct notice_levels l = { .count = 77 };
	struct fault why = { "" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		errno = 0;
		why.text[0] = '\0';
		ck_assert_msg(notice_levels_parse(bad[i], 5, &l, &why) < 0 && errno == EINVAL && why.text[0], "%s",
			bad[i]);
		ck_assert_uint_eq(l.count, 77);
	}
	ck_assert_int_eq(notice_levels_parse("", 5, &l, &why), 0);
	ck_assert_uint_eq(l.count, 0);
	ck_assert_int_eq(notice_levels_parse(" 50,\t120 ", 5, &l, &why), 0);
	ck_assert_uint_eq(l.count, 2);
	ck_assert_int_eq(l.percent[1], 120);
}
END_TEST

START_TEST(kinds_are_named)
{
	struct fault why = { "" };
	unsigned kinds = 0;

	ck_assert_int_eq(notice_kinds_parse("budget, idle", &kinds, &why), 0);
	ck_assert_uint_eq(kinds, 1u << NOTICE_BUDGET | 1u << NOTICE_IDLE | 1u << NOTICE_TEST);
	ck_assert_int_eq(notice_kinds_parse("", &kinds, &why), 0);
	ck_assert_uint_eq(kinds, 1u << NOTICE_TEST);
	ck_assert_int_lt(notice_kinds_parse("budget money", &kinds, &why), 0);
	ck_assert_ptr_nonnull(strstr(why.text, "\"money\" is no kind of notice"));
	ck_assert_int_lt(notice_kinds_parse("test", &kinds, NULL), 0);
}
END_TEST

START_TEST(an_end_is_told_once_and_again_when_it_moved)
{
	const int64_t in10 = NOW + 10 * DAY, in20 = NOW + 20 * DAY;

	ck_assert(notice_expiry_due(in10, 1, 0, 14 * DAY, NOW));
	ck_assert(!notice_expiry_due(in10, 1, in10, 14 * DAY, NOW));
	ck_assert(!notice_expiry_due(in20, 1, in10, 14 * DAY, NOW));	/* it was made longer */
	ck_assert(notice_expiry_due(in20, 1, in10, 14 * DAY, in20 - 14 * DAY));
	ck_assert(!notice_expiry_due(in10, 0, 0, 14 * DAY, NOW));	/* nothing is lost */
	ck_assert(!notice_expiry_due(in10, -5, 0, 14 * DAY, NOW));
	ck_assert(!notice_expiry_due(0, 1, 0, 14 * DAY, NOW));		/* no end */
	ck_assert(!notice_expiry_due(NOW, 1, 0, 14 * DAY, NOW));		/* over */
	ck_assert(!notice_expiry_due(in10, 1, 0, 0, NOW));		/* not wanted */
}
END_TEST

START_TEST(pauses_grow_up_to_an_hour)
{
	static const int64_t pauses[] = { 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600 };

	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++)
		ck_assert_int_eq(notice_pause_s((int64_t)i + 1, 10), pauses[i]);
	ck_assert_int_eq(notice_pause_s(1000000, 1), 3600);
	ck_assert_int_eq(notice_pause_s(1, 3600), 3600);
	ck_assert_int_eq(notice_pause_s(5, 3600), 3600);
	ck_assert(!notice_is_stale(NOW, 60, NOW + 60));
	ck_assert(notice_is_stale(NOW, 60, NOW + 61));
}
END_TEST

START_TEST(severities_grow_with_the_threshold)
{
	ck_assert_str_eq(notice_severity_name(notice_budget_severity(80)), "info");
	ck_assert_str_eq(notice_severity_name(notice_budget_severity(95)), "warning");
	ck_assert_str_eq(notice_severity_name(notice_budget_severity(100)), "critical");
	ck_assert_int_eq(notice_percent(799, 1000), 79);
	ck_assert_int_eq(notice_percent(5, 0), 0);
	ck_assert_int_eq(notice_percent(-5, 10), 0);
}
END_TEST

START_TEST(a_line_stays_a_line)
{
	static const struct {
		const char *text, *line;
	} rows[] = { { "vision", "vision" }, { "a\nBcc: x\r\t", "a?Bcc: x??" }, { "Zo\xc3\xab", "Zo\xc3\xab" },
		{ "a\xff\xc3", "a??" }, { "x\xe2\x80\xaey", "x?y" }, { "x\xe2\x81\xa6y", "x?y" }, { "\x1b[31m", "?[31m" },
		{ "x\xc2\x9by", "x?y" } };
	char out[32], small[4];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_str_eq(notice_line(rows[i].text, out, sizeof(out)), rows[i].line);
	ck_assert_str_eq(notice_line("ab\xc3\xab", small, sizeof(small)), "ab");
}
END_TEST

START_TEST(a_url_is_shown_without_what_may_be_a_secret)
{
	static const struct {
		const char *url, *place;
	} good[] = { { "https://hooks.example.org/services/T0/SECRET", "https://hooks.example.org" },
		{ "http://127.0.0.1:8080", "http://127.0.0.1:8080" }, { "https://h?token=SECRET", "https://h" },
		{ "http://[::1]:80/SECRET", "http://[::1]:80" } };
	static const char *const bad[] = { "", "ftp://h/SECRET", "h/SECRET", "file:///SECRET", "https://", "http:///SECRET",
		"https://SECRET:SECRET@h/", "https://h/SECRET x", "https://h/SECRET\n", "HTTPS://h/SECRET", "https://:80/SECRET" };
	char place[NOTICE_PLACE_MAX];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		ck_assert_int_eq(notice_url_place(good[i].url, place, NULL), 0);
		ck_assert_str_eq(place, good[i].place);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fault why = { "" };

		ck_assert_msg(notice_url_place(bad[i], place, &why) < 0, "%s", bad[i]);
		ck_assert_msg(!strstr(why.text, "SECRET"), "%s", why.text);
	}
}
END_TEST

Suite *notice_suite(void)
{
	Suite *s = suite_create("notice");
	TCase *t = tcase_create("rules");

	lives = cases_load("notice.cases", 3);
	tcase_add_loop_test(t, a_budget_is_told_of_as_the_table_says, 0, lives.rows);
	tcase_add_test(t, thresholds_are_rising_percentages);
	tcase_add_test(t, kinds_are_named);
	tcase_add_test(t, an_end_is_told_once_and_again_when_it_moved);
	tcase_add_test(t, pauses_grow_up_to_an_hour);
	tcase_add_test(t, severities_grow_with_the_threshold);
	tcase_add_test(t, a_line_stays_a_line);
	tcase_add_test(t, a_url_is_shown_without_what_may_be_a_secret);
	suite_add_tcase(s, t);
	return s;
}
