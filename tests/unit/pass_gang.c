/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_gang.c - whole passes over a real ledger and a fake Slurm: nodes that are kept for a gang that has
 * waited long */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/routes.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <string.h>

#define WAITED (13 * HOUR)

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static struct fake_job *gang, *later, *sooner;

static void setup(void)
{
	static const char *const projects[] = { "vision", "speech", "audio" };

	scene_begin(&b, &d, &settings, &loop);
	fake_slurm_nodes(3, 8);
	for (size_t i = 0; i < 3; i++)
		books_allot(&b, books_project(&b, projects[i], 0), 1000 * GPU_H, 0, 0);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

static void pass(int64_t now)
{
	scene_pass(&b, loop, now);
}

static bool het, user_held;

/* `minimum` "free": in the free tier. */
static struct verdict ask(const char *account, int gpus, const char *minimum, int64_t at)
{
	bool free = !strcmp(minimum, "free");
	char text[32];
	struct question q = { .uid = 1000, .account = account, .time_limit_s = 24 * HOUR, .requeueable = true,
		.het = het, .held = user_held,
		.text = { [OPT_MIN_RUNTIME] = free ? NULL : minimum, [OPT_TIER] = free ? minimum : NULL } };
	struct verdict v;

	snprintf(text, sizeof(text), "gres:gpu:%d", gpus);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = text;
	ck_assert_msg(admit(&d, &q, "{\"uid\":1000}", 0, at, &v, &b.why) == 0 &&
		ledger_write(b.l, &b.why) == 0 && v.accepted, "%s %s", b.why.text, v.text);
	return v;
}

static struct fake_job *submit(uint32_t id, const char *account, int gpus, const char *minimum, int64_t at)
{
	struct verdict v = ask(account, gpus, minimum, at);

	return fake_slurm_pending(id, account, gpus, v.qos, v.token);
}

static struct fake_job *runs(uint32_t id, int gpus, uint32_t node, const char *minimum)
{
	struct fake_job *f = submit(id, "vision", gpus, minimum, NOON - 10);

	fake_slurm_start(f, NOON - 10);
	fake_slurm_on(f, node, gpus);
	return f;
}

/* All nodes have a run inside its minimum and GPUs that are idle; vision has used most. The gang of audio
 * needs two whole nodes. */
static void scene(void)
{
	runs(1, 4, 0, "1h");
	runs(2, 4, 1, "2h");
	runs(3, 4, 2, "4h");
	gang = submit(4, "audio", 16, "1h", NOON - WAITED);
	gang->view.node_count = 2;
	later = submit(5, "vision", 4, "3h", NOON);
	sooner = submit(6, "vision", 4, "30m", NOON);
	pass(NOON + 1);	/* it meets the runs, */
	pass(NOON + 2);	/* and finds them in the books */
}

#define excludes(f, nodes) ck_assert_str_eq((f)->view.excluded ? (f)->view.excluded : "", nodes)

START_TEST(a_run_that_would_last_beyond_its_planned_start_is_kept_off_its_nodes)
{
	scene();
	ck_assert_int_eq(books_ask(&b, "SELECT at - %d FROM guard WHERE nodes = 'n0,n1'", NOON),
		2 * HOUR - 10);
	pass(NOON + 6);
	excludes(later, "n0,n1");
	excludes(sooner, "");
	excludes(gang, "");
	pass(NOON + 7000);
	excludes(sooner, "n0,n1");	/* now it would */
}
END_TEST

START_TEST(one_that_has_not_waited_long_has_none)
{
	settings->clear_after_s = WAITED + HOUR;
	scene();
	pass(NOON + 6);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard"), 0);
	excludes(later, "");
}
END_TEST

START_TEST(what_its_user_excluded_stays_and_is_there_again_afterwards)
{
	scene();
	later->view.excluded = "n7";
	pass(NOON + 6);
	excludes(later, "n7,n0,n1");
	later->view.excluded = "n8";	/* its user changed it */
	pass(NOON + 11);
	excludes(later, "n8,n0,n1");
	gang->view.stage = STAGE_ENDED;
	gang->view.base_state = "CANCELLED";
	pass(NOON + 16);
	excludes(later, "n8");
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard"), 0);
}
END_TEST

START_TEST(a_daemon_that_was_killed_takes_back_what_it_wrote)
{
	scene();
	pass(NOON + 6);
	controller_free(loop);
	loop = controller_new(&d, &b.why);
	pass(NOON + 7);
	excludes(later, "n0,n1");
	gang->view.stage = STAGE_ENDED;
	gang->view.base_state = "CANCELLED";
	controller_free(loop);
	loop = controller_new(&d, &b.why);
	pass(NOON + 12);
	excludes(later, "");
}
END_TEST

START_TEST(a_run_that_is_requeued_with_what_was_written_is_let_back)
{
	scene();
	pass(NOON + 6);
	fake_slurm_start(later, NOON + 8);	/* on the third node */
	fake_slurm_on(later, 2, 4);
	gang->view.stage = STAGE_ENDED;
	gang->view.base_state = "CANCELLED";
	pass(NOON + 11);
	excludes(later, "n0,n1");		/* a run cannot be changed */
	later->view.stage = STAGE_PENDING;
	later->view.base_state = "PENDING";
	later->view.start = 0;
	later->view.part_count = 0;
	later->view.restarts = 1;
	later->view.submit = NOON + 20;
	pass(NOON + 21);
	excludes(later, "");
}
END_TEST

START_TEST(one_that_has_no_other_nodes_is_held_and_released)
{
	scene();
	later->view.node_count = 2;
	fake_slurm_gpus(later, 4);
	sooner->view.required = "n1";
	pass(NOON + 6);
	pass(NOON + 7000);
	pass(NOON + 7005);
	excludes(later, "");
	excludes(sooner, "");
	ck_assert_int_eq(later->view.held, HELD_BY_ADMIN);
	ck_assert_int_eq(sooner->view.held, HELD_BY_ADMIN);
	gang->view.stage = STAGE_ENDED;
	gang->view.base_state = "CANCELLED";
	pass(NOON + 7010);
	ck_assert_int_eq(later->view.held, HELD_NOT);
	ck_assert_int_eq(sooner->view.held, HELD_NOT);
}
END_TEST

/* It asked for features, say, that only these nodes have. */
START_TEST(one_that_slurm_finds_no_other_nodes_for_is_held_instead)
{
	scene();
	pass(NOON + 6);
	later->view.held = HELD_BY_OTHER;
	later->view.reason = "BadConstraints";
	later->view.priority = 0;
	pass(NOON + 11);
	excludes(later, "");
	ck_assert_int_eq(later->view.held, HELD_BY_ADMIN);
	pass(NOON + 16);
	ck_assert_int_eq(later->view.held, HELD_BY_ADMIN);
	gang->view.stage = STAGE_ENDED;
	gang->view.base_state = "CANCELLED";
	pass(NOON + 21);
	ck_assert_int_eq(later->view.held, HELD_NOT);
}
END_TEST

/* Slurm holds it for a reason of its own, which is none of ours to take back. */
START_TEST(one_that_slurm_holds_for_another_reason_is_left_to_it)
{
	scene();
	pass(NOON + 6);
	later->view.held = HELD_BY_OTHER;
	later->view.reason = "JobHoldMaxRequeue";
	later->view.priority = 0;
	pass(NOON + 11);
	pass(NOON + 16);
	ck_assert_int_eq(later->view.held, HELD_BY_OTHER);
}
END_TEST

START_TEST(a_submission_is_held_for_a_pass_when_it_would_last_too_long)
{
	struct verdict v;

	scene();
	v = ask("vision", 1, "30m", NOON + 3);
	ck_assert(!v.kept_off && !strstr(v.text, "held"));
	v = ask("vision", 1, "3h", NOON + 3);
	ck_assert_msg(v.kept_off && strstr(v.text, "nodes are cleared for job 4"), "%s", v.text);
}
END_TEST

START_TEST(a_run_that_has_just_begun_there_does_not_move_it)
{
	scene();
	pass(NOON + 6);
	fake_slurm_start(sooner, NOON + 8);
	fake_slurm_on(sooner, 0, 4);
	pass(NOON + 9);		/* the snapshot of this one does not know it */
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard WHERE nodes = 'n0,n1'"), 1);
	pass(NOON + 14);
	ck_assert_int_eq(books_ask(&b, "SELECT at - %d FROM guard WHERE nodes = 'n0,n1'", NOON),
		2 * HOUR - 10);
}
END_TEST

START_TEST(who_goes_before_the_gang_is_not_kept_off)
{
	struct fake_job *first;

	scene();
	first = submit(7, "speech", 4, "3h", NOON - WAITED - 10);
	pass(NOON + 6);
	excludes(first, "");
	excludes(later, "n0,n1");
}
END_TEST

START_TEST(with_displace_off_nobody_is_kept_off)
{
	scene();
	pass(NOON + 6);
	settings->displace = DISPLACE_OFF;
	pass(NOON + 11);
	excludes(later, "");
	ck_assert_int_eq(cluster_state_guard(d.cluster).job, 0);
}
END_TEST

/* Nodes are idle, and Slurm does not start it: it needs something that is not known here. */
START_TEST(a_gang_that_fits_and_does_not_start_gives_its_nodes_up_for_a_while)
{
	gang = submit(4, "audio", 16, "1h", NOON - WAITED);
	gang->view.node_count = 2;
	pass(NOON + 1);
	pass(NOON + 2);
	later = submit(5, "vision", 4, "3h", NOON + 3);
	pass(NOON + 6);
	excludes(later, "n0,n1");
	for (int64_t t = 10; t < 300; t += 10)
		pass(NOON + t);
	excludes(later, "");
	for (int64_t t = 300; t < 900; t += 10)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard WHERE nodes <> ''"), 1);
}
END_TEST

/* May its user give the record other excluded nodes? */
static bool may_exclude(const char *job)
{
	struct request rq = { .b = &d, .now = NOON + 6, .body = json_object_new_object() };
	bool may;

	json_object_object_add(rq.body, "kind", json_object_new_string("exclude"));
	json_object_object_add(rq.body, "job", json_object_new_string(job));
	ck_assert_msg(verdict_post(&rq, &b.why) == 0, "%s", b.why.text);
	may = !strcmp(json_object_get_string(json_object_object_get(rq.reply, "verdict")), "accept");
	json_object_put(rq.reply);
	json_object_put(rq.body);
	return may;
}

START_TEST(its_user_cannot_take_out_what_was_written)
{
	scene();
	pass(NOON + 6);
	ck_assert(!may_exclude("5"));
	ck_assert(may_exclude("6") && may_exclude("4") && may_exclude("77"));
	gang->view.stage = STAGE_ENDED;
	gang->view.base_state = "CANCELLED";
	pass(NOON + 11);
	pass(NOON + 16);
	ck_assert(may_exclude("5"));
}
END_TEST

/* May its user release it, and what is told. */
static void release(const char *job, const char *token, bool *accepted, char *text, size_t size)
{
	struct request rq = { .b = &d, .now = NOON + 6, .body = json_object_new_object() };
	struct json_object *told;

	json_object_object_add(rq.body, "kind", json_object_new_string("modify"));
	json_object_object_add(rq.body, "job", json_object_new_string(job));
	json_object_object_add(rq.body, "token", json_object_new_string(token));
	json_object_object_add(rq.body, "release", json_object_new_boolean(true));
	json_object_object_add(rq.body, "account", json_object_new_string("vision"));
	json_object_object_add(rq.body, "tres_per_job", json_object_new_string("gres:gpu:4"));
	ck_assert_msg(verdict_post(&rq, &b.why) == 0, "%s", b.why.text);
	*accepted = !strcmp(json_object_get_string(json_object_object_get(rq.reply, "verdict")), "accept");
	snprintf(text, size, "%s", json_object_object_get_ex(rq.reply, "text", &told)
		? json_object_get_string(told) : "");
	json_object_put(rq.reply);
	json_object_put(rq.body);
}

START_TEST(what_its_user_holds_stays_held_and_is_not_released_before_a_pass_has_seen_it)
{
	struct fake_job *f;
	struct verdict v;
	char text[512];
	bool may;

	scene();
	user_held = true;
	v = ask("vision", 4, "3h", NOON + 3);
	user_held = false;
	ck_assert(!v.kept_off);
	f = fake_slurm_pending(7, "vision", 4, v.qos, v.token);
	f->view.held = HELD_BY_USER;
	f->view.priority = 0;
	release("7", v.token, &may, text, sizeof(text));
	ck_assert_msg(!may && strstr(text, "refused for a moment: nodes are cleared for job 4"), "%s", text);
	pass(NOON + 6);
	excludes(f, "n0,n1");
	ck_assert_int_eq(f->view.held, HELD_BY_USER);
	release("7", v.token, &may, text, sizeof(text));
	ck_assert_msg(may, "%s", text);
}
END_TEST

START_TEST(after_a_restart_the_guard_is_known_before_the_first_pass)
{
	scene();
	cluster_state_set_guard(d.cluster, &(struct gang_guard){0});
	ck_assert(!ask("vision", 1, "3h", NOON + 3).kept_off);
	ck_assert_msg(controller_know_guard(&d, d.snapshot, &b.why) == 0, "%s", b.why.text);
	ck_assert(ask("vision", 1, "3h", NOON + 3).kept_off);
	ck_assert(!ask("vision", 1, "30m", NOON + 3).kept_off);
}
END_TEST

START_TEST(what_its_user_writes_afterwards_is_the_users_also_when_it_reads_the_same)
{
	scene();
	pass(NOON + 6);
	gang->view.stage = STAGE_ENDED;
	gang->view.base_state = "CANCELLED";
	pass(NOON + 11);
	pass(NOON + 16);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM kept_off"), 0);
	later->view.excluded = "n0,n1";
	pass(NOON + 21);
	excludes(later, "n0,n1");
}
END_TEST

START_TEST(that_slurm_found_no_other_nodes_is_said_of_those_nodes_only)
{
	scene();
	pass(NOON + 6);
	later->view.held = HELD_BY_OTHER;
	later->view.reason = "BadConstraints";
	later->view.priority = 0;
	pass(NOON + 11);
	ck_assert_int_eq(later->view.held, HELD_BY_ADMIN);
	ck_assert_ptr_null(books_try(&b, "UPDATE kept_off SET written = 'n2,n1' WHERE nowhere = 1"));	/* an earlier guard's */
	pass(NOON + 16);
	excludes(later, "n0,n1");
	ck_assert_int_eq(later->view.held, HELD_NOT);
}
END_TEST

START_TEST(of_an_array_each_record_needs_other_nodes)
{
	struct fake_job *task;

	scene();
	task = fake_slurm_pending(7, "vision", 4, later->view.qos, NULL);
	snprintf(task->admin_comment, sizeof(task->admin_comment), "%s", later->view.admin_comment);
	task->view.admin_comment = task->admin_comment;
	later->view.array_job_id = task->view.array_job_id = 5;
	later->view.array_task_id = 0;
	task->view.array_task_id = 1;
	task->view.excluded = "n2";
	pass(NOON + 6);
	excludes(later, "");
	excludes(task, "n2");
	ck_assert_int_eq(later->view.held, HELD_BY_ADMIN);
}
END_TEST

/* Nothing of ours stays in Slurm where nothing is enforced any more. */
START_TEST(where_nothing_is_enforced_any_more_nobody_is_kept_off)
{
	static const enum enforcement modes[] = { ENFORCE_WARN, ENFORCE_OFF };

	scene();
	sooner->view.required = "n1";
	pass(NOON + 6);
	pass(NOON + 7000);
	pass(NOON + 7005);
	excludes(later, "n0,n1");
	ck_assert_int_eq(sooner->view.held, HELD_BY_ADMIN);
	settings->enforce = (int)modes[_i];
	pass(NOON + 7010);
	pass(NOON + 7015);
	excludes(later, "");
	ck_assert_int_eq(sooner->view.held, HELD_NOT);
}
END_TEST

/* --- het jobs ----------------------------------------------------------------------------------- */

static struct fake_job *loose, *past, *inside, *component[2];

static struct fake_job *runs_since(uint32_t id, const char *account, int gpus, uint32_t node,
	const char *minimum, int64_t start)
{
	struct fake_job *f = submit(id, account, gpus, minimum, NOON - 20);

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
	het = true;
	component[0] = submit(10, "audio", first, "1h", NOON);
	component[1] = submit(11, "audio", second, "1h", NOON);
	het = false;
	fake_slurm_het(component[0], 10, 0);
	fake_slurm_het(component[1], 10, 1);
	pass(NOON + 1);
	pass(NOON + 2);
}

#define told(reason) books_ask(&b, "SELECT count(*) FROM event WHERE what = 'told' AND reason = '%s'", reason)

START_TEST(free_runs_and_funded_ones_go_together_for_all_components)
{
	int64_t due;

	full_cluster(4, 8);
	ck_assert_str_eq(component[0]->view.qos, settings->qos_funded_still);
	ck_assert_int_eq(told("FREE_RECLAIMED"), 1);
	ck_assert_int_eq(told("ROTATED"), 1);
	due = books_ask(&b, "SELECT min(due) FROM leaving");
	ck_assert_int_eq(books_ask(&b, "SELECT max(due) FROM leaving"), due);
	pass(due - 1);
	ck_assert_int_eq(loose->requeued + past->requeued, 0);
	pass(due);
	ck_assert(loose->requeued == 1 && past->requeued == 1 && inside->requeued == 0);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM event WHERE job = 3"), 0);
}
END_TEST

START_TEST(when_one_component_has_no_room_nobody_is_told)
{
	full_cluster(8, 9);
	for (int64_t t = 3; t < 60; t += 5)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM event"), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard"), 0);
}
END_TEST

