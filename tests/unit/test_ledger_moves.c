/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ledger_moves.c - GPU-hours taken back, moved, refunded, corrected and expired. The invariants are
 * checked after every step. */
#include "budgetd/ledger_moves.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct books b;

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	ledger_invariants(&b);
	books_close(&b);
}

#define AMOUNT(allocation) books_ask(&b, "SELECT amount FROM allocation_sum WHERE allocation = %lld", (long long)(allocation))
#define ENTRIES(kind) books_ask(&b, "SELECT count(*) FROM journal WHERE kind = '" kind "'")

/* --- the steps of this file --------------------------------------------------------------------- */

enum what { CHANGE, TRANSFER, REFUND, VOID, EXPIRE };

struct step {
	enum what what;
	int64_t from, to;		/* allocation; projects; charge; entry */
	amount_t units;
	int64_t now;
	int64_t out_of, into;		/* allocations of a transfer */
	const char *request_id;
	struct journal_entry e;		/* set */
};

static int apply(struct ledger *l, void *arg, struct fault *why)
{
	struct step *s = arg;
	int64_t now = s->now ? s->now : NOON;

	s->e = (struct journal_entry){ .at = now, .kind = "withdrawal", .actor = "ada", .reason = "because" };
	snprintf(s->e.request_id, sizeof(s->e.request_id), "%s", s->request_id ? s->request_id : "");
	switch (s->what) {
	case CHANGE:
		s->e.allocation = s->from;
		s->e.units = s->units;
		return money_change(l, &s->e, now, why);
	case TRANSFER:
		return money_transfer(l, &(struct transfer){ s->from, s->to, s->units, s->out_of, s->into },
			&s->e, now, why);
	case REFUND:
		return money_refund(l, s->from, s->units, &s->e, now, why);
	case VOID:
		return money_void(l, s->from, &s->e, now, why);
	case EXPIRE:
		return money_expire(l, now, why);
	}
	return -1;
}

static int step(struct step *s)
{
	int rc = books_do(&b, LEDGER_MONEY, apply, s);

	ledger_invariants(&b);
	return rc;
}

#define STEP(...) step(&(struct step){ __VA_ARGS__ })
#define REFUSED(words, ...) \
	do { \
		ck_assert_int_eq(STEP(__VA_ARGS__), -1); \
		ck_assert_int_eq(errno, EEXIST); \
		ck_assert_msg(strstr(b.why.text, words) != NULL, "%s", b.why.text); \
	} while (0)

static void hold(int64_t project, int64_t gpus, struct submission *s)
{
	*s = (struct submission){ .project = project, .gpus = gpus, .min_runtime_s = HOUR };
	ck_assert_int_eq(books_submit(&b, s), 0);
}

/* A run of an hour, charged in full. The id of the charge. */
static int64_t charged(int64_t project, int64_t gpus, int64_t job)
{
	struct submission s;
	struct run r;

	hold(project, gpus, &s);
	books_start(&b, &s, job, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR), 0);
	return books_ask(&b, "SELECT max(id) FROM charge");
}

/* --- withdrawals and adjustments ---------------------------------------------------------------- */

START_TEST(a_withdrawal_leaves_what_is_charged_and_held)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 10 * GPU_H, 0, 0);
	struct submission s;

	charged(p, 3, 7);
	hold(p, 2, &s);
	REFUSED("allocation 1 has 5.00 GPU-h", CHANGE, .from = a, .units = -5 * GPU_H - 1);
	ck_assert_int_eq(AMOUNT(a), 10 * GPU_H);
	ck_assert_int_eq(STEP(CHANGE, .from = a, .units = -5 * GPU_H), 0);
	ck_assert_int_eq(books_available(&b, p, NOON), 0);
	REFUSED("0.00", CHANGE, .from = a, .units = -1);
}
END_TEST

