/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ranking.c - who goes first, from the charges and the runs of a real ledger */
#include "budgetd/ledger_rate.h"
#include "budgetd/ranking.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <string.h>

#define WEEK (7 * 24 * HOUR)
#define GPUS 16

static struct books b;
static int64_t lab, vision, speech, far;

/* lab has vision and speech; far stands beside it. All shares are 1. */
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

static const struct gpu_count untyped = { .total = GPUS, .ntypes = 1, .types = { { "", GPUS } } };

struct look {
	int64_t now;
	struct ranking *r;
	struct rates *rates;			/* NULL: 1.000 */
	const struct gpu_count *healthy;	/* NULL: untyped */
};

static int make(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;

	return ranking_new(l, WEEK, x->rates, x->healthy ? x->healthy : &untyped, x->now, &x->r, why);
}

static struct rates *rates;
static const struct gpu_count *healthy;

static struct ranking *rank_at(int64_t now)
{
	struct look x = { now, NULL, rates, healthy };

	ck_assert_msg(books_do(&b, LEDGER_READ, make, &x) == 0, "%s", b.why.text);
	return x.r;
}

/* The ratio of the project itself, in millionths, `now`. */
static int64_t ratio(int64_t project, int64_t now)
{
	struct ranking_level level[4];
	struct ranking *r = rank_at(now);
	int n = ranking_levels(r, project, RANKING_NO_USER, level, 4);

	ck_assert_int_gt(n, 0);
	ranking_free(r);
	return level[n - 1].ratio_ppm;
}

static bool before(int64_t p, int64_t r, int64_t now)
{
	struct ranking *x = rank_at(now);
	bool first = ranking_rank(x, p, RANKING_NO_USER) < ranking_rank(x, r, RANKING_NO_USER);

	ranking_free(x);
	return first;
}

static void run_for(int64_t project, int64_t gpus, int64_t start, int64_t min_runtime_s, int64_t end,
	struct run *r)
{
	static int64_t job = 100;
	struct submission s = { .project = project, .gpus = gpus, .min_runtime_s = min_runtime_s,
		.now = start };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job++, start, r);
	if (end)
		ck_assert_int_eq(books_end(&b, r, end), 0);
}

START_TEST(while_nothing_was_used_all_tie)
{
	ck_assert(!before(vision, speech, NOON) && !before(speech, vision, NOON));
	ck_assert(!before(vision, far, NOON) && !before(far, vision, NOON));
	ck_assert_int_eq(ratio(vision, NOON), 0);
}
END_TEST

START_TEST(who_used_more_goes_behind_level_by_level)
{
	struct run r;

	run_for(vision, 4, NOON, HOUR, NOON + HOUR, &r);
	ck_assert(before(speech, vision, NOON + HOUR));
	ck_assert(before(far, speech, NOON + HOUR));	/* its lab used something */
	run_for(far, 8, NOON, HOUR, NOON + HOUR, &r);
	ck_assert(before(vision, far, NOON + HOUR));
}
END_TEST

/* vision is entitled to a quarter of 16 GPUs in a week: 672 GPU-hours. */
START_TEST(the_ratio_is_what_was_used_over_what_was_due)
{
	struct run r;

	run_for(vision, 4, NOON, 84 * HOUR, NOON + 84 * HOUR, &r);
	ck_assert_int_eq(ratio(vision, NOON + 84 * HOUR), 500000);
	ck_assert_int_eq(ratio(lab, NOON + 84 * HOUR), 250000);
}
END_TEST

static int interim(struct ledger *l, void *run, struct fault *why)
{
	return run_interim(l, run, NOON + 42 * HOUR, NOON + 42 * HOUR, why);
}

/* What a run was charged while it goes on is not counted again. */
START_TEST(a_run_that_is_charged_in_the_interim_counts_once)
{
	struct run r;

	run_for(vision, 4, NOON, 84 * HOUR, 0, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, interim, &r), 0);
	ck_assert_int_eq(ratio(vision, NOON + 84 * HOUR), 500000);
	ck_assert_int_eq(ratio(vision, NOON + WEEK), 500000);
	ck_assert_int_eq(ratio(vision, NOON + WEEK + 42 * HOUR), 250000);
}
END_TEST

