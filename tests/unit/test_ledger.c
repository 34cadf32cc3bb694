/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ledger.c - stories about GPU-hours: granted, set aside, used, given back. The invariants are checked
 * after every step. */
#include "budgetd/ledger_change.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>

static struct books b;

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	books_close(&b);
}

#define HELD(allocation) books_ask(&b, "SELECT held FROM allocation_sum WHERE allocation = %lld", (long long)(allocation))
#define CHARGED(allocation) books_ask(&b, "SELECT charged FROM allocation_sum WHERE allocation = %lld", (long long)(allocation))
#define PARTS(r, kind) books_ask(&b, "SELECT coalesce(sum(part_end - part_start), 0) FROM charge WHERE run = %lld AND kind = '" kind "'", \
	(long long)(r).id)

START_TEST(a_job_that_ends_early_gives_back_what_it_did_not_use)
{
	int64_t vision = books_project(&b, "vision", 0), a = books_allot(&b, vision, 8 * GPU_H, 0, 0);
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = 3 * HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(HELD(a), 6 * GPU_H);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(r.covered_until, NOON + 3 * HOUR);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR), 0);
	ck_assert_int_eq(HELD(a), 0);
	ck_assert_int_eq(CHARGED(a), 2 * GPU_H);
	/* given back */
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM hold WHERE closed_why = 'settled'"), 4 * GPU_H);
	ck_assert_int_eq(books_available(&b, vision, NOON), 6 * GPU_H);
}
END_TEST

START_TEST(what_does_not_fit_takes_nothing)
{
	int64_t vision = books_project(&b, "vision", 0), a = books_allot(&b, vision, 8 * GPU_H, 0, 0);
	struct submission fits = { .project = vision, .gpus = 8, .min_runtime_s = HOUR },
		more = { .project = vision, .gpus = 1, .min_runtime_s = 1 };

	ck_assert_int_eq(books_submit(&b, &fits), 0);
	ck_assert_int_eq(books_submit(&b, &more), 1);
	ck_assert_int_eq(HELD(a), 8 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold"), 1);
}
END_TEST

START_TEST(every_project_on_the_way_up_is_charged_and_the_tightest_decides)
{
	int64_t ai = books_project(&b, "ai", 0), lab = books_project(&b, "lab", ai),
		vision = books_project(&b, "vision", lab);
	int64_t top = books_allot(&b, ai, 4 * GPU_H, 0, 0), leaf = books_allot(&b, vision, 100 * GPU_H, 0, 0);
	struct submission s = { .project = vision, .gpus = 3, .min_runtime_s = HOUR },
		more = { .project = vision, .gpus = 2, .min_runtime_s = HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(HELD(top), 3 * GPU_H);
	ck_assert_int_eq(HELD(leaf), 3 * GPU_H);
	ck_assert_int_eq(books_submit(&b, &more), 1);	/* ai has 1 left */
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR), 0);
	ck_assert_int_eq(CHARGED(top), 3 * GPU_H);
	ck_assert_int_eq(CHARGED(leaf), 3 * GPU_H);
	ck_assert_int_eq(books_available(&b, lab, NOON), GPU_H);
}
END_TEST

START_TEST(the_soonest_to_expire_is_spent_first_and_given_back_last)
{
	int64_t p = books_project(&b, "p", 0), open = books_allot(&b, p, 10 * GPU_H, 0, 0);
	int64_t late = books_allot(&b, p, 2 * GPU_H, 0, NOON + 900 * HOUR),
		soon = books_allot(&b, p, GPU_H, 0, NOON + 90 * HOUR);
	int64_t future = books_allot(&b, p, 50 * GPU_H, NOON + 10, NOON + 20 * HOUR);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = 4 * HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(HELD(soon), GPU_H);
	ck_assert_int_eq(HELD(late), 2 * GPU_H);
	ck_assert_int_eq(HELD(open), GPU_H);
	ck_assert_int_eq(HELD(future), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 2 * HOUR), 0);
	ck_assert_int_eq(CHARGED(soon), GPU_H);
	ck_assert_int_eq(CHARGED(late), GPU_H);
	ck_assert_int_eq(CHARGED(open), 0);
}
END_TEST

