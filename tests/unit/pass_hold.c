/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_hold.c - whole passes over a real ledger and a fake Slurm: runs that somebody holds (doc/model.md,
 * 6) */
#include "budgetd/admit.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <stdlib.h>
#include <string.h>

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static int64_t vision;
static struct fake_job *train;

static void pass(int64_t now)
{
	scene_pass(&b, loop, now);
}

static void answer(struct verdict *v)
{
	struct question q = { .uid = 1000, .account = "vision", .time_limit_s = 8 * HOUR,
		.requeueable = true };

	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = "gres:gpu:2";
	ck_assert_msg(admit(&d, &q, "{}", 0, NOON, v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0, "%s",
		b.why.text);
	ck_assert_msg(v->accepted && v->tier == TIER_FUNDED, "%s", v->text);
}

/* Submitted through the plugin. */
static struct fake_job *submit(uint32_t id)
{
	struct verdict v;

	answer(&v);
	return fake_slurm_pending(id, "vision", 2, v.qos, v.token);
}

static void setup(void)
{
	scene_begin(&b, &d, &settings, &loop);
	vision = books_project(&b, "vision", 0);
	books_allot(&b, vision, 100 * GPU_H, 0, 0);
	train = submit(7);
	fake_slurm_start(train, NOON + 1);
	pass(NOON + 2);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

/* Its run ended so, and it is in the queue again, held by its user. */
static void held_after(const char *state, int64_t end)
{
	train->view.stage = STAGE_ENDED;
	train->view.base_state = state;
	train->view.end = end;
	pass(end + 1);
	train->view.stage = STAGE_PENDING;
	train->view.base_state = "PENDING";
	train->view.start = train->view.end = 0;
	train->view.submit = end;
	train->view.tres_alloc = NULL;
	train->view.restarts = 1;
	train->view.priority = 0;
	train->view.held = HELD_BY_USER;
}

START_TEST(a_hold_of_a_run_is_taken_back)
{
	train->view.priority = 0;
	pass(NOON + 3);
	ck_assert_uint_ne(train->view.priority, 0);
	ck_assert_int_eq(train->view.stage, STAGE_RUNNING);
}
END_TEST

START_TEST(what_is_suspended_is_left_to_who_did_it)
{
	train->view.priority = 0;
	train->view.stage = STAGE_SUSPENDED;
	pass(NOON + 3);
	ck_assert_uint_eq(train->view.priority, 0);
}
END_TEST

START_TEST(what_was_displaced_by_a_hold_is_released)
{
	held_after("PREEMPTED", NOON + 100);
	pass(NOON + 110);
	ck_assert_int_eq(train->view.held, HELD_NOT);
}
END_TEST

START_TEST(a_hold_that_came_later_is_its_users)
{
	held_after("PREEMPTED", NOON + 100);
	pass(NOON + 200);
	ck_assert_int_eq(train->view.held, HELD_BY_USER);
}
END_TEST

START_TEST(what_its_user_requeued_held_stays_held)
{
	held_after("REQUEUED", NOON + 100);
	pass(NOON + 110);
	ck_assert_int_eq(train->view.held, HELD_BY_USER);
}
END_TEST

/* The snapshot of a pass is older than what the pass itself binds. */
START_TEST(a_hold_that_this_very_pass_bound_is_not_said_to_be_given_back)
{
	int64_t late = NOON + settings->unbound_hold_s + 60;
	struct verdict refused;

	fake_slurm_start(submit(8), late - 1);
	pass(late);
	ck_assert_ptr_null(strstr(fake_slurm_logged(), "given back"));
	answer(&refused);			/* by Slurm: it never comes */
	pass(late + 1);
	ck_assert_str_eq(fake_slurm_logged(), "1 hold given back: no job came of its submission");
}
END_TEST

Suite *pass_hold_suite(void)
{
	Suite *s = suite_create("holds of a pass");
	TCase *t = tcase_create("held");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_hold_of_a_run_is_taken_back);
	tcase_add_test(t, a_hold_that_this_very_pass_bound_is_not_said_to_be_given_back);
	tcase_add_test(t, what_is_suspended_is_left_to_who_did_it);
	tcase_add_test(t, what_was_displaced_by_a_hold_is_released);
	tcase_add_test(t, a_hold_that_came_later_is_its_users);
	tcase_add_test(t, what_its_user_requeued_held_stays_held);
	suite_add_tcase(s, t);
	return s;
}
