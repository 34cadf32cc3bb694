/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_why.c - why, after whole passes over a real ledger and a fake Slurm: what of a job, of a task, and of
 * one that no pass has seen */
#include "tests/unit/suites.h"
#include "budgetd/admit.h"
#include "budgetd/ledger_event.h"
#include "budgetd/routes.h"
#include "lib/token.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#define HOUR 3600

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static struct fake_job *rest, *running, *next;

/* Nothing stands behind the question mark here. */
const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
	const char *key)
{
	(void)connection, (void)kind, (void)key;
	return NULL;
}

/* An array of four tasks of 2 GPUs, of which the money of its project pays three: one runs, one waits for
 * GPUs, two more for money. */
static void array_of_four(void)
{
	struct question q = { .uid = 1000, .account = "vision", .time_limit_s = 4 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = "1h" } };
	struct verdict v;

	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = "gres:gpu:2";
	q.gpus.array = "0-3";
	ck_assert_msg(admit(&d, &q, "{\"uid\": 1000, \"array\": \"0-3\"}", 0, NOON, &v, &b.why) == 0 &&
		ledger_write(b.l, &b.why) == 0, "%s", b.why.text);
	ck_assert_msg(v.accepted && v.tier == TIER_FUNDED && v.waits, "%s", v.text);
	rest = fake_slurm_pending(7, "vision", 2, v.qos, v.token);
	rest->view.array_job_id = 7;
	rest->view.array_tasks = "2-3";
	rest->view.array_count = 2;
	rest->view.held = HELD_BY_ADMIN;
	rest->view.priority = 0;
	strcat(rest->admin_comment, " " WAITS_WORD);
	running = fake_slurm_pending(8, "vision", 2, v.qos, v.token);
	next = fake_slurm_pending(9, "vision", 2, v.qos, v.token);
	running->view.array_job_id = next->view.array_job_id = 7;
	running->view.array_task_id = 0;
	next->view.array_task_id = 1;
	next->view.reason = "Resources";
	rest->view.reason = "JobHeldAdmin";
	fake_slurm_start(running, NOON);
	scene_pass(&b, loop, NOON + 1);
	scene_pass(&b, loop, NOON + 2);
}