static int set_rates(struct ledger *l, void *arg, struct fault *why)
{
	struct rate_row h100 = { .at = NOON, .rate = { "h100", NOON, 2000 }, .actor = "ada" };
	struct rate_row shard = { .at = NOON, .rate = { RATE_SHARD, NOON, 9000 }, .actor = "ada" };

	return rate_add(l, &h100, NOON - 1, why) < 0 ||
		rate_add(l, &shard, NOON - 1, why) < 0 ? -1 : rates_read(arg, l, why);
}

/* A quarter of 8 GPUs at 2.000 and 8 at 1.000 is worth 6 of the cheap ones: 1,008 GPU-hours a week. */
START_TEST(what_is_due_is_weighted_by_the_rates_as_what_was_used_is)
{
	static const struct gpu_count mixed = { .total = 16, .ntypes = 2,
		.types = { { "h100", 8 }, { "a100", 8 } }, .shards = 64 };
	struct run r;

	run_for(vision, 4, NOON, 84 * HOUR, NOON + 84 * HOUR, &r);
	rates = rates_new();
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, set_rates, rates), 0);
	healthy = &mixed;
	ck_assert_int_eq(ratio(vision, NOON + 84 * HOUR), 333333);
	healthy = NULL;
	rates_free(rates);
	rates = NULL;
}
END_TEST

START_TEST(what_lies_before_the_window_is_forgotten_second_by_second)
{
	struct run r;

	run_for(vision, 4, NOON, 84 * HOUR, NOON + 84 * HOUR, &r);
	ck_assert_int_eq(ratio(vision, NOON + WEEK), 500000);
	ck_assert_int_eq(ratio(vision, NOON + WEEK + 42 * HOUR), 250000);
	ck_assert_int_eq(ratio(vision, NOON + WEEK + 84 * HOUR), 0);
}
END_TEST

START_TEST(a_run_is_felt_from_its_start_with_its_whole_minimum)
{
	struct run r;

	run_for(vision, 8, NOON, 84 * HOUR, 0, &r);
	ck_assert_int_eq(ratio(vision, NOON), 1000000);
	ck_assert_int_eq(ratio(vision, NOON + 42 * HOUR), 1000000);	/* half used, half to come */
	ck_assert_int_eq(books_end(&b, &r, NOON + 42 * HOUR), 0);
	ck_assert_int_eq(ratio(vision, NOON + 42 * HOUR), 500000);	/* and charged once, not twice */
}
END_TEST

START_TEST(what_is_free_counts_for_nothing)
{
	struct run r;

	run_for(vision, 4, NOON, 84 * HOUR, 0, &r);
	ck_assert_int_eq(ratio(vision, NOON + 100 * HOUR), 500000);	/* what no hold covers */
	ck_assert_int_eq(books_end(&b, &r, NOON + 100 * HOUR), 0);
	ck_assert_int_eq(ratio(vision, NOON + 100 * HOUR), 500000);
}
END_TEST

/* The free tier has an order of its own: who had least of it for its share. */
START_TEST(what_nobody_paid_counts_in_the_free_tier_alone)
{
	struct ranking *x;
	struct run r;

	run_for(vision, 4, NOON, 84 * HOUR, 0, &r);
	x = rank_at(NOON + 126 * HOUR);	/* 42 hours beyond its hold, of a quarter of 16 GPUs in a week */
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_free_tier(x), (size_t)ranking_node(x, vision)), 250000);
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_free_tier(x), (size_t)ranking_node(x, far)), 0);
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_funded(x), (size_t)ranking_node(x, vision)), 500000);
	ranking_free(x);
	ck_assert_int_eq(books_end(&b, &r, NOON + 126 * HOUR), 0);
	x = rank_at(NOON + 126 * HOUR);	/* the same out of the books */
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_free_tier(x), (size_t)ranking_node(x, vision)), 250000);
	ck_assert_int_eq(ranking_node(x, 99), -1);
	ranking_free(x);
}
END_TEST

