/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ledger_correction.c - runs put right by corrections. The invariants are checked after every step. */
#include "budgetd/ledger_correction.h"
#include "budgetd/ledger_moves.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PRICE AMOUNT_RATE_ONE		/* of one GPU, units a second */

static struct books b;
static int64_t vision, money;

static void setup(void)
{
	books_open(&b);
	vision = books_project(&b, "vision", 0);
	money = books_allot(&b, vision, 100 * GPU_H, 0, 0);
}

static void teardown(void)
{
	ledger_invariants(&b);
	books_close(&b);
}

#define CHARGED() books_ask(&b, "SELECT charged FROM allocation_sum WHERE allocation = %lld", (long long)money)
#define BALANCE() books_ask(&b, "SELECT amount - charged FROM allocation_sum WHERE allocation = %lld", (long long)money)
#define PARTS(kind) books_ask(&b, "SELECT coalesce(sum(gpus * (part_end - part_start)), 0) FROM charge WHERE kind = '" kind "'")

/* --- the steps of this file --------------------------------------------------------------------- */

enum what { CORRECT, ENTER, BY_HAND };

struct step {
	enum what what;
	struct run *run;
	const char *kind, *request_id;
	struct run_facts facts;
	int64_t end;
	struct correction c;	/* set */
};

static int apply(struct ledger *l, void *arg, struct fault *why)
{
	struct step *s = arg;

	s->c = (struct correction){ .at = NOON + 9 * HOUR, .actor = "ada", .reason = "because" };
	snprintf(s->c.kind, sizeof(s->c.kind), "%s", s->kind ? s->kind : "end");
	snprintf(s->c.request_id, sizeof(s->c.request_id), "%s", s->request_id ? s->request_id : "");
	switch (s->what) {
	case CORRECT:
		return run_correct(l, s->run, &s->facts, &s->c, why);
	case ENTER:
		return run_enter(l, s->run, &s->facts, &s->c, why);
	case BY_HAND:
		return run_end_by_hand(l, s->run, s->end, &s->c, why);
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

static struct run_piece piece(int64_t from_s, int64_t to_s, int64_t gpus)
{
	struct run_piece p = { .from = NOON + from_s, .to = NOON + to_s, .gpus = gpus,
		.price = gpus * PRICE };

	snprintf(p.tres, sizeof(p.tres), "gres/gpu=%d", (int)gpus);
	return p;
}

/* Facts of vision in the funded tier. */
static struct run_facts facts(const struct run_piece *pieces, size_t n)
{
	return (struct run_facts){ .ended = n ? pieces[n - 1].to : 0, .state = "COMPLETED",
		.tier = TIER_FUNDED, .project = vision, .pieces = pieces, .count = n };
}

/* A run of 2 GPUs that was charged for an hour. */
static struct run charged_run(int64_t job)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job, NOON, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR), 0);
	return r;
}

/* --- a run that is in the books ----------------------------------------------------------------- */

START_TEST(a_row_that_is_imported_is_compared_with_the_last_correction)
{
	struct run_piece p = piece(0, 2 * HOUR, 2);
	struct run r = charged_run(7);
	struct import_run row = { .cluster = "c", .label = "7", .partition = "gpu", .state = "COMPLETED",
		.job = 7, .start = NOON, .project = vision, .uid = 1000, .tier = TIER_FUNDED, .npieces = 1,
		.pieces = { { .submit = NOON, .from = NOON, .end = NOON + 2 * HOUR, .gpus = 2, .price = 2 * PRICE,
		.tres = "gres/gpu=2" } } };

	ck_assert_int_eq(books_import(&b, &row, true).known, 0);
	ck_assert_int_eq(b.booked_to, NOON + HOUR);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&p, 1)), 0);
	ck_assert_int_eq(books_import(&b, &row, true).known, 1);
	ck_assert_int_eq(b.booked_to, 0);
	ck_assert_int_eq(CHARGED(), 2 * GPU_H);
}
END_TEST

static int pause_run(struct ledger *l, void *run, struct fault *why)
{
	return run_suspend(l, run, 600, NOON + 1800, true, NOON + 1800, why);
}

