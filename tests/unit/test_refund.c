/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_refund.c - what is given back without being asked for: which runs by a table, and what the books make
 * of it */
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_refund.h"
#include "budgetd/ranking.h"
#include "lib/refund.h"
#include "tests/unit/books.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <string.h>

static struct case_table cases;
static struct books b;

enum { NAME, STATE, TOLD, LOST, FUNDED, RAN, MINIMUM, CAP, CAUSE, SINCE, COLUMNS };

START_TEST(the_rule_is_as_the_table_says)
{
	static const char *const causes[] = { [REFUND_NONE] = "none", [REFUND_NODE_FAILURE] = "node",
		[REFUND_DISPLACED] = "displaced" };
	const struct case_row *row = &cases.row[_i];
	struct refund_run r = { .state = row->col[STATE], .funded = case_number(row, FUNDED),
		.displaced = run_gave_way(row->col[STATE], case_number(row, TOLD)),
		.unprotected = case_number(row, LOST), .start = NOON, .end = NOON + case_number(row, RAN),
		.min_runtime_s = case_number(row, MINIMUM), .node_fail_s = case_number(row, CAP) };
	int64_t since = -1, want = case_none(row, SINCE) ? -1 : NOON + case_number(row, SINCE);
	const char *cause = causes[refund_cause(&r, &since)];

	ck_assert_msg(strcmp(cause, row->col[CAUSE]) == 0, "%s: %s", row->col[NAME], cause);
	ck_assert_msg(since == want, "%s: since %jd", row->col[NAME], (intmax_t)(since - NOON));
}
END_TEST

START_TEST(a_part_gives_back_its_seconds_from_then_on_and_the_remainder_of_its_price)
{
	ck_assert_int_eq(refund_of_part(7200, 100, 200, 50), 7200);
	ck_assert_int_eq(refund_of_part(7200, 100, 200, 100), 7200);
	ck_assert_int_eq(refund_of_part(7200, 100, 200, 199), 72);
	ck_assert_int_eq(refund_of_part(7200, 100, 200, 200), 0);
	ck_assert_int_eq(refund_of_part(1003, 0, 10, 9), 103);
}
END_TEST

/* --- the books ---------------------------------------------------------------------------------- */

struct end {
	struct run *run;
	int64_t at, cap_s;
	const char *state;
	amount_t back;
};

/* As the loop does it: the end and what it gives back are one step. */
static int end_run(struct ledger *l, void *arg, struct fault *why)
{
	struct end *e = arg;
	int rc = run_end(l, e->run, e->at, e->state, e->at, why);

	return rc != 0 ? rc : run_refund(l, e->run, e->cap_s, e->at, &e->back, why);
}

/* 1 = it had ended. */
static int ends(struct run *r, int64_t at, const char *state, amount_t *back)
{
	struct end e = { .run = r, .at = at, .cap_s = 4 * HOUR, .state = state };
	int rc = books_do(&b, LEDGER_MONEY, end_run, &e);

	ck_assert_msg(rc >= 0, "%s", b.why.text);
	ledger_invariants(&b);
	*back = e.back;
	return rc;
}

static void start(int64_t project, int64_t gpus, int64_t min_runtime_s, struct run *r)
{
	static int64_t job = 100;
	struct submission s = { .project = project, .gpus = gpus, .min_runtime_s = min_runtime_s,
		.now = NOON };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job++, NOON, r);
}

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	ledger_invariants(&b);
	books_close(&b);
}

#define REFUNDS(where) books_ask(&b, "SELECT coalesce(sum(units), 0) FROM journal WHERE kind = 'refund' AND " where)

