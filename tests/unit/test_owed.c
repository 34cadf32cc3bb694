/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_owed.c - entitlement capped hour by hour at demand: the rule, and out of a real ledger */
#include "budgetd/ledger_capacity.h"
#include "budgetd/ledger_demand.h"
#include "budgetd/ranking.h"
#include "lib/owed.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <stdlib.h>

#define WEEK (7 * 24 * HOUR)
#define GPUS 16

/* --- the rule ----------------------------------------------------------------------------------- */

static int64_t hours(struct demand *rows, size_t n, int64_t cap, int count)
{
	struct demands d = { .rows = rows, .all = n };
	int64_t owed = 0;

	for (int h = 0; h < count; h++)
		owed += owed_serve(&d, h * HOUR, (h + 1) * HOUR, cap);
	return owed;
}

START_TEST(who_asks_for_more_is_owed_the_entitlement)
{
	ck_assert_int_eq(hours(&(struct demand){ 0, 10, 1000 * HOUR }, 1, 4 * HOUR, 5), 20 * HOUR);
}
END_TEST

START_TEST(who_asks_for_less_is_owed_that)
{
	/* none runs faster than it can */
	ck_assert_int_eq(hours(&(struct demand){ 0, 2, 6 * HOUR }, 1, 4 * HOUR, 2), 4 * HOUR);
	/* and a waiting hour does not count twice */
	ck_assert_int_eq(hours(&(struct demand){ 0, 2, 6 * HOUR }, 1, 4 * HOUR, 9), 6 * HOUR);
	ck_assert_int_eq(hours(&(struct demand){ 1800, 2, 6 * HOUR }, 1, 4 * HOUR, 1), HOUR);
}
END_TEST

START_TEST(an_hour_without_demand_is_not_made_up_for)
{
	ck_assert_int_eq(hours(&(struct demand){ 3 * HOUR, 100, 1000 * HOUR }, 1, 4 * HOUR, 5), 8 * HOUR);
}
END_TEST

START_TEST(the_oldest_is_served_first_and_the_next_has_the_rest)
{
	struct demand rows[] = { { 0, 3, 3 * HOUR }, { 0, 4, 8 * HOUR }, { HOUR, 1, HOUR } };

	/* 3 + 1 of the second, then 4 of it, then its last 3 and the third */
	ck_assert_int_eq(hours(rows, 3, 4 * HOUR, 3), 12 * HOUR);
}
END_TEST

/* --- out of the books --------------------------------------------------------------------------- */

static struct books b;
static int64_t lab, far, vision, speech;

/* 16 GPUs: lab, with vision and speech, and far have 8 each; vision and speech 4. */
static void setup(void)
{
	books_open(&b);
	lab = books_project(&b, "lab", 0);
	far = books_project(&b, "far", 0);
	vision = books_project(&b, "vision", lab);
	speech = books_project(&b, "speech", lab);
}

static void teardown(void)
{
	books_close(&b);
}

struct look {
	int64_t now, project;
	amount_t owed;
};

static int look(struct ledger *l, void *arg, struct fault *why)
{
	static const struct gpu_count healthy = { .total = GPUS, .ntypes = 1, .types = { { "", GPUS } } };
	struct ranking *r = NULL;
	struct look *x = arg;
	amount_t *owed = NULL;
	int rc = ranking_new(l, WEEK, NULL, &healthy, x->now, &r, why);

	if (rc == 0)
		rc = ranking_owed(r, l, false, &owed, why);
	if (rc == 0)
		x->owed = owed[ranking_node(r, x->project)];
	free(owed);
	ranking_free(r);
	return rc;
}

static double owed(int64_t project, int64_t now)
{
	struct look x = { .now = now, .project = project };

	ck_assert_msg(books_do(&b, LEDGER_READ, look, &x) == 0, "%s", b.why.text);
	return (double)x.owed / GPU_H;
}

