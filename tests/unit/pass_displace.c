/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_displace.c - whole passes over a real ledger and a fake Slurm: who gives way to whom, and when */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_event.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MINIMUM HOUR
#define GRACE 120

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static int64_t vision, speech, audio;

static void start_loop(void)
{
	loop = controller_new(&d, &b.why);
	ck_assert_msg(loop != NULL, "%s", b.why.text);
}

static void setup(void)
{
	scene_begin(&b, &d, &settings, &loop);
	fake_slurm_nodes(2, 8);
	settings->grace_s = GRACE;
	vision = books_project(&b, "vision", 0);
	speech = books_project(&b, "speech", 0);
	audio = books_project(&b, "audio", 0);
	books_allot(&b, vision, 1000 * GPU_H, 0, 0);
	books_allot(&b, speech, 1000 * GPU_H, 0, 0);
	books_allot(&b, audio, 1000 * GPU_H, 0, 0);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

static void pass(int64_t now)
{
	scene_pass(&b, loop, now);
}

static struct fake_job *submit(uint32_t id, const char *account, int gpus, const char *tier)
{
	char text[32];
	struct question q = { .uid = 1000, .account = account, .time_limit_s = 24 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = tier ? NULL : "1h", [OPT_TIER] = tier } };
	struct verdict v;

	snprintf(text, sizeof(text), "gres:gpu:%d", gpus);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = text;
	ck_assert_msg(admit(&d, &q, "{\"uid\":1000,\"signal\":10,\"signal_script\":true}", 0, NOON, &v,
		&b.why) == 0 && ledger_write(b.l, &b.why) == 0 && v.accepted, "%s %s", b.why.text, v.text);
	return fake_slurm_pending(id, account, gpus, v.qos, v.token);
}

static struct fake_job *runs(uint32_t id, const char *account, int gpus, uint32_t node, int64_t start)
{
	struct fake_job *f = submit(id, account, gpus, NULL);

	fake_slurm_start(f, start);
	fake_slurm_on(f, node, gpus);
	return f;
}

static int64_t events(uint32_t job, const char *what)
{
	return books_ask(&b, "SELECT count(*) FROM event WHERE job = %u AND what = '%s'", job, what);
}

struct asked_events {
	int64_t job, count;
	const char *label;
};

static int count_event(const struct event *e, void *arg)
{
	struct asked_events *x = arg;

	(void)e;
	x->count++;
	return 0;
}

static int walk_tasks(struct ledger *l, void *arg, struct fault *why)
{
	struct asked_events *x = arg;

	return event_walk_tasks(l, x->job, x->label, 0, 10, count_event, x, why);
}

static int64_t events_asked(int64_t job, const char *label)
{
	struct asked_events x = { .job = job, .label = label };

	ck_assert_int_eq(books_do(&b, LEDGER_READ, walk_tasks, &x), 0);
	return x.count;
}

#define below(a, b) ck_assert_int_lt((a)->view.site_factor, (b)->view.site_factor)
#define above(a, b) ck_assert_int_gt((a)->view.site_factor, (b)->view.site_factor)

/* Both nodes are full: of vision for longer than its minimum runtime, of speech that began with the test. */
static struct fake_job *one, *other, *waits;
static void full_cluster(void)
{
	one = runs(1, "vision", 8, 0, NOON - MINIMUM + 100);
	other = runs(2, "speech", 8, 1, NOON);
	waits = submit(3, "audio", 8, NULL);
}

/* --- when --------------------------------------------------------------------------------------- */

START_TEST(nobody_is_told_inside_the_minimum_runtime)
{
	full_cluster();
	for (int64_t t = 1; t < 100; t += 7)
		pass(NOON + t);
	ck_assert_int_eq(one->signals + other->signals, 0);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM event"), 0);
	above(one, waits);
	above(other, waits);
}
END_TEST

/* Each task of an array has a raw id of its own, which nobody types. */
START_TEST(events_of_a_task_are_found_by_its_name_and_by_the_array)
{
	struct fake_job *task = runs(5, "vision", 8, 0, NOON - MINIMUM - 100);

	task->view.array_job_id = 4;
	task->view.array_task_id = 1;
	other = runs(6, "speech", 8, 1, NOON);
	waits = submit(7, "audio", 8, NULL);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert_int_eq(events(5, "told"), 1);
	ck_assert_int_eq(events_asked(4, ""), 1);
	ck_assert_int_eq(events_asked(4, "4_1"), 1);
	ck_assert_int_eq(events_asked(4, "4_2"), 0);
	ck_assert_int_eq(events_asked(5, ""), 1);
}
END_TEST

