/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_agreement.c - what differs between the books and Slurm, from a table; and what a part should have
 * cost */
#include "lib/agreement.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START 1000
#define RATE 1000

static struct case_table cases;

static enum side_tier tier_of(const struct case_row *row, const char *word)
{
	static const char *const words[] = { [SIDE_TIER_OTHER] = "other", [SIDE_TIER_FUNDED] = "funded",
		[SIDE_TIER_FREE] = "free" };

	for (int i = 0; i < 3; i++)
		if (!strcmp(word, words[i]))
			return (enum side_tier)i;
	cases_die(&cases, row, "%s is no tier", word);
}

static struct agreement_side side_of(const struct case_row *row, int column, char project[32])
{
	struct agreement_side s = { .presence = ABSENT };
	char first[16], tier[16];
	long long number;

	if (case_none(row, column))
		return s;
	if (sscanf(row->col[column], "%15s %lld %15s %31s", first, &number, tier, project) != 4)
		cases_die(&cases, row, "%s is no side", row->col[column]);
	s.presence = strcmp(first, "on") ? ENDED : GOES_ON;
	s.tier = tier_of(row, tier);
	s.project = project;
	if (s.presence == GOES_ON)
		agreement_add_piece(&s, START, 0, number, number * RATE);
	else
		s.end = strtoll(first, NULL, 10);
	if (s.presence == ENDED)
		agreement_add_piece(&s, s.end - (number ? 1 : 0), s.end, number, number * RATE);
	return s;
}

static bool has(const struct case_row *row, const char *flag)
{
	return strstr(row->col[4], flag) != NULL;
}

START_TEST(the_differences_are_those_of_the_table)
{
	const struct case_row *row = &cases.row[_i];
	char projects[3][32], found[128] = "";
	struct agreement_run r = { .start = START, .charged = 200 * RATE, .twice = has(row, "twice"),
		.by_hand = has(row, "by_hand"), .needs_hold = has(row, "needs_hold"),
		.has_hold = has(row, "has_hold") };
	amount_t off = 0;
	unsigned set;

	r.books = side_of(row, 1, projects[0]);
	r.slurmdbd = side_of(row, 2, projects[1]);
	r.slurmctld = side_of(row, 3, projects[2]);
	set = agreement_of(&r);
	for (int d = 0; d < DIFFERENCES; d++)
		if (set & 1u << d) {
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
				*found ? " " : "", difference_table[d].id);
			off += agreement_off(&r, (enum difference)d);
		}
	ck_assert_msg(!strcmp(found, case_none(row, 5) ? "" : row->col[5]), "%s: \"%s\", the table says %s",
		row->col[0], found, row->col[5]);
	ck_assert_msg(off == case_number(row, 6) * RATE, "%s: off by %jd, the table says %s", row->col[0],
		(intmax_t)off / RATE, row->col[6]);
}
END_TEST

START_TEST(every_difference_has_a_cause_and_says_what_to_do)
{
	const struct difference_row *k = &difference_table[_i];

	ck_assert(k->id && k->about && k->cause && k->mend);
	ck_assert_msg(k->repair == (strstr(k->mend, "--repair gives") || strstr(k->mend, "--repair enters")),
		"%s", k->id);
}
END_TEST

START_TEST(a_part_should_cost_what_lies_in_it_of_each_piece)
{
	const struct agreement_piece pieces[] = { { 100, 200, 8000 }, { 200, 250, 4000 } };

	ck_assert_int_eq(agreement_should_cost(pieces, 2, 0, 1000), 800000 + 200000);
	ck_assert_int_eq(agreement_should_cost(pieces, 2, 150, 220), 400000 + 80000);
	ck_assert_int_eq(agreement_should_cost(pieces, 2, 250, 300), 0);
	ck_assert_int_eq(agreement_should_cost(pieces, 0, 100, 200), 0);
}
END_TEST

Suite *agreement_suite(void)
{
	Suite *s = suite_create("agreement");
	TCase *t = tcase_create("rule");

	cases = cases_load("agreement.cases", 7);
	cases_check_number(&cases, 6);
	tcase_add_loop_test(t, the_differences_are_those_of_the_table, 0, cases.rows);
	tcase_add_loop_test(t, every_difference_has_a_cause_and_says_what_to_do, 0, DIFFERENCES);
	tcase_add_test(t, a_part_should_cost_what_lies_in_it_of_each_piece);
	suite_add_tcase(s, t);
	return s;
}
