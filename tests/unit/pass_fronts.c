/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_fronts.c - whole passes over a real ledger and a fake Slurm: who goes before the path of ratios */
#include "budgetd/admit.h"
#include "budgetd/ledger_slot.h"
#include "lib/lane.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINUTES 60
#define DAY (24 * HOUR)

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static int64_t vision, speech;

static void setup(void)
{
	scene_begin(&b, &d, &settings, &loop);
	vision = books_project(&b, "vision", 0);
	speech = books_project(&b, "speech", 0);
	books_allot(&b, vision, 100 * GPU_H, 0, 0);
	books_allot(&b, speech, 100 * GPU_H, 0, 0);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

static void pass(int64_t now)
{
	scene_pass(&b, loop, now);
}

/* Submitted through the plugin and in the queue. */
static struct fake_job *submit_as(uint32_t id, int64_t uid, const char *account, int gpus, int64_t min_s,
	int64_t limit_s, const char *rank, const char *array)
{
	char text[32], min[32];
	struct question q = { .uid = uid, .account = account, .time_limit_s = limit_s, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = min, [OPT_TEAM_RANK] = rank } };
	struct fake_job *f;
	struct verdict v;

	snprintf(text, sizeof(text), "gres:gpu:%d", gpus);
	snprintf(min, sizeof(min), "%jds", (intmax_t)min_s);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = text;
	q.gpus.array = array;
	ck_assert_msg(admit(&d, &q, "{}", 0, NOON, &v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0, "%s",
		b.why.text);
	ck_assert_msg(v.accepted && v.tier == TIER_FUNDED, "%s", v.text);
	f = fake_slurm_pending(id, account, gpus, v.qos, v.token);
	f->view.uid = (uid_t)uid;
	f->view.time_limit_s = limit_s;
	f->view.request.tres_per_job = gpus == 1 ? "gres:gpu:1" : "gres:gpu:2";
	if (array) {
		f->view.array_job_id = id;
		f->view.request.array = f->view.array_tasks = array;
		ck_assert_int_eq(gpu_request_array_tasks(array, &f->view.array_count, NULL, NULL), 0);
	}
	return f;
}

static struct fake_job *submit(uint32_t id, int64_t uid, const char *account, int gpus, int64_t min_s,
	int64_t limit_s)
{
	return submit_as(id, uid, account, gpus, min_s, limit_s, NULL, NULL);
}

static struct fake_job *debug(uint32_t id, int64_t uid)
{
	return submit(id, uid, "vision", 1, 10 * MINUTES, HOUR);
}

/* vision has used more than speech, so that by share it comes last. */
static struct fake_job *two_projects(void)
{
	fake_slurm_start(submit(1, 1009, "vision", 8, HOUR, 4 * HOUR), NOON - HOUR);
	return submit(2, 1008, "speech", 2, HOUR, 4 * HOUR);
}

#define goes_before(a, b) ck_assert_int_gt((a)->view.site_factor, (b)->view.site_factor)

/* --- the lane ----------------------------------------------------------------------------------- */

START_TEST(the_settings_are_those_that_simulate_has)
{
	struct lane_limits l = lane_defaults();

	ck_assert_int_eq(settings->lane.gpus, l.gpus);
	ck_assert_int_eq(settings->lane.min_runtime_s, l.min_runtime_s);
	ck_assert_int_eq(settings->lane.time_limit_s, l.time_limit_s);
	ck_assert_int_eq(settings->lane.allowance_gpu_s, l.allowance_gpu_s);
}
END_TEST

START_TEST(a_small_short_job_goes_before_all_others)
{
	struct fake_job *train = two_projects(), *small = debug(3, 1000),
		*same_shape = submit(4, 1001, "vision", 2, HOUR, 4 * HOUR);

	pass(NOON + 1);
	goes_before(small, train);
	goes_before(train, same_shape);
}
END_TEST

START_TEST(without_a_lane_it_goes_where_its_project_does)
{
	struct fake_job *train = two_projects(), *small = debug(3, 1000);

	settings->lane.gpus = 0;
	pass(NOON + 1);
	goes_before(train, small);
}
END_TEST

START_TEST(of_one_user_one_job_is_in_the_lane)
{
	struct fake_job *train = two_projects(), *first = debug(3, 1000), *second = debug(4, 1000),
		*other = debug(5, 1001);

	pass(NOON + 1);
	goes_before(first, train);
	goes_before(other, train);
	goes_before(train, second);
	fake_slurm_start(first, NOON + 2);
	pass(NOON + 3);		/* not while it runs, either */
	goes_before(train, second);
	first->view.stage = STAGE_ENDED;
	first->view.base_state = "COMPLETED";
	first->view.end = NOON + 10 * MINUTES;
	pass(NOON + 11 * MINUTES);
	goes_before(second, train);
}
END_TEST

/* Ranks are those of one project: of a job of another one that came first they say nothing. */
START_TEST(of_one_user_the_lane_has_the_job_that_is_first_by_team_rank)
{
	struct fake_job *train = two_projects(), *old = debug(3, 1000), *first, *elsewhere;

	first = submit_as(4, 1000, "vision", 1, 10 * MINUTES, HOUR, "1", NULL);
	pass(NOON + 1);
	goes_before(first, train);
	goes_before(train, old);
	first->view.stage = STAGE_ENDED;
	first->view.base_state = "CANCELLED";
	elsewhere = submit_as(5, 1000, "speech", 1, 10 * MINUTES, HOUR, "1", NULL);
	pass(NOON + 2);
	goes_before(old, train);
	goes_before(old, elsewhere);
}
END_TEST

START_TEST(what_began_outside_the_lane_does_not_count)
{
	struct fake_job *train = two_projects(), *first = debug(3, 1000), *second;

	fake_slurm_start(first, NOON);	/* before a pass saw it: there were idle GPUs */
	pass(NOON + 1);
	second = debug(4, 1000);
	pass(NOON + 2);
	goes_before(second, train);
}
END_TEST

START_TEST(the_allowance_of_a_day_is_over_and_comes_back_with_the_next)
{
	int64_t midnight = NOON - NOON % DAY + DAY;
	struct fake_job *train = two_projects(), *first = submit(3, 1000, "vision", 2, 10 * MINUTES, HOUR),
		*second, *other;

	settings->lane.allowance_gpu_s = HOUR;
	pass(NOON + 1);
	goes_before(first, train);
	fake_slurm_start(first, NOON + 2);
	pass(NOON + 3);
	first->view.stage = STAGE_ENDED;
	first->view.base_state = "COMPLETED";
	first->view.end = NOON + 2 + 26 * MINUTES;	/* 52 of 60 GPU-minutes */
	pass(NOON + 30 * MINUTES);
	second = debug(4, 1000);
	other = debug(5, 1001);
	pass(NOON + 31 * MINUTES);
	goes_before(train, second);
	goes_before(other, train);
	pass(midnight - 1);
	goes_before(train, second);
	pass(midnight + 1);
	goes_before(second, train);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM lane_run"), 1);
	pass(midnight + 2 * DAY + 1);
	/* of no day that anybody asks for */
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM lane_run"), 0);
}
END_TEST

START_TEST(what_runs_in_the_lane_is_known_after_a_kill)
{
	struct fake_job *train = two_projects(), *first = debug(3, 1000), *second = debug(4, 1000);

	pass(NOON + 1);
	controller_free(loop);
	fake_slurm_start(first, NOON + 2);
	loop = controller_new(&d, &b.why);
	ck_assert_ptr_nonnull(loop);
	pass(NOON + 3);
	goes_before(train, second);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM lane_run"), 1);
}
END_TEST

/* --- slots -------------------------------------------------------------------------------------- */

#define FIRST_MONDAY ((int64_t)4 * DAY)
#define NOON_OF_WEEK ((NOON - FIRST_MONDAY) % (7 * DAY))	/* a Friday, 08:00 */

static struct slot_row slot;

static int write_slot(struct ledger *l, void *arg, struct fault *why)
{
	struct change_words w = { .at = NOON, .actor = "root" };

	return arg ? slot_add(l, &w, arg, NOON, why) : slot_remove(l, &w, &slot, NOON, why);
}

/* From then on for an hour. */
static void open_slot_of(int64_t project, int64_t from_now, int64_t healthy, int64_t percent)
{
	fake_slurm_healthy(healthy);
	slot = (struct slot_row){ .project = project, .starts_s = (NOON_OF_WEEK + from_now) / 60 * 60,
		.length_s = HOUR, .boosted_percent = percent };
	ck_assert_msg(books_do(&b, LEDGER_MONEY, write_slot, &slot) == 0, "%s", b.why.text);
}

/* Up to half of 8 GPUs. */
static void open_slot(int64_t project, int64_t from_now)
{
	open_slot_of(project, from_now, 8, 50);
}

static struct fake_job *train(uint32_t id, const char *account, int gpus)
{
	return submit(id, 1000 + id, account, gpus, HOUR, 4 * HOUR);
}

/* vision has had more than its share; the first of its jobs runs. */
static struct fake_job *vision_is_behind(void)
{
	fake_slurm_start(train(1, "vision", 2), NOON - HOUR);
	return train(2, "speech", 2);
}

START_TEST(inside_its_slot_a_project_goes_first_up_to_its_share)
{
	struct fake_job *other = vision_is_behind(), *first = train(3, "vision", 2),
		*second = train(4, "vision", 2);

	open_slot(vision, 0);
	pass(NOON + 1);
	goes_before(first, other);	/* 2 run, 2 more are half of 8 */
	goes_before(other, second);
}
END_TEST

/* By share speech would keep its GPUs; the slot is for 12 of 16, of which 8 run. */
START_TEST(for_an_array_in_a_slot_nobody_gives_way_beyond_its_share)
{
	struct fake_job *big = train(1, "vision", 8), *small[4];
	int64_t went = 0;

	fake_slurm_nodes(2, 8);
	fake_slurm_start(big, NOON - 3 * HOUR);
	fake_slurm_on(big, 0, 8);
	for (uint32_t i = 0; i < 4; i++) {
		small[i] = train(2 + i, "speech", 2);
		fake_slurm_start(small[i], NOON - 2 * HOUR);
		fake_slurm_on(small[i], 1, 2);
	}
	submit_as(6, 1006, "vision", 2, HOUR, 4 * HOUR, NULL, "0-3");
	open_slot_of(vision, 0, 16, 75);
	pass(NOON + 1);
	pass(NOON + 2);
	for (uint32_t i = 0; i < 4; i++)
		went += small[i]->signals;
	ck_assert_int_eq(went, 2);
	ck_assert_int_eq(big->signals, 0);
}
END_TEST

START_TEST(outside_of_it_it_goes_where_its_share_puts_it)
{
	struct fake_job *other = vision_is_behind(), *first = train(3, "vision", 2);

	open_slot(vision, HOUR);
	pass(NOON + 1);
	goes_before(other, first);
	pass(NOON + HOUR + 1);
	goes_before(first, other);
	pass(NOON + 2 * HOUR + 1);
	goes_before(other, first);
}
END_TEST

START_TEST(a_slot_is_for_all_that_is_below_the_project)
{
	int64_t robots = books_project(&b, "robots", vision);
	struct fake_job *other, *first;

	books_allot(&b, robots, 100 * GPU_H, 0, 0);
	other = vision_is_behind();
	first = train(3, "robots", 2);
	open_slot(vision, 0);
	pass(NOON + 1);
	goes_before(first, other);
}
END_TEST

START_TEST(the_lane_goes_before_a_slot)
{
	struct fake_job *other = vision_is_behind(), *first = train(3, "vision", 2),
		*small = submit(4, 1000, "speech", 1, 10 * MINUTES, HOUR);

	open_slot(vision, 0);
	pass(NOON + 1);
	goes_before(small, first);
	goes_before(first, other);
}
END_TEST

START_TEST(a_slot_that_was_removed_is_none)
{
	struct fake_job *other = vision_is_behind(), *first = train(3, "vision", 2);

	open_slot(vision, 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, write_slot, NULL), 0);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, write_slot, NULL), 0);	/* said twice */
	pass(NOON + 1);
	goes_before(other, first);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM change WHERE what LIKE 'slot %%'"), 2);
	ck_assert_ptr_nonnull(books_try(&b, "UPDATE slot SET percent = 100"));
	ck_assert_ptr_nonnull(books_try(&b, "DELETE FROM slot"));
}
END_TEST