/* The books know of 600 s, up to 1800 s; slurmdbd has more, or less. What is more are the last seconds that
 * were paid for. */
static const struct {
	int64_t suspended_s, refunded_s;
} longer_pauses[] = { { 600, 0 }, { 900, 300 }, { 3000, 2400 }, { 2700, 2100 }, { 0, 0 } };

START_TEST(a_run_that_was_suspended_for_longer_gets_the_rest_back)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = 2 * HOUR };
	struct run_piece p = piece(0, HOUR, 2);
	struct run r;
	struct step x = { .run = &r, .facts = facts(&p, 1), .kind = "gpus" };

	p.suspended_s = longer_pauses[_i].suspended_s;
	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, pause_run, &r), 0);
	ck_assert_int_eq(books_end(&b, &r, NOON + HOUR), 0);
	ck_assert_int_eq(CHARGED(), 2 * (HOUR - 600) * PRICE);
	ck_assert_int_eq(step(&x), 0);
	ck_assert_int_eq(x.c.refunded, 2 * longer_pauses[_i].refunded_s * PRICE);
	ck_assert_int_eq(x.c.gpu_seconds, 2 * (HOUR - p.suspended_s));
}
END_TEST

START_TEST(a_run_that_is_entered_was_suspended_at_the_end_of_each_piece)
{
	struct run_piece p[] = { piece(0, 1800, 2), piece(1800, HOUR, 1) };
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = 2 * HOUR };
	struct run r;
	struct step x = { .what = ENTER, .run = &r, .facts = facts(p, 2), .kind = "missing" };

	p[0].suspended_s = 300;
	p[1].suspended_s = 600;
	ck_assert_int_eq(books_submit(&b, &s), 0);
	r = (struct run){ .cluster = "c", .job = 8, .submit = NOON, .start = NOON, .label = "8",
		.partition = "gpu", .project = vision, .uid = 1000, .admission = s.admission.id,
		.tier = TIER_FUNDED, .min_runtime_s = 2 * HOUR, .gpus = 2, .tres = "gres/gpu=2",
		.price = 2 * PRICE, .covered_until = NOON };
	ck_assert_int_eq(step(&x), 0);
	ck_assert_int_eq(CHARGED(), (2 * 1500 + 1200) * PRICE);
	ck_assert_int_eq(PARTS("suspended"), 2 * 300 + 600);
	ck_assert_int_eq(books_ask(&b,
		"SELECT part_start FROM charge WHERE kind = 'suspended' ORDER BY seq") - NOON, 1500);
	ck_assert_int_eq(x.c.gpu_seconds, 2 * 1500 + 1200);
}
END_TEST

START_TEST(what_was_charged_beyond_the_end_is_given_back_once)
{
	struct run r = charged_run(7);
	struct run_piece p = piece(0, 1800, 2);
	struct step s = { .run = &r, .facts = facts(&p, 1), .request_id = "check-7" };

	ck_assert_int_eq(step(&s), 0);
	ck_assert_int_eq(s.c.refunded, GPU_H);
	ck_assert_int_eq(BALANCE(), 99 * GPU_H);
	ck_assert_int_eq(s.c.gpu_seconds, 3600);
	ck_assert_int_eq(step(&s), 1);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&p, 1)), 0);
	ck_assert_int_eq(BALANCE(), 99 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT ended FROM run"), NOON + HOUR);
}
END_TEST

START_TEST(time_that_is_missing_is_uncovered_and_costs_nothing)
{
	struct run r = charged_run(7);
	struct run_piece p = piece(0, HOUR + 60, 2);

	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&p, 1)), 0);
	ck_assert_int_eq(BALANCE(), 98 * GPU_H);
	ck_assert_int_eq(PARTS("uncovered"), 120);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&p, 1)), 0);	/* once more adds nothing */
	ck_assert_int_eq(PARTS("uncovered"), 120);
}
END_TEST

START_TEST(gpus_that_it_did_not_have_are_given_back)
{
	struct run r = charged_run(7);
	struct run_piece p[] = { piece(0, 600, 2), piece(600, HOUR, 1) };

	ck_assert_int_eq(STEP(.run = &r, .kind = "gpus", .facts = facts(p, 2)), 0);
	ck_assert_int_eq(BALANCE(), 98 * GPU_H + 3000 * PRICE);
}
END_TEST

