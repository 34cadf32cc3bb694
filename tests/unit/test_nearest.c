/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_nearest.c - the names that a mistyped word stands for */
#include "lib/nearest.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>

static struct case_table cases;

START_TEST(a_slip_of_the_fingers_finds_the_name_that_was_meant)
{
	const struct case_row *c = &cases.row[_i];
	char text[NEAREST_TEXT_MAX], *names = strdup(c->col[1]), *rest = names, *name;
	struct nearest n;

	nearest_begin(&n, c->col[0]);
	while ((name = strtok_r(rest, ",", &rest)))
		nearest_offer(&n, name);
	nearest_offer(&n, NULL);
	nearest_text(&n, "", text);
	ck_assert_msg(!strcmp(text, case_none(c, 2) ? "" : c->col[2]), "line %d: \"%s\" for %s", c->line,
		text, c->col[0]);
	free(names);
}
END_TEST

START_TEST(every_name_gets_the_prefix)
{
	char text[NEAREST_TEXT_MAX];
	struct nearest n;

	nearest_begin(&n, "list");
	nearest_offer(&n, "lists");
	nearest_offer(&n, "lisp");
	ck_assert_str_eq(nearest_text(&n, "--", text), "--lists or --lisp");
}
END_TEST

Suite *nearest_suite(void)
{
	Suite *s = suite_create("nearest");
	TCase *t = tcase_create("typos");

	cases = cases_load("nearest.cases", 3);
	tcase_add_loop_test(t, a_slip_of_the_fingers_finds_the_name_that_was_meant, 0, cases.rows);
	tcase_add_test(t, every_name_gets_the_prefix);
	suite_add_tcase(s, t);
	return s;
}