START_TEST(past_it_the_run_is_told_once_and_loses_its_place_after_the_grace)
{
	full_cluster();
	pass(NOON + 1);
	for (int64_t t = 101; t < 101 + GRACE; t += 5)
		pass(NOON + t);
	ck_assert_int_eq(one->signals, 1);
	ck_assert_int_eq(events(1, "told"), 1);
	above(one, waits);
	ck_assert_int_eq(controller_next_due(loop), NOON + 101 + GRACE);
	pass(NOON + 101 + GRACE);
	below(one, waits);
	above(other, waits);
	ck_assert_int_eq(other->signals + one->requeued + one->cancelled, 0);	/* Slurm does it */
}
END_TEST

START_TEST(it_is_told_by_its_own_signal)
{
	full_cluster();
	pass(NOON + 1);
	pass(NOON + 101);
	ck_assert(one->signal == 10 && one->script_only);
}
END_TEST

START_TEST(a_daemon_that_was_killed_in_the_grace_goes_on)
{
	full_cluster();
	pass(NOON + 1);
	pass(NOON + 101);
	controller_free(loop);
	start_loop();
	pass(NOON + 110);
	ck_assert_int_eq(one->signals, 1);
	controller_free(loop);
	start_loop();
	pass(NOON + 500);
	below(one, waits);
	ck_assert_int_eq(events(1, "told"), 1);
}
END_TEST

START_TEST(who_need_not_go_any_more_is_spared)
{
	full_cluster();
	pass(NOON + 1);
	pass(NOON + 101);
	waits->view.stage = STAGE_ENDED;
	waits->view.base_state = "CANCELLED";
	pass(NOON + 110);
	ck_assert_int_eq(events(1, "spared"), 1);
	pass(NOON + 400);
	ck_assert_int_eq(events(1, "told"), 1);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM leaving"), 0);
}
END_TEST

START_TEST(with_displace_off_who_was_told_may_stay)
{
	full_cluster();
	pass(NOON + 1);
	pass(NOON + 101);
	ck_assert_int_eq(events(1, "told"), 1);
	settings->displace = DISPLACE_OFF;
	pass(NOON + 110);
	pass(NOON + 101 + GRACE);
	ck_assert_int_eq(events(1, "spared"), 1);
	above(one, waits);
	ck_assert_int_eq(one->requeued + one->cancelled, 0);
}
END_TEST

START_TEST(where_nothing_is_enforced_any_more_who_was_told_may_stay)
{
	full_cluster();
	pass(NOON + 1);
	pass(NOON + 101);
	settings->enforce = ENFORCE_WARN;
	pass(NOON + 110);
	ck_assert_int_eq(events(1, "spared"), 1);
	pass(NOON + 101 + GRACE);
	ck_assert_int_eq(one->requeued + one->cancelled, 0);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM leaving"), 0);
	ck_assert_int_eq(events(1, "told"), 1);
}
END_TEST

START_TEST(for_a_job_that_cannot_use_its_gpus_a_run_is_not_told_again_and_again)
{
	full_cluster();
	pass(NOON + 1);
	for (int64_t t = 101; t < 700; t += 10)
		pass(NOON + t);
	ck_assert_int_eq(events(1, "told"), 1);
	ck_assert_int_eq(events(1, "spared"), 1);
	above(one, waits);
}
END_TEST

/* --- who ---------------------------------------------------------------------------------------- */

START_TEST(the_most_over_served_goes_not_the_oldest)
{
	one = runs(1, "speech", 4, 0, NOON - 3 * HOUR);
	other = runs(2, "vision", 4, 0, NOON - 2 * HOUR);
	runs(3, "vision", 8, 1, NOON - 30);
	waits = submit(4, "audio", 4, NULL);
	pass(NOON + 1);
	pass(NOON + 10);
	ck_assert_int_eq(other->signals, 1);
	ck_assert_int_eq(one->signals, 0);
}
END_TEST

START_TEST(only_who_is_needed_goes_and_all_of_them_together)
{
	struct fake_job *small[8];

	for (uint32_t i = 0; i < 8; i++)
		small[i] = runs(1 + i, "vision", 1, 0, NOON - 2 * HOUR - i);
	runs(9, "speech", 8, 1, NOON);
	waits = submit(10, "audio", 4, NULL);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM leaving WHERE due = %d", NOON + 2 + GRACE), 4);
	pass(NOON + 2 + GRACE);
	for (uint32_t i = 0, gone = 0; i < 8; i++) {
		gone += small[i]->view.site_factor < waits->view.site_factor;
		ck_assert(i < 7 || gone == 4);
	}
}
END_TEST