START_TEST(the_other_tier_another_account_and_no_run_at_all_pay_nothing)
{
	struct run r = charged_run(7), q = charged_run(8), t = charged_run(9);
	struct run_piece p = piece(0, HOUR, 2);
	struct step free_tier = { .run = &r, .kind = "tier", .facts = facts(&p, 1) };
	struct step other = { .run = &q, .kind = "project", .facts = facts(&p, 1) };

	free_tier.facts.tier = TIER_FREE;
	ck_assert_int_eq(step(&free_tier), 0);
	ck_assert_int_eq(BALANCE(), 96 * GPU_H);
	other.facts.project = books_project(&b, "speech", 0);
	ck_assert_int_eq(step(&other), 0);
	ck_assert_int_eq(BALANCE(), 98 * GPU_H);
	ck_assert_int_eq(STEP(.run = &t, .kind = "twice", .facts = facts(NULL, 0)), 0);
	ck_assert_int_eq(BALANCE(), 100 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT gpu_seconds FROM correction WHERE kind = 'twice'"), 0);
}
END_TEST

/* --- the ratio ---------------------------------------------------------------------------------- */

/* O of vision (doc/model.md, 5). */
static amount_t occupied(void)
{
	return books_occupied(&b, vision, NOON);
}

START_TEST(what_was_charged_wrongly_leaves_the_ratio_whoever_corrects_it)
{
	struct run r = charged_run(7), q = charged_run(8), t = charged_run(9);
	struct run_piece half = piece(0, 1800, 2), less = piece(0, 900, 2), p = piece(0, HOUR, 2);
	struct step tier = { .run = &t, .kind = "tier", .facts = facts(&p, 1) };

	ck_assert_int_eq(occupied(), 6 * GPU_H);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&half, 1)), 0);
	ck_assert_int_eq(occupied(), 5 * GPU_H);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&less, 1)), 0);
	ck_assert_int_eq(occupied(), 5 * GPU_H - GPU_H / 2);
	ck_assert_int_eq(STEP(.run = &q, .kind = "twice", .facts = facts(NULL, 0)), 0);
	ck_assert_int_eq(occupied(), 3 * GPU_H - GPU_H / 2);
	tier.facts.tier = TIER_FREE;
	ck_assert_int_eq(step(&tier), 0);
	ck_assert_int_eq(occupied(), GPU_H / 2);
}
END_TEST

static int refund_all(struct ledger *l, void *arg, struct fault *why)
{
	struct journal_entry e = { .at = NOON, .actor = "ada", .reason = "a present" };

	return money_refund(l, *(int64_t *)arg, 0, &e, NOON, why);
}

/* A present leaves the ratio as it is, and a correction after it takes out what was not used. */
START_TEST(what_was_given_back_by_hand_before_is_corrected_in_the_ratio_alone)
{
	struct run r = charged_run(7);
	struct run_piece half = piece(0, 1800, 2);
	int64_t charge = 1;
	struct step s = { .run = &r, .facts = facts(&half, 1) };

	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, refund_all, &charge), 0);
	ck_assert_int_eq(occupied(), 2 * GPU_H);
	ck_assert_int_eq(step(&s), 0);
	ck_assert_int_eq(s.c.refunded, 0);
	ck_assert_int_eq(BALANCE(), 100 * GPU_H);
	ck_assert_int_eq(occupied(), GPU_H);
}
END_TEST

/* Fair share alone bounds it: there is no money to refund, and its share must not pay for what was not
 * used. */
START_TEST(a_project_without_allocations_is_corrected_in_the_ratio)
{
	struct run_piece half = piece(0, 1800, 2);
	struct run r;

	vision = books_project(&b, "speech", 0);
	r = charged_run(7);
	ck_assert_int_eq(occupied(), 2 * GPU_H);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&half, 1)), 0);
	ck_assert_int_eq(occupied(), GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM journal WHERE kind = 'refund'"), 0);
}
END_TEST