START_TEST(a_withdrawal_says_what_stays_and_that_is_not_what_has_not_vested)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 10 * GPU_H, NOON, NOON + 10 * HOUR);

	ck_assert_ptr_null(books_try(&b, "UPDATE allocation SET vests = 1"));
	ck_assert_int_eq(books_available(&b, p, NOON), 0);
	REFUSED("allocation 1 has 10.00 GPU-h", CHANGE, .from = a, .units = -11 * GPU_H);
	ck_assert_msg(strstr(b.why.text, "vested") == NULL, "%s", b.why.text);
	ck_assert_int_eq(STEP(CHANGE, .from = a, .units = -10 * GPU_H), 0);
}
END_TEST

START_TEST(credit_is_never_withdrawn_nor_moved_and_opens_nothing_above)
{
	int64_t top = books_project(&b, "top", 0), p = books_project(&b, "p", top),
		q = books_project(&b, "q", top);
	int64_t above = books_allot(&b, top, 4 * GPU_H, 0, 0), a = books_allot(&b, p, GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 5, .min_runtime_s = HOUR };

	books_allot(&b, q, GPU_H, 0, 0);
	ck_assert_ptr_null(books_try(&b, "UPDATE project SET credit = 36000000 WHERE name = 'p'"));
	ck_assert_int_eq(books_available(&b, p, NOON), 4 * GPU_H);	/* top decides */
	ck_assert_int_eq(books_submit(&b, &s), 1);
	REFUSED("1.00 GPU-h", CHANGE, .from = a, .units = -2 * GPU_H);
	REFUSED("p has 1.00 GPU-h", TRANSFER, .from = p, .to = q, .units = 2 * GPU_H);
	ck_assert_int_eq(AMOUNT(above), 4 * GPU_H);
}
END_TEST

START_TEST(an_adjustment_can_go_both_ways_and_is_written_once)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 10 * GPU_H, 0, 0);

	ck_assert_int_eq(STEP(CHANGE, .from = a, .units = GPU_H, .request_id = "x"), 0);
	ck_assert_int_eq(STEP(CHANGE, .from = a, .units = GPU_H, .request_id = "x"), 1);
	ck_assert_int_eq(STEP(CHANGE, .from = a, .units = -2 * GPU_H, .request_id = "y"), 0);
	ck_assert_int_eq(AMOUNT(a), 9 * GPU_H);
	ck_assert_int_eq(STEP(CHANGE, .from = 99, .units = 1), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(an_id_of_one_kind_of_write_is_refused_for_another)
{
	int64_t x = books_project(&b, "x", 0), y = books_project(&b, "y", 0),
		a = books_allot(&b, x, 10 * GPU_H, 0, 0);
	int64_t charge = charged(x, 1, 7);

	books_allot(&b, y, GPU_H, 0, 0);
	ck_assert_int_eq(STEP(CHANGE, .from = a, .units = -GPU_H, .request_id = "K1"), 0);
	REFUSED("request id K1 was used for another write", TRANSFER, .from = x, .to = y, .units = GPU_H,
		.request_id = "K1");
	REFUSED("request id K1 was used for another write", REFUND, .from = charge, .request_id = "K1");
	REFUSED("request id K1 was used for another write", VOID, .from = 1, .request_id = "K1");
	ck_assert_int_eq(ENTRIES("transfer") + ENTRIES("refund") + ENTRIES("void"), 0);
}
END_TEST

struct leftover {
	int64_t project;
	amount_t before, after;
	struct journal_entry e;
};

static int withdraw_all(struct ledger *l, void *arg, struct fault *why)
{
	struct leftover *x = arg;

	x->e = (struct journal_entry){ .at = NOON, .actor = "ada", .reason = "removed" };
	return money_unspent(l, x->project, NOON, &x->before, why) < 0 ||
		money_withdraw_all(l, x->project, &x->e, NOON, why) < 0 ? -1
		: money_unspent(l, x->project, NOON, &x->after, why);
}

START_TEST(all_that_is_unspent_is_withdrawn_by_a_row_for_each_allocation)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 10 * GPU_H, 0, 0),
		c = books_allot(&b, p, 5 * GPU_H, NOON + HOUR, 0);
	struct leftover x = { .project = p };

	charged(p, 3, 7);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, withdraw_all, &x), 0);
	ck_assert_int_eq(x.before, 12 * GPU_H);
	ck_assert_int_eq(x.after, 0);
	ck_assert_int_eq(AMOUNT(a), 3 * GPU_H);
	ck_assert_int_eq(AMOUNT(c), 0);
	ck_assert_int_eq(ENTRIES("withdrawal"), 2);
}
END_TEST

