/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_idle.c - when GPUs are idle, and what is said about it. */
#include "lib/idle.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE 60
#define BEGAN  ((int64_t)1767571200)

static struct case_table ladder, gpus;

static const struct idle_limits limits = { .note_s = 30 * MINUTE, .warning_s = 60 * MINUTE,
	.last_warning_s = 105 * MINUTE, .unprotected_s = 120 * MINUTE };

static const char *const words[] = {
	[IDLE_NOTHING] = "-",
	[IDLE_NOTE] = "note",
	[IDLE_WARNING] = "warning",
	[IDLE_LAST_WARNING] = "last_warning",
	[IDLE_UNPROTECTED] = "unprotected",
};

static enum idle_word word_of(const struct case_table *t, const struct case_row *c, int column)
{
	for (enum idle_word w = IDLE_NOTHING; w <= IDLE_UNPROTECTED; w++)
		if (!strcmp(c->col[column], words[w]))
			return w;
	cases_die(t, c, "%s is no word of the ladder", c->col[column]);
}

START_TEST(ladder_is_as_the_table_says)
{
	const struct case_row *c = &ladder.row[_i];
	int64_t said_at = case_none(c, 2) ? 0 : BEGAN + case_number(c, 2) * MINUTE;
	enum idle_word next =
		idle_next(&limits, BEGAN, word_of(&ladder, c, 1), said_at, BEGAN + case_number(c, 3) * MINUTE);

	ck_assert_msg(next == word_of(&ladder, c, 4), "%s: said %s, the table says %s", c->col[0],
		words[next], c->col[4]);
}
END_TEST

START_TEST(nothing_is_said_to_a_job_that_works)
{
	ck_assert_int_eq(idle_next(&limits, 0, IDLE_NOTHING, 0, BEGAN), IDLE_NOTHING);
	ck_assert_int_eq(idle_next(&limits, 0, IDLE_WARNING, BEGAN, BEGAN), IDLE_NOTHING);
}
END_TEST

START_TEST(a_step_of_zero_is_never_taken)
{
	struct idle_limits l = {.warning_s = 60 * MINUTE}, without_warning = {.unprotected_s = 120 * MINUTE};

	ck_assert_int_eq(idle_next(&l, BEGAN, IDLE_NOTHING, 0, BEGAN + 59 * MINUTE), IDLE_NOTHING);
	ck_assert_int_eq(idle_next(&l, BEGAN, IDLE_NOTHING, 0, BEGAN + 999 * MINUTE), IDLE_WARNING);
	ck_assert_int_eq(
		idle_next(&l, BEGAN, IDLE_WARNING, BEGAN + 60 * MINUTE, BEGAN + 999 * MINUTE), IDLE_NOTHING);
	ck_assert_int_eq(
		idle_next(&without_warning, BEGAN, IDLE_NOTHING, 0, BEGAN + 120 * MINUTE), IDLE_UNPROTECTED);
}
END_TEST

/* --- samples --------------------------------------------------------------------------------------- */

static struct idle_sample sample_of(const struct case_row *c, char *word, int64_t at)
{
	double value[3] = {NAN, NAN, NAN};
	char *save = NULL, *end;
	int n = 0;

	for (char *part = strtok_r(word, "/", &save); part && n < 3; part = strtok_r(NULL, "/", &save)) {
		if (!strcmp(part, "?"))
			break;
		value[n++] = strtod(part, &end);
		if (*end)
			cases_die(&gpus, c, "%s is no number", part);
	}
	return (struct idle_sample){at, value[0], value[1], value[2]};
}

/* Gives the number of the sample since which it is idle. */
static int64_t idle_since_sample(const struct case_row *c)
{
	char *copy = strdup(c->col[1]), *save = NULL;
	struct idle_gpu g = {0};
	int64_t at = BEGAN, number = 0, since = 0;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (*word == '+') {
			at += strtoll(word + 1, NULL, 10) * MINUTE;
			continue;
		}
		struct idle_sample s = sample_of(c, word, at += MINUTE);

		idle_add(&g, &s, MINUTE);
		number++;
		if (!g.since)
			since = 0;
		else if (g.since == at)
			since = number;
	}
	free(copy);
	return since;
}