START_TEST(credit_is_the_last_to_go_and_is_the_debt_of_the_last_allocation)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 2 * GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = 5 * HOUR };
	struct run r;

	ck_assert_ptr_null(books_try(&b, "UPDATE project SET credit = 3 * 3600000"));
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_available(&b, p, NOON), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 5 * HOUR), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT balance FROM journal ORDER BY id DESC LIMIT 1"), -3 * GPU_H);
	ck_assert_int_eq(CHARGED(a), 5 * GPU_H);
	s.admission.id = 0;
	ck_assert_int_eq(books_submit(&b, &s), 1);
}
END_TEST

START_TEST(when_all_allocations_have_expired_there_is_nothing_and_their_debt_stays)
{
	int64_t p = books_project(&b, "p", 0), then = NOON + 10 * HOUR;
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = 5 * HOUR },
		later = { .project = p, .gpus = 1, .min_runtime_s = 1, .now = then };
	struct run r;

	books_allot(&b, p, 4 * GPU_H, 0, then);
	ck_assert_ptr_null(books_try(&b, "UPDATE project SET credit = 2 * 3600000"));
	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 5 * HOUR), 0);
	ck_assert_int_eq(books_available(&b, p, then), -GPU_H);
	ck_assert_int_eq(books_submit(&b, &later), 1);
	books_allot(&b, p, 3 * GPU_H, 0, 0);
	ck_assert_int_eq(books_available(&b, p, then), 4 * GPU_H);	/* 3 new, 2 credit, 1 owed */
}
END_TEST

START_TEST(a_run_keeps_its_hold_on_an_allocation_that_expires_meanwhile)
{
	int64_t p = books_project(&b, "p", 0), then = NOON + HOUR, a = books_allot(&b, p, 4 * GPU_H, 0, then);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = 2 * HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, then), -1);	/* not from an expired one */
	ck_assert_int_eq(books_end(&b, &r, NOON + 3 * HOUR), 0);
	ck_assert_int_eq(CHARGED(a), 2 * GPU_H);
	ck_assert_int_eq(PARTS(r, "funded"), 2 * HOUR);
	ck_assert_int_eq(PARTS(r, "free"), HOUR);
}
END_TEST

START_TEST(an_ancestor_that_gets_its_money_later_pays_for_what_is_held_from_then_on)
{
	int64_t lab = books_project(&b, "lab", 0), p = books_project(&b, "p", lab),
		leaf = books_allot(&b, p, 9 * GPU_H, 0, 0), top;
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = 2 * HOUR, .now = NOON - 1 };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	top = books_allot(&b, lab, 5 * GPU_H, 0, 0);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON), 0);
	ck_assert_int_eq(HELD(top), GPU_H);
	ck_assert_int_eq(books_end(&b, &r, NOON + 3 * HOUR), 0);
	ck_assert_int_eq(CHARGED(top), GPU_H);
	ck_assert_int_eq(CHARGED(leaf), 3 * GPU_H);
}
END_TEST

START_TEST(the_rest_of_a_hold_stays_where_it_was_when_an_ancestor_has_less_of_it)
{
	int64_t lab = books_project(&b, "lab", 0), p = books_project(&b, "p", lab),
		leaf = books_allot(&b, p, 9 * GPU_H, 0, 0), top;
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = 4 * HOUR, .now = NOON - 1 };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	top = books_allot(&b, lab, 5 * GPU_H, 0, 0);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON), 0);
	ck_assert_int_eq(books_end(&b, &r, NOON + 2 * HOUR), 0);
	ck_assert_int_eq(CHARGED(top), GPU_H);
	ck_assert_int_eq(CHARGED(leaf), 2 * GPU_H);
	ck_assert_int_eq(HELD(leaf) + HELD(top), 0);
}
END_TEST

