/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_question.c - a body becomes a question, a question becomes a body again, and a modification is laid
 * over it */
#include "budgetd/question.h"
#include "lib/duration.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <string.h>

static const struct {
	const char *body, *says;
} bad[] = {
	{ "{}", "\"uid\" is missing" },
	{ "{\"uid\": -1}", "\"uid\" is missing or not a user id" },
	{ "{\"uid\": 4294967296}", "\"uid\" is missing or not a user id" },
	{ "{\"uid\": \"1000\"}", "\"uid\" must be" },
	{ "{\"uid\": 1000.5}", "\"uid\" must be a whole number, not a number with a fraction" },
	{ "{\"uid\": 1, \"account\": 7}", "\"account\" must be a text" },
	{ "{\"uid\": 1, \"account\": null}", "\"account\" must be a text, not null" },
	{ "{\"uid\": 1, \"account\": \"vis\\u0000ion\"}", "\"account\" has a NUL" },
	{ "{\"uid\": 1, \"num_tasks\": -1}", "\"num_tasks\" must be from 0 to 4294967294" },
	{ "{\"uid\": 1, \"num_tasks\": 4294967295}", "\"num_tasks\" must be from 0 to 4294967294" },
	{ "{\"uid\": 1, \"num_tasks\": 99999999999999999999}", "\"num_tasks\" must be" },
	{ "{\"uid\": 1, \"exclusive\": 1}", "\"exclusive\" must be true or false" },
	{ "{\"uid\": 1, \"tres_per_job\": [\"gres:gpu:1\"]}", "\"tres_per_job\" must be a text" },
	{ "{\"uid\": 1, \"time_limit_min\": -2}", "\"time_limit_min\" must be -1 or from 0" },
	{ "{\"uid\": 1, \"time_limit_min\": 9223372036854775807}", "\"time_limit_min\" must be -1 or from 0" },
	{ "{\"uid\": 1, \"min_runtime\": 120}", "\"min_runtime\" must be a text" },
};

START_TEST(a_body_that_makes_no_sense_is_refused_by_its_key)
{
	struct json_object *o = json_tokener_parse(bad[_i].body);
	struct question q = { .uid = 42 };
	struct fault why = {0};

	ck_assert_ptr_nonnull(o);
	ck_assert_msg(question_from_json(o, &q, &why) == -1, "%s was taken", bad[_i].body);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_msg(strstr(why.text, bad[_i].says), "%s: \"%s\"", bad[_i].body, why.text);
	ck_assert_int_eq(q.uid, 42);
	json_object_put(o);
}
END_TEST

static const struct {
	const char *body;
	int64_t time_limit_s;
} limits[] = {
	{ "{\"uid\": 1}", JOB_TIME_LIMIT_UNSET },
	{ "{\"uid\": 1, \"time_limit_min\": -1}", DURATION_UNLIMITED },
	{ "{\"uid\": 1, \"time_limit_min\": 90}", 5400 },
	{ "{\"uid\": 1, \"time_limit_min\": 4294967295}", 4294967295LL * 60 },
};

START_TEST(minutes_of_slurm_are_seconds_here)
{
	struct json_object *o = json_tokener_parse(limits[_i].body);
	struct question q;

	ck_assert_int_eq(question_from_json(o, &q, NULL), 0);
	ck_assert_int_eq(q.time_limit_s, limits[_i].time_limit_s);
	json_object_put(o);
}
END_TEST

START_TEST(what_is_not_given_is_not_known)
{
	struct json_object *o = json_tokener_parse("{\"uid\": 1, \"kind\": \"submit\", \"later\": [1]}");
	struct question q;

	ck_assert_int_eq(question_from_json(o, &q, NULL), 0);
	ck_assert_ptr_null(q.account);
	ck_assert_ptr_null(q.gpus.array);
	ck_assert_uint_eq(q.gpus.num_tasks, GPU_REQUEST_UNSET);
	ck_assert(q.requeueable && !q.held && !q.het && !q.has_dependency && !q.gpus.exclusive);
	json_object_put(o);
}
END_TEST

#define FULL \
	"{ \"uid\": 1000, \"account\": \"vision\", \"partition\": \"gpu\", \"qos\": \"free\", \"tres_per_job\": \"gres:gpu:1\"," \
	" \"tres_per_node\": \"gres:gpu:2\", \"tres_per_socket\": \"gres:gpu:3\", \"tres_per_task\": \"gres:gpu:4\", \"num_tasks\": 5," \
	" \"min_nodes\": 6, \"max_nodes\": 7, \"ntasks_per_node\": 8, \"ntasks_per_socket\": 9, \"sockets_per_node\": 10," \
	" \"cpus_per_task\": 11, \"ntasks_per_tres\": 12, \"exclusive\": true, \"array\": \"0-3\", \"min_runtime\": \"2h\"," \
	" \"tier\": \"funded\", \"team_rank\": \"3\", \"comment\": \"x\", \"begin\": 1800000000, \"held\": true, \"requeue\": false," \
	" \"signal\": 10, \"signal_script\": true," \
	" \"time_limit_min\": 240, \"dependency\": \"yes\", \"het_offset\": 0 }"