START_TEST(free_runs_are_slurms_to_displace)
{
	one = submit(1, "vision", 8, "free");
	fake_slurm_start(one, NOON - 10);
	fake_slurm_on(one, 0, 8);
	other = runs(2, "vision", 8, 1, NOON - 2 * HOUR);
	waits = submit(3, "audio", 8, NULL);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert_int_eq(one->signals + other->signals, 0);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM event"), 0);
}
END_TEST

START_TEST(who_is_not_further_above_its_share_than_the_margin_stays)
{
	settings->hysteresis_percent = 100;
	one = runs(1, "vision", 8, 0, NOON - 2 * HOUR);
	other = runs(2, "speech", 8, 1, NOON - 2 * HOUR);
	waits = submit(3, "speech", 8, NULL);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert_int_eq(one->signals + other->signals, 0);
}
END_TEST

START_TEST(a_run_that_lost_its_protection_goes_inside_its_minimum)
{
	full_cluster();
	pass(NOON + 1);
	ck_assert_ptr_null(books_try(&b,
		"UPDATE run SET unprotected_at = 1, unprotected_why = 'IDLE' WHERE job = 2"));
	pass(NOON + 2);
	ck_assert_int_eq(other->signals, 1);
	ck_assert_int_eq(books_ask(&b,
		"SELECT count(*) FROM event WHERE job = 2 AND what = 'told' AND reason = 'IDLE'"), 1);
}
END_TEST

/* The run on n0 is past its minimum runtime, the one on n1 is not. Nobody is told for a job that n0 is
 * nothing for. */
START_TEST(nobody_goes_where_the_job_could_not_run)
{
	static const struct job_view wishes[] = { { .features = "ib" }, { .features = "[ib|eth]" },
		{ .memory_mb = 4001 },
		{ .reservation = "course" } };

	full_cluster();
	*fake_slurm_like(0) = (struct node_view){ .features = "eth", .memory_mb = 4000 };
	*fake_slurm_like(1) = (struct node_view){ .features = "ib,big", .memory_mb = 8000 };
	for (size_t i = 0; i < sizeof(wishes) / sizeof(wishes[0]); i++) {
		waits->view.features = wishes[i].features;
		waits->view.memory_mb = wishes[i].memory_mb;
		waits->view.reservation = wishes[i].reservation;
		pass(NOON + 200 + (int64_t)i);
		ck_assert_msg(events(1, "told") == 0, "wish %zu", i);
	}
	waits->view.reservation = NULL;
	waits->view.features = "eth";
	waits->view.memory_mb = 4000;
	fake_slurm_like(0)->reserved = true;
	pass(NOON + 300);
	ck_assert_int_eq(events(1, "told"), 0);
	fake_slurm_like(0)->reserved = false;
	pass(NOON + 301);
	ck_assert_int_eq(events(1, "told"), 1);
	ck_assert_int_eq(events(2, "told"), 0);
}
END_TEST

/* A node is idle that it may not have: room is made where it may start. */
START_TEST(a_job_that_excludes_the_idle_node_gets_room_on_another)
{
	one = runs(1, "vision", 8, 0, NOON - MINIMUM - 10);
	waits = submit(3, "audio", 8, NULL);
	waits->view.excluded = "n1";
	pass(NOON + 1);
	pass(NOON + 2);
	pass(NOON + 7);
	ck_assert_int_eq(events(1, "told"), 1);
}
END_TEST

/* A run has all CPUs of a node and half of its GPUs: the other half is of use when it goes. */
START_TEST(gpus_without_a_cpu_are_there_when_a_run_gives_its_cpus)
{
	one = runs(1, "vision", 4, 0, NOON - MINIMUM - 10);
	other = runs(2, "speech", 8, 1, NOON);
	fake_slurm_like(0)->cpus_idle = -1;
	waits = submit(3, "audio", 8, NULL);
	pass(NOON + 1);
	pass(NOON + 2);
	pass(NOON + 7);
	ck_assert_int_eq(events(1, "told"), 1);
	ck_assert_int_eq(events(2, "told"), 0);
}
END_TEST

START_TEST(a_job_that_must_have_a_node_gets_room_there)
{
	one = runs(1, "vision", 8, 0, NOON - MINIMUM - 10);
	waits = submit(3, "audio", 8, NULL);
	waits->view.required = "n0";
	pass(NOON + 1);
	pass(NOON + 2);
	pass(NOON + 7);
	ck_assert_int_eq(events(1, "told"), 1);
}
END_TEST

