/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass.c - whole passes of the loop over a real ledger and a fake Slurm: who has its hours, who waits, who is
 * free */
#include "budgetd/admit.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static int64_t lab, vision, speech;

static void setup(void)
{
	scene_begin(&b, &d, &settings, &loop);
	lab = books_project(&b, "lab", 0);
	vision = books_project(&b, "vision", lab);
	speech = books_project(&b, "speech", lab);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

static void pass(int64_t now)
{
	scene_pass(&b, loop, now);
}

/* --- people at work ----------------------------------------------------------------------------- */

static struct question asks(const char *account, int gpus, char text[32])
{
	struct question q = { .uid = 1000, .account = account, .time_limit_s = 4 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = "1h" } };

	snprintf(text, 32, "gres:gpu:%d", gpus);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = text;
	return q;
}

/* Submitted through the plugin; in the queue as it says. */
static struct fake_job *submit(uint32_t id, const char *account, int gpus, struct verdict *v)
{
	char text[32];
	struct question q = asks(account, gpus, text);

	ck_assert_msg(admit(&d, &q, "{}", 0, NOON, v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0, "%s",
		b.why.text);
	ck_assert_msg(v->accepted, "%s", v->text);
	return fake_slurm_pending(id, account, gpus, v->qos, v->token);
}

/* scontrol update asks; Slurm has not done it yet. */
static struct verdict change(const char *token, const struct question *q, const char *limit_of, int64_t now)
{
	struct admission_row a;
	struct verdict v;

	ck_assert_int_eq(ledger_begin(b.l, LEDGER_HOLDS, &b.why), 0);
	ck_assert_int_eq(admission_by_token(b.l, token, &a, &b.why), 1);
	ck_assert_msg(admit_change(&d, q, limit_of, &a, now, &v, &b.why) == 0, "%s", b.why.text);
	ck_assert_int_eq(ledger_commit(b.l, &b.why), 0);
	ledger_invariants(&b);
	return v;
}

static struct verdict change_gpus(const char *token, const char *account, int gpus, int64_t now)
{
	char text[32];
	struct question q = asks(account, gpus, text);