START_TEST(a_project_that_is_set_unmetered_bounds_nothing_and_pays_nothing_until_it_is_metered_again)
{
	int64_t up = books_project(&b, "up", 0), p = books_project(&b, "p", up),
		a = books_allot(&b, p, GPU_H, 0, 0);
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR },
		t = { .project = p, .gpus = 4, .min_runtime_s = HOUR };
	struct run r;

	books_allot(&b, up, 5 * GPU_H, 0, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_submit(&b, &t), 1);
	ck_assert_ptr_null(books_try(&b, "UPDATE project SET unmetered = 1 WHERE name = 'p'"));
	ck_assert_int_eq(books_available(&b, p, NOON), 4 * GPU_H);	/* what is above it still bounds */
	ck_assert_int_eq(books_submit(&b, &t), 0);
	REFUSED("p is set unmetered", TRANSFER, .from = p, .to = up, .units = 1);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR), 0);		/* set aside before: charged to it */
	books_start(&b, &t, 8, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR), 0);
	ck_assert_ptr_null(books_try(&b, "UPDATE project SET unmetered = 0 WHERE name = 'p'"));
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum WHERE allocation = %lld",
		(long long)a), GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON), 0);
}
END_TEST

START_TEST(a_transfer_can_name_the_allocations_at_its_ends)
{
	int64_t lab = books_project(&b, "lab", 0), x = books_project(&b, "x", lab),
		y = books_project(&b, "y", lab);
	int64_t soon = books_allot(&b, x, 5 * GPU_H, 0, NOON + 9 * HOUR),
		late = books_allot(&b, x, 5 * GPU_H, 0, 0);
	int64_t first = books_allot(&b, y, GPU_H, 0, NOON + 9 * HOUR), open = books_allot(&b, y, GPU_H, 0, 0);
	int64_t later = books_allot(&b, y, GPU_H, NOON + HOUR, 0);

	books_allot(&b, lab, 50 * GPU_H, 0, 0);
	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = y, .units = 3 * GPU_H, .out_of = late, .into = open),
		0);
	ck_assert_int_eq(AMOUNT(soon), 5 * GPU_H);
	ck_assert_int_eq(AMOUNT(late), 2 * GPU_H);
	ck_assert_int_eq(AMOUNT(first), GPU_H);
	ck_assert_int_eq(AMOUNT(open), 4 * GPU_H);
	REFUSED("allocation 2 has 2.00 GPU-h", TRANSFER, .from = x, .to = y, .units = 3 * GPU_H,
		.out_of = late);
	REFUSED("is not a live one of x", TRANSFER, .from = x, .to = y, .units = GPU_H, .out_of = open);
	REFUSED("is not a live one of y", TRANSFER, .from = x, .to = y, .units = GPU_H, .into = later);
	/* lab's own amount stays */
	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = lab, .units = GPU_H, .into = 6), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = lab, .units = GPU_H, .out_of = late), 0);
	ck_assert_int_eq(AMOUNT(late), GPU_H);
}
END_TEST

/* --- transfers ---------------------------------------------------------------------------------- */

START_TEST(a_transfer_moves_on_both_paths_below_the_common_ancestor)
{
	int64_t root = books_project(&b, "root", 0), x_up = books_project(&b, "x_up", root),
		y_up = books_project(&b, "y_up", root);
	int64_t x = books_project(&b, "x", x_up), y = books_project(&b, "y", y_up);
	int64_t of[] = { books_allot(&b, root, 50 * GPU_H, 0, 0), books_allot(&b, x_up, 20 * GPU_H, 0, 0),
		books_allot(&b, x, 10 * GPU_H, 0, 0), books_allot(&b, y_up, 5 * GPU_H, 0, 0),
		books_allot(&b, y, GPU_H, 0, 0) };
	int64_t after[] = { 50, 16, 6, 9, 5 };

	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = y, .units = 4 * GPU_H, .request_id = "t"), 0);
	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = y, .units = 4 * GPU_H, .request_id = "t"), 1);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(AMOUNT(of[i]), after[i] * GPU_H);
	ck_assert_int_eq(ENTRIES("transfer"), 4);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM journal WHERE first IS NOT NULL"), 3);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM journal WHERE kind = 'transfer'"), 0);
}
END_TEST