START_TEST(a_node_failure_gives_back_the_last_four_hours_at_every_project_that_paid_once)
{
	int64_t up = books_project(&b, "up", 0), p = books_project(&b, "p", up);
	amount_t back;
	struct run r;

	books_allot(&b, up, 100 * GPU_H, 0, 0);
	books_allot(&b, p, 50 * GPU_H, 0, 0);
	start(p, 2, 6 * HOUR, &r);
	ck_assert_int_eq(ends(&r, NOON + 5 * HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(back, 8 * GPU_H);
	ck_assert_int_eq(ends(&r, NOON + 5 * HOUR, "NODE_FAIL", &back), 1);	/* told again */
	ck_assert_int_eq(ends(&r, NOON + 6 * HOUR, "PREEMPTED", &back), 1);
	ck_assert_int_eq(books_available(&b, p, NOON + 5 * HOUR), 48 * GPU_H);
	ck_assert_int_eq(REFUNDS("actor = 'budgetd' AND charge IS NOT NULL AND substr(reason, 1, 32) = 'its node failed: the last 4 h of'"),
		16 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM journal WHERE kind = 'refund'"), 2);
}
END_TEST

static int cut_month(struct ledger *l, void *run, struct fault *why)
{
	struct run *r = run;

	return run_interim(l, r, NOON + r->gpus * HOUR, NOON + r->gpus * HOUR, why);
}

static int occupy(struct ledger *l, void *arg, struct fault *why)
{
	struct journal_entry e = { .at = NOON, .kind = "transfer", .allocation = *(int64_t *)arg, .units = 1,
		.actor = "eve", .request_id = "run-1-charge-1" };

	return journal_post(l, &e, why);
}

START_TEST(nobody_takes_the_id_of_a_refund_that_is_to_come)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 50 * GPU_H, 0, 0);
	amount_t back;
	struct run r;

	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, occupy, &a), 0);
	start(p, 1, 2 * HOUR, &r);
	ck_assert_int_eq(ends(&r, NOON + HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(REFUNDS("request_id = 'budgetd:run-1-charge-1'"), GPU_H);
}
END_TEST

/* 3 hours before the edge of a month, 2 after it: the newer charge goes back whole, of the older one the last
 * two hours. */
START_TEST(the_last_hours_may_lie_in_several_charges)
{
	int64_t p = books_project(&b, "p", 0);
	amount_t back;
	struct run r;

	books_allot(&b, p, 100 * GPU_H, 0, 0);
	start(p, 3, 6 * HOUR, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, cut_month, &r), 0);
	ck_assert_int_eq(ends(&r, NOON + 5 * HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(back, 12 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM journal WHERE kind = 'refund' ORDER BY id LIMIT 1"),
		6 * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + 5 * HOUR), 97 * GPU_H);
}
END_TEST

static int refund_by_hand(struct ledger *l, void *units, struct fault *why)
{
	struct journal_entry e = { .at = NOON, .actor = "root", .reason = "slow disks" };

	return money_refund(l, 1, *(amount_t *)units, &e, NOON + 4 * HOUR, why);
}

START_TEST(what_was_given_back_by_hand_counts_towards_the_hours)
{
	int64_t p = books_project(&b, "p", 0);
	amount_t back, by_hand = 5 * GPU_H;
	struct run r;

	books_allot(&b, p, 100 * GPU_H, 0, 0);
	start(p, 3, 6 * HOUR, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, cut_month, &r), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, refund_by_hand, &by_hand), 0);
	ck_assert_int_eq(ends(&r, NOON + 5 * HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(back, 7 * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + 5 * HOUR), 97 * GPU_H);
}
END_TEST

START_TEST(who_was_displaced_before_the_minimum_pays_nothing_and_who_was_later_pays_all)
{
	int64_t p = books_project(&b, "p", 0);
	amount_t back;
	struct run early, late;

	books_allot(&b, p, 100 * GPU_H, 0, 0);
	start(p, 1, 6 * HOUR, &early);
	start(p, 1, HOUR, &late);
	ck_assert_int_eq(ends(&early, NOON + 6 * HOUR - 1, "PREEMPTED", &back), 0);
	ck_assert_int_eq(back, 6 * GPU_H - AMOUNT_RATE_ONE);
	ck_assert_int_eq(ends(&late, NOON + HOUR, "PREEMPTED", &back), 0);
	ck_assert_int_eq(back, 0);
	ck_assert_int_eq(books_available(&b, p, NOON + 6 * HOUR), 99 * GPU_H);
}
END_TEST

static int lose_protection(struct ledger *l, void *run, struct fault *why)
{
	return run_unprotect(l, run, REASON_IDLE, "its GPUs were not used", NOON + 2 * HOUR, why);
}

/* Else GPUs that nobody uses would cost nothing, as soon as somebody else needs them. */
START_TEST(who_lost_the_protection_by_idle_gpus_pays_for_them)
{
	int64_t p = books_project(&b, "p", 0);
	amount_t back;
	struct run r;

	books_allot(&b, p, 100 * GPU_H, 0, 0);
	start(p, 1, 6 * HOUR, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, lose_protection, &r), 0);
	ck_assert_int_eq(ends(&r, NOON + 3 * HOUR, "PREEMPTED", &back), 0);
	ck_assert_int_eq(back, 0);
	ck_assert_int_eq(books_available(&b, p, NOON + 3 * HOUR), 97 * GPU_H);
	ck_assert_int_eq(books_ask(&b,
		"SELECT count(*) FROM event WHERE what = 'displaced' AND reason = 'IDLE'"), 1);
}
END_TEST