START_TEST(tasks_of_an_array_start_one_by_one_out_of_one_pool)
{
	int64_t p = books_project(&b, "p", 0), soon = books_allot(&b, p, 5 * GPU_H, 0, NOON + 90 * HOUR),
		a = books_allot(&b, p, GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 2, .min_runtime_s = HOUR, .tasks = 3 };
	struct run r[3];

	ck_assert_int_eq(books_submit(&b, &s), 0);
	for (int i = 0; i < 3; i++) {
		books_start(&b, &s, 10 + i, NOON + i, &r[i]);
		ck_assert_int_eq(books_ask(&b,
			"SELECT coalesce(sum(tasks), 0) FROM hold WHERE run IS NULL AND closed_at IS NULL"),
			2 - i);
		ck_assert_int_eq(books_ask(&b, "SELECT units FROM hold WHERE run = %lld", (long long)r[i].id),
			2 * GPU_H);
	}
	ck_assert_int_eq(HELD(soon) + HELD(a), 6 * GPU_H);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(books_end(&b, &r[i], r[i].start + HOUR), 0);
	ck_assert_int_eq(CHARGED(soon) + CHARGED(a), 6 * GPU_H);
	ck_assert_int_eq(HELD(soon) + HELD(a), 0);
}
END_TEST

START_TEST(a_hold_that_cannot_be_split_evenly_loses_nothing)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = 1, .tasks = 3 };
	struct run r[3];

	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_ptr_null(books_try(&b,
		"BEGIN; UPDATE hold SET units = 3001; UPDATE hold_draw SET units = 3001;"
		" UPDATE allocation_sum SET held = 3001; UPDATE user_sum SET held = 3001; COMMIT"));
	for (int i = 0; i < 3; i++)
		books_start(&b, &s, 10 + i, NOON, &r[i]);
	ck_assert_int_eq(HELD(a), 3001);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(books_end(&b, &r[i], NOON + 5), 0);
	ck_assert_int_eq(CHARGED(a), 3000);
	ck_assert_int_eq(HELD(a), 0);
}
END_TEST

START_TEST(a_run_that_ends_twice_is_charged_once)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 9 * GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR };
	struct run r, stale;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	stale = r;
	ck_assert_int_eq(books_end(&b, &r, NOON + 60), 0);
	ck_assert_int_eq(books_end(&b, &r, NOON + 90), 1);
	ck_assert_int_eq(books_end(&b, &stale, NOON + 120), 1);	/* who asks does not know that it has ended */
	ck_assert_int_eq(stale.ended, NOON + 60);
	ck_assert_int_eq(CHARGED(a), 60 * AMOUNT_RATE_ONE);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM charge"), 1);
}
END_TEST

START_TEST(a_run_that_starts_twice_takes_one_hold)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 9 * GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR, .tasks = 2 };
	struct run r, again;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	books_start(&b, &s, 7, NOON, &again);
	ck_assert_int_eq(again.id, r.id);
	ck_assert_int_eq(HELD(a), 2 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold WHERE run IS NOT NULL"), 1);
}
END_TEST

START_TEST(what_nobody_looked_after_in_time_is_uncovered)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 9 * GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 3 * HOUR), 0);
	ck_assert_int_eq(CHARGED(a), GPU_H);
	ck_assert_int_eq(PARTS(r, "uncovered"), 2 * HOUR);
}
END_TEST

START_TEST(a_run_goes_on_until_the_money_ends_and_is_free_from_there)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 3 * GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON), 0);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON), 0);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, NOON), -1);
	ck_assert_int_eq(r.free_since, NOON + 3 * HOUR);
	ck_assert_int_eq(books_end(&b, &r, NOON + 5 * HOUR), 0);
	ck_assert_int_eq(CHARGED(a), 3 * GPU_H);
	ck_assert_int_eq(PARTS(r, "free"), 2 * HOUR);
}
END_TEST