START_TEST(what_is_held_at_any_project_of_the_way_does_not_move)
{
	int64_t root = books_project(&b, "root", 0), up = books_project(&b, "up", root),
		x = books_project(&b, "x", up);
	int64_t other = books_project(&b, "other", up), y = books_project(&b, "y", root);
	struct submission s;

	books_allot(&b, up, 6 * GPU_H, 0, 0);
	books_allot(&b, x, 6 * GPU_H, 0, 0);
	books_allot(&b, y, GPU_H, 0, 0);
	hold(other, 4, &s);		/* stands at `up` */
	REFUSED("up has 2.00 GPU-h", TRANSFER, .from = x, .to = y, .units = 3 * GPU_H);
	ck_assert_int_eq(ENTRIES("transfer"), 0);	/* what x had given was taken back with it */
	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = y, .units = 2 * GPU_H), 0);
}
END_TEST

START_TEST(along_one_line_only_what_is_below_moves)
{
	int64_t up = books_project(&b, "up", 0), x = books_project(&b, "x", up);
	int64_t above = books_allot(&b, up, 6 * GPU_H, 0, 0), a = books_allot(&b, x, 2 * GPU_H, 0, 0);

	ck_assert_int_eq(STEP(TRANSFER, .from = up, .to = x, .units = GPU_H), 0);
	ck_assert_int_eq(AMOUNT(above), 6 * GPU_H);
	ck_assert_int_eq(AMOUNT(a), 3 * GPU_H);
	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = up, .units = 3 * GPU_H), 0);
	ck_assert_int_eq(AMOUNT(a), 0);
	ck_assert_int_eq(AMOUNT(above), 6 * GPU_H);
}
END_TEST

START_TEST(a_transfer_takes_what_expires_first_and_gives_to_what_expires_first)
{
	int64_t x = books_project(&b, "x", 0), y = books_project(&b, "y", 0);
	int64_t late = books_allot(&b, x, 5 * GPU_H, 0, 0),
		soon = books_allot(&b, x, 2 * GPU_H, 0, NOON + HOUR);
	int64_t y_late = books_allot(&b, y, GPU_H, 0, 0),
		y_soon = books_allot(&b, y, GPU_H, 0, NOON + 9 * HOUR);

	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = y, .units = 3 * GPU_H), 0);
	ck_assert_int_eq(AMOUNT(soon), 0);
	ck_assert_int_eq(AMOUNT(late), 4 * GPU_H);
	ck_assert_int_eq(AMOUNT(y_soon), 4 * GPU_H);
	ck_assert_int_eq(AMOUNT(y_late), GPU_H);
}
END_TEST