START_TEST(room_is_made_in_the_hundredth_partition)
{
	fake_slurm_partitions(100);
	full_cluster();
	pass(NOON + 1);
	pass(NOON + 200);
	ck_assert_int_eq(events(1, "told"), 1);
}
END_TEST

START_TEST(nothing_is_done_where_nothing_is_to_be_changed)
{
	full_cluster();
	settings->displace = DISPLACE_OFF;
	pass(NOON + 1);
	pass(NOON + 200);
	settings->displace = DISPLACE_ON;
	settings->enforce = ENFORCE_WARN;
	pass(NOON + 300);
	pass(NOON + 500);
	ck_assert_int_eq(one->signals + other->signals, 0);
}
END_TEST

START_TEST(one_that_slurm_protects_longer_is_requeued_and_one_that_cannot_be_is_cancelled)
{
	settings->default_min_runtime_s = 8 * HOUR;
	one = runs(1, "vision", 8, 0, NOON - 2 * HOUR);
	other = runs(2, "vision", 8, 1, NOON - 2 * HOUR);
	other->view.requeueable = false;
	submit(3, "audio", 8, NULL);
	submit(4, "speech", 8, NULL);
	pass(NOON + 1);
	pass(NOON + 2);
	pass(NOON + 2 + GRACE);
	pass(NOON + 3 + GRACE);
	ck_assert(one->requeued == 1 && other->requeued == 0 && other->cancelled == 1);
}
END_TEST

/* There are nodes for 64 different lists in a pass; that the last ones are not looked at is told. */
START_TEST(more_lists_of_nodes_than_a_pass_looks_at_are_told)
{
	static char names[66][16];
	struct fake_job *f[66];
	struct cluster_health h;

	for (uint32_t i = 0; i < 66; i++) {
		snprintf(names[i], sizeof(names[i]), "n%u", i + 10);
		f[i] = submit(i + 1, "speech", 8, NULL);
		f[i]->view.excluded = names[i < 64 ? i : i - 64];
	}
	pass(NOON + 1);
	pass(NOON + 2);
	cluster_state_health(d.cluster, &h);
	ck_assert_uint_eq(h.names_left_out, 0);		/* 64 are not too many */
	for (size_t i = 64; i < 66; i++)
		f[i]->view.excluded = names[i];
	pass(NOON + 3);
	cluster_state_health(d.cluster, &h);
	ck_assert_uint_eq(h.names_left_out, 2);
}
END_TEST

Suite *pass_displace_suite(void)
{
	Suite *s = suite_create("displace");
	TCase *t = tcase_create("when"), *w = tcase_create("who");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, nobody_is_told_inside_the_minimum_runtime);
	tcase_add_test(t, events_of_a_task_are_found_by_its_name_and_by_the_array);
	tcase_add_test(t, past_it_the_run_is_told_once_and_loses_its_place_after_the_grace);
	tcase_add_test(t, it_is_told_by_its_own_signal);
	tcase_add_test(t, a_daemon_that_was_killed_in_the_grace_goes_on);
	tcase_add_test(t, who_need_not_go_any_more_is_spared);
	tcase_add_test(t, with_displace_off_who_was_told_may_stay);
	tcase_add_test(t, where_nothing_is_enforced_any_more_who_was_told_may_stay);
	tcase_add_test(t, for_a_job_that_cannot_use_its_gpus_a_run_is_not_told_again_and_again);
	tcase_add_test(t, more_lists_of_nodes_than_a_pass_looks_at_are_told);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(w, setup, teardown);
	tcase_add_test(w, the_most_over_served_goes_not_the_oldest);
	tcase_add_test(w, only_who_is_needed_goes_and_all_of_them_together);
	tcase_add_test(w, free_runs_are_slurms_to_displace);
	tcase_add_test(w, who_is_not_further_above_its_share_than_the_margin_stays);
	tcase_add_test(w, a_run_that_lost_its_protection_goes_inside_its_minimum);
	tcase_add_test(w, nobody_goes_where_the_job_could_not_run);
	tcase_add_test(w, room_is_made_in_the_hundredth_partition);
	tcase_add_test(w, a_job_that_excludes_the_idle_node_gets_room_on_another);
	tcase_add_test(w, a_job_that_must_have_a_node_gets_room_there);
	tcase_add_test(w, gpus_without_a_cpu_are_there_when_a_run_gives_its_cpus);
	tcase_add_test(w, nothing_is_done_where_nothing_is_to_be_changed);
	tcase_add_test(w, one_that_slurm_protects_longer_is_requeued_and_one_that_cannot_be_is_cancelled);
	suite_add_tcase(s, w);
	return s;
}