START_TEST(what_was_promised_counts_before_it_runs)
{
	struct ranking *x = rank_at(NOON);
	struct fault why = {0};

	ck_assert_int_eq(ranking_add_entry(x, vision, RANKING_NO_USER, 336 * GPU_H, &why), 0);
	ck_assert_uint_lt(ranking_rank(x, speech, RANKING_NO_USER), ranking_rank(x, vision, RANKING_NO_USER));
	ck_assert_uint_lt(ranking_rank(x, far, RANKING_NO_USER), ranking_rank(x, speech, RANKING_NO_USER));
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_funded(x), (size_t)ranking_node(x, vision)), 500000);
	/* more than can be counted changes nothing */
	ck_assert_int_eq(ranking_add_entry(x, vision, RANKING_NO_USER, FAIRSHARE_MAX - 1, &why), -1);
	ck_assert_int_eq(fairshare_ratio_ppm(ranking_funded(x), (size_t)ranking_node(x, vision)), 500000);
	ranking_free(x);
}
END_TEST

START_TEST(a_project_that_is_not_in_the_tree_has_no_rank)
{
	struct ranking_level level[4];
	struct ranking *r = rank_at(NOON);

	ck_assert_uint_eq(ranking_rank(r, 99, RANKING_NO_USER), UINT32_MAX);
	ck_assert_int_eq(ranking_levels(r, 99, RANKING_NO_USER, level, 4), 0);
	ck_assert_int_eq(ranking_levels(r, vision, RANKING_NO_USER, level, 4), 2);
	ck_assert_str_eq(level[0].name, "lab");
	ck_assert_str_eq(level[1].name, "vision");
	ck_assert_int_eq(level[0].share_ppm, 500000);
	ck_assert_int_eq(level[1].share_ppm, 250000);
	ck_assert_int_eq(ranking_levels(r, vision, RANKING_NO_USER, level, 1), 1);
	ranking_free(r);
}
END_TEST

START_TEST(a_cluster_without_a_healthy_gpu_still_has_an_order)
{
	struct look x = { .now = NOON + HOUR };
	struct run r;

	run_for(vision, 4, NOON, HOUR, NOON + HOUR, &r);
	ck_assert_int_eq(ledger_begin(b.l, LEDGER_READ, &b.why), 0);
	ck_assert_msg(ranking_new(b.l, WEEK, NULL, &(struct gpu_count){0}, x.now, &x.r, &b.why) == 0, "%s",
		b.why.text);
	ledger_rollback(b.l);
	ck_assert_uint_lt(ranking_rank(x.r, speech, RANKING_NO_USER),
		ranking_rank(x.r, vision, RANKING_NO_USER));
	ranking_free(x.r);
}
END_TEST

Suite *ranking_suite(void)
{
	Suite *s = suite_create("ranking");
	TCase *t = tcase_create("order");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, while_nothing_was_used_all_tie);
	tcase_add_test(t, who_used_more_goes_behind_level_by_level);
	tcase_add_test(t, the_ratio_is_what_was_used_over_what_was_due);
	tcase_add_test(t, a_run_that_is_charged_in_the_interim_counts_once);
	tcase_add_test(t, what_is_due_is_weighted_by_the_rates_as_what_was_used_is);
	tcase_add_test(t, what_lies_before_the_window_is_forgotten_second_by_second);
	tcase_add_test(t, a_run_is_felt_from_its_start_with_its_whole_minimum);
	tcase_add_test(t, what_is_free_counts_for_nothing);
	tcase_add_test(t, what_nobody_paid_counts_in_the_free_tier_alone);
	tcase_add_test(t, what_was_promised_counts_before_it_runs);
	tcase_add_test(t, a_project_that_is_not_in_the_tree_has_no_rank);
	tcase_add_test(t, a_cluster_without_a_healthy_gpu_still_has_an_order);
	suite_add_tcase(s, t);
	return s;
}