START_TEST(nothing_is_moved_into_or_out_of_a_project_without_allocations)
{
	int64_t x = books_project(&b, "x", 0), y = books_project(&b, "y", 0),
		gone = books_project(&b, "gone", 0);

	books_allot(&b, x, GPU_H, 0, 0);
	books_allot(&b, gone, GPU_H, 0, NOON + HOUR);
	REFUSED("y has no allocation", TRANSFER, .from = x, .to = y, .units = 1);
	REFUSED("y has no allocation", TRANSFER, .from = y, .to = x, .units = 1);
	REFUSED("gone has no live allocation", TRANSFER, .from = x, .to = gone, .units = 1,
		.now = NOON + HOUR);
	REFUSED("gone has 0.00", TRANSFER, .from = gone, .to = x, .units = 1, .now = NOON + HOUR);
	ck_assert_int_eq(STEP(TRANSFER, .from = x, .to = x, .units = 1), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* --- refunds ------------------------------------------------------------------------------------ */

START_TEST(a_refund_is_never_more_than_was_charged_over_all_refunds)
{
	int64_t up = books_project(&b, "up", 0), p = books_project(&b, "p", up);
	int64_t above = books_allot(&b, up, 20 * GPU_H, 0, 0), a = books_allot(&b, p, 10 * GPU_H, 0, 0),
		charge = charged(p, 3, 7);

	REFUSED("took 3.00 GPU-h and 3.00 of them", REFUND, .from = charge, .units = 3 * GPU_H + 1);
	ck_assert_int_eq(STEP(REFUND, .from = charge, .units = GPU_H, .request_id = "r"), 0);
	ck_assert_int_eq(STEP(REFUND, .from = charge, .units = GPU_H, .request_id = "r"), 1);
	REFUSED("2.00 of them can still be given back, not 3.00", REFUND, .from = charge, .units = 3 * GPU_H);
	ck_assert_int_eq(STEP(REFUND, .from = charge), 0);	/* the rest */
	REFUSED("0.00", REFUND, .from = charge);
	ck_assert_int_eq(AMOUNT(a), 13 * GPU_H);
	ck_assert_int_eq(AMOUNT(above), 23 * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + HOUR), 10 * GPU_H);
	ck_assert_int_eq(STEP(REFUND, .from = 99), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(a_refund_goes_to_what_paid_else_to_what_lives_else_it_expires_at_once)
{
	int64_t p = books_project(&b, "p", 0), soon = books_allot(&b, p, 2 * GPU_H, 0, NOON + 2 * HOUR);
	int64_t mid = books_allot(&b, p, GPU_H, 0, NOON + 9 * HOUR), charge = charged(p, 3, 7);

	ck_assert_int_eq(STEP(REFUND, .from = charge, .units = GPU_H, .now = NOON + HOUR), 0);
	ck_assert_int_eq(AMOUNT(mid), 2 * GPU_H);		/* the last to expire gets it back first */
	ck_assert_int_eq(STEP(REFUND, .from = charge, .units = GPU_H, .now = NOON + 3 * HOUR), 0);
	ck_assert_int_eq(AMOUNT(mid), 3 * GPU_H);		/* `soon` paid that one and has ended */
	ck_assert_int_eq(AMOUNT(soon), 2 * GPU_H);
	ck_assert_int_eq(STEP(EXPIRE, .now = NOON + 9 * HOUR), 1);
	ck_assert_int_eq(STEP(REFUND, .from = charge, .units = GPU_H, .now = NOON + 10 * HOUR), 0);
	ck_assert_int_eq(AMOUNT(soon), 2 * GPU_H);		/* recorded, and expired with it */
	ck_assert_int_eq(ENTRIES("refund"), 3);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM journal WHERE kind = 'expiry'"), -3 * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + 10 * HOUR), 0);
}
END_TEST

/* --- voids -------------------------------------------------------------------------------------- */

START_TEST(a_void_reverses_a_whole_write_and_only_once)
{
	int64_t x = books_project(&b, "x", 0), y = books_project(&b, "y", 0),
		a = books_allot(&b, x, 5 * GPU_H, 0, 0);
	int64_t c = books_allot(&b, y, GPU_H, 0, 0);
	struct step t = { .what = TRANSFER, .from = x, .to = y, .units = 2 * GPU_H };

	ck_assert_int_eq(step(&t), 0);
	ck_assert_int_eq(STEP(VOID, .from = t.e.id + 1, .request_id = "v"), 0);	/* any entry of it names it */
	ck_assert_int_eq(AMOUNT(a), 5 * GPU_H);
	ck_assert_int_eq(AMOUNT(c), GPU_H);
	ck_assert_int_eq(STEP(VOID, .from = t.e.id, .request_id = "v"), 1);
	REFUSED("was voided already", VOID, .from = t.e.id);
	ck_assert_int_eq(ENTRIES("void"), 2);
	ck_assert_int_eq(books_ask(&b,
		"SELECT count(*) FROM journal v JOIN journal t ON t.id = v.corrects WHERE v.units = -t.units"),
		2);
	REFUSED("is of kind void", VOID, .from = books_ask(&b, "SELECT max(id) FROM journal"));
}
END_TEST

START_TEST(what_was_used_of_a_deposit_cannot_be_voided)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 5 * GPU_H, 0, 0);
	int64_t entry = books_ask(&b, "SELECT max(id) FROM journal");
	struct submission s;

	hold(p, 1, &s);
	REFUSED("4.00 GPU-h", VOID, .from = entry);
	charged(p, 1, 7);
	REFUSED("of kind charge", VOID, .from = books_ask(&b, "SELECT max(id) FROM journal"));
	ck_assert_int_eq(AMOUNT(a), 5 * GPU_H);
	ck_assert_int_eq(STEP(VOID, .from = 99), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* --- the end of an allocation ------------------------------------------------------------------- */

START_TEST(what_is_left_expires_at_its_end_and_what_comes_back_later_when_it_comes)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 5 * GPU_H, 0, NOON + HOUR / 2);
	struct submission s;
	struct run r;

	hold(p, 2, &s);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(STEP(EXPIRE, .now = NOON + HOUR / 2 - 1), 0);
	ck_assert_int_eq(STEP(EXPIRE, .now = NOON + 3 * HOUR), 1);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM journal WHERE kind = 'expiry' AND at = %d",
		NOON + HOUR / 2), -3 * GPU_H);
	ck_assert_int_eq(STEP(EXPIRE, .now = NOON + 3 * HOUR), 0);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR / 2), 0);	/* half of its hold comes back */
	ck_assert_int_eq(STEP(EXPIRE, .now = NOON + 4 * HOUR), 1);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM journal WHERE kind = 'expiry' AND at = %d",
		NOON + 4 * HOUR), -GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT amount - charged FROM allocation_sum WHERE allocation = %lld",
		(long long)a), 0);
	REFUSED("allocation 1 of p has ended, at 2027-01-15T08:30:00Z, and what was left of it has expired; make another: budgetctl allocation add p",
		CHANGE, .from = a, .units = GPU_H, .now = NOON + HOUR);
}
END_TEST