START_TEST(gpu_is_as_the_table_says)
{
	const struct case_row *c = &gpus.row[_i];
	int64_t since = idle_since_sample(c), want = case_none(c, 2) ? 0 : case_number(c, 2);

	ck_assert_msg(since == want, "%s: idle since sample %jd, the table says %s", c->col[0],
		(intmax_t)since, c->col[2]);
}
END_TEST

START_TEST(a_sample_that_comes_twice_or_late_changes_nothing)
{
	struct idle_gpu g = {0};
	const struct idle_sample busy = {BEGAN, 7, NAN, NAN}, idle = {BEGAN + MINUTE, 0, NAN, NAN};

	idle_add(&g, &idle, MINUTE);
	idle_add(&g, &busy, MINUTE);
	idle_add(&g, &idle, MINUTE);
	ck_assert_int_eq(g.since, idle.at);
	ck_assert_int_eq(g.last, idle.at);
}
END_TEST

/* --- jobs ------------------------------------------------------------------------------------------ */

START_TEST(a_job_is_idle_when_all_of_its_gpus_are_and_all_are_known)
{
	const struct idle_gpu early = {.since = BEGAN, .last = BEGAN + 600},
			      late = {.since = BEGAN + 60, .last = BEGAN + 600}, busy = {.last = BEGAN + 600},
			      stale = {.since = BEGAN, .last = BEGAN + 300};
	const struct idle_gpu *both[] = {&early, &late}, *one_works[] = {&early, &busy},
			      *one_is_silent[] = {&early, &stale};

	ck_assert_int_eq(idle_since(both, 2, 2, BEGAN - 999, BEGAN + 500), BEGAN + 60);
	ck_assert_int_eq(idle_since(one_works, 2, 2, BEGAN - 999, BEGAN + 500), 0);
	ck_assert_int_eq(idle_since(one_is_silent, 2, 2, BEGAN - 999, BEGAN + 500), 0);
	ck_assert_int_eq(idle_since(both, 2, 3, BEGAN - 999, BEGAN + 500), 0);
	ck_assert_int_eq(idle_since(both, 0, 0, BEGAN - 999, BEGAN + 500), 0);
}
END_TEST

START_TEST(what_a_gpu_did_before_the_run_does_not_count)
{
	const struct idle_gpu early = {.since = BEGAN, .last = BEGAN + 600};
	const struct idle_gpu *one[] = {&early};

	ck_assert_int_eq(idle_since(one, 1, 1, BEGAN + 120, BEGAN + 500), BEGAN + 120);
}
END_TEST

Suite *idle_suite(void)
{
	TCase *t = tcase_create("idle");
	Suite *s = suite_create("idle");

	ladder = cases_load("idle_ladder.cases", 5);
	cases_check_number(&ladder, 2);
	cases_check_number(&ladder, 3);
	gpus = cases_load("idle_gpu.cases", 3);
	cases_check_number(&gpus, 2);
	tcase_add_loop_test(t, ladder_is_as_the_table_says, 0, ladder.rows);
	tcase_add_test(t, nothing_is_said_to_a_job_that_works);
	tcase_add_test(t, a_step_of_zero_is_never_taken);
	tcase_add_loop_test(t, gpu_is_as_the_table_says, 0, gpus.rows);
	tcase_add_test(t, a_sample_that_comes_twice_or_late_changes_nothing);
	tcase_add_test(t, a_job_is_idle_when_all_of_its_gpus_are_and_all_are_known);
	tcase_add_test(t, what_a_gpu_did_before_the_run_does_not_count);
	suite_add_tcase(s, t);
	return s;
}
