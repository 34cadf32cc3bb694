/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_caps.c - what one user may take of a project: over what it counts, when it gives way, and that it is
 * nobody else's */
#include "budgetd/ledger_cap.h"
#include "budgetd/ledger_moves.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>

#define ADA 1000
#define BOB 2000

static struct books b;
static int64_t lab, vision, speech;

/* lab has 100 GPU-hours, vision below it 50, speech nothing of its own. */
static void setup(void)
{
	books_open(&b);
	lab = books_project(&b, "lab", 0);
	vision = books_project(&b, "vision", lab);
	speech = books_project(&b, "speech", lab);
	books_allot(&b, lab, 100 * GPU_H, 0, 0);
	books_allot(&b, vision, 50 * GPU_H, 0, NOON + 1000 * HOUR);
}

static void teardown(void)
{
	books_close(&b);
}

static int set(struct ledger *l, void *arg, struct fault *why)
{
	return cap_set(l, arg, NOON, why);
}

static int cap(int64_t project, int64_t uid, amount_t units)
{
	struct cap c = { .project = project, .uid = uid, .user = "somebody", .units = units };
	int rc = books_do(&b, LEDGER_MONEY, set, &c);

	ledger_invariants(&b);
	return rc;
}

static int submit(int64_t project, int64_t uid, int64_t hours, struct submission *s)
{
	*s = (struct submission){ .project = project, .gpus = 1, .min_runtime_s = hours * HOUR, .uid = uid };
	return books_submit(&b, s);
}

struct look {
	int64_t project, now;
	struct cap cap;
};

static int look(struct ledger *l, void *arg, struct fault *why)
{
	struct look *x = arg;

	return cap_of(l, x->project, ADA, x->now, &x->cap, why);
}

static amount_t used(int64_t project, int64_t now)
{
	struct look x = { project, now, { .units = 0 } };

	ck_assert_int_eq(books_do(&b, LEDGER_READ, look, &x), 1);
	return x.cap.charged + x.cap.held;
}

START_TEST(a_cap_bounds_what_one_user_holds_and_nobody_else)
{
	struct submission s;

	ck_assert_int_eq(cap(vision, ADA, 10 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 8, &s), 0);
	ck_assert_int_eq(submit(vision, ADA, 3, &s), 1);
	ck_assert_int_eq(submit(vision, ADA, 2, &s), 0);
	ck_assert_int_eq(submit(vision, BOB, 30, &s), 0);
	ck_assert_int_eq(submit(lab, ADA, 30, &s), 0);		/* beside vision she is not capped */
	ck_assert_int_eq(used(vision, NOON), 10 * GPU_H);
}
END_TEST

START_TEST(what_a_run_did_not_use_can_be_taken_again)
{
	struct submission s;
	struct run r;

	ck_assert_int_eq(cap(vision, ADA, 10 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 10, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 4 * HOUR), 0);
	ck_assert_int_eq(used(vision, NOON), 4 * GPU_H);
	ck_assert_int_eq(submit(vision, ADA, 7, &s), 1);
	ck_assert_int_eq(submit(vision, ADA, 6, &s), 0);
}
END_TEST

START_TEST(a_run_is_not_extended_beyond_the_cap)
{
	struct submission s;
	struct run r;

	ck_assert_int_eq(cap(vision, ADA, 2 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 1, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON), 0);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON), -1);
	ck_assert_int_eq(r.free_since, NOON + 2 * HOUR);
}
END_TEST

START_TEST(a_cap_counts_what_is_below_its_project)
{
	struct submission s;

	ck_assert_int_eq(cap(lab, ADA, 10 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 4, &s), 0);
	ck_assert_int_eq(submit(speech, ADA, 4, &s), 0);
	ck_assert_int_eq(submit(vision, ADA, 3, &s), 1);
	ck_assert_int_eq(submit(speech, BOB, 3, &s), 0);
	ck_assert_int_eq(used(lab, NOON), 8 * GPU_H);
}
END_TEST

START_TEST(it_counts_against_the_live_allocations_only)
{
	struct submission s;
	struct run r;

	ck_assert_int_eq(cap(vision, ADA, 10 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 10, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 10 * HOUR), 0);
	ck_assert_int_eq(submit(vision, ADA, 1, &s), 1);
	books_allot(&b, vision, 50 * GPU_H, NOON + 1500 * HOUR, 0);
	s = (struct submission){ .project = vision, .gpus = 1, .min_runtime_s = 10 * HOUR, .uid = ADA,
		.now = NOON + 2000 * HOUR };
	ck_assert_int_eq(used(vision, s.now), 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
}
END_TEST

static int refund(struct ledger *l, void *arg, struct fault *why)
{
	struct journal_entry e = { .at = NOON, .uid = -1, .actor = "ada", .reason = "it was not her fault" };

	(void)arg;
	return money_refund(l, 1, 3 * GPU_H, &e, NOON, why);
}

START_TEST(a_refund_gives_room_again)
{
	struct submission s;
	struct run r;

	ck_assert_int_eq(cap(vision, ADA, 5 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 5, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 5 * HOUR), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, refund, NULL), 0);
	ledger_invariants(&b);
	ck_assert_int_eq(used(vision, NOON), 2 * GPU_H);
	ck_assert_int_eq(submit(vision, ADA, 3, &s), 0);
}
END_TEST

