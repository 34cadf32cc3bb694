/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_usage.c - what a project used in a span of time, and what it is spending, out of real books */
#include "budgetd/ledger_sql.h"
#include "budgetd/ledger_usage.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <string.h>

static struct books b;
static int64_t lab, vision;

static void setup(void)
{
	books_open(&b);
	lab = books_project(&b, "lab", 0);
	vision = books_project(&b, "vision", lab);
	books_allot(&b, lab, 1000 * GPU_H, NOON - 100 * HOUR, NOON + 100 * HOUR);
}

static void teardown(void)
{
	books_close(&b);
}

/* `gpus` for `hours` until `end`; end 0: it goes on. */
static void ran(int64_t gpus, int64_t uid, int64_t job, int64_t start, int64_t end)
{
	struct submission s = { .project = vision, .gpus = gpus, .min_runtime_s = HOUR, .tasks = 1,
		.now = start, .uid = uid };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job, start, &r);
	if (end)
		ck_assert_int_eq(books_end(&b, &r, end), 0);
}

struct sum {
	enum usage_key key;
	int64_t from, to, rows;
	struct used_row all;
};

static int add(const struct used_row *u, void *arg)
{
	struct sum *x = arg;

	x->rows++;
	x->all.runs += u->runs;
	x->all.gpu_s += u->gpu_s;
	x->all.free_gpu_s += u->free_gpu_s;
	x->all.charged += u->charged;
	return 0;
}

static int walk(struct ledger *l, void *arg, struct fault *why)
{
	struct sum *x = arg;

	return usage_walk(l, vision, x->key, x->from, x->to, add, x, why);
}

static struct sum used(enum usage_key key, int64_t from, int64_t to)
{
	struct sum x = { .key = key, .from = from, .to = to };

	ck_assert_msg(books_do(&b, LEDGER_READ, walk, &x) == 0, "%s", b.why.text);
	return x;
}

START_TEST(spans_that_follow_each_other_add_up_exactly)
{
	struct sum all, parts = { 0 };

	ran(3, 1000, 1, NOON - 10 * HOUR, NOON - 9 * HOUR - 7);
	ran(2, 1001, 2, NOON - 9 * HOUR - 1000, NOON - 8 * HOUR - 1001);
	all = used(USAGE_USER, NOON - 20 * HOUR, NOON);
	ck_assert_int_eq(all.rows, 2);
	ck_assert_int_eq(all.all.runs, 2);
	ck_assert_int_eq(all.all.gpu_s, 3 * (HOUR - 7) + 2 * (HOUR - 1));
	ck_assert_int_eq(all.all.charged, all.all.gpu_s * 1000);
	for (int64_t at = NOON - 20 * HOUR; at < NOON; at += 777) {
		int64_t to = at + 777 < NOON ? at + 777 : NOON;
		struct sum x = used(USAGE_PROJECT, at, to);

		parts.all.gpu_s += x.all.gpu_s;
		parts.all.charged += x.all.charged;
	}
	ck_assert_int_eq(parts.all.gpu_s, all.all.gpu_s);
	ck_assert_int_eq(parts.all.charged, all.all.charged);
}
END_TEST

START_TEST(a_run_that_goes_on_is_what_is_spent_and_not_yet_what_was_used)
{
	ran(4, 1000, 1, NOON - HOUR / 2, 0);
	ck_assert_int_eq(used(USAGE_PROJECT, NOON - 20 * HOUR, NOON).rows, 0);
}
END_TEST

struct look {
	bool holds_limit;
	amount_t running, waiting;
	struct forecast_grant grants[FORECAST_GRANTS_MAX];
	int n;
};

static int look_at(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;

	x->n = usage_grants(l, lab, NOON, x->grants, why);
	return x->n < 0 ? -1 : usage_rates(l, lab, x->holds_limit, &x->running, &x->waiting, why);
}

static int four_hours(struct ledger *l, void *arg, struct fault *why)
{
	(void)arg;
	return sql_do(l, "UPDATE admission SET request = '{\"time_limit_min\":240}'", why, "");
}

START_TEST(what_is_spent_is_of_all_below_and_what_waits_counts_by_its_minimum_runtime)
{
	struct submission s = { .project = vision, .gpus = 8, .min_runtime_s = 2 * HOUR, .tasks = 3,
		.now = NOON };
	struct look x = { .holds_limit = false };

	ran(4, 1000, 1, NOON - HOUR / 2, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_READ, look_at, &x), 0);
	ck_assert_int_eq(x.running, 4 * 1000);
	ck_assert_int_eq(x.waiting, 24 * 1000);
	ck_assert_int_eq(x.n, 1);
	ck_assert_int_eq(x.grants[0].left, 1000 * GPU_H);
	ck_assert_int_eq(x.grants[0].ends, NOON + 100 * HOUR);
}
END_TEST

START_TEST(what_waits_counts_by_the_time_limit_where_that_is_what_is_held)
{
	struct submission s = { .project = vision, .gpus = 8, .min_runtime_s = 2 * HOUR, .tasks = 3,
		.now = NOON };
	struct look x = { .holds_limit = true };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_READ, look_at, &x), 0);
	ck_assert_int_eq(x.waiting, 24 * 1000);		/* it named no limit: its minimum is held */
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, four_hours, NULL), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_READ, look_at, &x), 0);
	ck_assert_int_eq(x.waiting, 12 * 1000);		/* the same hold, of 4 h */
}
END_TEST

Suite *usage_suite(void)
{
	Suite *s = suite_create("usage");
	TCase *t = tcase_create("usage");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, spans_that_follow_each_other_add_up_exactly);
	tcase_add_test(t, a_run_that_goes_on_is_what_is_spent_and_not_yet_what_was_used);
	tcase_add_test(t, what_is_spent_is_of_all_below_and_what_waits_counts_by_its_minimum_runtime);
	tcase_add_test(t, what_waits_counts_by_the_time_limit_where_that_is_what_is_held);
	suite_add_tcase(s, t);
	return s;
}