struct terms {
	int64_t allocation, carry_over_percent;
	bool vests;
	amount_t burst;
};

static int set_terms(struct ledger *l, void *arg, struct fault *why)
{
	struct terms *t = arg;
	struct allocation a;

	if (allocation_by_id(l, t->allocation, &a, why) != 1)
		return -1;
	a.carry_over_percent = t->carry_over_percent;
	a.vests = t->vests;
	a.burst = t->burst;
	return allocation_set(l, &a, NOON, why);
}

#define TERMS(...) books_do(&b, LEDGER_MONEY, set_terms, &(struct terms){ __VA_ARGS__ })

START_TEST(a_part_is_carried_over_on_a_line_of_its_own)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, 5 * GPU_H + 3, 0, NOON + HOUR);
	int64_t later = books_allot(&b, p, GPU_H, NOON + 9 * HOUR, 0),
		next = books_allot(&b, p, GPU_H, NOON + HOUR, NOON + 9 * HOUR);

	ck_assert_int_eq(TERMS(.allocation = a, .carry_over_percent = 20), 0);
	ck_assert_int_eq(TERMS(.allocation = later, .carry_over_percent = 20), -1);	/* it has no end */
	ck_assert_int_eq(STEP(EXPIRE, .now = NOON + HOUR), 1);
	ck_assert_int_eq(AMOUNT(next), 2 * GPU_H);
	ck_assert_int_eq(AMOUNT(a), 0);
	ck_assert_int_eq(AMOUNT(later), GPU_H);
	ck_assert_int_eq(ENTRIES("carry-over"), 2);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM journal WHERE kind = 'expiry'"), -4 * GPU_H - 3);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM journal WHERE kind = 'carry-over'"), 0);
}
END_TEST

START_TEST(without_a_next_allocation_nothing_is_carried_over)
{
	int64_t p = books_project(&b, "p", 0), a = books_allot(&b, p, GPU_H, 0, NOON + HOUR);

	ck_assert_int_eq(TERMS(.allocation = a, .carry_over_percent = 100), 0);
	ck_assert_int_eq(STEP(EXPIRE, .now = NOON + HOUR), 1);
	ck_assert_int_eq(ENTRIES("carry-over"), 0);
	ck_assert_int_eq(books_ask(&b,
		"SELECT reason LIKE '%%none to carry over%%' FROM journal WHERE kind = 'expiry'"), 1);
}
END_TEST