START_TEST(time_that_cost_nothing_gives_nothing_back)
{
	int64_t p = books_project(&b, "p", 0);
	amount_t back;
	struct run r;

	books_allot(&b, p, 2 * GPU_H, 0, 0);
	start(p, 1, 2 * HOUR, &r);
	/* 3 of the last 4 hours were not covered */
	ck_assert_int_eq(ends(&r, NOON + 5 * HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(back, GPU_H);
}
END_TEST

/* A project without GPU-hours of its own or above it has paid nothing. */
START_TEST(a_project_that_pays_nothing_gets_nothing)
{
	int64_t p = books_project(&b, "p", 0);
	amount_t back;
	struct run r;

	start(p, 1, 2 * HOUR, &r);
	ck_assert_int_eq(ends(&r, NOON + HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(back, 0);
	ck_assert_int_eq(REFUNDS("1"), 0);
	/* its share has it back */
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM uncounted WHERE cause = 'node failure'"),
		GPU_H);
}
END_TEST

START_TEST(an_allocation_that_has_ended_meanwhile_gets_it_and_lets_it_expire)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 10 * GPU_H, 0, NOON + 2 * HOUR);
	amount_t back;
	struct run r;

	start(p, 1, 6 * HOUR, &r);
	ck_assert_int_eq(ends(&r, NOON + 3 * HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(back, 3 * GPU_H);
	ck_assert_int_eq(books_ask(&b,
		"SELECT -sum(units) FROM journal WHERE kind = 'expiry' AND allocation = %lld", (long long)a),
		10 * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + 3 * HOUR), 0);
}
END_TEST

struct look {
	int64_t project;
	int64_t ppm;
};

static int look_at_ratio(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;
	struct ranking_level level[4];
	struct ranking *r;
	int n;

	if (ranking_new(l, 7 * 24 * HOUR, NULL, &(struct gpu_count){ .total = 16, .ntypes = 1,
		.types = { { "", 16 } } }, NOON + 84 * HOUR, &r, why) < 0)
		return -1;
	n = ranking_levels(r, x->project, RANKING_NO_USER, level, 4);
	x->ppm = level[n - 1].ratio_ppm;
	ranking_free(r);
	return 0;
}

/* The actor is a name like any other: a person may be called so. */
static int refund_as_budgetd(struct ledger *l, void *arg, struct fault *why)
{
	struct journal_entry e = { .at = NOON, .actor = "budgetd", .reason = "by hand all the same" };

	return money_refund(l, 1, *(amount_t *)arg, &e, NOON, why);
}

/* 16 GPUs for a week are 2,688 GPU-hours: 268.8 of them are a tenth. */
START_TEST(what_was_given_back_by_itself_leaves_the_ratio_and_what_was_by_hand_does_not)
{
	struct look x = { .project = books_project(&b, "p", 0) };
	amount_t back, by_hand = 100 * GPU_H;
	struct run paid, failed;

	books_allot(&b, x.project, 1000 * GPU_H, 0, 0);
	start(x.project, 8, 336 * HOUR / 10, &paid);
	start(x.project, 8, 8 * HOUR, &failed);
	ck_assert_int_eq(ends(&paid, NOON + 336 * HOUR / 10, "COMPLETED", &back), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, refund_by_hand, &by_hand), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, refund_as_budgetd, &by_hand), 0);
	ck_assert_int_eq(ends(&failed, NOON + 4 * HOUR, "NODE_FAIL", &back), 0);
	ck_assert_int_eq(back, 32 * GPU_H);
	ck_assert_int_eq(books_do(&b, LEDGER_READ, look_at_ratio, &x), 0);
	ck_assert_int_eq(x.ppm, 100000);
}
END_TEST

Suite *refund_suite(void)
{
	TCase *rule = tcase_create("rule"), *t = tcase_create("books");
	Suite *s = suite_create("refund");

	cases = cases_load("refund.cases", COLUMNS);
	tcase_add_loop_test(rule, the_rule_is_as_the_table_says, 0, cases.rows);
	tcase_add_test(rule, a_part_gives_back_its_seconds_from_then_on_and_the_remainder_of_its_price);
	suite_add_tcase(s, rule);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_node_failure_gives_back_the_last_four_hours_at_every_project_that_paid_once);
	tcase_add_test(t, nobody_takes_the_id_of_a_refund_that_is_to_come);
	tcase_add_test(t, the_last_hours_may_lie_in_several_charges);
	tcase_add_test(t, what_was_given_back_by_hand_counts_towards_the_hours);
	tcase_add_test(t, who_was_displaced_before_the_minimum_pays_nothing_and_who_was_later_pays_all);
	tcase_add_test(t, who_lost_the_protection_by_idle_gpus_pays_for_them);
	tcase_add_test(t, time_that_cost_nothing_gives_nothing_back);
	tcase_add_test(t, a_project_that_pays_nothing_gets_nothing);
	tcase_add_test(t, an_allocation_that_has_ended_meanwhile_gets_it_and_lets_it_expire);
	tcase_add_test(t, what_was_given_back_by_itself_leaves_the_ratio_and_what_was_by_hand_does_not);
	suite_add_tcase(s, t);
	return s;
}
