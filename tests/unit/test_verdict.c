/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_verdict.c - what the plugin inside slurmctld asks, and what it makes of an answer
 *
 * Slurm's allocator comes from libslurm here; inside slurmctld it is slurmctld's. */
#include "job_submit/question.h"
#include "job_submit/verdict.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <string.h>

static job_desc_msg_t job_new(void)
{
	job_desc_msg_t d;

	slurm_init_job_desc_msg(&d);
	return d;
}

static void job_clear(job_desc_msg_t *d)
{
	slurm_xfree((void **)&d->account);
	slurm_xfree((void **)&d->qos);
	slurm_xfree((void **)&d->admin_comment);
}

static const char *const garbage[] = {
	"{}",
	"{\"verdict\": \"maybe\", \"tier\": \"free\"}",
	"{\"verdict\": true, \"tier\": \"free\"}",
	"{\"verdict\": \"accept\"}",
	"{\"verdict\": \"accept\", \"tier\": \"gold\"}",
	"{\"verdict\": \"reject\", \"tier\": 7}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"qos\": 7}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"qos\": \"\"}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"account\": \"a b\"}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"account\": \"a\\u0000b\"}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"token\": \"other:1\"}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"site_factor\": \"5\"}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"site_factor\": 4000000000}",
	"{\"verdict\": \"accept\", \"tier\": \"free\", \"text\": []}",
	"{\"verdict\": \"accept\", \"tier\": \"funded\", \"held\": 1}",
};

START_TEST(garbage_is_no_verdict)
{
	struct json_object *o = json_tokener_parse(garbage[_i]);
	struct verdict v = { .site_factor = 77 };
	struct fault why = { "" };

	ck_assert_msg(verdict_read(o, &v, &why) == -1, "taken: %s", garbage[_i]);
	ck_assert_int_eq(errno, EPROTO);
	ck_assert(why.text[0] && v.site_factor == 77 && !v.reply);
	json_object_put(o);
}
END_TEST

START_TEST(an_accepting_verdict_is_written_and_keeps_what_is_there)
{
	job_desc_msg_t d = job_new();
	struct verdict v;

	d.admin_comment = slurm_xstrdup("ticket 12");
	d.qos = slurm_xstrdup("normal");
	ck_assert_int_eq(verdict_read(json_tokener_parse("{\"verdict\": \"accept\", \"tier\": \"funded\","
							 "\"qos\": \"funded\", \"account\": \"vision\", "
							 "\"site_factor\": -5, \"token\": \"gpubudget:a1\"}"),
				 &v, NULL),
		0);
	verdict_apply(&v, &d);
	ck_assert_str_eq(d.qos, "funded");
	ck_assert_str_eq(d.account, "vision");
	ck_assert_str_eq(d.admin_comment, "ticket 12 gpubudget:a1");
	ck_assert_uint_eq(d.site_factor, NICE_OFFSET - 5);
	verdict_clear(&v);
	job_clear(&d);
}
END_TEST

START_TEST(what_waits_for_money_is_held_and_marked)
{
	job_desc_msg_t d = job_new();
	struct verdict v;

	ck_assert_int_eq(verdict_read(json_tokener_parse("{\"verdict\": \"accept\", \"tier\": \"funded\","
		"\"token\": \"gpubudget:a1\", \"held\": true}"), &v, NULL), 0);
	verdict_apply(&v, &d);
	ck_assert_uint_eq(d.priority, 0);
	ck_assert_str_eq(d.admin_comment, "gpubudget:a1 gpubudget-waits");
	verdict_clear(&v);
	job_clear(&d);
}
END_TEST

START_TEST(a_refusing_or_silent_verdict_changes_nothing)
{
	static const char *const texts[] = {
		"{\"verdict\": \"reject\", \"tier\": \"none\", \"qos\": \"free\", \"token\": \"gpubudget:a1\"}",
		"{\"verdict\": \"reject\"}",
		"{\"verdict\": \"accept\", \"tier\": \"none\", \"qos\": null}",
	};
	job_desc_msg_t d = job_new();
	struct verdict v;

	ck_assert_int_eq(verdict_read(json_tokener_parse(texts[_i]), &v, NULL), 0);
	verdict_apply(&v, &d);
	ck_assert(!d.qos && !d.account && !d.admin_comment && d.site_factor == NO_VAL &&
		d.priority == NO_VAL);
	verdict_clear(&v);
}
END_TEST

START_TEST(the_user_is_told_line_by_line_behind_what_others_said)
{
	char *said = NULL;

	verdict_tell("one\n\ntwo\033[2J\n", &said);
	ck_assert_str_eq(said, "gpubudget: one\ngpubudget: two?[2J");
	verdict_tell(NULL, &said);
	verdict_tell("", &said);
	verdict_tell("three", &said);
	ck_assert_str_eq(said, "gpubudget: one\ngpubudget: two?[2J\ngpubudget: three");
	slurm_xfree((void **)&said);
}
END_TEST