/* What one writes the other reads: every key of the table goes there and back. */
START_TEST(a_question_written_and_read_is_the_same)
{
	struct json_object *o = json_tokener_parse(FULL), *back;
	struct question q;

	ck_assert_int_eq(question_from_json(o, &q, NULL), 0);
	back = question_to_json(&q);
	ck_assert_msg(json_object_equal(o, back), "%s", json_object_to_json_string(back));
	json_object_put(back);
	json_object_put(o);
}
END_TEST

static const struct {
	const char *what, *body, *account;
	int64_t uid, time_limit_s;
	uint32_t nodes;
} changes[] = {
	{ "nothing", "{}", "vision", 1000, 14400, 6 },
	{ "an administrator changes the time, the job stays its user's", "{\"uid\": 0, \"time_limit_min\": 60}", "vision", 1000, 3600, 6 },
	{ "no limit any more", "{\"uid\": 0, \"time_limit_min\": -1}", "vision", 1000, DURATION_UNLIMITED, 6 },
	{ "another project and fewer nodes", "{\"account\": \"speech\", \"min_nodes\": 1}", "speech", 1000, 14400, 1 },
	{ "keys that are not the question's", "{\"token\": \"gpubudget:1\", \"job\": \"7\", \"release\": true}", "vision", 1000, 14400, 6 },
};

START_TEST(a_modification_changes_what_it_names)
{
	struct json_object *body = json_tokener_parse(changes[_i].body),
		*merged = question_overlay(FULL, body);
	struct question q;

	ck_assert_ptr_nonnull(merged);
	ck_assert_int_eq(question_from_json(merged, &q, NULL), 0);
	ck_assert_msg(!strcmp(q.account, changes[_i].account) && q.uid == changes[_i].uid &&
		q.gpus.min_nodes == changes[_i].nodes && q.time_limit_s == changes[_i].time_limit_s, "%s",
		changes[_i].what);
	json_object_put(merged);
	json_object_put(body);
}
END_TEST

START_TEST(a_question_that_cannot_be_read_back_is_an_error)
{
	struct json_object *body = json_tokener_parse("{}");

	ck_assert_ptr_null(question_overlay("", body));
	ck_assert_ptr_null(question_overlay("[]", body));
	ck_assert_ptr_null(question_overlay("{\"uid\":", body));
	json_object_put(body);
}
END_TEST

START_TEST(a_job_in_the_queue_asks_what_its_submission_would)
{
	struct job_view j = { .job_id = 7, .uid = 1000, .account = "vision", .partition = "gpu",
		.comment = "gpu-tier=free", .eligible = 5, .time_limit_s = 3600, .held = HELD_BY_USER,
		.requeueable = true, .request = { .array = "0-3" } };
	struct question q;

	question_from_job(&j, &q);
	ck_assert_str_eq(q.account, "vision");
	ck_assert_str_eq(q.comment, "gpu-tier=free");
	ck_assert(q.held && q.requeueable && !q.het && !q.has_dependency);
	ck_assert_ptr_null(q.gpus.array);	/* the record of one task */
	j.array_tasks = "1-3";
	j.dependency = "";
	question_from_job(&j, &q);
	ck_assert_ptr_nonnull(q.gpus.array);
	ck_assert(!q.has_dependency);
}
END_TEST

Suite *question_suite(void)
{
	Suite *s = suite_create("question");
	TCase *t = tcase_create("json");

	tcase_add_loop_test(t, a_body_that_makes_no_sense_is_refused_by_its_key, 0,
		sizeof(bad) / sizeof(bad[0]));
	tcase_add_loop_test(t, minutes_of_slurm_are_seconds_here, 0, sizeof(limits) / sizeof(limits[0]));
	tcase_add_test(t, what_is_not_given_is_not_known);
	tcase_add_test(t, a_question_written_and_read_is_the_same);
	tcase_add_loop_test(t, a_modification_changes_what_it_names, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_test(t, a_question_that_cannot_be_read_back_is_an_error);
	tcase_add_test(t, a_job_in_the_queue_asks_what_its_submission_would);
	suite_add_tcase(s, t);
	return s;
}
