/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_rate.c - what a GPU of a type costs, and when; and that the books keep what was set */
#include "budgetd/ledger_rate.h"
#include "budgetd/rates.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct rate rows[] = {
	{ "h100", 100, 2000 }, { "", 100, 500 }, { "h100", 200, 3000 }, { "a100_3g.20gb", 0, 430 }, { "shard", 100, 125 }, { "h100", 200, 4000 },
	{ "l4", 50, 250 },
};
static const struct rate_table table = { rows, sizeof(rows) / sizeof(rows[0]) };

static const struct {
	const char *type;
	int64_t at, rate;
} of[] = {
	{ "h100", 99, 1000 }, { "h100", 100, 2000 }, { "h100", 199, 2000 }, { "h100", 200, 4000 }, { "b200", 99, 1000 }, { "b200", 100, 500 },
	{ "", 1000, 500 }, { "a100_3g.20gb", 1, 430 }, { "H100", 300, 500 }, { "shard", 99, 0 }, { "shard", 100, 125 }, { "mps", 900, 0 },
};

START_TEST(the_rate_of_a_type_is_the_last_one_in_force)
{
	ck_assert_msg(rate_of(&table, of[_i].type, of[_i].at) == of[_i].rate, "%s at %jd: %jd", of[_i].type,
		(intmax_t)of[_i].at, (intmax_t)rate_of(&table, of[_i].type, of[_i].at));
}
END_TEST

static struct gpu_count count(const char *type, int64_t n, const char *more, int64_t m)
{
	struct gpu_count c = {0};

	if (type)
		ck_assert_int_eq(gpu_count_add(&c, type, n), 0);
	if (more)
		ck_assert_int_eq(gpu_count_add(&c, more, m), 0);
	return c;
}

START_TEST(what_was_given_is_priced_once_by_its_type)
{
	struct gpu_count c = count("h100", 2, "", 3), none = {0};
	amount_t price;

	ck_assert_int_eq(rate_price(&table, &c, 150, &price), 0);
	ck_assert_int_eq(price, 2 * 2000 + 3 * 500);
	c.shards = 4;
	c.mps = 50;
	ck_assert_int_eq(rate_price(&table, &c, 150, &price), 0);
	ck_assert_int_eq(price, 2 * 2000 + 3 * 500 + 4 * 125);
	ck_assert_int_eq(rate_price(&table, &none, 150, &price), 0);
	ck_assert_int_eq(price, 0);
	ck_assert_int_eq(rate_price(NULL, &c, 150, &price), 0);
	ck_assert_int_eq(price, 5 * 1000);
}
END_TEST

START_TEST(what_is_asked_without_a_type_costs_what_the_dearest_of_its_partition_does)
{
	struct gpu_count typed = count("l4", 2, NULL, 0), mixed = count("l4", 1, "", 2);
	struct gpu_count may = count("l4", 8, "h100", 8), untyped = count("", 8, "l4", 8);
	amount_t price;

	ck_assert_int_eq(rate_price_dearest(&table, &typed, 2, &may, 150, &price), 0);
	ck_assert_int_eq(price, 2 * 250);
	ck_assert_int_eq(rate_price_dearest(&table, &mixed, 3, &may, 150, &price), 0);
	ck_assert_int_eq(price, 250 + 2 * 2000);
	/* two more than it says of which type */
	ck_assert_int_eq(rate_price_dearest(&table, &mixed, 5, &may, 150, &price), 0);
	ck_assert_int_eq(price, 250 + 4 * 2000);
	ck_assert_int_eq(rate_price_dearest(&table, &mixed, 3, NULL, 150, &price), 0);
	ck_assert_int_eq(price, 250 + 2 * 500);
	ck_assert_int_eq(rate_price_dearest(&table, &mixed, 3, &untyped, 150, &price), 0);
	ck_assert_int_eq(price, 250 + 2 * 500);
}
END_TEST

START_TEST(a_price_that_cannot_be_counted_is_an_error)
{
	struct gpu_count c = count("h100", INT64_MAX / 1000, NULL, 0);
	amount_t price = 7;

	ck_assert_int_eq(rate_price(&table, &c, 300, &price), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
	ck_assert_int_eq(price, 7);
}
END_TEST

/* --- in the books ------------------------------------------------------------------------------- */

static struct books b;

static int add_step(struct ledger *l, void *arg, struct fault *why)
{
	return rate_add(l, arg, NOON - 1, why);
}

static int read_step(struct ledger *l, void *rates, struct fault *why)
{
	return rates_read(rates, l, why);
}

static int set(const char *type, int64_t from, int64_t thousandths, const char *request_id)
{
	struct rate_row r = { .at = NOON, .rate = { .valid_from = from, .thousandths = thousandths },
		.actor = "ada", .reason = "list price" };

	snprintf(r.rate.type, sizeof(r.rate.type), "%s", type);
	snprintf(r.request_id, sizeof(r.request_id), "%s", request_id);
	return books_do(&b, LEDGER_MONEY, add_step, &r);
}

START_TEST(a_rate_is_kept_once_and_never_for_what_has_started)
{
	struct rates *rates = rates_new();
	struct gpu_count c = count("h100", 2, NULL, 0);
	amount_t price;

	books_open(&b);
	ck_assert_int_eq(set("h100", NOON, 2000, "x"), 0);
	ck_assert_int_eq(set("h100", NOON, 2000, "x"), 1);
	ck_assert_int_eq(set("h100", NOON + HOUR, 3000, ""), 0);
	ck_assert_int_eq(set("h100", NOON - 1, 1, ""), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(set("h100", NOON, 0, ""), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(set("shard", NOON, 0, ""), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_READ, read_step, rates), 0);
	ck_assert_int_eq(rates_price(rates, &c, NOON + HOUR - 1, &price), 0);
	ck_assert_int_eq(price, 4000);
	ck_assert_int_eq(rates_price(rates, &c, NOON + HOUR, &price), 0);
	ck_assert_int_eq(price, 6000);
	ck_assert_ptr_nonnull(books_try(&b, "UPDATE rate SET thousandths = 1"));
	ck_assert_ptr_nonnull(books_try(&b, "DELETE FROM rate"));
	rates_free(rates);
	books_close(&b);
}
END_TEST

Suite *rate_suite(void)
{
	Suite *s = suite_create("rate");
	TCase *t = tcase_create("price");

	tcase_add_loop_test(t, the_rate_of_a_type_is_the_last_one_in_force, 0, sizeof(of) / sizeof(of[0]));
	tcase_add_test(t, what_was_given_is_priced_once_by_its_type);
	tcase_add_test(t, what_is_asked_without_a_type_costs_what_the_dearest_of_its_partition_does);
	tcase_add_test(t, a_price_that_cannot_be_counted_is_an_error);
	tcase_add_test(t, a_rate_is_kept_once_and_never_for_what_has_started);
	suite_add_tcase(s, t);
	return s;
}