START_TEST(what_was_refunded_before_is_not_given_back_twice)
{
	struct run r = charged_run(7);
	struct run_piece half = piece(0, 1800, 2), none = piece(0, 900, 2);

	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&half, 1)), 0);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&none, 1)), 0);
	ck_assert_int_eq(BALANCE(), 99 * GPU_H + GPU_H / 2);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(refunded) FROM correction"), GPU_H + GPU_H / 2);
}
END_TEST

START_TEST(a_run_that_goes_on_is_not_corrected)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = HOUR };
	struct run_piece p = piece(0, 1800, 2);
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&p, 1)), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_msg(strstr(b.why.text, "goes on in the books"), "%s", b.why.text);
}
END_TEST

/* --- a run that is not -------------------------------------------------------------------------- */

static struct run missing(const struct submission *s)
{
	struct run r = { .cluster = "c", .job = 12, .submit = NOON, .start = NOON, .label = "12",
		.partition = "gpu", .project = vision, .uid = 1000, .tier = TIER_FUNDED, .gpus = 2,
		.tres = "gres/gpu=2", .price = 2 * PRICE, .covered_until = NOON };

	r.admission = s ? s->admission.id : 0;
	r.min_runtime_s = s ? s->min_runtime_s : 0;
	return r;
}

START_TEST(a_run_that_was_answered_is_charged_as_far_as_its_answer_goes)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = 1800 };
	struct run_piece p = piece(0, HOUR, 2);
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	r = missing(&s);
	ck_assert_int_eq(STEP(.what = ENTER, .run = &r, .kind = "missing", .facts = facts(&p, 1),
		.request_id = "x"), 0);
	ck_assert_int_eq(CHARGED(), GPU_H);
	ck_assert_int_eq(PARTS("uncovered"), 3600);
	ck_assert_int_eq(STEP(.what = ENTER, .run = &r, .kind = "missing", .facts = facts(&p, 1),
		.request_id = "x"), 1);
	ck_assert_int_eq(STEP(.what = ENTER, .run = &r, .kind = "missing", .facts = facts(&p, 1),
		.request_id = "y"), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM run"), 1);
}
END_TEST

START_TEST(a_run_without_an_answer_is_uncovered_in_all_its_sizes)
{
	struct run_piece p[] = { piece(0, 600, 2), piece(600, HOUR, 1) };
	struct run r = missing(NULL);

	ck_assert_int_eq(STEP(.what = ENTER, .run = &r, .kind = "missing", .facts = facts(p, 2)), 0);
	ck_assert_int_eq(CHARGED(), 0);
	ck_assert_int_eq(PARTS("uncovered"), 1200 + 3000);
	ck_assert_int_eq(books_ask(&b, "SELECT gpu_seconds FROM correction"), 1200 + 3000);
}
END_TEST

START_TEST(a_run_that_is_entered_never_overdraws)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = HOUR }, all;
	struct run_piece p = piece(0, HOUR, 2);
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	all = (struct submission){ .project = vision, .gpus = 97, .min_runtime_s = HOUR };
	ck_assert_int_eq(books_submit(&b, &all), 0);
	r = missing(&s);
	ck_assert_int_eq(STEP(.what = ENTER, .run = &r, .kind = "missing", .facts = facts(&p, 1)), 0);
	ck_assert_int_eq(CHARGED(), GPU_H);
	ck_assert_int_eq(PARTS("uncovered"), 3600);
}
END_TEST

/* --- an end by hand ----------------------------------------------------------------------------- */

START_TEST(an_end_by_hand_settles_an_open_run_and_says_who)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(STEP(.what = BY_HAND, .run = &r, .kind = "by hand", .end = NOON - 1), -1);
	ck_assert_int_eq(STEP(.what = BY_HAND, .run = &r, .kind = "by hand", .end = NOON + 1800), 0);
	ck_assert_int_eq(CHARGED(), GPU_H);
	ck_assert_int_eq(books_ask(&b,
		"SELECT gpu_seconds FROM correction WHERE actor = 'ada' AND kind = 'by hand'"), 3600);
	ck_assert_int_eq(STEP(.what = BY_HAND, .run = &r, .kind = "by hand", .end = NOON + 1800), -1);
	ck_assert_int_eq(errno, EEXIST);
}
END_TEST

