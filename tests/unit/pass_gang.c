/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_gang.c - whole passes over a real ledger and a fake Slurm: nodes that are kept for a gang that has
 * waited long, and who is kept off them */
#include "budgetd/cluster_state.h"
#include "tests/unit/gang_scene.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <string.h>

static struct gang_scene x;

static void setup(void)
{
	gang_begin(&x);
}

static void teardown(void)
{
	gang_end(&x);
}

static void pass(int64_t now)
{
	gang_pass(&x, now);
}

START_TEST(a_run_that_would_last_beyond_its_planned_start_is_kept_off_its_nodes)
{
	gang_waits(&x);
	ck_assert_int_eq(books_ask(&x.b, "SELECT at - %d FROM guard WHERE nodes = 'n0,n1'", NOON),
		2 * HOUR - 10);
	pass(NOON + 6);
	excludes(x.later, "n0,n1");
	excludes(x.sooner, "");
	excludes(x.gang, "");
	pass(NOON + 7000);
	excludes(x.sooner, "n0,n1");	/* now it would */
}
END_TEST

START_TEST(one_that_has_not_waited_long_has_none)
{
	x.settings->clear_after_s = WAITED + HOUR;
	gang_waits(&x);
	pass(NOON + 6);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard"), 0);
	excludes(x.later, "");
}
END_TEST

START_TEST(what_its_user_excluded_stays_and_is_there_again_afterwards)
{
	gang_waits(&x);
	x.later->view.excluded = "n7";
	pass(NOON + 6);
	excludes(x.later, "n7,n0,n1");
	x.later->view.excluded = "n8";	/* its user changed it */
	pass(NOON + 11);
	excludes(x.later, "n8,n0,n1");
	gang_gone(&x);
	pass(NOON + 16);
	excludes(x.later, "n8");
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard"), 0);
}
END_TEST

START_TEST(a_daemon_that_was_killed_takes_back_what_it_wrote)
{
	gang_waits(&x);
	pass(NOON + 6);
	controller_free(x.loop);
	x.loop = controller_new(&x.d, &x.b.why);
	pass(NOON + 7);
	excludes(x.later, "n0,n1");
	gang_gone(&x);
	controller_free(x.loop);
	x.loop = controller_new(&x.d, &x.b.why);
	pass(NOON + 12);
	excludes(x.later, "");
}
END_TEST

START_TEST(a_run_that_is_requeued_with_what_was_written_is_let_back)
{
	gang_waits(&x);
	pass(NOON + 6);
	fake_slurm_start(x.later, NOON + 8);	/* on the third node */
	fake_slurm_on(x.later, 2, 4);
	gang_gone(&x);
	pass(NOON + 11);
	excludes(x.later, "n0,n1");		/* a run cannot be changed */
	x.later->view.stage = STAGE_PENDING;
	x.later->view.base_state = "PENDING";
	x.later->view.start = 0;
	x.later->view.part_count = 0;
	x.later->view.restarts = 1;
	x.later->view.submit = NOON + 20;
	pass(NOON + 21);
	excludes(x.later, "");
}
END_TEST

START_TEST(one_that_has_no_other_nodes_is_held_and_released)
{
	gang_waits(&x);
	x.later->view.node_count = 2;
	fake_slurm_gpus(x.later, 4);
	x.sooner->view.required = "n1";
	pass(NOON + 6);
	pass(NOON + 7000);
	pass(NOON + 7005);
	excludes(x.later, "");
	excludes(x.sooner, "");
	ck_assert_int_eq(x.later->view.held, HELD_BY_ADMIN);
	ck_assert_int_eq(x.sooner->view.held, HELD_BY_ADMIN);
	gang_gone(&x);
	pass(NOON + 7010);
	ck_assert_int_eq(x.later->view.held, HELD_NOT);
	ck_assert_int_eq(x.sooner->view.held, HELD_NOT);
}
END_TEST