	return change(token, &q, NULL, now);
}

static int64_t held(const char *token)
{
	return books_ask(&b,
		"SELECT coalesce(sum(h.units), 0) FROM hold h JOIN admission a ON a.id = h.admission WHERE a.token = '%s'"
		" AND h.closed_at IS NULL", token);
}

static bool is_free(const char *token)
{
	return books_ask(&b, "SELECT tier = 'free' FROM admission WHERE token = '%s'", token);
}

/* --- changes ------------------------------------------------------------------------------------ */

START_TEST(two_changes_are_not_accepted_for_the_same_hours)
{
	struct verdict one, two;
	struct fake_job *first;

	books_allot(&b, vision, 10 * GPU_H, 0, 0);
	first = submit(1, "vision", 4, &one);
	submit(2, "vision", 4, &two);
	pass(NOON + 1);
	ck_assert(change_gpus(one.token, "vision", 6, NOON + 2).accepted);
	ck_assert_int_eq(held(one.token), 6 * GPU_H);
	ck_assert(!change_gpus(two.token, "vision", 6, NOON + 2).accepted);
	ck_assert_int_eq(held(two.token), 4 * GPU_H);
	fake_slurm_gpus(first, 6);
	for (int64_t t = 3; t < 40; t += 3)
		pass(NOON + t);
	ck_assert_int_eq(held(one.token), 6 * GPU_H);
	ck_assert_int_eq(held(two.token), 4 * GPU_H);
	ck_assert(!is_free(one.token) && !is_free(two.token));
}
END_TEST

START_TEST(what_slurm_did_not_change_goes_back)
{
	struct verdict v;

	books_allot(&b, vision, 10 * GPU_H, 0, 0);
	submit(1, "vision", 4, &v);
	pass(NOON + 1);
	ck_assert(change_gpus(v.token, "vision", 9, NOON + 2).accepted);
	pass(NOON + 2);		/* its table may be older than the change */
	pass(NOON + 2 + settings->unbound_hold_s - 1);
	ck_assert_int_eq(held(v.token), 9 * GPU_H);
	pass(NOON + 2 + settings->unbound_hold_s);
	ck_assert_int_eq(held(v.token), 4 * GPU_H);
}
END_TEST

START_TEST(a_change_of_the_project_moves_its_hours_at_once)
{
	struct verdict v, refused;
	struct fake_job *f;

	books_allot(&b, lab, 8 * GPU_H, 0, 0);
	books_allot(&b, vision, 8 * GPU_H, 0, 0);
	books_allot(&b, speech, 6 * GPU_H, 0, 0);
	f = submit(1, "vision", 4, &v);
	pass(NOON + 1);
	refused = change_gpus(v.token, "speech", 7, NOON + 2);
	ck_assert(!refused.accepted);
	ck_assert(change_gpus(v.token, "speech", 6, NOON + 2).accepted);
	ck_assert_int_eq(books_available(&b, speech, NOON + 2), 0);
	pass(NOON + 3);		/* the table does not show it yet */
	ck_assert_int_eq(books_available(&b, speech, NOON + 3), 0);
	f->view.account = "speech";
	fake_slurm_gpus(f, 6);
	pass(NOON + 4);
	pass(NOON + 30);
	ck_assert_int_eq(held(v.token), 6 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT project FROM hold WHERE closed_at IS NULL"), speech);
}
END_TEST

START_TEST(a_change_of_the_project_that_slurm_did_not_make_moves_back)
{
	struct verdict v;

	books_allot(&b, vision, 8 * GPU_H, 0, 0);
	books_allot(&b, speech, 8 * GPU_H, 0, 0);
	submit(1, "vision", 4, &v);
	pass(NOON + 1);
	ck_assert(change_gpus(v.token, "speech", 6, NOON + 2).accepted);
	pass(NOON + 2 + settings->unbound_hold_s);
	ck_assert_int_eq(held(v.token), 4 * GPU_H);
	ck_assert_int_eq(books_available(&b, speech, NOON + 60), 8 * GPU_H);
	ck_assert_int_eq(books_available(&b, vision, NOON + 60), 4 * GPU_H);
}
END_TEST

/* It came past the plugin: an administrator is not asked. */
START_TEST(a_change_that_cannot_be_paid_keeps_what_the_job_has)
{
	struct verdict v;
	struct fake_job *f;
	int64_t a = books_allot(&b, vision, 6 * GPU_H, 0, 0);

	f = submit(1, "vision", 4, &v);
	pass(NOON + 1);
	fake_slurm_gpus(f, 8);
	pass(NOON + 2);
	pass(NOON + 3);
	ck_assert(!is_free(v.token) && f->view.held == HELD_BY_ADMIN);
	ck_assert_int_eq(held(v.token), 4 * GPU_H);
	ck_assert_int_eq(books_deposit(&b, a, 2 * GPU_H, ""), 0);
	pass(NOON + 4);
	ck_assert_int_eq(held(v.token), 8 * GPU_H);
	ck_assert(f->view.held == HELD_NOT);
}
END_TEST

/* Two that differ in nothing but what is behind the fortieth byte. */
#define LONG_NAMES "a-partition-with-a-long-name,another-partition-with-a-long-name"

START_TEST(a_change_far_behind_is_seen)
{
	struct verdict v;
	struct fake_job *f;

	books_allot(&b, vision, 100 * GPU_H, 0, 0);
	f = submit(1, "vision", 2, &v);
	snprintf(f->tres, sizeof(f->tres), "cpu=4,gres/gpu=2,gres/gpu:a_type_whose_name_is_long_indeed=2");
	pass(NOON + 1);
	ck_assert_int_eq(held(v.token), 2 * GPU_H);
	f->view.partition = LONG_NAMES;
	pass(NOON + 2);
	ck_assert_ptr_null(books_try(&b, "UPDATE admission SET per_task = 1"));
	f->view.partition = LONG_NAMES ",third";
	pass(NOON + 3);
	ck_assert_int_eq(held(v.token), 2 * GPU_H);
	ck_assert_ptr_null(books_try(&b, "UPDATE admission SET per_task = 1"));
	snprintf(f->tres, sizeof(f->tres),
		"cpu=4,gres/gpu=2,gres/gpu:a_type_whose_name_is_long_indeed=2,license/x=1");
	pass(NOON + 4);
	ck_assert_int_eq(held(v.token), 2 * GPU_H);
}
END_TEST

/* --- who comes first ---------------------------------------------------------------------------- */

/* A run whose cover ends now, and a job that came past the plugin: there is money for one of them. */
/* Its user held a task, which made it a record of its own, just as the loop answered the other: it has the
 * array's answer. */
START_TEST(a_task_that_left_the_record_that_was_answered_is_of_the_same_answer)
{
	struct fake_job *task;

	books_allot(&b, vision, 10 * GPU_H, 0, 0);
	fake_slurm_pending(7, "vision", 2, "free", "")->view.array_job_id = 7;
	pass(NOON);
	ck_assert_int_eq(books_ask(&b, "SELECT tasks FROM admission WHERE job = 7"), 1);
	task = fake_slurm_pending(8, "vision", 2, "free", "");
	task->view.array_job_id = 7;
	task->view.array_task_id = 2;
	pass(NOON + 1);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM admission"), 1);
	ck_assert_int_eq(books_ask(&b, "SELECT tasks FROM admission"), 2);
	ck_assert_int_eq(books_ask(&b, "SELECT tasks FROM hold WHERE closed_at IS NULL"), 2);
}
END_TEST

/* It would have been free from that very second on. */
START_TEST(a_run_that_is_paid_for_again_in_the_second_its_hours_end_was_never_free)
{
	struct verdict v;
	struct fake_job *f;

	books_allot(&b, vision, 4 * GPU_H, 0, 0);
	f = submit(1, "vision", 4, &v);
	fake_slurm_start(f, NOON);
	pass(NOON);
	pass(NOON + HOUR - 10);
	ck_assert_int_eq(books_ask(&b, "SELECT free_since FROM run"), NOON + HOUR);
	books_allot(&b, vision, 4 * GPU_H, 0, 0);
	pass(NOON + HOUR);
	ck_assert_int_eq(books_ask(&b, "SELECT iif(free_since IS NULL, covered_until, 0) FROM run"),
		NOON + 2 * HOUR);
}
END_TEST

START_TEST(what_runs_comes_before_what_waits)
{
	struct verdict v;
	struct fake_job *f;

	books_allot(&b, vision, 2 * GPU_H, 0, 0);
	f = submit(1, "vision", 1, &v);
	fake_slurm_start(f, NOON);
	pass(NOON + 1);
	fake_slurm_pending(2, "vision", 1, settings->qos_free, "");
	pass(NOON + HOUR - 5);
	ck_assert_int_eq(books_ask(&b, "SELECT covered_until FROM run"), NOON + 2 * HOUR);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM admission WHERE tier = 'free'"), 1);
}
END_TEST

/* --- het jobs ----------------------------------------------------------------------------------- */

struct component {
	struct verdict v;
	struct fake_job *f;
};

static struct component submit_component(uint32_t id, uint32_t offset, int gpus, const char *tier)
{
	struct component c;
	char text[32];
	struct question q = asks("vision", gpus, text);

	q.het = true;
	q.text[OPT_TIER] = tier;
	ck_assert_msg(admit(&d, &q, "{}", 0, NOON, &c.v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0, "%s",
		b.why.text);
	ck_assert_msg(c.v.accepted, "%s", c.v.text);
	c.f = fake_slurm_pending(id, "vision", gpus, c.v.qos, c.v.token);
	fake_slurm_het(c.f, id - offset, offset);
	if (c.v.waits) {	/* as the plugin leaves it */
		c.f->view.held = HELD_BY_USER;
		strcat(c.f->admin_comment, " " WAITS_WORD);
	}
	return c;
}

START_TEST(a_het_job_of_which_a_part_does_not_fit_is_free_as_a_whole)
{
	struct component one, two;

	books_allot(&b, vision, 20 * GPU_H, 0, 0);
	one = submit_component(1, 0, 16, NULL);
	two = submit_component(2, 1, 16, NULL);
	ck_assert(one.v.tier == TIER_FUNDED && two.v.tier == TIER_FREE);
	ck_assert_msg(strstr(two.v.text, "All components of its het job follow."), "%s", two.v.text);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert(is_free(one.v.token) && is_free(two.v.token));
	ck_assert_str_eq(one.f->qos, settings->qos_free);
	ck_assert_int_eq(books_available(&b, vision, NOON + 2), 20 * GPU_H);
}
END_TEST

START_TEST(a_het_job_that_fits_is_funded_as_a_whole)
{
	struct component one, two;

	books_allot(&b, vision, 32 * GPU_H, 0, 0);
	one = submit_component(1, 0, 16, NULL);
	two = submit_component(2, 1, 16, NULL);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert_int_eq(held(one.v.token), 16 * GPU_H);
	ck_assert_int_eq(held(two.v.token), 16 * GPU_H);
	ck_assert(one.f->view.held == HELD_NOT && two.f->view.held == HELD_NOT);
}
END_TEST

START_TEST(a_het_job_waits_for_the_sum_and_is_released_with_it)
{
	struct component one, two;
	int64_t a = books_allot(&b, vision, 20 * GPU_H, 0, 0);

	settings->on_exhausted = EXHAUSTED_WAIT;
	one = submit_component(1, 0, 16, NULL);
	two = submit_component(2, 1, 16, NULL);
	ck_assert(two.v.waits);
	for (int64_t t = 1; t < 5; t++)
		pass(NOON + t);
	ck_assert(one.f->view.held == HELD_BY_ADMIN);
	ck_assert_int_eq(books_available(&b, vision, NOON + 5), 20 * GPU_H);
	ck_assert_int_eq(books_deposit(&b, a, 12 * GPU_H, ""), 0);
	pass(NOON + 6);
	ck_assert_int_eq(held(one.v.token) + held(two.v.token), 32 * GPU_H);
	ck_assert(one.f->view.held == HELD_NOT && two.f->view.held == HELD_NOT);
}
END_TEST

START_TEST(a_het_job_of_which_a_part_asks_for_the_free_tier_is_free)
{
	struct component one, two;

	books_allot(&b, vision, 40 * GPU_H, 0, 0);
	one = submit_component(1, 0, 16, NULL);
	two = submit_component(2, 1, 16, "free");
	pass(NOON + 1);
	ck_assert(is_free(one.v.token) && is_free(two.v.token));
	ck_assert_int_eq(books_available(&b, vision, NOON + 2), 40 * GPU_H);
}
END_TEST

/* --- the whole time limit ------------------------------------------------------------------------ */

START_TEST(a_longer_limit_of_a_run_is_a_check_of_the_difference)
{
	struct verdict v, refused;
	struct fake_job *f;
	char text[32];
	struct question q = asks("vision", 1, text);

	settings->hold = HOLD_TIME_LIMIT;
	books_allot(&b, vision, 6 * GPU_H, 0, 0);
	f = submit(1, "vision", 1, &v);
	fake_slurm_start(f, NOON);
	pass(NOON + 1);
	ck_assert_int_eq(held(v.token), 4 * GPU_H);
	q.time_limit_s = 7 * HOUR;
	refused = change(v.token, &q, "1", NOON + 2);
	ck_assert_msg(!refused.accepted && strstr(refused.text, "takes 3.00 GPU-h more, and vision has 2.00"),
		"%s", refused.text);
	q.time_limit_s = 6 * HOUR;
	ck_assert(change(v.token, &q, NULL, NOON + 2).accepted);	/* not the limit is changed */
	ck_assert_int_eq(held(v.token), 4 * GPU_H);
	ck_assert(change(v.token, &q, "1", NOON + 2).accepted);
	ck_assert_int_eq(held(v.token), 6 * GPU_H);
	pass(NOON + 3);
	ck_assert_int_eq(held(v.token), 6 * GPU_H);
	f->view.time_limit_s = 6 * HOUR;
	pass(NOON + 60);
	ck_assert_int_eq(held(v.token), 6 * GPU_H);
	f->view.time_limit_s = 5 * HOUR;
	pass(NOON + 61);
	ck_assert_int_eq(held(v.token), 5 * GPU_H);
}
END_TEST

/* --- GPUs --------------------------------------------------------------------------------------- */

START_TEST(a_pass_notes_how_many_gpus_there_are_when_that_changes)
{
	fake_slurm_healthy(16);
	pass(NOON);
	pass(NOON + 5);
	fake_slurm_healthy(8);
	pass(NOON + 10);
	pass(NOON + 15);
	fake_slurm_healthy(0);
	pass(NOON + 20);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM capacity"), 3);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM capacity WHERE at = %d", NOON),
		16 * AMOUNT_RATE_ONE);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM capacity WHERE at = %d", NOON + 10),
		8 * AMOUNT_RATE_ONE);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM capacity WHERE at = %d", NOON + 20), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pass");
	TCase *t = tcase_create("change"), *o = tcase_create("order"), *h = tcase_create("het");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, two_changes_are_not_accepted_for_the_same_hours);
	tcase_add_test(t, what_slurm_did_not_change_goes_back);
	tcase_add_test(t, a_change_of_the_project_moves_its_hours_at_once);
	tcase_add_test(t, a_change_of_the_project_that_slurm_did_not_make_moves_back);
	tcase_add_test(t, a_change_that_cannot_be_paid_keeps_what_the_job_has);
	tcase_add_test(t, a_change_far_behind_is_seen);
	tcase_add_test(t, a_longer_limit_of_a_run_is_a_check_of_the_difference);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(o, setup, teardown);
	tcase_add_test(o, a_task_that_left_the_record_that_was_answered_is_of_the_same_answer);
	tcase_add_test(o, a_run_that_is_paid_for_again_in_the_second_its_hours_end_was_never_free);
	tcase_add_test(o, what_runs_comes_before_what_waits);
	tcase_add_test(o, a_pass_notes_how_many_gpus_there_are_when_that_changes);
	suite_add_tcase(s, o);
	tcase_add_checked_fixture(h, setup, teardown);
	tcase_add_test(h, a_het_job_of_which_a_part_does_not_fit_is_free_as_a_whole);
	tcase_add_test(h, a_het_job_that_fits_is_funded_as_a_whole);
	tcase_add_test(h, a_het_job_waits_for_the_sum_and_is_released_with_it);
	tcase_add_test(h, a_het_job_of_which_a_part_asks_for_the_free_tier_is_free);
	suite_add_tcase(s, h);
	srunner_add_suite(r, pass_fronts_suite());
	srunner_add_suite(r, pass_displace_suite());
	srunner_add_suite(r, pass_gang_suite());
	srunner_add_suite(r, pass_gang_het_suite());
	srunner_add_suite(r, pass_guard_suite());
	srunner_add_suite(r, pass_clock_suite());
	srunner_add_suite(r, pass_hold_suite());
	srunner_add_suite(r, pass_idle_suite());
	srunner_add_suite(r, pass_drain_suite());
	srunner_add_suite(r, pass_users_suite());
	srunner_add_suite(r, pass_why_suite());
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