static int charge_in_the_interim(struct ledger *l, void *arg, struct fault *why)
{
	struct run *r = arg;

	return run_interim(l, r, NOON + HOUR, NOON + HOUR, why) < 0 ? -1 : 0;
}

START_TEST(an_end_that_is_told_after_more_was_charged_is_how_the_run_is_compared)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = 2 * HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON, &r);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, charge_in_the_interim, &r), 0);
	ck_assert_int_eq(books_end(&b, &r, NOON + 1800), 0);
	ck_assert_int_eq(BALANCE(), 99 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT ended FROM run"), NOON + HOUR);
	ck_assert_int_eq(books_ask(&b, "SELECT ended FROM correction WHERE actor = 'budgetd'"), NOON + 1800);
	ck_assert_int_eq(books_ask(&b, "SELECT gpu_seconds FROM correction"), 3600);
	ck_assert_int_eq(books_ask(&b, "SELECT refunded FROM correction"), GPU_H);
}
END_TEST

START_TEST(the_list_has_a_run_with_its_charges_and_its_last_correction)
{
	struct run r = charged_run(7);
	struct run_piece p = piece(0, 1800, 2);
	struct run_account a;

	ck_assert_int_eq(STEP(.run = &r, .facts = facts(&p, 1)), 0);
	ck_assert_int_eq(ledger_begin(b.l, LEDGER_READ, &b.why), 0);
	ck_assert_int_eq(run_account_read(b.l, r.id, &a, &b.why), 1);
	ledger_rollback(b.l);
	ck_assert_int_eq(a.charged, 2 * GPU_H);
	ck_assert_int_eq(a.refunded, GPU_H);
	ck_assert_int_eq(a.gpu_seconds, 7200);
	ck_assert_int_eq(a.last.ended, NOON + 1800);
	ck_assert_ptr_nonnull(books_try(&b, "UPDATE correction SET ended = 0"));
	ck_assert_ptr_nonnull(books_try(&b, "DELETE FROM correction"));
}
END_TEST

Suite *ledger_correction_suite(void)
{
	Suite *s = suite_create("ledger_correction");
	TCase *t = tcase_create("corrections");

	tcase_add_test(t, a_row_that_is_imported_is_compared_with_the_last_correction);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_run_that_was_suspended_for_longer_gets_the_rest_back, 0,
		(int)(sizeof(longer_pauses) / sizeof(longer_pauses[0])));
	tcase_add_test(t, a_run_that_is_entered_was_suspended_at_the_end_of_each_piece);
	tcase_add_test(t, what_was_charged_beyond_the_end_is_given_back_once);
	tcase_add_test(t, time_that_is_missing_is_uncovered_and_costs_nothing);
	tcase_add_test(t, gpus_that_it_did_not_have_are_given_back);
	tcase_add_test(t, the_other_tier_another_account_and_no_run_at_all_pay_nothing);
	tcase_add_test(t, what_was_charged_wrongly_leaves_the_ratio_whoever_corrects_it);
	tcase_add_test(t, what_was_given_back_by_hand_before_is_corrected_in_the_ratio_alone);
	tcase_add_test(t, a_project_without_allocations_is_corrected_in_the_ratio);
	tcase_add_test(t, what_was_refunded_before_is_not_given_back_twice);
	tcase_add_test(t, a_run_that_goes_on_is_not_corrected);
	tcase_add_test(t, a_run_that_was_answered_is_charged_as_far_as_its_answer_goes);
	tcase_add_test(t, a_run_without_an_answer_is_uncovered_in_all_its_sizes);
	tcase_add_test(t, a_run_that_is_entered_never_overdraws);
	tcase_add_test(t, an_end_by_hand_settles_an_open_run_and_says_who);
	tcase_add_test(t, an_end_that_is_told_after_more_was_charged_is_how_the_run_is_compared);
	tcase_add_test(t, the_list_has_a_run_with_its_charges_and_its_last_correction);
	suite_add_tcase(s, t);
	return s;
}