START_TEST(a_run_that_ended_before_it_started_costs_nothing)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 9 * GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON - 5), 0);
	ck_assert_int_eq(CHARGED(a), 0);
	ck_assert_int_eq(HELD(a), 0);
	ck_assert_int_eq(r.ended, NOON);
}
END_TEST

static int regrow(struct ledger *l, void *arg, struct fault *why)
{
	const amount_t *by = arg;
	struct hold_row h;
	struct path p;

	if (hold_pool(l, 1, &h, why) != 1 || path_load(l, h.project, NOON, &p, why) < 0)
		return -1;
	return *by < 0 ? hold_shrink(l, &h, -*by, why) : hold_grow(l, &p, &h, *by, why);
}

/* soon has 2, late has 3; each row is one change and what they hold afterwards. */
static const struct {
	amount_t by, soon, late;
} changes[] = { { 1, 2, 1 }, { 2, 2, 3 }, { -1, 2, 2 }, { -3, 1, 0 }, { 3, 2, 2 }, { -99, 0, 0 },
	{ 1, 1, 0 } };

START_TEST(a_hold_that_grows_and_shrinks_keeps_what_expires_first)
{
	int64_t top = books_project(&b, "top", 0), p = books_project(&b, "p", top),
		root = books_allot(&b, top, 9 * GPU_H, 0, 0);
	int64_t soon = books_allot(&b, p, 2 * GPU_H, 0, NOON + 90 * HOUR),
		late = books_allot(&b, p, 3 * GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 2, .min_runtime_s = HOUR };

	ck_assert_int_eq(books_submit(&b, &s), 0);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		amount_t by = changes[i].by * GPU_H;
		bool too_much = i == 5;		/* more than it holds: to 0, and the log says so */
		int warnings = books_warnings;

		ck_assert_msg(books_do(&b, LEDGER_HOLDS, regrow, &by) == 0, "%s", b.why.text);
		ledger_invariants(&b);
		ck_assert_int_eq(HELD(soon), changes[i].soon * GPU_H);
		ck_assert_int_eq(HELD(late), changes[i].late * GPU_H);
		ck_assert_int_eq(HELD(root), HELD(soon) + HELD(late));
		ck_assert_int_eq(books_warnings - warnings, too_much);
	}
}
END_TEST

START_TEST(the_same_deposit_said_twice_is_one_row)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, GPU_H, 0, 0);

	ck_assert_int_eq(books_deposit(&b, a, 5 * GPU_H, "req-1"), 0);
	ck_assert_int_eq(books_deposit(&b, a, 5 * GPU_H, "req-1"), 1);
	ck_assert_int_eq(books_deposit(&b, a, 7 * GPU_H, "req-1"), 1);
	ck_assert_int_eq(books_deposit(&b, a, GPU_H, ""), 0);
	ck_assert_int_eq(books_deposit(&b, a, GPU_H, ""), 0);
	ledger_invariants(&b);
	ck_assert_int_eq(books_available(&b, p, NOON), 8 * GPU_H);
}
END_TEST