START_TEST(two_slots_of_a_project_are_not_open_at_once)
{
	struct slot_row late = { .starts_s = NOON_OF_WEEK / 60 * 60 + HOUR - 60, .length_s = 7 * DAY - HOUR,
		.boosted_percent = 10 };

	open_slot(vision, 0);
	late.project = vision;
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, write_slot, &late), -1);
	ck_assert_msg(strstr(b.why.text, "fri 08:00 for 1 h up to 50 %") != NULL, "%s", b.why.text);
	late.starts_s += 60;
	ck_assert_msg(books_do(&b, LEDGER_MONEY, write_slot, &late) == 0, "%s", b.why.text);
	late.project = speech;
	ck_assert_msg(books_do(&b, LEDGER_MONEY, write_slot, &late) == 0, "%s", b.why.text);
	ledger_invariants(&b);
}
END_TEST

Suite *pass_fronts_suite(void)
{
	Suite *s = suite_create("fronts of a pass");
	TCase *t = tcase_create("lane"), *w = tcase_create("slots");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_settings_are_those_that_simulate_has);
	tcase_add_test(t, a_small_short_job_goes_before_all_others);
	tcase_add_test(t, without_a_lane_it_goes_where_its_project_does);
	tcase_add_test(t, of_one_user_one_job_is_in_the_lane);
	tcase_add_test(t, of_one_user_the_lane_has_the_job_that_is_first_by_team_rank);
	tcase_add_test(t, what_began_outside_the_lane_does_not_count);
	tcase_add_test(t, the_allowance_of_a_day_is_over_and_comes_back_with_the_next);
	tcase_add_test(t, what_runs_in_the_lane_is_known_after_a_kill);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(w, setup, teardown);
	tcase_add_test(w, inside_its_slot_a_project_goes_first_up_to_its_share);
	tcase_add_test(w, for_an_array_in_a_slot_nobody_gives_way_beyond_its_share);
	tcase_add_test(w, outside_of_it_it_goes_where_its_share_puts_it);
	tcase_add_test(w, a_slot_is_for_all_that_is_below_the_project);
	tcase_add_test(w, the_lane_goes_before_a_slot);
	tcase_add_test(w, a_slot_that_was_removed_is_none);
	tcase_add_test(w, two_slots_of_a_project_are_not_open_at_once);
	suite_add_tcase(s, w);
	return s;
}
