/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_cell.c - one value of a reply in each format, unit and kind */
#include "budgetctl/cell.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct case_table cases;

static const char *const kind_name[KINDS] = {
	[KIND_TEXT] = "text", [KIND_LONG_TEXT] = "long text", [KIND_LIST] = "list", [KIND_YESNO] = "yesno",
	[KIND_AMOUNT] = "amount", [KIND_TIME] = "time", [KIND_DURATION] = "duration", [KIND_COUNT] = "count",
	[KIND_RATIO] = "ratio",
};

/* The place of `name` in a list; a name that is not there fails the test. */
static int place(const char *name, const char *const *names, int count, int line)
{
	int i = 0;

	while (i < count && strcmp(name, names[i]) != 0)
		i++;
	ck_assert_msg(i < count, "line %d: there is no \"%s\"", line, name);
	return i;
}

START_TEST(a_cell_is_shown_as_the_table_says)
{
	const struct case_row *c = &cases.row[_i];
	struct column column = { .key = "x_units", .heading = "X", .none = "none",
		.kind = (enum kind)place(c->col[0], kind_name, KINDS, c->line) };
	struct style style = { .format = (enum format)place(c->col[2], format_name, FORMATS, c->line),
		.unit = (enum amount_unit)place(c->col[3], amount_unit_name, AMOUNT_UNITS, c->line) };
	struct json_object *row = json_object_new_object();
	char *text;

	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	json_object_object_add(row, column.key, strcmp(c->col[1], "null") ? json_tokener_parse(c->col[1])
		: NULL);
	text = cell_text(&column, row, &style);
	ck_assert_msg(text && !strcmp(text, c->col[4]), "line %d: %s is shown as [%s], the table says [%s]",
		c->line, c->col[1], text, c->col[4]);
	free(text);
	json_object_put(row);
}
END_TEST

START_TEST(an_empty_text_stays_a_text_in_json)
{
	struct column column = { .key = "comment", .kind = KIND_TEXT };
	struct style style = { .format = FORMAT_JSON };
	struct json_object *row = json_object_new_object();
	char *text;

	json_object_object_add(row, column.key, json_object_new_string(""));
	text = cell_text(&column, row, &style);
	ck_assert_str_eq(text, "\"\"");
	free(text);
	json_object_put(row);
}
END_TEST

static void heading_is(enum format format, enum amount_unit unit, bool told, const char *wanted)
{
	const struct column column = { .key = "held_units", .heading = "Held", .kind = KIND_AMOUNT };
	const struct style style = { .format = format, .unit = unit };
	char *text = cell_heading(&column, &style, told);

	ck_assert_str_eq(text, wanted);
	free(text);
}

START_TEST(a_heading_tells_the_unit_it_is_in)
{
	heading_is(FORMAT_TABLE, IN_HOURS, true, "Held (GPU-hours)");
	heading_is(FORMAT_TABLE, IN_HOURS, false, "Held");
	heading_is(FORMAT_CSV, IN_HOURS, false, "held_hours");
	heading_is(FORMAT_PARSABLE, IN_SECONDS, false, "held_seconds");
	heading_is(FORMAT_CSV, IN_UNITS, false, "held_units");
	heading_is(FORMAT_JSON, IN_HOURS, false, "held_units");
}
END_TEST

Suite *cell_suite(void)
{
	Suite *s = suite_create("cell");
	TCase *t = tcase_create("formats");

	cases = cases_load("cell.cases", 5);
	tcase_add_loop_test(t, a_cell_is_shown_as_the_table_says, 0, cases.rows);
	tcase_add_test(t, an_empty_text_stays_a_text_in_json);
	tcase_add_test(t, a_heading_tells_the_unit_it_is_in);
	suite_add_tcase(s, t);
	return s;
}