START_TEST(a_question_has_what_was_given_and_nothing_else)
{
	char *environment[] = {(char *)"GPUBUDGET_TIER=free",
		(char *)"_SLURM_SPANK_OPTION_gpubudget_gpu_min_runtime=2h",
		(char *)"_SLURM_SPANK_OPTION_other_gpu_tier=free",
		(char *)"_SLURM_SPANK_OPTION_gpubudget_gpu_tierX=free"};
	job_desc_msg_t d = job_new();
	struct json_object *q;

	d.user_id = 1001;
	d.het_job_offset = NO_VAL;	/* slurmctld sets it before it calls a plugin */
	d.tres_per_node = (char *)"gres:gpu:2";
	d.time_limit = INFINITE;
	d.array_inx = (char *)"0-3%2";
	d.script = (char *)"#!/bin/sh\n";
	d.spank_job_env = environment;
	d.spank_job_env_size = 4;
	ck_assert(question_concerns(&d));
	q = question_submit(&d, 1002);
	ck_assert_str_eq(json_object_to_json_string_ext(q, JSON_C_TO_STRING_PLAIN),
		"{\"kind\":\"submit\",\"uid\":1001,\"submit_uid\":1002,\"tres_per_node\":\"gres:gpu:2\","
		"\"min_runtime\":\"2h\","
		"\"time_limit_min\":-1,\"array\":\"0-3%2\"}");
	json_object_put(q);
}
END_TEST

START_TEST(a_job_without_gpus_is_none_of_our_business)
{
	job_desc_msg_t d = job_new();

	d.num_tasks = 4;
	d.min_nodes = d.max_nodes = 2;
	d.time_limit = 60;
	d.tres_per_node = (char *)"gres:nvme:1";
	ck_assert(!question_concerns(&d));
	d.shared = JOB_SHARED_NONE;
	ck_assert(question_concerns(&d));
}
END_TEST

START_TEST(a_modification_matters_when_it_moves_money)
{
	struct settings *s = settings_defaults();
	job_desc_msg_t name = job_new(), time = job_new(), gpus = job_new(), qos = job_new(),
		       words = job_new(), array = job_new();

	name.name = (char *)"x";
	time.time_limit = 5;
	gpus.tres_per_job = (char *)"gres/gpu:1";
	qos.qos = (char *)"Funded";
	words.comment = (char *)"see gpu-tier and gpu-tier=free";
	array.array_inx = (char *)"5";		/* ArrayTaskThrottle */
	ck_assert(!question_modify_concerns(&name, "gpubudget:1", s));
	ck_assert(question_modify_concerns(&time, "gpubudget:1", s) &&
		  !question_modify_concerns(&time, NULL, s));
	ck_assert(question_modify_concerns(&gpus, NULL, s));
	ck_assert(question_modify_concerns(&qos, NULL, s));
	ck_assert(question_modify_concerns(&words, "gpubudget:1", s));
	ck_assert(!question_modify_concerns(&array, "gpubudget:1", s));
	settings_free(s);
}
END_TEST

START_TEST(a_hold_and_a_place_by_hand_are_told_apart)
{
	job_desc_msg_t none = job_new(), hold = job_new(), release = job_new(), lower = job_new(),
		nice = job_new(), zero = job_new();

	hold.priority = 0;
	release.priority = INFINITE;
	lower.priority = 1;
	nice.nice = NICE_OFFSET + 5;
	zero.nice = NICE_OFFSET;
	ck_assert(!question_holds(&none) && question_holds(&hold) && !question_holds(&release) &&
		!question_holds(&lower));
	ck_assert(!question_moves_by_hand(&none) && !question_moves_by_hand(&hold) &&
		!question_moves_by_hand(&release));
	ck_assert(question_moves_by_hand(&lower) && question_moves_by_hand(&nice) &&
		!question_moves_by_hand(&zero));
	zero.exc_nodes = (char *)"";
	ck_assert(question_excludes(&zero) && !question_excludes(&none));
}
END_TEST

START_TEST(nice_of_a_submission_is_taken_out_and_told)
{
	job_desc_msg_t job = job_new();
	char *said = NULL;

	verdict_clear_nice(&job, &said);
	ck_assert(job.nice == NO_VAL);
	ck_assert_ptr_null(said);
	job.nice = NICE_OFFSET + 100;
	verdict_clear_nice(&job, &said);
	ck_assert(job.nice == NICE_OFFSET);
	ck_assert_ptr_nonnull(strstr(said, "--nice has no effect"));
	slurm_xfree((void **)&said);
}
END_TEST

Suite *verdict_suite(void)
{
	Suite *s = suite_create("verdict");
	TCase *t = tcase_create("plugin");

	tcase_add_loop_test(t, garbage_is_no_verdict, 0, sizeof(garbage) / sizeof(garbage[0]));
	tcase_add_test(t, an_accepting_verdict_is_written_and_keeps_what_is_there);
	tcase_add_test(t, what_waits_for_money_is_held_and_marked);
	tcase_add_loop_test(t, a_refusing_or_silent_verdict_changes_nothing, 0, 3);
	tcase_add_test(t, the_user_is_told_line_by_line_behind_what_others_said);
	tcase_add_test(t, a_question_has_what_was_given_and_nothing_else);
	tcase_add_test(t, a_job_without_gpus_is_none_of_our_business);
	tcase_add_test(t, a_modification_matters_when_it_moves_money);
	tcase_add_test(t, a_hold_and_a_place_by_hand_are_told_apart);
	tcase_add_test(t, nice_of_a_submission_is_taken_out_and_told);
	suite_add_tcase(s, t);
	return s;
}
