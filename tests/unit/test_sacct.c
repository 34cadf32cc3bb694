/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_sacct.c - rows of Slurm's accounting: which are runs, from when until when, with which GPUs. */
#include "tests/unit/suites.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "lib/run_set.h"
#include "lib/sacct.h"
#include "tests/unit/cases.h"
#include "tests/unit/counts.h"

static struct case_table rows;

/* The columns of the table. */
static const enum sacct_field fields[] = {SACCT_JOB_RAW, SACCT_ACCOUNT, SACCT_USER, SACCT_SUBMIT, SACCT_START,
	SACCT_END, SACCT_ELAPSED, SACCT_SUSPENDED, SACCT_STATE, SACCT_ALLOC_TRES, SACCT_ALLOC_GRES};
#define FIELDS ((int)(sizeof(fields) / sizeof(fields[0])))

static const char *const kinds[] = {[SACCT_ASIDE] = "aside",
	[SACCT_RUN] = "run",
	[SACCT_STEP] = "step",
	[SACCT_NOT_STARTED] = "not_started"};

START_TEST(a_row_is_what_the_table_says)
{
	const struct case_row *c = &rows.row[_i];
	const char *const *wanted = &c->col[1 + FIELDS];
	struct sacct_row row = {.line = c->line};
	struct fault why = {""};
	struct zone *z = zone_new(c->col[0], &why);
	struct sacct_run run;
	char buf[COUNTS_TEXT_MAX];
	enum sacct_kind kind;

	ck_assert_msg(z, "%s", why.text);
	for (int i = 0; i < FIELDS; i++)
		row.field[fields[i]] = case_none(c, i + 1) ? NULL : c->col[i + 1];
	kind = sacct_run_read(&row, z, &run, &why);
	ck_assert_msg(!strcmp(kinds[kind], wanted[0]), "line %d: %s: %s", c->line, kinds[kind], why.text);
	if (kind == SACCT_ASIDE)
		ck_assert_msg(strstr(why.text, wanted[3]), "line %d: %s", c->line, why.text);
	else
		ck_assert_msg(!why.text[0], "line %d: %s", c->line, why.text);
	if (kind == SACCT_RUN) {
		ck_assert_msg(
			run.from == case_number(c, FIELDS + 2), "line %d: from %" PRId64, c->line, run.from);
		ck_assert_msg(
			run.end == case_number(c, FIELDS + 3), "line %d: until %" PRId64, c->line, run.end);
		ck_assert_msg(!strcmp(counts_text(&run.gpus, buf), wanted[3]), "line %d: %s", c->line, buf);
	}
	zone_free(z);
}
END_TEST

START_TEST(columns_that_are_missing_are_named)
{
	int there[SACCT_FIELDS] = {[SACCT_JOB] = 1, [SACCT_USER] = 1, [SACCT_START] = 1, [SACCT_ELAPSED] = 1};
	struct fault why = {""};

	ck_assert_int_eq(sacct_columns_check(there, &why), -1);
	ck_assert_str_eq(why.text, "columns are missing: Account, Submit, AllocTRES");
	there[SACCT_ACCOUNT] = there[SACCT_SUBMIT] = there[SACCT_ALLOC_GRES] = 1;
	ck_assert_int_eq(sacct_columns_check(there, NULL), 0);
}
END_TEST

START_TEST(a_row_counts_once_and_pieces_are_of_one_run)
{
	struct run_set *s = run_set_new();

	ck_assert(s);
	ck_assert_int_eq(run_set_add(s, "", "123", 10, 20, 60), RUN_NEW);
	ck_assert_int_eq(run_set_add(s, "", "123", 10, 20, 60), RUN_TWICE);
	ck_assert_int_eq(run_set_add(s, "", "123", 30, 20, 60), RUN_PIECE);
	ck_assert_int_eq(run_set_add(s, "", "123", 30, 20, 60), RUN_TWICE);
	ck_assert_int_eq(run_set_add(s, "", "123", 40, 20, 60), RUN_PIECE);
	ck_assert_int_eq(run_set_add(s, "", "123", 10, 20, 60), RUN_TWICE);
	ck_assert_int_eq(run_set_add(s, "", "123", 10, 20, 61), RUN_OTHER_END);
	ck_assert_int_eq(run_set_add(s, "", "123", 40, 20, 59), RUN_OTHER_END);
	ck_assert_int_eq(run_set_add(s, "", "123", 30, 50, 60), RUN_NEW);
	ck_assert_int_eq(run_set_add(s, "1", "23", 10, 20, 60), RUN_NEW);
	ck_assert_int_eq(run_set_add(s, "north", "123", 10, 20, 60), RUN_NEW);
	ck_assert_int_eq(run_set_add(s, "", "123_1", 10, 20, 60), RUN_NEW);
	run_set_free(s);
	run_set_free(NULL);
}
END_TEST

START_TEST(a_hundred_thousand_rows_are_told_apart)
{
	struct run_set *s = run_set_new();
	char job[24];

	ck_assert(s);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 100000; i++) {
			enum run_seen seen;

			snprintf(job, sizeof(job), "%d", i / 4);
			seen = run_set_add(s, "", job, i % 4, i % 2, 60);
			ck_assert_msg(round ? seen == RUN_TWICE : seen == (i % 4 < 2 ? RUN_NEW : RUN_PIECE),
				"row %d, round %d: %d", i, round, (int)seen);
		}
	run_set_free(s);
}
END_TEST

Suite *sacct_suite(void)
{
	Suite *s = suite_create("sacct");
	TCase *t = tcase_create("sacct");

	rows = cases_load("sacct.tsv", 1 + FIELDS + 4);
	cases_check_number(&rows, FIELDS + 2);
	cases_check_number(&rows, FIELDS + 3);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, a_row_is_what_the_table_says, 0, rows.rows);
	tcase_add_test(t, columns_that_are_missing_are_named);
	tcase_add_test(t, a_row_counts_once_and_pieces_are_of_one_run);
	tcase_add_test(t, a_hundred_thousand_rows_are_told_apart);
	suite_add_tcase(s, t);
	return s;
}