/* It depends on another job, its begin time is ahead, or its user holds it: Slurm starts it as soon as it may,
 * and no pass is in between. Held it is not: Slurm would not look at the other job, and its user's hold is
 * the user's. */
static const char *const not_yet[] = { "dependency", "begin", "hold" };

static void cannot_start_yet(struct fake_job *f, int i)
{
	f->view.dependency = i == 0 ? "afterany:3" : NULL;
	f->view.eligible = i == 1 ? NOON + 8000 : NOON;
	f->view.held = i == 2 ? HELD_BY_USER : HELD_NOT;
	f->view.priority = i != 2;
}

START_TEST(one_without_other_nodes_that_cannot_start_yet_is_kept_off_all_the_same)
{
	enum job_held stays = _i == 2 ? HELD_BY_USER : HELD_NOT;

	gang_waits(&x);
	x.later->view.required = "n1";
	cannot_start_yet(x.later, _i);
	for (int64_t t = 6; t < 20; t += 5) {
		pass(NOON + t);
		excludes(x.later, "n0,n1");
		ck_assert_msg(x.later->view.held == stays, "%s", not_yet[_i]);
	}
	gang_gone(&x);
	pass(NOON + 21);
	excludes(x.later, "");
	ck_assert_msg(x.later->view.held == stays, "%s", not_yet[_i]);
}
END_TEST

/* A pass meets it before Slurm has looked at it, or (_i > 2) afterwards, when it took its priority. */
START_TEST(when_it_could_start_it_is_held_before_it_has_its_nodes_back)
{
	bool looked = _i > 2;

	gang_waits(&x);
	x.later->view.required = "n1";
	cannot_start_yet(x.later, _i % 3);
	pass(NOON + 6);
	cannot_start_yet(x.later, 3);
	if (looked) {
		x.later->view.held = HELD_BY_OTHER;
		x.later->view.reason = "BadConstraints";
		x.later->view.priority = 0;
	}
	pass(NOON + 11);
	ck_assert_str_eq(x.later->held_with, "n0,n1");
	pass(NOON + 16);
	ck_assert_int_eq(x.later->view.held, HELD_BY_ADMIN);
	excludes(x.later, "");
	gang_gone(&x);
	pass(NOON + 21);
	ck_assert_int_eq(x.later->view.held, HELD_NOT);
}
END_TEST

/* It asked for features, say, that only these nodes have. */
START_TEST(one_that_slurm_finds_no_other_nodes_for_is_held_instead)
{
	gang_waits(&x);
	pass(NOON + 6);
	x.later->view.held = HELD_BY_OTHER;
	x.later->view.reason = "BadConstraints";
	x.later->view.priority = 0;
	pass(NOON + 11);
	excludes(x.later, "");
	ck_assert_int_eq(x.later->view.held, HELD_BY_ADMIN);
	pass(NOON + 16);
	ck_assert_int_eq(x.later->view.held, HELD_BY_ADMIN);
	gang_gone(&x);
	pass(NOON + 21);
	ck_assert_int_eq(x.later->view.held, HELD_NOT);
}
END_TEST

/* Slurm holds it for a reason of its own, which is none of ours to take back. */
START_TEST(one_that_slurm_holds_for_another_reason_is_left_to_it)
{
	gang_waits(&x);
	pass(NOON + 6);
	x.later->view.held = HELD_BY_OTHER;
	x.later->view.reason = "JobHoldMaxRequeue";
	x.later->view.priority = 0;
	pass(NOON + 11);
	pass(NOON + 16);
	ck_assert_int_eq(x.later->view.held, HELD_BY_OTHER);
}
END_TEST

