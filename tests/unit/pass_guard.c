/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_guard.c - whole passes over a real ledger and a fake Slurm: what users may submit, declare, exclude and
 * release while nodes are kept for a gang, and that nothing is let go before Slurm keeps it off them */
#include "budgetd/cluster_state.h"
#include "budgetd/controller.h"
#include "budgetd/routes.h"
#include "tests/unit/gang_scene.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct gang_scene x;

static void pass(int64_t now)
{
	gang_pass(&x, now);
}

static void setup(void)
{
	gang_begin(&x);
	gang_waits(&x);
	pass(NOON + 3);
}

static void teardown(void)
{
	gang_end(&x);
}

START_TEST(a_submission_is_held_for_a_pass_when_it_would_last_too_long)
{
	struct verdict v;

	v = gang_ask(&x, "vision", 1, "30m", NOON + 3);
	ck_assert(!v.kept_off && !strstr(v.text, "held"));
	v = gang_ask(&x, "vision", 1, "3h", NOON + 3);
	ck_assert_msg(v.kept_off && strstr(v.text, "nodes are cleared for job 4"), "%s", v.text);
}
END_TEST

/* May its user give the record other excluded nodes? */
static bool may_exclude(const char *job)
{
	struct request rq = { .b = &x.d, .now = NOON + 6, .body = json_object_new_object() };
	bool may;

	json_object_object_add(rq.body, "kind", json_object_new_string("exclude"));
	json_object_object_add(rq.body, "job", json_object_new_string(job));
	ck_assert_msg(verdict_post(&rq, &x.b.why) == 0, "%s", x.b.why.text);
	may = !strcmp(json_object_get_string(json_object_object_get(rq.reply, "verdict")), "accept");
	json_object_put(rq.reply);
	json_object_put(rq.body);
	return may;
}

START_TEST(its_user_cannot_take_out_what_was_written)
{
	pass(NOON + 6);
	ck_assert(!may_exclude("5"));
	ck_assert(may_exclude("6") && may_exclude("4") && may_exclude("77"));
	gang_gone(&x);
	pass(NOON + 11);
	pass(NOON + 16);
	ck_assert(may_exclude("5"));
}
END_TEST

/* May its user release it, and what is told. */
static void release(const char *job, const char *token, bool *accepted, char *text, size_t size)
{
	struct request rq = { .b = &x.d, .now = NOON + 6, .body = json_object_new_object() };
	struct json_object *told;

	json_object_object_add(rq.body, "kind", json_object_new_string("modify"));
	json_object_object_add(rq.body, "job", json_object_new_string(job));
	json_object_object_add(rq.body, "token", json_object_new_string(token));
	json_object_object_add(rq.body, "release", json_object_new_boolean(true));
	json_object_object_add(rq.body, "account", json_object_new_string("vision"));
	json_object_object_add(rq.body, "tres_per_job", json_object_new_string("gres:gpu:4"));
	ck_assert_msg(verdict_post(&rq, &x.b.why) == 0, "%s", x.b.why.text);
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

	x.user_held = true;
	v = gang_ask(&x, "vision", 4, "3h", NOON + 3);
	x.user_held = false;
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
	cluster_state_set_guard(x.d.cluster, &(struct gang_guard){0});
	ck_assert(!gang_ask(&x, "vision", 1, "3h", NOON + 3).kept_off);
	ck_assert_msg(controller_know_guard(&x.d, x.d.snapshot, &x.b.why) == 0, "%s", x.b.why.text);
	ck_assert(gang_ask(&x, "vision", 1, "3h", NOON + 3).kept_off);
	ck_assert(!gang_ask(&x, "vision", 1, "30m", NOON + 3).kept_off);
}
END_TEST

/* `budgetctl job set JOB --min-runtime MINIMUM`: "" or the refusal. */
static const char *set(const char *job, const char *minimum, int64_t at)
{
	struct request rq = { .b = &x.d, .uid = 1000, .now = at, .name = job,
		.body = json_object_new_object() };
	int rc;

	json_object_object_add(rq.body, "min_runtime", json_object_new_string(minimum));
	x.b.why.text[0] = '\0';
	errno = 0;
	rc = job_patch(&rq, &x.b.why);
	ck_assert_msg(rc == 0 ? !x.b.why.text[0] : errno == EEXIST, "%s", x.b.why.text);
	json_object_put(rq.reply);
	json_object_put(rq.body);
	return x.b.why.text;
}

static int64_t declared(int job)
{
	return books_ask(&x.b, "SELECT min_runtime FROM admission WHERE job = %d", job);
}

