/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_features.c - does a node have what a job asks for. */
#include "lib/features.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <string.h>

static struct case_table cases;

static const char *column(const struct case_row *c, int i)
{
	return case_none(c, i) ? NULL : c->col[i];
}

START_TEST(node_will_do_as_the_table_says)
{
	static const char *const words[] = { "no", "yes" };
	const struct case_row *c = &cases.row[_i];
	enum features_met met = features_met(column(c, 1), column(c, 2));
	const char *word = met == FEATURES_UNKNOWN ? "unknown" : words[met];

	ck_assert_msg(!strcmp(word, c->col[3]), "%s: %s", c->col[0], word);
}
END_TEST

Suite *features_suite(void)
{
	TCase *t = tcase_create("features");
	Suite *s = suite_create("features");

	cases = cases_load("features.tsv", 4);
	tcase_add_loop_test(t, node_will_do_as_the_table_says, 0, cases.rows);
	suite_add_tcase(s, t);
	return s;
}