static void setup(void)
{
	scene_begin(&b, &d, &settings, &loop);
	d.reader = b.l;
	books_allot(&b, books_project(&b, "vision", 0), 5 * GPU_H, 0, 0);
	fake_slurm_nodes(1, 4);
	array_of_four();
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

/* 0 and *reply, to be put; or -1, errno and b.why. */
static int ask(const char *job, struct json_object **reply)
{
	struct request rq = { .b = &d, .uid = 1000, .now = NOON + 600, .name = job };
	int rc;

	b.why.text[0] = '\0';
	rc = job_get(&rq, &b.why);
	*reply = rq.reply;
	return rc;
}

static const char *text_of(struct json_object *o, const char *key)
{
	return json_object_get_string(json_object_object_get(o, key));
}

static int64_t number_of(struct json_object *o, const char *key)
{
	return json_object_get_int64(json_object_object_get(o, key));
}

/* What is told of the job as it is told to people; pieces of it in their order. */
static void told(const char *job, const char *const *pieces)
{
	struct json_object *o;
	int rc = ask(job, &o);
	const char *at = rc == 0 ? json_object_to_json_string_ext(json_object_object_get(o, "lines"),
		JSON_C_TO_STRING_NOSLASHESCAPE) : "";
	const char *all = at;

	ck_assert_msg(rc == 0, "%s: %s", job, b.why.text);
	for (; *pieces; pieces++) {
		at = strstr(at, *pieces);
		ck_assert_msg(at, "why %s: \"%s\" is not in its place in %s", job, *pieces, all);
	}
	json_object_put(o);
}
#define TOLD(job, ...) told(job, (const char *const[]){ __VA_ARGS__, NULL })

START_TEST(an_array_is_explained_with_counts)
{
	struct json_object *o, *tasks;

	TOLD("7", "Of its 4 tasks 3 wait, 1 run and 0 are over",
		"2 of its 3 tasks in the queue wait for budget, held", "4.00 GPU-h are set aside for it");
	ck_assert_int_eq(ask("7", &o), 0);
	tasks = json_object_object_get(o, "tasks");
	ck_assert_int_eq(number_of(tasks, "held"), 2);
	ck_assert_int_eq(json_object_array_length(json_object_object_get(o, "runs")), 1);
	json_object_put(o);
}
END_TEST

START_TEST(a_task_that_runs_is_explained_by_its_own_run)
{
	struct json_object *o;

	TOLD("7_0", "protected for 1 h", "The run of job 7_0 is protected for 50 min more", "It runs.",
		"2.00 GPU-h are set aside for it");
	ck_assert_int_eq(ask("7_0", &o), 0);
	ck_assert_str_eq(text_of(o, "job"), "7_0");
	ck_assert_str_eq(text_of(o, "state"), "RUNNING");
	ck_assert_int_eq(json_object_array_length(json_object_object_get(o, "runs")), 1);
	ck_assert_ptr_null(json_object_object_get(o, "tasks"));
	json_object_put(o);
}
END_TEST

START_TEST(a_task_that_is_paid_for_waits_for_what_slurm_says)
{
	struct json_object *o;

	TOLD("7_1", "It waits: Resources.", "2.00 GPU-h are set aside for it", "It is number 1 of ");
	ck_assert_int_eq(ask("7_1", &o), 0);
	ck_assert_int_eq(json_object_array_length(json_object_object_get(o, "runs")), 0);
	ck_assert_int_eq(number_of(o, "held_units"), 2 * GPU_H);
	ck_assert_int_eq(number_of(o, "place"), next->view.site_factor);
	json_object_put(o);
}
END_TEST

START_TEST(a_task_that_is_not_waits_for_money)
{
	struct json_object *o;

	TOLD("7_3",
		"It waits for budget, held: it is released when vision can pay the 2.00 GPU-h that it needs.");
	ck_assert_int_eq(ask("7_3", &o), 0);
	ck_assert_int_eq(number_of(o, "held_units"), 0);
	json_object_put(o);
}
END_TEST

START_TEST(a_task_is_known_by_its_own_id_too_also_when_it_is_over)
{
	TOLD("8", "The run of job 7_0 is protected");
	running->view.stage = STAGE_ENDED;
	running->view.base_state = "COMPLETED";
	running->view.end = NOON + 300;
	scene_pass(&b, loop, NOON + 301);
	running->view.job_id = 70;	/* Slurm has forgotten it */
	running->view.array_job_id = 0;
	scene_pass(&b, loop, NOON + 302);
	TOLD("8", "It is not in the queue any more.", "0.17 GPU-h were charged for its runs");
	TOLD("7_0", "It is not in the queue any more.", "0.17 GPU-h were charged for its runs");
	TOLD("7", "3 wait, 0 run and 1 are over", "0.17 GPU-h were charged for its runs");
}
END_TEST

START_TEST(a_task_that_the_array_does_not_have_is_told_so)
{
	struct json_object *o;

	ck_assert_int_eq(ask("7_4", &o), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_str_eq(b.why.text, "job 7 has no task 4: its array is 0-3");
	json_object_put(o);
}
END_TEST

/* The pass began in the second before, and took the table after it. What another task is released for is the
 * money of this one. */
START_TEST(a_job_that_is_submitted_as_a_pass_begins_keeps_its_hold)
{
	fake_slurm_taken_at(NOON + 4);
	next->view.eligible = NOON + 4;
	scene_pass(&b, loop, NOON + 3);
	ck_assert_int_eq(rest->view.held, HELD_BY_ADMIN);
	fake_slurm_taken_at(0);
	next->view.eligible = NOON + HOUR;	/* that is another thing: it has --begin */
	scene_pass(&b, loop, NOON + 5);
	ck_assert_int_eq(rest->view.held, HELD_NOT);
}
END_TEST

START_TEST(a_job_that_no_pass_has_seen_may_have_been_submitted_since)
{
	struct json_object *o;

	ck_assert_int_eq(ask("10", &o), -1);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_msg(strstr(b.why.text, "if it was submitted since, ask again then"), "%s", b.why.text);
	json_object_put(o);
	ck_assert_int_eq(ask("6", &o), -1);
	ck_assert_int_eq(errno, ENOENT);
	json_object_put(o);
}
END_TEST

static int without_share(struct ledger *l, void *arg, struct fault *why)
{
	struct project p;

	(void)arg;
	if (project_find(l, "vision", &p, why) != 1)
		return -1;
	p.share = 0;
	return project_set(l, &p, why);
}

/* 7_1 waits, and so does a funded job of speech; 21 is a free one of vision, which has no share now. */
static void told_beside_another(const char *job, const char *line)
{
	struct question q = { .uid = 1000, .account = "speech", .time_limit_s = 4 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = "1h" } };
	struct json_object *o;
	struct verdict v;

	books_allot(&b, books_project(&b, "speech", 0), 5 * GPU_H, 0, 0);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = "gres:gpu:4";
	for (uint32_t id = 20; id < 22; id++) {
		ck_assert_msg(admit(&d, &q, "{\"uid\": 1000}", 0, NOON, &v, &b.why) == 0 &&
			ledger_write(b.l, &b.why) == 0 && v.accepted, "%s %s", b.why.text, v.text);
		fake_slurm_pending(id, q.account, 4, v.qos, v.token);
		q.account = "vision";
		q.text[OPT_TIER] = "free";
	}
	ck_assert_msg(books_do(&b, LEDGER_MONEY, without_share, NULL) == 0, "%s", b.why.text);
	scene_pass(&b, loop, NOON + 590);
	ck_assert_msg(ask(job, &o) == 0, "%s", b.why.text);
	ck_assert_msg(!strstr(json_object_to_json_string(o), "has used"), "%s", json_object_to_json_string(o));
	json_object_put(o);
	TOLD(job, line);
}

START_TEST(a_project_without_a_share_is_told_so_instead_of_a_ratio)
{
	told_beside_another("7_1",
		"vision has share 0, and comes behind all that have one; speech goes first.");
}
END_TEST

START_TEST(a_free_job_is_not_told_of_what_was_paid_for)
{
	told_beside_another("21", "It is number 1 of 1 free jobs in the order: those projects first");
}
END_TEST

/* Slurm drains it, or somebody with scontrol; with `drain = ours` (_i 1) that is nothing to us. */
START_TEST(a_run_on_a_node_that_drains_is_told_when_it_leaves)
{
	struct fake_node *node = fake_slurm_node("g1");
	struct json_object *o, *drains;

	settings->drain = _i ? DRAIN_OURS : DRAIN_ALL;
	node->draining = true;
	snprintf(node->reason, sizeof(node->reason), "fan 3");
	running->view.nodes = "n0,g1";
	scene_pass(&b, loop, NOON + 3);
	ck_assert_int_eq(ask("7_0", &o), 0);
	drains = json_object_object_get(json_object_array_get_idx(json_object_object_get(o, "runs"), 0), "draining");
	ck_assert(!drains == (_i == 1));
	if (_i == 0) {
		ck_assert_str_eq(text_of(drains, "node"), "g1");
		ck_assert_int_eq(number_of(drains, "tells_at"), NOON + HOUR);
		ck_assert_int_eq(number_of(drains, "gone_at"), NOON + HOUR + settings->grace_s);
		TOLD("7_0",
			"Its node g1 is to be empty (fan 3). The run of job 7_0 is protected there for 50 min more; then it is told to go, 2 min "
			"later it has left, and it goes on elsewhere.");
		running->view.requeueable = false;
		scene_pass(&b, loop, NOON + 4);
		TOLD("7_0", "2 min later it has left, and it is cancelled, since it cannot be requeued.");
	}
	json_object_put(o);
}
END_TEST

Suite *pass_why_suite(void)
{
	Suite *s = suite_create("pass_why");
	TCase *t = tcase_create("why");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_array_is_explained_with_counts);
	tcase_add_test(t, a_task_that_runs_is_explained_by_its_own_run);
	tcase_add_test(t, a_task_that_is_paid_for_waits_for_what_slurm_says);
	tcase_add_test(t, a_task_that_is_not_waits_for_money);
	tcase_add_test(t, a_task_is_known_by_its_own_id_too_also_when_it_is_over);
	tcase_add_test(t, a_task_that_the_array_does_not_have_is_told_so);
	tcase_add_test(t, a_job_that_is_submitted_as_a_pass_begins_keeps_its_hold);
	tcase_add_test(t, a_job_that_no_pass_has_seen_may_have_been_submitted_since);
	tcase_add_test(t, a_project_without_a_share_is_told_so_instead_of_a_ratio);
	tcase_add_test(t, a_free_job_is_not_told_of_what_was_paid_for);
	tcase_add_loop_test(t, a_run_on_a_node_that_drains_is_told_when_it_leaves, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