START_TEST(just_before_its_turn_nothing_free_may_begin_there)
{
	struct fake_job *next;
	int64_t due;

	full_cluster(4, 8);
	next = submit(12, "speech", 4, "free", NOON + 3);
	due = books_ask(&b, "SELECT min(due) FROM leaving");
	pass(NOON + 4);
	excludes(next, "");
	pass(due - 6);
	excludes(next, "n0,n1");
	excludes(component[0], "");
	excludes(component[1], "");
	ck_assert(ask("speech", 1, "free", due - 5).kept_off);
}
END_TEST

START_TEST(a_free_job_that_has_no_other_nodes_is_held_and_released)
{
	struct fake_job *next;

	full_cluster(4, 8);
	next = submit(12, "speech", 4, "free", NOON + 3);
	next->view.required = "n1";
	pass(NOON + 4);
	pass(books_ask(&b, "SELECT min(due) FROM leaving"));
	ck_assert_int_eq(next->view.held, HELD_BY_ADMIN);
	for (size_t i = 0; i < 2; i++) {
		component[i]->view.stage = STAGE_ENDED;
		component[i]->view.base_state = "CANCELLED";
	}
	pass(NOON + 400);
	ck_assert_int_eq(next->view.held, HELD_NOT);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard"), 0);
}
END_TEST

