/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_idle.c - whole passes over a real ledger, a fake Slurm and a fake Prometheus: jobs that leave their
 * GPUs idle */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "tests/unit/fake_gpus.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTES 60

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static struct gpu_watch gpus;
static struct gpu_row rows[2];		/* of node g1 */

static void setup(void)
{
	int64_t vision;

	scene_begin(&b, &d, &settings, &loop);
	memset(rows, 0, sizeof(rows));
	gpus = (struct gpu_watch){ .table = { .rows = rows, .count = 2 } };
	d.gpus = &gpus;
	vision = books_project(&b, "vision", 0);
	books_allot(&b, vision, 100 * GPU_H, 0, 0);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

/* A pass that sees samples of both GPUs up to `now`: idle since then, 0 = not. */
static void pass(int64_t now, int64_t first_idle, int64_t second_idle)
{
	for (int i = 0; i < 2; i++) {
		rows[i] = (struct gpu_row){ .node = "g1", .index = i };
		rows[i].idle = (struct idle_gpu){ .since = i ? second_idle : first_idle, .last = now };
	}
	gpus.table.until = now;
	scene_pass(&b, loop, now);
}

static void quiet_pass(int64_t now)
{
	ck_assert_msg(controller_pass(loop, now, &b.why) == 0, "%s", b.why.text);
}

/* Runs since NOON on both GPUs of g1. */
static struct fake_job *runs_since_noon(const char *min)
{
	struct question q = { .uid = 1000, .account = "vision", .time_limit_s = 8 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = min } };
	struct fake_job *f;
	struct verdict v;

	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = "gres:gpu:2";
	ck_assert_msg(admit(&d, &q, "{}", 0, NOON, &v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0, "%s",
		b.why.text);
	f = fake_slurm_pending(7, "vision", 2, v.qos, v.token);
	fake_slurm_start(f, NOON);
	f->view.gpu_places = "g1=0-1";
	pass(NOON + 1, 0, 0);		/* the run is in the books */
	return f;
}

static int64_t events(const char *what)
{
	return books_ask(&b, "SELECT count(*) FROM event WHERE job = 7 AND reason = 'IDLE' AND what = '%s'",
		what);
}

static bool is_protected(void)
{
	return books_ask(&b, "SELECT unprotected_at IS NULL FROM run WHERE job = 7");
}

START_TEST(a_parked_job_goes_up_the_ladder_step_by_step)
{
	struct fake_job *f = runs_since_noon("4h");

	pass(NOON + 29 * MINUTES, NOON, NOON - HOUR);
	ck_assert_int_eq(f->lines, 0);
	pass(NOON + 30 * MINUTES, NOON, NOON - HOUR);
	ck_assert_str_eq(f->told,
		"gpubudget: 2 GPUs were not used for 30 min. Unless they are used, the run loses its protection in 1 h 30 min and "
		"any funded job may displace it.");
	pass(NOON + 31 * MINUTES, NOON, NOON - HOUR);
	quiet_pass(NOON + 32 * MINUTES);
	ck_assert_int_eq(f->lines, 1);
	pass(NOON + 60 * MINUTES, NOON, NOON - HOUR);
	ck_assert_str_eq(f->told,
		"gpubudget: warning: 2 GPUs were not used for 1 h. Unless they are used, the run loses its protection in 1 h and "
		"any funded job may displace it.");
	pass(NOON + 105 * MINUTES, NOON, NOON - HOUR);
	ck_assert_str_eq(f->told,
		"gpubudget: last warning: 2 GPUs were not used for 1 h 45 min. Unless they are used, the run loses its protection in "
		"15 min and any funded job may displace it.");
	ck_assert(is_protected());
	pass(NOON + 120 * MINUTES, NOON, NOON - HOUR);
	ck_assert_str_eq(f->told,
		"gpubudget: 2 GPUs were not used for 2 h. The run is not protected any more: any funded job may displace it.");
	ck_assert(!is_protected());
	pass(NOON + 121 * MINUTES, NOON, NOON - HOUR);
	ck_assert_int_eq(f->lines, 4);
	ck_assert_int_eq(events("noted"), 1);
	ck_assert_int_eq(events("warned"), 2);
	ck_assert_int_eq(events("unprotected"), 1);
}
END_TEST

START_TEST(one_gpu_that_works_is_enough)
{
	struct fake_job *f = runs_since_noon("4h");

	pass(NOON + 120 * MINUTES, NOON, 0);
	ck_assert_int_eq(f->lines, 0);
}
END_TEST

START_TEST(work_in_between_begins_it_anew)
{
	struct fake_job *f = runs_since_noon("4h");

	pass(NOON + 60 * MINUTES, NOON, NOON);
	pass(NOON + 61 * MINUTES, NOON, 0);
	pass(NOON + 120 * MINUTES, NOON, NOON + 62 * MINUTES);
	ck_assert_int_eq(events("warned"), 1);
	ck_assert_int_eq(events("noted"), 1);
	ck_assert_int_eq(f->lines, 2);
	ck_assert(is_protected());
}
END_TEST

START_TEST(a_restart_says_nothing_twice)
{
	struct fake_job *f = runs_since_noon("4h");

	pass(NOON + 60 * MINUTES, NOON, NOON);
	ck_assert_int_eq(f->lines, 1);
	controller_free(loop);
	cluster_state_free(d.cluster);
	d.cluster = cluster_state_new();
	loop = controller_new(&d, &b.why);
	pass(NOON + 61 * MINUTES, NOON, NOON);
	ck_assert_int_eq(f->lines, 1);
	pass(NOON + 105 * MINUTES, NOON, NOON);
	ck_assert_int_eq(f->lines, 2);
}
END_TEST

START_TEST(protection_is_not_lost_on_the_first_look_after_an_outage)
{
	struct fake_job *f = runs_since_noon("8h");

	pass(NOON + 240 * MINUTES, NOON, NOON);
	ck_assert_ptr_nonnull(strstr(f->told,
		"last warning: 2 GPUs were not used for 4 h. Unless they are used, the run loses its protection in 15 min"));
	ck_assert(is_protected());
	pass(NOON + 254 * MINUTES, NOON, NOON);
	ck_assert(is_protected());
	pass(NOON + 255 * MINUTES, NOON, NOON);
	ck_assert(!is_protected());
}
END_TEST

START_TEST(what_is_not_known_is_not_idle)
{
	struct fake_job *f = runs_since_noon("4h");

	f->view.gpu_places = "g1=0;g2=0";		/* of g2 there are no samples */
	pass(NOON + 120 * MINUTES, NOON, NOON);
	f->view.gpu_places = NULL;
	pass(NOON + 121 * MINUTES, NOON, NOON);
	ck_assert_int_eq(f->lines, 0);
}
END_TEST

START_TEST(in_shadow_mode_nobody_is_told)
{
	struct fake_job *f = runs_since_noon("4h");

	settings->enforce = ENFORCE_WARN;	/* from now on */
	pass(NOON + 120 * MINUTES, NOON, NOON);
	ck_assert_int_eq(f->lines, 0);
}
END_TEST

Suite *pass_idle_suite(void)
{
	Suite *s = suite_create("pass_idle");
	TCase *t = tcase_create("idle");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_parked_job_goes_up_the_ladder_step_by_step);
	tcase_add_test(t, one_gpu_that_works_is_enough);
	tcase_add_test(t, work_in_between_begins_it_anew);
	tcase_add_test(t, a_restart_says_nothing_twice);
	tcase_add_test(t, protection_is_not_lost_on_the_first_look_after_an_outage);
	tcase_add_test(t, what_is_not_known_is_not_idle);
	tcase_add_test(t, in_shadow_mode_nobody_is_told);
	suite_add_tcase(s, t);
	return s;
}
