/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_token.c - our word among those of others in AdminComment */
#include "lib/token.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>

static const struct { const char *comment, *token; } rows[] = {
	{ NULL, NULL },
	{ "", NULL },
	{ "  \t ", NULL },
	{ "gpubudget:a1", "gpubudget:a1" },
	{ "see ticket 12 gpubudget:a1", "gpubudget:a1" },
	{ "gpubudget:a1 later words\n", "gpubudget:a1" },
	{ "gpubudget:old gpubudget:new", "gpubudget:new" },
	{ "gpubudget:", NULL },
	{ "xgpubudget:a1", NULL },
	{ "gpubudget:a1 gpubudget:b;c", "gpubudget:a1" },
	{ "gpubudget:0123456789012345678901234567890123456789012345678901234567890", NULL },
	{ "gpubudget:01234567890123456789012345678901234567890123456789012",
		"gpubudget:01234567890123456789012345678901234567890123456789012" },
};

START_TEST(a_token_is_found_as_the_table_says)
{
	char out[TOKEN_MAX] = "before";
	bool found = token_find(rows[_i].comment, out);

	ck_assert_msg(
		found == (rows[_i].token != NULL), "\"%s\"", rows[_i].comment ? rows[_i].comment : "NULL");
	ck_assert_str_eq(out, found ? rows[_i].token : "before");
	ck_assert(!found || token_valid(out));
}
END_TEST

static const struct { const char *comment; bool waits; const char *with, *without; } marks[] = {
	{ NULL, false, "gpubudget-waits", "" },
	{ "", false, "gpubudget-waits", "" },
	{ "gpubudget-waits", true, "gpubudget-waits", "" },
	{ "gpubudget:a1", false, "gpubudget:a1 gpubudget-waits", "gpubudget:a1" },
	{ "gpubudget:a1 gpubudget-waits", true, "gpubudget:a1 gpubudget-waits", "gpubudget:a1" },
	{ "gpubudget-waits gpubudget:a1", true, " gpubudget:a1 gpubudget-waits", " gpubudget:a1" },
	{ "a  b\n gpubudget-waits c", true, "a  b\n c gpubudget-waits", "a  b\n c" },
	{ "gpubudget-waitsx", false, "gpubudget-waitsx gpubudget-waits", "gpubudget-waitsx" },
};

START_TEST(a_mark_is_set_and_taken_away_and_all_else_stays)
{
	char *with = token_set_waits(marks[_i].comment, true),
		*without = token_set_waits(marks[_i].comment, false);

	ck_assert(token_waits(marks[_i].comment) == marks[_i].waits);
	ck_assert_str_eq(with, marks[_i].with);
	ck_assert_str_eq(without, marks[_i].without);
	ck_assert(token_waits(with) && !token_waits(without));
	free(with);
	free(without);
}
END_TEST

Suite *token_suite(void)
{
	Suite *s = suite_create("token");
	TCase *t = tcase_create("find");

	tcase_add_loop_test(t, a_mark_is_set_and_taken_away_and_all_else_stays, 0,
		sizeof(marks) / sizeof(marks[0]));
	tcase_add_loop_test(t, a_token_is_found_as_the_table_says, 0, sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(s, t);
	return s;
}
