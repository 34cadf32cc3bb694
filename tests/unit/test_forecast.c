/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_forecast.c - when a project runs out, as forecast.cases says */
#include "lib/forecast.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1800000000

enum { WHAT, GRANTS, CREDIT, RATE, END, AT, COLUMNS };

static struct case_table cases;

static size_t grants_of(const struct case_row *row, struct forecast_grant out[FORECAST_GRANTS_MAX])
{
	const char *at = row->col[GRANTS];
	size_t n = 0;
	char *end;

	for (;; at = end + 1) {
		struct forecast_grant *g = &out[n++];

		g->left = strtoll(at, &end, 10);
		if (*end != '@')
			cases_die(&cases, row, "no @ behind what is left");
		g->starts = NOW + strtoll(end + 1, &end, 10);
		if (strncmp(end, "..", 2))
			cases_die(&cases, row, "no .. behind the start");
		at = end + 2;
		g->ends = strncmp(at, "open", 4) ? NOW + strtoll(at, &end, 10) : 0;
		if (!g->ends)
			end = (char *)(uintptr_t)at + 4;
		if (*end != '+')
			return n;
	}
}

START_TEST(it_runs_out_as_the_table_says)
{
	const struct case_row *row = &cases.row[_i];
	struct forecast_grant grants[FORECAST_GRANTS_MAX];
	size_t n = grants_of(row, grants);
	int64_t at = -1, want = case_none(row, AT) ? -1 : NOW + case_number(row, AT);
	enum forecast_end end = forecast(grants, n, case_number(row, CREDIT), case_number(row, RATE), NOW, &at);

	ck_assert_msg(!strcmp(forecast_end_name(end), row->col[END]), "%s: %s", row->col[WHAT],
		forecast_end_name(end));
	ck_assert_msg(at == want, "%s: at %" PRId64, row->col[WHAT], at - NOW);
}
END_TEST

Suite *forecast_suite(void)
{
	Suite *s = suite_create("forecast");
	TCase *t = tcase_create("forecast");

	cases = cases_load("forecast.cases", COLUMNS);
	tcase_add_loop_test(t, it_runs_out_as_the_table_says, 0, cases.rows);
	suite_add_tcase(s, t);
	return s;
}