START_TEST(a_run_that_has_just_begun_there_does_not_move_it)
{
	gang_waits(&x);
	pass(NOON + 6);
	fake_slurm_start(x.sooner, NOON + 8);
	fake_slurm_on(x.sooner, 0, 4);
	pass(NOON + 9);		/* the snapshot of this one does not know it */
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard WHERE nodes = 'n0,n1'"), 1);
	pass(NOON + 14);
	ck_assert_int_eq(books_ask(&x.b, "SELECT at - %d FROM guard WHERE nodes = 'n0,n1'", NOON),
		2 * HOUR - 10);
}
END_TEST

START_TEST(who_goes_before_the_gang_is_not_kept_off)
{
	struct fake_job *first;

	gang_waits(&x);
	first = gang_submit(&x, 7, "speech", 4, "3h", NOON - WAITED - 10);
	pass(NOON + 6);
	excludes(first, "");
	excludes(x.later, "n0,n1");
}
END_TEST

START_TEST(with_displace_off_nobody_is_kept_off)
{
	gang_waits(&x);
	pass(NOON + 6);
	x.settings->displace = DISPLACE_OFF;
	pass(NOON + 11);
	excludes(x.later, "");
	ck_assert_int_eq(cluster_state_guard(x.d.cluster).job, 0);
}
END_TEST

/* Nodes are idle, and Slurm does not start it: it needs something that is not known here. */
START_TEST(a_gang_that_fits_and_does_not_start_gives_its_nodes_up_for_a_while)
{
	x.gang = gang_submit(&x, 4, "audio", 16, "1h", NOON - WAITED);
	x.gang->view.node_count = 2;
	pass(NOON + 1);
	pass(NOON + 2);
	x.later = gang_submit(&x, 5, "vision", 4, "3h", NOON + 3);
	pass(NOON + 6);
	excludes(x.later, "n0,n1");
	for (int64_t t = 10; t < 300; t += 10)
		pass(NOON + t);
	excludes(x.later, "");
	for (int64_t t = 300; t < 900; t += 10)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard WHERE nodes <> ''"), 1);
}
END_TEST

START_TEST(what_its_user_writes_afterwards_is_the_users_also_when_it_reads_the_same)
{
	gang_waits(&x);
	pass(NOON + 6);
	gang_gone(&x);
	pass(NOON + 11);
	pass(NOON + 16);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM kept_off"), 0);
	x.later->view.excluded = "n0,n1";
	pass(NOON + 21);
	excludes(x.later, "n0,n1");
}
END_TEST

START_TEST(that_slurm_found_no_other_nodes_is_said_of_those_nodes_only)
{
	gang_waits(&x);
	pass(NOON + 6);
	x.later->view.held = HELD_BY_OTHER;
	x.later->view.reason = "BadConstraints";
	x.later->view.priority = 0;
	pass(NOON + 11);
	ck_assert_int_eq(x.later->view.held, HELD_BY_ADMIN);
	ck_assert_ptr_null(books_try(&x.b, "UPDATE kept_off SET written = 'n2,n1' WHERE nowhere = 1"));	/* an earlier guard's */
	pass(NOON + 16);
	excludes(x.later, "n0,n1");
	ck_assert_int_eq(x.later->view.held, HELD_NOT);
}
END_TEST

START_TEST(of_an_array_each_record_needs_other_nodes)
{
	struct fake_job *task;

	gang_waits(&x);
	task = fake_slurm_pending(7, "vision", 4, x.later->view.qos, NULL);
	snprintf(task->admin_comment, sizeof(task->admin_comment), "%s", x.later->view.admin_comment);
	task->view.admin_comment = task->admin_comment;
	x.later->view.array_job_id = task->view.array_job_id = 5;
	x.later->view.array_task_id = 0;
	task->view.array_task_id = 1;
	task->view.excluded = "n2";
	pass(NOON + 6);
	excludes(x.later, "");
	excludes(task, "n2");
	ck_assert_int_eq(x.later->view.held, HELD_BY_ADMIN);
}
END_TEST