/* It waits for something that is not known here: its nodes do not stay empty for it. */
START_TEST(one_that_does_not_start_gives_its_nodes_up_for_a_while)
{
	het = true;
	component[0] = submit(10, "audio", 8, "1h", NOON);
	component[1] = submit(11, "audio", 8, "1h", NOON);
	het = false;
	fake_slurm_het(component[0], 10, 0);
	fake_slurm_het(component[1], 10, 1);
	pass(NOON + 1);
	pass(NOON + 2);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard WHERE nodes <> ''"), 1);
	for (int64_t t = 10; t < 300; t += 10)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard WHERE nodes = ''"), 1);
	for (int64_t t = 1000; t < 1150; t += 10) {	/* then again, for as long */
		pass(NOON + t);
		ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard WHERE nodes <> ''"), 1);
	}
}
END_TEST

START_TEST(while_it_has_given_up_another_one_may_have_nodes_kept)
{
	het = true;
	component[0] = submit(10, "audio", 8, "1h", NOON);
	component[1] = submit(11, "audio", 8, "1h", NOON);
	het = false;
	fake_slurm_het(component[0], 10, 0);
	fake_slurm_het(component[1], 10, 1);
	for (int64_t t = 1; t < 300; t += 10)
		pass(NOON + t);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM guard WHERE nodes = ''"), 1);
	gang = submit(12, "vision", 16, "1h", NOON + 301 - WAITED);
	gang->view.node_count = 2;
	/* and the first one does not ask for them again meanwhile */
	for (int64_t t = 302; t < 400; t += 10) {
		pass(NOON + t);
		ck_assert_int_eq(books_ask(&b,
			"SELECT count(*) FROM guard WHERE nodes <> '' AND together = 0"), 1);
	}
}
END_TEST

