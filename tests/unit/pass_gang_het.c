/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_gang_het.c - whole passes over a real ledger and a fake Slurm: room for all components of a het job, and
 * the nodes that are kept for it */
#include "tests/unit/gang_scene.h"
#include "tests/unit/suites.h"

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

static struct fake_job *loose, *past, *inside, *component[2];

static struct fake_job *runs_since(uint32_t id, const char *account, int gpus, uint32_t node,
	const char *minimum, int64_t start)
{
	struct fake_job *f = gang_submit(&x, id, account, gpus, minimum, NOON - 20);

	fake_slurm_start(f, start);
	fake_slurm_on(f, node, gpus);
	return f;
}

/* A free run, one that is past its minimum and one that is not have a node each. */
static void full_cluster(int first, int second)
{
	loose = runs_since(1, "speech", 8, 0, "free", NOON - 10);
	past = runs_since(2, "vision", 8, 1, "1h", NOON - 3 * HOUR);
	inside = runs_since(3, "vision", 8, 2, "4h", NOON - 10);
	x.het = true;
	component[0] = gang_submit(&x, 10, "audio", first, "1h", NOON);
	component[1] = gang_submit(&x, 11, "audio", second, "1h", NOON);
	x.het = false;
	fake_slurm_het(component[0], 10, 0);
	fake_slurm_het(component[1], 10, 1);
	pass(NOON + 1);
	pass(NOON + 2);
}

#define told(reason) books_ask(&x.b, "SELECT count(*) FROM event WHERE what = 'told' AND reason = '%s'", reason)

START_TEST(free_runs_and_funded_ones_go_together_for_all_components)
{
	int64_t due;

	full_cluster(4, 8);
	ck_assert_str_eq(component[0]->view.qos, x.settings->qos_funded_still);
	ck_assert_int_eq(told("FREE_RECLAIMED"), 1);
	ck_assert_int_eq(told("ROTATED"), 1);
	due = books_ask(&x.b, "SELECT min(due) FROM leaving");
	ck_assert_int_eq(books_ask(&x.b, "SELECT max(due) FROM leaving"), due);
	pass(due - 1);
	ck_assert_int_eq(loose->requeued + past->requeued, 0);
	pass(due);
	ck_assert(loose->requeued == 1 && past->requeued == 1 && inside->requeued == 0);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM event WHERE job = 3"), 0);
}
END_TEST

START_TEST(when_one_component_has_no_room_nobody_is_told)
{
	full_cluster(8, 9);
	for (int64_t t = 3; t < 60; t += 5)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM event"), 0);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard"), 0);
}
END_TEST

START_TEST(just_before_its_turn_nothing_free_may_begin_there)
{
	struct fake_job *next;
	int64_t due;

	full_cluster(4, 8);
	next = gang_submit(&x, 12, "speech", 4, "free", NOON + 3);
	due = books_ask(&x.b, "SELECT min(due) FROM leaving");
	pass(NOON + 4);
	excludes(next, "");
	pass(due - 6);
	excludes(next, "n0,n1");
	excludes(component[0], "");
	excludes(component[1], "");
	ck_assert(gang_ask(&x, "speech", 1, "free", due - 5).kept_off);
}
END_TEST

START_TEST(a_free_job_that_has_no_other_nodes_is_held_and_released)
{
	struct fake_job *next;

	full_cluster(4, 8);
	next = gang_submit(&x, 12, "speech", 4, "free", NOON + 3);
	next->view.required = "n1";
	pass(NOON + 4);
	pass(books_ask(&x.b, "SELECT min(due) FROM leaving"));
	ck_assert_int_eq(next->view.held, HELD_BY_ADMIN);
	for (size_t i = 0; i < 2; i++) {
		component[i]->view.stage = STAGE_ENDED;
		component[i]->view.base_state = "CANCELLED";
	}
	pass(NOON + 400);
	ck_assert_int_eq(next->view.held, HELD_NOT);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard"), 0);
}
END_TEST

/* It waits for something that is not known here: its nodes do not stay empty for it. */
START_TEST(one_that_does_not_start_gives_its_nodes_up_for_a_while)
{
	x.het = true;
	component[0] = gang_submit(&x, 10, "audio", 8, "1h", NOON);
	component[1] = gang_submit(&x, 11, "audio", 8, "1h", NOON);
	x.het = false;
	fake_slurm_het(component[0], 10, 0);
	fake_slurm_het(component[1], 10, 1);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard WHERE nodes <> ''"), 1);
	for (int64_t t = 10; t < 300; t += 10)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard WHERE nodes = ''"), 1);
	for (int64_t t = 1000; t < 1150; t += 10) {	/* then again, for as long */
		pass(NOON + t);
		ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard WHERE nodes <> ''"), 1);
	}
}
END_TEST

START_TEST(while_it_has_given_up_another_one_may_have_nodes_kept)
{
	x.het = true;
	component[0] = gang_submit(&x, 10, "audio", 8, "1h", NOON);
	component[1] = gang_submit(&x, 11, "audio", 8, "1h", NOON);
	x.het = false;
	fake_slurm_het(component[0], 10, 0);
	fake_slurm_het(component[1], 10, 1);
	for (int64_t t = 1; t < 300; t += 10)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&x.b, "SELECT count(*) FROM guard WHERE nodes = ''"), 1);
	x.gang = gang_submit(&x, 12, "vision", 16, "1h", NOON + 301 - WAITED);
	x.gang->view.node_count = 2;
	/* and the first one does not ask for them again meanwhile */
	for (int64_t t = 302; t < 400; t += 10) {
		pass(NOON + t);
		ck_assert_int_eq(books_ask(&x.b,
			"SELECT count(*) FROM guard WHERE nodes <> '' AND together = 0"), 1);
	}
}
END_TEST

Suite *pass_gang_het_suite(void)
{
	Suite *s = suite_create("gang het");
	TCase *t = tcase_create("het");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, free_runs_and_funded_ones_go_together_for_all_components);
	tcase_add_test(t, when_one_component_has_no_room_nobody_is_told);
	tcase_add_test(t, just_before_its_turn_nothing_free_may_begin_there);
	tcase_add_test(t, a_free_job_that_has_no_other_nodes_is_held_and_released);
	tcase_add_test(t, one_that_does_not_start_gives_its_nodes_up_for_a_while);
	tcase_add_test(t, while_it_has_given_up_another_one_may_have_nodes_kept);
	suite_add_tcase(s, t);
	return s;
}