START_TEST(more_than_can_be_counted_is_refused_and_nothing_moves)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, ALLOCATION_UNITS_MAX - 5, 0, 0);

	ck_assert_int_eq(books_deposit(&b, a, 6, ""), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
	ck_assert_int_eq(books_deposit(&b, a, INT64_MAX, ""), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
	ledger_invariants(&b);
	ck_assert_int_eq(books_deposit(&b, a + 1, 6, ""), -1);
	ck_assert_int_eq(errno, ENOENT);
	ledger_invariants(&b);
}
END_TEST

/* The database itself refuses, whoever writes. */
static const char *const forbidden[] = {
	"UPDATE journal SET units = 0", "DELETE FROM journal", "UPDATE charge SET units = 0",
		"DELETE FROM charge",
	"UPDATE run SET price = 0", "DELETE FROM run", "UPDATE allocation_sum SET held = -1",
	"INSERT INTO journal (at, kind, allocation, project, units, balance, actor) VALUES (1, 'charge', 1, 1, -1, 0, 'x')",
	"INSERT INTO journal (at, kind, allocation, project, units, balance, actor) VALUES (1, 'gift', 1, 1, 1, 0, 'x')",
	"INSERT INTO journal (at, kind, allocation, project, units, balance, actor) VALUES (1, 'deposit', 99, 1, 1, 0, 'x')",
	"UPDATE project SET credit = -1", "UPDATE project SET parent = id",
	"UPDATE project SET name = 'Vision'",
	"INSERT INTO hold_draw (hold, allocation, units) VALUES (1, 1, 0)",
	"UPDATE admission SET tier = 'gold'",
	"UPDATE change SET was = 'x'", "DELETE FROM change", "UPDATE allocation_sum SET amount = 1.5",
	"DELETE FROM project", "UPDATE allocation SET ends = starts",
};

static int change_share(struct ledger *l, void *project, struct fault *why)
{
	struct change_words w = { .at = NOON, .actor = "ada" };

	return change_number(l, &w, &(struct change){ .project = *(int64_t *)project, .what = "share" }, 2, 1,
		why);
}

START_TEST(what_happened_cannot_be_changed)
{
	int64_t p = books_project(&b, "vision", 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR };
	struct run r;

	books_allot(&b, p, 9 * GPU_H, 0, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + 60), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, change_share, &p), 0);
	ck_assert_ptr_null(books_try(&b, "PRAGMA foreign_keys = ON"));
	ck_assert_msg(books_try(&b, forbidden[_i]) != NULL, "%s was allowed", forbidden[_i]);
	ledger_invariants(&b);
}
END_TEST

Suite *ledger_suite(void)
{
	Suite *s = suite_create("ledger");
	TCase *t = tcase_create("money");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_job_that_ends_early_gives_back_what_it_did_not_use);
	tcase_add_test(t, what_does_not_fit_takes_nothing);
	tcase_add_test(t, every_project_on_the_way_up_is_charged_and_the_tightest_decides);
	tcase_add_test(t, the_soonest_to_expire_is_spent_first_and_given_back_last);
	tcase_add_test(t, credit_is_the_last_to_go_and_is_the_debt_of_the_last_allocation);
	tcase_add_test(t, when_all_allocations_have_expired_there_is_nothing_and_their_debt_stays);
	tcase_add_test(t, a_run_keeps_its_hold_on_an_allocation_that_expires_meanwhile);
	tcase_add_test(t, an_ancestor_that_gets_its_money_later_pays_for_what_is_held_from_then_on);
	tcase_add_test(t, the_rest_of_a_hold_stays_where_it_was_when_an_ancestor_has_less_of_it);
	tcase_add_test(t, tasks_of_an_array_start_one_by_one_out_of_one_pool);
	tcase_add_test(t, a_hold_that_cannot_be_split_evenly_loses_nothing);
	tcase_add_test(t, a_run_that_ends_twice_is_charged_once);
	tcase_add_test(t, a_run_that_starts_twice_takes_one_hold);
	tcase_add_test(t, what_nobody_looked_after_in_time_is_uncovered);
	tcase_add_test(t, a_run_goes_on_until_the_money_ends_and_is_free_from_there);
	tcase_add_test(t, a_run_that_ended_before_it_started_costs_nothing);
	tcase_add_test(t, a_hold_that_grows_and_shrinks_keeps_what_expires_first);
	tcase_add_test(t, the_same_deposit_said_twice_is_one_row);
	tcase_add_test(t, more_than_can_be_counted_is_refused_and_nothing_moves);
	tcase_add_loop_test(t, what_happened_cannot_be_changed, 0, sizeof(forbidden) / sizeof(forbidden[0]));
	suite_add_tcase(s, t);
	return s;
}
