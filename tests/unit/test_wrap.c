/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_wrap.c - sentences in lines that fit, and nothing that a terminal would obey */
#include "budgetctl/wrap.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>

static struct case_table cases;

static void wrapped(const char *text, int width, int used, int indent, char *out, size_t size)
{
	FILE *to = fmemopen(out, size, "w");

	ck_assert_ptr_nonnull(to);
	wrap_text(to, text, width, used, indent);
	ck_assert_int_eq(fclose(to), 0);
}

static void slashes(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

START_TEST(a_line_is_broken_where_the_table_says)
{
	const struct case_row *c = &cases.row[_i];
	char *text = strdup(c->col[3]), got[256];

	slashes(text, '/', '\n');
	wrapped(text, (int)case_number(c, 0), (int)case_number(c, 1), (int)case_number(c, 2), got,
		sizeof(got));
	slashes(got, '\n', '/');
	ck_assert_msg(
		!strcmp(got, c->col[4]), "line %d: \"%s\", the table says \"%s\"", c->line, got, c->col[4]);
	free(text);
}
END_TEST

START_TEST(what_a_terminal_would_obey_is_shown_as_a_question_mark)
{
	char got[64];

	wrapped("\x1b[31mred\a\tx\x7f", 0, 0, 0, got, sizeof(got));
	ck_assert_str_eq(got, "?[31mred??x?");
	wrapped("\x1b[31mred\a\tx\x7f", 40, 0, 0, got, sizeof(got));
	ck_assert_str_eq(got, "?[31mred??x?");
}
END_TEST

START_TEST(a_stream_that_is_no_terminal_has_no_width)
{
	FILE *to = tmpfile();

	setenv("COLUMNS", "40", 1);
	ck_assert_int_eq(wrap_width(to), 0);
	fclose(to);
}
END_TEST

Suite *wrap_suite(void)
{
	Suite *s = suite_create("wrap");
	TCase *t = tcase_create("lines");

	cases = cases_load("wrap.cases", 5);
	for (int i = 0; i < 3; i++)
		cases_check_number(&cases, i);
	tcase_add_loop_test(t, a_line_is_broken_where_the_table_says, 0, cases.rows);
	tcase_add_test(t, what_a_terminal_would_obey_is_shown_as_a_question_mark);
	tcase_add_test(t, a_stream_that_is_no_terminal_has_no_width);
	suite_add_tcase(s, t);
	return s;
}
