/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_budget.c - what a project has left, and which one on the way up has the least */
#include "lib/budget.h"
#include "tests/unit/suites.h"

static const struct {
	const char *what;
	struct budget_node node;
	amount_t available;
} nodes[] = {
	{ "never had an allocation", { .metered = false }, AMOUNT_UNBOUNDED },
	{ "credit alone bounds nothing", { .metered = false, .credit = 5 }, AMOUNT_UNBOUNDED },
	{ "untouched", { .metered = true, .amount = 10 }, 10 },
	{ "charged and held", { .metered = true, .amount = 10, .charged = 3, .held = 4 }, 3 },
	{ "all of it", { .metered = true, .amount = 10, .charged = 3, .held = 7 }, 0 },
	{ "credit is on top", { .metered = true, .amount = 10, .charged = 10, .credit = 5 }, 5 },
	{ "an empty allocation with credit", { .metered = true, .credit = 5 }, 5 },
	{ "a pull-back leaves it below zero, and it says so", { .metered = true, .amount = 4, .charged = 3, .held = 4 }, -3 },
	{ "what has not vested is not there yet", { .metered = true, .amount = 10, .unvested = 6, .held = 1, .credit = 2 }, 5 },
	{ "an expiry does not forgive", { .metered = true, .amount = 10, .debt = 4 }, 6 },
	{ "all expired: 0, credit included", { .metered = true, .expired = true, .credit = 5 }, 0 },
	{ "a cap leaves less", { .metered = true, .amount = 10, .capped = true, .cap = 5, .cap_charged = 1, .cap_held = 1 }, 3 },
	{ "a cap leaves more than there is", { .metered = true, .amount = 10, .held = 8, .capped = true, .cap = 5 }, 2 },
	{ "a cap below what is used", { .metered = true, .amount = 10, .capped = true, .cap = 1, .cap_held = 3 }, -2 },
	{ "a cap of nothing", { .metered = true, .amount = 10, .capped = true }, 0 },
	{ "a cap where there is nothing to cap", { .metered = false, .capped = true, .cap = 5 }, AMOUNT_UNBOUNDED },
	{ "all expired, with a cap", { .metered = true, .expired = true, .capped = true, .cap = 5 }, 0 },
	{ "all expired in debt", { .metered = true, .expired = true, .credit = 5, .debt = 2 }, -2 },
};

START_TEST(available_is_as_the_table_says)
{
	ck_assert_msg(budget_available(&nodes[_i].node) == nodes[_i].available, "%s: %jd", nodes[_i].what,
		(intmax_t)budget_available(&nodes[_i].node));
}
END_TEST

static const struct {
	const char *what;
	struct budget_node node;
	amount_t own;
} owns[] = {
	{ "credit is not its own", { .metered = true, .amount = 10, .charged = 3, .held = 4, .credit = 5 }, 3 },
	{ "below zero it uses credit", { .metered = true, .amount = 10, .charged = 8, .held = 4, .credit = 5 }, -2 },
	{ "what has not vested is not there yet", { .metered = true, .amount = 10, .unvested = 6, .held = 1 }, 3 },
	{ "debt is to be paid first", { .metered = true, .amount = 10, .debt = 4 }, 6 },
	{ "all expired in debt", { .metered = true, .expired = true, .debt = 4 }, -4 },
	{ "a cap is one user's", { .metered = true, .amount = 10, .capped = true }, 10 },
};

START_TEST(what_is_its_own_is_as_the_table_says)
{
	ck_assert_msg(budget_own(&owns[_i].node) == owns[_i].own, "%s: %jd", owns[_i].what,
		(intmax_t)budget_own(&owns[_i].node));
}
END_TEST

