/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_drain.c - whole passes over a real ledger and a fake Slurm: nodes that are to be empty */
#include "budgetd/admit.h"
#include "budgetd/ledger_drain.h"
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
static struct fake_node *node;

static void setup(void)
{
	int64_t vision;

	scene_begin(&b, &d, &settings, &loop);
	vision = books_project(&b, "vision", 0);
	books_allot(&b, vision, 100 * GPU_H, 0, 0);
	node = fake_slurm_node("g1");
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

static void pass(int64_t now)
{
	scene_pass(&b, loop, now);
}

/* Runs on g1 since NOON, with a minimum runtime of an hour, or free. */
static struct fake_job *runs_since_noon(uint32_t id, const char *tier)
{
	struct question q = { .uid = 1000, .account = "vision", .time_limit_s = 8 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = "1h", [OPT_TIER] = tier } };
	struct fake_job *f;
	struct verdict v;

	if (tier)
		q.text[OPT_MIN_RUNTIME] = NULL;
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = "gres:gpu:2";
	ck_assert_msg(admit(&d, &q, "{}", 0, NOON, &v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0, "%s",
		b.why.text);
	f = fake_slurm_pending(id, "vision", 2, v.qos, v.token);
	f->view.requeueable = true;
	f->view.nodes = "g1";
	fake_slurm_start(f, NOON);
	return f;
}

static void say_drain(bool critical)
{
	struct drain x = { .at = NOON, .node = "g1", .actor = "root", .reason = "fan 3",
		.critical = critical };

	ck_assert_int_eq(ledger_begin(b.l, LEDGER_MONEY, &b.why), 0);
	ck_assert_int_ge(drain_add(b.l, &x, &b.why), 0);
	ck_assert_int_eq(ledger_commit(b.l, &b.why), 0);
}

static void say_undrain(void)
{
	struct drain x;

	ck_assert_int_eq(ledger_begin(b.l, LEDGER_MONEY, &b.why), 0);
	ck_assert_int_eq(drain_of(b.l, "g1", &x, &b.why), 1);
	ck_assert_int_eq(drain_end(b.l, x.id, "root", NOON, &b.why), 0);
	ck_assert_int_eq(ledger_commit(b.l, &b.why), 0);
}

static int64_t told(uint32_t job, const char *reason)
{
	return books_ask(&b, "SELECT count(*) FROM event WHERE job = %u AND what = 'told' AND reason = '%s'",
		job, reason);
}

START_TEST(a_run_leaves_when_its_minimum_is_over_and_the_grace_is)
{
	struct fake_job *f = runs_since_noon(7, NULL);

	pass(NOON + 1);
	say_drain(false);
	pass(NOON + 10);
	ck_assert_int_eq(node->drained, 1);
	ck_assert_str_eq(node->reason, "gpubudget: fan 3 (root)");
	pass(NOON + 59 * MINUTES);
	ck_assert_int_eq(f->signals, 0);
	pass(NOON + 60 * MINUTES);
	ck_assert_int_eq(told(7, "NODE_DRAIN"), 1);
	ck_assert_msg(strstr(f->told, "(NODE_DRAIN): Node g1 is drained: gpubudget: fan 3 (root)") != NULL,
		"%s", f->told);
	pass(NOON + 60 * MINUTES + 5);
	ck_assert_int_ge(f->signals, 1);
	ck_assert_int_eq(f->requeued, 0);
	pass(NOON + 60 * MINUTES + settings->grace_s + 5);
	ck_assert_int_eq(f->requeued, 1);
	ck_assert_int_eq(node->drained, 1);
	ck_assert_int_eq(told(7, "NODE_DRAIN"), 1);
}
END_TEST

/* The first component runs elsewhere, and is protected for two hours; the second is on the node. */
START_TEST(of_a_het_job_all_components_leave_when_the_last_of_them_may)
{
	struct fake_job *first = runs_since_noon(7, NULL), *second = runs_since_noon(8, NULL);

	fake_slurm_het(first, 7, 0);
	fake_slurm_het(second, 7, 1);
	first->view.nodes = "g2";
	pass(NOON + 1);
	ck_assert_ptr_null(books_try(&b, "UPDATE run SET min_runtime = 7200 WHERE job = 7"));
	say_drain(false);
	pass(NOON + 119 * MINUTES);
	ck_assert_int_eq(told(7, "NODE_DRAIN") + told(8, "NODE_DRAIN"), 0);
	pass(NOON + 120 * MINUTES);
	ck_assert_int_eq(told(7, "NODE_DRAIN"), 1);
	ck_assert_int_eq(told(8, "NODE_DRAIN"), 1);
	pass(NOON + 120 * MINUTES + settings->grace_s + 1);
	ck_assert(first->requeued == 1 && second->requeued == 0);
}
END_TEST

/* Slurm requeues a het job by its first component, also one without GPUs, of which there is no run here. */
START_TEST(a_het_job_leaves_whose_first_component_has_no_gpus)
{
	struct fake_job *first = fake_slurm_pending(6, "vision", 0, "", ""),
		*second = runs_since_noon(7, NULL);

	fake_slurm_start(first, NOON);
	fake_slurm_het(first, 6, 0);
	fake_slurm_het(second, 6, 1);
	pass(NOON + 1);
	say_drain(true);
	pass(NOON + 10);
	pass(NOON + 11);
	ck_assert(first->requeued == 1 && second->requeued == 0);
}
END_TEST

/* A run that was told for a job is told anew: that job does not get these GPUs, so that to stand behind it
 * would empty nothing. */
START_TEST(a_run_that_goes_for_a_job_goes_for_a_critical_node_at_once)
{
	struct fake_job *f = runs_since_noon(7, NULL), *waits = runs_since_noon(9, NULL);

	waits->view.stage = STAGE_PENDING;
	waits->view.start = 0;
	pass(NOON + 1);
	ck_assert_ptr_null(books_try(&b,
		"INSERT INTO leaving (run, told_at, due, reason, for_job) SELECT id, start, start + 9999, 'ROTATED', 9 FROM run WHERE job = 7"));
	say_drain(true);
	pass(NOON + 2000);
	pass(NOON + 2001);
	ck_assert_int_eq(f->requeued, 1);
}
END_TEST

START_TEST(free_runs_leave_at_once)
{
	struct fake_job *f = runs_since_noon(7, "free");

	pass(NOON + 1);
	say_drain(false);
	pass(NOON + 10);
	pass(NOON + 11);
	pass(NOON + 12);
	ck_assert_int_eq(f->requeued, 1);
}
END_TEST

START_TEST(a_critical_node_is_left_at_once)
{
	struct fake_job *f = runs_since_noon(7, NULL);

	pass(NOON + 1);
	say_drain(true);
	pass(NOON + 10);
	pass(NOON + 11);
	pass(NOON + 12);
	ck_assert_int_eq(told(7, "HEALTH"), 1);
	ck_assert_int_eq(f->requeued, 1);
}
END_TEST

START_TEST(a_drain_that_becomes_critical_brings_the_end_forward)
{
	struct fake_job *f = runs_since_noon(7, NULL);

	pass(NOON + 1);
	say_drain(false);
	pass(NOON + 10);
	pass(NOON + 60 * MINUTES);
	say_drain(true);
	pass(NOON + 60 * MINUTES + 5);
	pass(NOON + 60 * MINUTES + 6);
	pass(NOON + 60 * MINUTES + 7);
	ck_assert_int_eq(f->requeued, 1);
}
END_TEST

START_TEST(what_slurm_drains_is_left_too_unless_the_site_says_no)
{
	struct fake_job *f = runs_since_noon(7, NULL);

	node->draining = true;
	snprintf(node->reason, sizeof(node->reason), "Kill task failed");
	settings->drain = DRAIN_OURS;
	pass(NOON + 1);
	pass(NOON + 61 * MINUTES);
	ck_assert_int_eq(told(7, "NODE_DRAIN"), 0);
	settings->drain = DRAIN_ALL;
	pass(NOON + 62 * MINUTES);
	ck_assert_int_eq(told(7, "NODE_DRAIN"), 1);
	ck_assert_int_eq(books_ask(&b,
		"SELECT detail = 'Node g1 is drained: Kill task failed. The job goes on elsewhere.' FROM event"),
		1);
	ck_assert_int_eq(f->requeued, 0);
	ck_assert_int_eq(node->drained + node->undrained, 0);
}
END_TEST

START_TEST(an_undrained_node_is_given_back_and_others_are_left_alone)
{
	struct fake_node *other = fake_slurm_node("g2");

	say_drain(false);
	other->draining = true;
	pass(NOON + 1);
	pass(NOON + 2);
	say_undrain();
	pass(NOON + 3);
	pass(NOON + 4);
	ck_assert(!node->draining);
	ck_assert_int_eq(node->undrained, 1);
	ck_assert(other->draining);
}
END_TEST

START_TEST(a_drain_that_scontrol_ended_is_over_here_too)
{
	say_drain(false);
	pass(NOON + 1);
	pass(NOON + 2);
	node->draining = false;
	pass(NOON + 3);
	pass(NOON + 4);
	ck_assert_int_eq(node->drained, 1);
	ck_assert_int_eq(books_ask(&b, "SELECT ended_by = 'scontrol' FROM drain"), 1);
}
END_TEST

START_TEST(a_drain_whose_reason_was_changed_by_hand_is_not_taken_back)
{
	say_drain(false);
	pass(NOON + 1);
	pass(NOON + 2);
	snprintf(node->reason, sizeof(node->reason), "burnt");
	say_undrain();
	pass(NOON + 3);
	ck_assert(node->draining);
}
END_TEST

static int64_t spared(uint32_t job)
{
	return books_ask(&b, "SELECT count(*) FROM event WHERE job = %u AND what = 'spared'", job);
}

START_TEST(who_was_told_may_stay_when_the_drain_ends_within_the_grace)
{
	struct fake_job *f = runs_since_noon(7, NULL);
	int64_t over = NOON + 60 * MINUTES;

	pass(NOON + 1);
	say_drain(false);
	pass(NOON + 10);
	pass(over);
	pass(over + 5);
	ck_assert(f->signals == 1 && told(7, "NODE_DRAIN") == 1 && spared(7) == 0);
	say_undrain();
	pass(over + 10);
	ck_assert_int_eq(spared(7), 1);
	pass(over + settings->grace_s + 10);
	ck_assert_int_eq(f->requeued + f->cancelled, 0);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM leaving"), 0);
	say_drain(false);		/* another drain tells it again */
	pass(over + settings->grace_s + 20);
	pass(over + settings->grace_s + 21);
	ck_assert_int_eq(told(7, "NODE_DRAIN"), 2);
}
END_TEST

START_TEST(a_drain_that_is_said_again_spares_nobody)
{
	struct fake_job *f = runs_since_noon(7, NULL);
	int64_t over = NOON + 60 * MINUTES;

	pass(NOON + 1);
	say_drain(false);
	pass(NOON + 10);
	pass(over);
	say_drain(false);		/* Slurm is told anew by the next pass */
	snprintf(node->reason, sizeof(node->reason), "gpubudget: another fan (root)");
	pass(over + 5);
	pass(over + settings->grace_s);
	pass(over + settings->grace_s + 1);
	ck_assert(spared(7) == 0 && f->requeued == 1);
}
END_TEST

/* No signal reaches processes that are suspended: none is tried. */
START_TEST(a_suspended_run_leaves_when_its_minimum_is_over)
{
	struct fake_job *f = runs_since_noon(7, NULL);
	int64_t over = NOON + 60 * MINUTES;

	pass(NOON + 1);
	f->view.stage = STAGE_SUSPENDED;
	say_drain(false);
	pass(NOON + 10);
	pass(over - 1);
	ck_assert_int_eq(told(7, "NODE_DRAIN"), 0);
	pass(over);
	pass(over + 5);
	ck_assert(told(7, "NODE_DRAIN") == 1 && f->signals == 0 && f->requeued == 0);
	pass(over + settings->grace_s);
	pass(over + settings->grace_s + 1);
	ck_assert_int_eq(f->requeued, 1);
}
END_TEST

START_TEST(a_node_that_slurm_deleted_is_drained_when_it_is_back)
{
	say_drain(false);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert(node->drained == 1 && books_ask(&b, "SELECT set_at IS NOT NULL FROM drain") == 1);
	node->deleted = true;
	pass(NOON + 3);
	ck_assert_int_eq(books_ask(&b, "SELECT coalesce(set_at, 0) FROM drain"), 0);	/* said once */
	pass(NOON + 4);
	node->deleted = node->draining = false;
	pass(NOON + 5);
	pass(NOON + 6);
	ck_assert_int_eq(node->drained, 2);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM drain WHERE ended_at IS NULL"), 1);
}
END_TEST

Suite *pass_drain_suite(void)
{
	Suite *s = suite_create("pass_drain");
	TCase *t = tcase_create("drain");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_run_leaves_when_its_minimum_is_over_and_the_grace_is);
	tcase_add_test(t, of_a_het_job_all_components_leave_when_the_last_of_them_may);
	tcase_add_test(t, a_het_job_leaves_whose_first_component_has_no_gpus);
	tcase_add_test(t, a_run_that_goes_for_a_job_goes_for_a_critical_node_at_once);
	tcase_add_test(t, free_runs_leave_at_once);
	tcase_add_test(t, a_critical_node_is_left_at_once);
	tcase_add_test(t, a_drain_that_becomes_critical_brings_the_end_forward);
	tcase_add_test(t, what_slurm_drains_is_left_too_unless_the_site_says_no);
	tcase_add_test(t, an_undrained_node_is_given_back_and_others_are_left_alone);
	tcase_add_test(t, a_drain_that_scontrol_ended_is_over_here_too);
	tcase_add_test(t, a_drain_whose_reason_was_changed_by_hand_is_not_taken_back);
	tcase_add_test(t, who_was_told_may_stay_when_the_drain_ends_within_the_grace);
	tcase_add_test(t, a_drain_that_is_said_again_spares_nobody);
	tcase_add_test(t, a_suspended_run_leaves_when_its_minimum_is_over);
	tcase_add_test(t, a_node_that_slurm_deleted_is_drained_when_it_is_back);
	suite_add_tcase(s, t);
	return s;
}