START_TEST(what_would_have_to_be_kept_off_is_not_declared)
{
	ck_assert_str_eq(set("6", "1h", NOON + 4), "");
	ck_assert_str_eq(set("6", "3h", NOON + 5),
		"refused: nodes are cleared for job 4, planned to start in 1 h 59 min. This job may use them with what it "
		"declares now, and may not with a minimum runtime of 3 h. Now --min-runtime=118m may be declared at most. "
		"Declare it when that one has started (budgetctl why 4); or cancel the job and submit it anew.");
	ck_assert_int_eq(declared(6), HOUR);
	ck_assert_str_eq(set("6", "118m", NOON + 6), "");
}
END_TEST

/* 30 min from now are too long since the last pass, which let it on these nodes. */
START_TEST(what_it_declares_now_may_have_been_too_long_since_the_last_pass_only)
{
	pass(PLANNED - 30 * 60 - 1);
	ck_assert(!x.sooner->view.excluded);
	ck_assert_ptr_nonnull(strstr(set("6", "8h", PLANNED - 30 * 60 + 1), "refused: nodes are cleared for job 4"));
	ck_assert_str_eq(set("6", "29m", PLANNED - 30 * 60 + 1), "");	/* shorter is nobody's loss */
}
END_TEST

START_TEST(who_is_kept_off_already_declares_what_it_wants)
{
	pass(PLANNED - 30 * 60 + 1);
	ck_assert_str_eq(x.sooner->view.excluded, "n0,n1");
	ck_assert_str_eq(set("6", "8h", PLANNED - 30 * 60 + 2), "");
}
END_TEST

START_TEST(who_goes_before_the_gang_declares_what_it_wants)
{
	struct fake_job *first = gang_submit(&x, 7, "speech", 4, "30m", NOON - WAITED - 10);

	pass(NOON + 4);
	ck_assert_str_eq(set("7", "8h", NOON + 5), "");
	ck_assert_str_eq(set("4", "8h", NOON + 5), "");		/* and so does the gang */
	pass(NOON + 6);
	ck_assert(!first->view.excluded);
}
END_TEST

/* Slurm starts what fits as soon as it is released. It did not take the excluded nodes (_i 0), or the pass
 * has told it enough (1). What depends on another job (2) may start when that one ends, before another pass. */
START_TEST(what_is_held_is_released_when_slurm_keeps_it_off_and_not_before)
{
	struct fake_job *f = gang_submit(&x, 7, "vision", 4, "3h", NOON + 3);
	int interval = x.settings->pass_interval_s;

	ck_assert_int_eq(f->view.held, HELD_BY_ADMIN);
	f->view.dependency = _i == 2 ? "afterany:5" : NULL;
	fake_slurm_is_busy(_i != 1);
	x.settings->pass_interval_s = _i == 1 ? 0 : interval;
	for (int64_t t = 6; t < 16; t += 5) {
		pass(NOON + t);
		ck_assert(!f->released && f->view.held == HELD_BY_ADMIN && !f->view.excluded);
	}
	/* it is in the books before Slurm is told */
	ck_assert_int_eq(books_ask(&x.b, 
		"SELECT count(*) FROM kept_off k JOIN admission a ON a.id = k.admission WHERE a.job = 7 AND written = 'n0,n1'"), _i != 1);
	fake_slurm_is_busy(false);
	x.settings->pass_interval_s = interval;
	pass(NOON + 16);
	pass(NOON + 21);
	ck_assert_int_eq(f->view.held, HELD_NOT);
	ck_assert(f->released);
	ck_assert_str_eq(f->released_with, "n0,n1");
}
END_TEST

Suite *pass_guard_suite(void)
{
	Suite *s = suite_create("guard");
	TCase *t = tcase_create("users");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_submission_is_held_for_a_pass_when_it_would_last_too_long);
	tcase_add_test(t, its_user_cannot_take_out_what_was_written);
	tcase_add_test(t, what_its_user_holds_stays_held_and_is_not_released_before_a_pass_has_seen_it);
	tcase_add_test(t, after_a_restart_the_guard_is_known_before_the_first_pass);
	tcase_add_test(t, what_would_have_to_be_kept_off_is_not_declared);
	tcase_add_test(t, what_it_declares_now_may_have_been_too_long_since_the_last_pass_only);
	tcase_add_test(t, who_is_kept_off_already_declares_what_it_wants);
	tcase_add_test(t, who_goes_before_the_gang_declares_what_it_wants);
	tcase_add_loop_test(t, what_is_held_is_released_when_slurm_keeps_it_off_and_not_before, 0, 3);
	suite_add_tcase(s, t);
	return s;
}
