/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_clock.c - the clock of budgetd's host is set back and forth while a job runs
 *
 * What a run costs comes from the two moments that Slurm tells of it, whatever the clock said in between: it
 * has 2 GPUs for half an hour, which is one GPU-hour. What was charged for a time to come is refunded. */
#include "budgetd/admit.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <check.h>

#define DAY (24 * HOUR)
#define BEGUN (NOON + 1)
#define ENDED (BEGUN + HOUR / 2)
#define PASSES 8

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static struct fake_job *train;

static void setup(void)
{
	struct question q = { .uid = 1000, .account = "vision", .time_limit_s = 8 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = "1h" } };
	struct verdict v;

	scene_begin(&b, &d, &settings, &loop);
	books_allot(&b, books_project(&b, "vision", 0), 100 * GPU_H, 0, 0);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = "gres:gpu:2";
	ck_assert(admit(&d, &q, "{}", 0, NOON, &v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0);
	train = fake_slurm_pending(7, "vision", 2, v.qos, v.token);
	fake_slurm_start(train, BEGUN);
	scene_pass(&b, loop, BEGUN + 1);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

/* when passes are made while it runs, from its start; 0 = no more */
static const struct {
	const char *what;
	int64_t at[PASSES];
} clocks[] = {
	{ "as it should be", { 60, 600, 1200, 1799 } },
	{ "back an hour", { 60, 600, -HOUR, -HOUR + 60, -HOUR + 1200 } },
	{ "back a day, and right again", { 60, -DAY, -DAY + 60, 600, 1200, 1799 } },
	{ "forth an hour, and right again", { 60, HOUR + 60, HOUR + 120, 600, 1799 } },
	{ "forth three hours, and right again", { 60, 3 * HOUR, 3 * HOUR + 60, 600, 1799 } },
	{ "forth and back at each pass", { HOUR, 60, HOUR + 60, 120, HOUR + 120, 180, -HOUR } },
	{ "a leap second: the same second twice", { 60, 60, 61, 61 } },
	{ "ended while nobody looked, the clock a day ahead meanwhile", { DAY } },
};

START_TEST(a_run_costs_what_slurm_tells_whatever_the_clock_said)
{
	int64_t cost;

	for (int i = 0; i < PASSES && clocks[_i].at[i]; i++)
		scene_pass(&b, loop, BEGUN + clocks[_i].at[i]);
	train->view.stage = STAGE_ENDED;
	train->view.base_state = "COMPLETED";
	train->view.end = ENDED;
	scene_pass(&b, loop, ENDED + 1);
	scene_pass(&b, loop, ENDED + 60);
	cost = -books_ask(&b, "SELECT sum(units) FROM journal WHERE kind IN ('charge', 'refund')");
	ck_assert_msg(cost == GPU_H, "%s: %jd units", clocks[_i].what, (intmax_t)cost);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold WHERE closed_at IS NULL"), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(held) FROM allocation_sum"), 0);
}
END_TEST

Suite *pass_clock_suite(void)
{
	Suite *s = suite_create("clocks of a pass");
	TCase *t = tcase_create("clock");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_run_costs_what_slurm_tells_whatever_the_clock_said, 0,
		sizeof(clocks) / sizeof(clocks[0]));
	suite_add_tcase(s, t);
	return s;
}