Suite *pass_gang_suite(void)
{
	Suite *s = suite_create("gang");
	TCase *t = tcase_create("nodes"), *h = tcase_create("het");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_run_that_would_last_beyond_its_planned_start_is_kept_off_its_nodes);
	tcase_add_test(t, one_that_has_not_waited_long_has_none);
	tcase_add_test(t, what_its_user_excluded_stays_and_is_there_again_afterwards);
	tcase_add_test(t, a_daemon_that_was_killed_takes_back_what_it_wrote);
	tcase_add_test(t, a_run_that_is_requeued_with_what_was_written_is_let_back);
	tcase_add_test(t, one_that_has_no_other_nodes_is_held_and_released);
	tcase_add_test(t, one_that_slurm_finds_no_other_nodes_for_is_held_instead);
	tcase_add_test(t, one_that_slurm_holds_for_another_reason_is_left_to_it);
	tcase_add_test(t, a_submission_is_held_for_a_pass_when_it_would_last_too_long);
	tcase_add_test(t, a_run_that_has_just_begun_there_does_not_move_it);
	tcase_add_test(t, who_goes_before_the_gang_is_not_kept_off);
	tcase_add_test(t, with_displace_off_nobody_is_kept_off);
	tcase_add_test(t, a_gang_that_fits_and_does_not_start_gives_its_nodes_up_for_a_while);
	tcase_add_test(t, its_user_cannot_take_out_what_was_written);
	tcase_add_test(t, what_its_user_holds_stays_held_and_is_not_released_before_a_pass_has_seen_it);
	tcase_add_test(t, after_a_restart_the_guard_is_known_before_the_first_pass);
	tcase_add_test(t, what_its_user_writes_afterwards_is_the_users_also_when_it_reads_the_same);
	tcase_add_test(t, that_slurm_found_no_other_nodes_is_said_of_those_nodes_only);
	tcase_add_test(t, of_an_array_each_record_needs_other_nodes);
	tcase_add_loop_test(t, where_nothing_is_enforced_any_more_nobody_is_kept_off, 0, 2);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(h, setup, teardown);
	tcase_add_test(h, free_runs_and_funded_ones_go_together_for_all_components);
	tcase_add_test(h, when_one_component_has_no_room_nobody_is_told);
	tcase_add_test(h, just_before_its_turn_nothing_free_may_begin_there);
	tcase_add_test(h, a_free_job_that_has_no_other_nodes_is_held_and_released);
	tcase_add_test(h, one_that_does_not_start_gives_its_nodes_up_for_a_while);
	tcase_add_test(h, while_it_has_given_up_another_one_may_have_nodes_kept);
	suite_add_tcase(s, h);
	return s;
}