START_TEST(what_has_not_vested_is_not_spent_nor_moved_but_can_be_pulled_back)
{
	int64_t p = books_project(&b, "p", 0), q = books_project(&b, "q", 0);
	int64_t a = books_allot(&b, p, 10 * GPU_H, NOON, NOON + 10 * HOUR);
	struct submission s = { .project = p, .gpus = 3, .min_runtime_s = HOUR };

	books_allot(&b, q, GPU_H, 0, 0);
	ck_assert_int_eq(TERMS(.allocation = a, .vests = true, .burst = 2 * GPU_H), 0);
	ck_assert_int_eq(books_available(&b, p, NOON), 2 * GPU_H);
	ck_assert_int_eq(books_available(&b, p, NOON + HOUR / 2), 5 * GPU_H / 2);
	ck_assert_int_eq(books_available(&b, p, NOON + 9 * HOUR), 10 * GPU_H);
	ck_assert_int_eq(books_submit(&b, &s), 1);
	s.now = NOON + HOUR;
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(books_available(&b, p, NOON + HOUR), 0);
	REFUSED("p has 0.00", TRANSFER, .from = p, .to = q, .units = 1, .now = NOON + HOUR);
	REFUSED("7.00 GPU-h", CHANGE, .from = a, .units = -8 * GPU_H, .now = NOON + HOUR);
	ck_assert_int_eq(STEP(CHANGE, .from = a, .units = -7 * GPU_H, .now = NOON + HOUR), 0);
	ck_assert_int_eq(books_available(&b, p, NOON + HOUR) <= 0, 1);
	ck_assert_int_eq(books_available(&b, p, NOON + 10 * HOUR - 1), 0);
}
END_TEST

Suite *ledger_moves_suite(void)
{
	Suite *s = suite_create("ledger_moves");
	TCase *t = tcase_create("moves");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_transfer_can_name_the_allocations_at_its_ends);
	tcase_add_test(t, all_that_is_unspent_is_withdrawn_by_a_row_for_each_allocation);
	tcase_add_test(t,
		a_project_that_is_set_unmetered_bounds_nothing_and_pays_nothing_until_it_is_metered_again);
	tcase_add_test(t, an_id_of_one_kind_of_write_is_refused_for_another);
	tcase_add_test(t, a_withdrawal_leaves_what_is_charged_and_held);
	tcase_add_test(t, a_withdrawal_says_what_stays_and_that_is_not_what_has_not_vested);
	tcase_add_test(t, credit_is_never_withdrawn_nor_moved_and_opens_nothing_above);
	tcase_add_test(t, an_adjustment_can_go_both_ways_and_is_written_once);
	tcase_add_test(t, a_transfer_moves_on_both_paths_below_the_common_ancestor);
	tcase_add_test(t, what_is_held_at_any_project_of_the_way_does_not_move);
	tcase_add_test(t, along_one_line_only_what_is_below_moves);
	tcase_add_test(t, a_transfer_takes_what_expires_first_and_gives_to_what_expires_first);
	tcase_add_test(t, nothing_is_moved_into_or_out_of_a_project_without_allocations);
	tcase_add_test(t, a_refund_is_never_more_than_was_charged_over_all_refunds);
	tcase_add_test(t, a_refund_goes_to_what_paid_else_to_what_lives_else_it_expires_at_once);
	tcase_add_test(t, a_void_reverses_a_whole_write_and_only_once);
	tcase_add_test(t, what_was_used_of_a_deposit_cannot_be_voided);
	tcase_add_test(t, what_is_left_expires_at_its_end_and_what_comes_back_later_when_it_comes);
	tcase_add_test(t, a_part_is_carried_over_on_a_line_of_its_own);
	tcase_add_test(t, without_a_next_allocation_nothing_is_carried_over);
	tcase_add_test(t, what_has_not_vested_is_not_spent_nor_moved_but_can_be_pulled_back);
	suite_add_tcase(s, t);
	return s;
}