/* An array has its rows for as long as a task of it is known: any of them may have what was written. */
START_TEST(of_a_job_that_is_gone_nothing_is_remembered)
{
	static const char rows[] =
		"SELECT count(*) FROM kept_off k JOIN admission a ON a.id = k.admission WHERE a.job = 6";

	gang_waits(&x);
	pass(NOON + 6000);
	pass(NOON + 6005);
	ck_assert_int_eq(books_ask(&x.b, "%s", rows), 1);
	ck_assert_ptr_null(books_try(&x.b, "UPDATE admission SET tasks = 3 WHERE job = 6"));
	x.sooner->view.stage = STAGE_ENDED;
	x.sooner->view.base_state = "CANCELLED";
	x.sooner->view.job_id = 8;	/* a task of it, as slurmctld has it */
	x.sooner->view.array_job_id = 6;
	pass(NOON + 6010);
	ck_assert_int_eq(books_ask(&x.b, "%s", rows), 1);
	x.sooner->view.array_job_id = 0;	/* forgotten */
	pass(NOON + 6015);
	ck_assert_int_eq(books_ask(&x.b, "%s", rows), 0);
}
END_TEST

/* Nothing of ours stays in Slurm where nothing is enforced any more. */
START_TEST(where_nothing_is_enforced_any_more_nobody_is_kept_off)
{
	static const enum enforcement modes[] = { ENFORCE_WARN, ENFORCE_OFF };

	gang_waits(&x);
	x.sooner->view.required = "n1";
	pass(NOON + 6);
	pass(NOON + 7000);
	pass(NOON + 7005);
	excludes(x.later, "n0,n1");
	ck_assert_int_eq(x.sooner->view.held, HELD_BY_ADMIN);
	x.settings->enforce = (int)modes[_i];
	pass(NOON + 7010);
	pass(NOON + 7015);
	excludes(x.later, "");
	ck_assert_int_eq(x.sooner->view.held, HELD_NOT);
}
END_TEST

Suite *pass_gang_suite(void)
{
	Suite *s = suite_create("gang");
	TCase *t = tcase_create("nodes");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_run_that_would_last_beyond_its_planned_start_is_kept_off_its_nodes);
	tcase_add_test(t, one_that_has_not_waited_long_has_none);
	tcase_add_test(t, what_its_user_excluded_stays_and_is_there_again_afterwards);
	tcase_add_test(t, a_daemon_that_was_killed_takes_back_what_it_wrote);
	tcase_add_test(t, a_run_that_is_requeued_with_what_was_written_is_let_back);
	tcase_add_test(t, one_that_has_no_other_nodes_is_held_and_released);
	tcase_add_loop_test(t, one_without_other_nodes_that_cannot_start_yet_is_kept_off_all_the_same, 0, 3);
	tcase_add_loop_test(t, when_it_could_start_it_is_held_before_it_has_its_nodes_back, 0, 6);
	tcase_add_test(t, one_that_slurm_finds_no_other_nodes_for_is_held_instead);
	tcase_add_test(t, one_that_slurm_holds_for_another_reason_is_left_to_it);
	tcase_add_test(t, a_run_that_has_just_begun_there_does_not_move_it);
	tcase_add_test(t, who_goes_before_the_gang_is_not_kept_off);
	tcase_add_test(t, with_displace_off_nobody_is_kept_off);
	tcase_add_test(t, a_gang_that_fits_and_does_not_start_gives_its_nodes_up_for_a_while);
	tcase_add_test(t, what_its_user_writes_afterwards_is_the_users_also_when_it_reads_the_same);
	tcase_add_test(t, that_slurm_found_no_other_nodes_is_said_of_those_nodes_only);
	tcase_add_test(t, of_an_array_each_record_needs_other_nodes);
	tcase_add_test(t, of_a_job_that_is_gone_nothing_is_remembered);
	tcase_add_loop_test(t, where_nothing_is_enforced_any_more_nobody_is_kept_off, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