static void start(int64_t project, int64_t gpus, int64_t hours_asked, int64_t submit, int64_t at,
	struct run *r)
{
	static int64_t job = 100;
	struct submission s = { .project = project, .gpus = gpus, .min_runtime_s = hours_asked * HOUR,
		.now = submit };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job++, at, r);
}

START_TEST(a_run_is_owed_from_when_it_was_eligible)
{
	struct run r;

	start(vision, 8, 10, NOON, NOON + 20 * HOUR, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 25 * HOUR), 0);
	/* it used 40 GPU-hours, and 4 GPUs were vision's from its submission on: all of it by 10 hours
	 * after */
	ck_assert_double_eq(owed(vision, NOON + 25 * HOUR), 40);
	ck_assert_double_eq(owed(lab, NOON + 25 * HOUR), 40);
	ck_assert_double_eq(owed(far, NOON + 25 * HOUR), 0);
}
END_TEST

START_TEST(what_waits_with_its_hours_is_owed_up_to_what_it_asks_for)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = 3 * HOUR, .now = NOON };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_double_eq(owed(vision, NOON + HOUR), 2);
	ck_assert_double_eq(owed(vision, NOON + 9 * HOUR), 6);
}
END_TEST

START_TEST(a_run_that_goes_on_asks_as_fast_as_it_runs)
{
	struct run r;

	start(vision, 2, 10, NOON, NOON + 2 * HOUR, &r);
	ck_assert_double_eq(owed(vision, NOON + 4 * HOUR), 8);	/* two hours of waiting and two of running */
	ck_assert_double_eq(owed(vision, NOON + 40 * HOUR), 20);
}
END_TEST

START_TEST(nobody_is_owed_more_than_the_share)
{
	struct submission s = { .project = vision, .gpus = 16, .min_runtime_s = 100 * HOUR, .now = NOON };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_double_eq(owed(vision, NOON + 10 * HOUR), 40);
	/* what speech does not ask for is lab's, too */
	ck_assert_double_eq(owed(lab, NOON + 10 * HOUR), 80);
}
END_TEST

static int nodes_go(struct ledger *l, void *arg, struct fault *why)
{
	(void)arg;
	return capacity_add(l, NOON - HOUR, 16 * AMOUNT_RATE_ONE, why) < 0 ||
		capacity_add(l, NOON + 2 * HOUR, 8 * AMOUNT_RATE_ONE, why) < 0 ||
		capacity_add(l, NOON + 4 * HOUR, 16 * AMOUNT_RATE_ONE, why) < 0 ? -1 : 0;
}

START_TEST(what_was_not_there_is_owed_to_nobody)
{
	struct submission s = { .project = vision, .gpus = 16, .min_runtime_s = 100 * HOUR, .now = NOON };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, nodes_go, NULL), 0);
	ck_assert_double_eq(owed(vision, NOON + 6 * HOUR), 8 + 4 + 8);
}
END_TEST

Suite *owed_suite(void)
{
	Suite *s = suite_create("owed");
	TCase *rule = tcase_create("rule"), *t = tcase_create("books");

	tcase_add_test(rule, who_asks_for_more_is_owed_the_entitlement);
	tcase_add_test(rule, who_asks_for_less_is_owed_that);
	tcase_add_test(rule, an_hour_without_demand_is_not_made_up_for);
	tcase_add_test(rule, the_oldest_is_served_first_and_the_next_has_the_rest);
	suite_add_tcase(s, rule);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_run_is_owed_from_when_it_was_eligible);
	tcase_add_test(t, what_waits_with_its_hours_is_owed_up_to_what_it_asks_for);
	tcase_add_test(t, a_run_that_goes_on_asks_as_fast_as_it_runs);
	tcase_add_test(t, nobody_is_owed_more_than_the_share);
	tcase_add_test(t, what_was_not_there_is_owed_to_nobody);
	suite_add_tcase(s, t);
	return s;
}