static const struct {
	const char *what;
	amount_t amount, burst;
	int64_t starts, ends, now;
	amount_t usable;
} vesting[] = {
	{ "before its start", 100, 0, 10, 20, 5, 0 },
	{ "at its start", 100, 0, 10, 20, 10, 0 },
	{ "at its start, with a burst", 100, 30, 10, 20, 10, 30 },
	{ "half-way", 100, 0, 10, 20, 15, 50 },
	{ "half-way, with a burst", 100, 30, 10, 20, 15, 80 },
	{ "the burst gives no more than there is", 100, 60, 10, 20, 15, 100 },
	{ "a part of a unit has not vested", 10, 0, 0, 3, 1, 3 },
	{ "the last second", 100, 0, 10, 20, 19, 90 },
	{ "at its end", 100, 0, 10, 20, 20, 100 },
	{ "nothing", 0, 5, 10, 20, 15, 0 },
	{ "an adjustment below zero", -5, 5, 10, 20, 15, -5 },
	{ "the largest that can be counted, over thirty years", INT64_MAX / 128, 0, 0, 946080000, 473040000, INT64_MAX / 256 },
};

START_TEST(what_has_vested_is_as_the_table_says)
{
	amount_t usable = budget_usable(vesting[_i].amount, vesting[_i].burst, vesting[_i].starts,
		vesting[_i].ends, vesting[_i].now);

	ck_assert_msg(usable == vesting[_i].usable, "%s: %jd", vesting[_i].what, (intmax_t)usable);
}
END_TEST

#define HAS(n) { .metered = true, .amount = (n) }
#define NEVER { .metered = false }

static const struct {
	const char *what;
	int depth;
	struct budget_node path[4];
	int tightest;
} paths[] = {
	{ "nobody is metered", 2, { NEVER, NEVER }, -1 },
	{ "only the root is", 3, { NEVER, NEVER, HAS(7) }, 2 },
	{ "the leaf has less", 2, { HAS(3), HAS(7) }, 0 },
	{ "an ancestor has less", 3, { HAS(9), HAS(2), HAS(7) }, 1 },
	{ "of equals the leaf is named", 3, { HAS(5), HAS(5), HAS(5) }, 0 },
	{ "unmetered ones between are passed over", 4, { HAS(5), NEVER, HAS(4), NEVER }, 2 },
	{ "an expired ancestor stops everybody below it", 2, { HAS(5), { .metered = true, .expired = true, .credit = 9 } }, 1 },
	{ "what is deeper than the path does not count", 1, { HAS(5), HAS(1) }, 0 },
};

static const struct {
	const char *what;
	amount_t held, price;
	int64_t covered_until, now;
	amount_t accrued;
} accruals[] = {
	{ "it has just begun", 3600, 1, 3600, 0, 0 },
	{ "half of it", 3600, 1, 3600, 1800, 1800 },
	{ "all, and it was not extended yet", 3600, 1, 3600, 5000, 3600 },
	{ "what an extension adds lies ahead", 7200, 1, 7200, 3600, 3600 },
	{ "a month was charged already: the rest is what is held", 100, 1, 3600, 3550, 50 },
	{ "a hold that is short of its time", 10, 1, 3600, 0, 0 },
	{ "a price beyond counting", 10, INT64_MAX, 3600, 0, 0 },
};

START_TEST(what_has_accrued_is_as_the_table_says)
{
	ck_assert_int_eq(budget_accrued(accruals[_i].held, accruals[_i].price, accruals[_i].covered_until,
		accruals[_i].now), accruals[_i].accrued);
}
END_TEST

START_TEST(the_tightest_is_as_the_table_says)
{
	ck_assert_msg(budget_tightest(paths[_i].path, paths[_i].depth) == paths[_i].tightest, "%s: %d",
		paths[_i].what, budget_tightest(paths[_i].path, paths[_i].depth));
}
END_TEST

Suite *budget_suite(void)
{
	Suite *s = suite_create("budget");
	TCase *t = tcase_create("left");

	tcase_add_loop_test(t, available_is_as_the_table_says, 0, sizeof(nodes) / sizeof(nodes[0]));
	tcase_add_loop_test(t, what_is_its_own_is_as_the_table_says, 0, sizeof(owns) / sizeof(owns[0]));
	tcase_add_loop_test(t, what_has_vested_is_as_the_table_says, 0, sizeof(vesting) / sizeof(vesting[0]));
	tcase_add_loop_test(t, what_has_accrued_is_as_the_table_says, 0,
		sizeof(accruals) / sizeof(accruals[0]));
	tcase_add_loop_test(t, the_tightest_is_as_the_table_says, 0, sizeof(paths) / sizeof(paths[0]));
	suite_add_tcase(s, t);
	return s;
}