static int refund_late(struct ledger *l, void *arg, struct fault *why)
{
	int64_t now = NOON + 2000 * HOUR;
	struct journal_entry e = { .at = now, .uid = -1, .actor = "ada", .reason = "it was not her fault" };

	(void)arg;
	return money_refund(l, 1, 0, &e, now, why);
}

/* The money is in the next allocation then, and the cap there is not wider for it. */
START_TEST(a_refund_of_what_expired_gives_no_room_in_the_next_allocation)
{
	struct submission s;
	struct run r;

	ck_assert_int_eq(cap(vision, ADA, 10 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 10, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 10 * HOUR), 0);
	books_allot(&b, vision, 50 * GPU_H, NOON + 1500 * HOUR, 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, refund_late, NULL), 0);
	ledger_invariants(&b);
	ck_assert_int_eq(used(vision, NOON + 2000 * HOUR), 0);
	s = (struct submission){ .project = vision, .gpus = 1, .min_runtime_s = 11 * HOUR, .uid = ADA,
		.now = NOON + 2000 * HOUR };
	ck_assert_int_eq(books_submit(&b, &s), 1);
}
END_TEST

START_TEST(a_cap_can_be_set_below_what_is_used_and_takes_nothing_back)
{
	struct submission s;

	ck_assert_int_eq(submit(vision, ADA, 5, &s), 0);
	ck_assert_int_eq(cap(vision, ADA, 2 * GPU_H), 0);
	ck_assert_int_eq(used(vision, NOON), 5 * GPU_H);
	ck_assert_int_eq(submit(vision, ADA, 1, &s), 1);
	ck_assert_int_eq(cap(vision, ADA, CAP_NONE), 0);
	ck_assert_int_eq(submit(vision, ADA, 1, &s), 0);
}
END_TEST

START_TEST(there_is_nothing_to_cap_without_an_allocation)
{
	ck_assert_int_eq(cap(speech, ADA, GPU_H), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(cap(speech, ADA, CAP_NONE), 0);
}
END_TEST

START_TEST(what_its_own_hold_takes_counts_as_given_back_when_it_is_priced_anew)
{
	struct submission s;
	struct hold_row h;
	struct path p;

	ck_assert_int_eq(cap(vision, ADA, 5 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 5, &s), 0);
	ck_assert_int_eq(ledger_begin(b.l, LEDGER_READ, &b.why), 0);
	ck_assert_int_eq(hold_pool(b.l, s.admission.id, &h, &b.why), 1);
	ck_assert_int_eq(path_load_for(b.l, vision, ADA, NOON, &p, &b.why), 0);
	ck_assert_int_eq(budget_available(&p.nodes[0].budget), 0);
	ck_assert_int_eq(hold_credit(b.l, &h, &p, &b.why), 0);
	ck_assert_int_eq(budget_available(&p.nodes[0].budget), 5 * GPU_H);
	ledger_rollback(b.l);
}
END_TEST

/* What it draws on has expired: only what is added is taken of the cap. */
START_TEST(what_a_hold_has_of_an_expired_allocation_is_not_taken_again)
{
	struct submission s;
	struct hold_row h;
	struct path p;

	ck_assert_int_eq(cap(vision, ADA, 5 * GPU_H), 0);
	ck_assert_int_eq(submit(vision, ADA, 4, &s), 0);
	books_allot(&b, vision, 50 * GPU_H, NOON + 1500 * HOUR, 0);
	ck_assert_int_eq(ledger_begin(b.l, LEDGER_READ, &b.why), 0);
	ck_assert_int_eq(hold_pool(b.l, s.admission.id, &h, &b.why), 1);
	ck_assert_int_eq(path_load_for(b.l, vision, ADA, NOON + 2000 * HOUR, &p, &b.why), 0);
	ck_assert_int_eq(budget_available(&p.nodes[0].budget), 5 * GPU_H);
	ck_assert_int_eq(hold_credit(b.l, &h, &p, &b.why), 0);
	ck_assert_int_eq(budget_available(&p.nodes[0].budget), 9 * GPU_H);
	ledger_rollback(b.l);
}
END_TEST

Suite *caps_suite(void)
{
	Suite *s = suite_create("caps");
	TCase *t = tcase_create("caps");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_cap_bounds_what_one_user_holds_and_nobody_else);
	tcase_add_test(t, what_a_run_did_not_use_can_be_taken_again);
	tcase_add_test(t, a_run_is_not_extended_beyond_the_cap);
	tcase_add_test(t, a_cap_counts_what_is_below_its_project);
	tcase_add_test(t, it_counts_against_the_live_allocations_only);
	tcase_add_test(t, a_refund_gives_room_again);
	tcase_add_test(t, a_refund_of_what_expired_gives_no_room_in_the_next_allocation);
	tcase_add_test(t, a_cap_can_be_set_below_what_is_used_and_takes_nothing_back);
	tcase_add_test(t, there_is_nothing_to_cap_without_an_allocation);
	tcase_add_test(t, what_its_own_hold_takes_counts_as_given_back_when_it_is_priced_anew);
	tcase_add_test(t, what_a_hold_has_of_an_expired_allocation_is_not_taken_again);
	suite_add_tcase(s, t);
	return s;
}
