/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_guard.c - whole passes over a real ledger and a fake Slurm: what may be declared while nodes are kept
 * for a gang, and that nothing is let go before Slurm keeps it off them */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/routes.h"
#include "lib/token.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WAITED (13 * HOUR)
#define PLANNED (NOON - 10 + 2 * HOUR)	/* the second run's minimum ends */

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static struct fake_job *gang, *later;

static struct fake_job *submit(uint32_t id, const char *account, int gpus, const char *minimum, int64_t at)
{
	char text[32];
	struct question q = { .uid = 1000, .account = account, .time_limit_s = 24 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = minimum } };
	struct fake_job *f;
	struct verdict v;

	snprintf(text, sizeof(text), "gres:gpu:%d", gpus);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = text;
	ck_assert_msg(admit(&d, &q, "{\"uid\":1000}", 0, at, &v, &b.why) == 0 &&
		ledger_write(b.l, &b.why) == 0 && v.accepted, "%s %s", b.why.text, v.text);
	f = fake_slurm_pending(id, account, gpus, v.qos, v.token);
	f->view.time_limit_s = 24 * HOUR;
	if (v.kept_off) {		/* as the plugin does */
		strcat(f->admin_comment, " " WAITS_WORD);
		f->view.held = HELD_BY_ADMIN;
		f->view.priority = 0;
	}
	return f;
}

/* Three nodes have a run each and GPUs that are idle; vision has used most. The gang of audio needs two. */
static void setup(void)
{
	static const char *const projects[] = { "vision", "speech", "audio" };
	static const char *const minimum[] = { "1h", "2h", "4h" };

	scene_begin(&b, &d, &settings, &loop);
	fake_slurm_nodes(3, 8);
	for (size_t i = 0; i < 3; i++)
		books_allot(&b, books_project(&b, projects[i], 0), 1000 * GPU_H, 0, 0);
	for (uint32_t i = 0; i < 3; i++) {
		struct fake_job *f = submit(i + 1, "vision", 4, minimum[i], NOON - 10);

		fake_slurm_start(f, NOON - 10);
		fake_slurm_on(f, i, 4);
	}
	gang = submit(4, "audio", 16, "1h", NOON - WAITED);
	gang->view.node_count = 2;
	later = submit(5, "vision", 4, "30m", NOON);
	for (int64_t t = 1; t <= 3; t++)
		scene_pass(&b, loop, NOON + t);
	ck_assert_int_eq(books_ask(&b, "SELECT at FROM guard WHERE nodes = 'n0,n1'"), PLANNED);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

/* `budgetctl job set JOB --min-runtime MINIMUM`: "" or the refusal. */
static const char *set(const char *job, const char *minimum, int64_t at)
{
	struct request rq = { .b = &d, .uid = 1000, .now = at, .name = job,
		.body = json_object_new_object() };
	int rc;

	json_object_object_add(rq.body, "min_runtime", json_object_new_string(minimum));
	b.why.text[0] = '\0';
	errno = 0;
	rc = job_patch(&rq, &b.why);
	ck_assert_msg(rc == 0 ? !b.why.text[0] : errno == EEXIST, "%s", b.why.text);
	json_object_put(rq.reply);
	json_object_put(rq.body);
	return b.why.text;
}

static int64_t declared(int job)
{
	return books_ask(&b, "SELECT min_runtime FROM admission WHERE job = %d", job);
}

START_TEST(what_would_have_to_be_kept_off_is_not_declared)
{
	ck_assert_str_eq(set("5", "1h", NOON + 4), "");
	ck_assert_str_eq(set("5", "3h", NOON + 5),
		"refused: nodes are cleared for job 4, planned to start in 1 h 59 min. This job may use them with what it "
		"declares now, and may not with a minimum runtime of 3 h. Now --min-runtime=118m may be declared at most. "
		"Declare it when that one has started (budgetctl why 4); or cancel the job and submit it anew.");
	ck_assert_int_eq(declared(5), HOUR);
	ck_assert_str_eq(set("5", "118m", NOON + 6), "");
}
END_TEST

/* 30 min from now are too long since the last pass, which let it on these nodes. */
START_TEST(what_it_declares_now_may_have_been_too_long_since_the_last_pass_only)
{
	scene_pass(&b, loop, PLANNED - 30 * 60 - 1);
	ck_assert(!later->view.excluded);
	ck_assert_ptr_nonnull(strstr(set("5", "8h", PLANNED - 30 * 60 + 1), "refused: nodes are cleared for job 4"));
	ck_assert_str_eq(set("5", "29m", PLANNED - 30 * 60 + 1), "");	/* shorter is nobody's loss */
}
END_TEST

START_TEST(who_is_kept_off_already_declares_what_it_wants)
{
	scene_pass(&b, loop, PLANNED - 30 * 60 + 1);
	ck_assert_str_eq(later->view.excluded, "n0,n1");
	ck_assert_str_eq(set("5", "8h", PLANNED - 30 * 60 + 2), "");
}
END_TEST

START_TEST(who_goes_before_the_gang_declares_what_it_wants)
{
	struct fake_job *first = submit(6, "speech", 4, "30m", NOON - WAITED - 10);

	scene_pass(&b, loop, NOON + 4);
	ck_assert_str_eq(set("6", "8h", NOON + 5), "");
	ck_assert_str_eq(set("4", "8h", NOON + 5), "");		/* and so does the gang */
	scene_pass(&b, loop, NOON + 6);
	ck_assert(!first->view.excluded);
}
END_TEST

/* Slurm starts what fits as soon as it is released. It did not take the excluded nodes (_i 0), or the pass
 * has told it enough (1). What depends on another job (2) may start when that one ends, before another pass. */
START_TEST(what_is_held_is_released_when_slurm_keeps_it_off_and_not_before)
{
	struct fake_job *f = submit(7, "vision", 4, "3h", NOON + 3);
	int interval = settings->pass_interval_s;

	ck_assert_int_eq(f->view.held, HELD_BY_ADMIN);
	f->view.dependency = _i == 2 ? "afterany:5" : NULL;
	fake_slurm_is_busy(_i != 1);
	settings->pass_interval_s = _i == 1 ? 0 : interval;
	for (int64_t t = 6; t < 16; t += 5) {
		scene_pass(&b, loop, NOON + t);
		ck_assert(!f->released && f->view.held == HELD_BY_ADMIN && !f->view.excluded);
	}
	/* it is in the books before Slurm is told */
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM kept_off WHERE written = 'n0,n1'"), _i != 1);
	fake_slurm_is_busy(false);
	settings->pass_interval_s = interval;
	scene_pass(&b, loop, NOON + 16);
	scene_pass(&b, loop, NOON + 21);
	ck_assert_int_eq(f->view.held, HELD_NOT);
	ck_assert(f->released);
	ck_assert_str_eq(f->released_with, "n0,n1");
}
END_TEST

Suite *pass_guard_suite(void)
{
	Suite *s = suite_create("guard");
	TCase *t = tcase_create("declared");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_would_have_to_be_kept_off_is_not_declared);
	tcase_add_test(t, what_it_declares_now_may_have_been_too_long_since_the_last_pass_only);
	tcase_add_test(t, who_is_kept_off_already_declares_what_it_wants);
	tcase_add_test(t, who_goes_before_the_gang_declares_what_it_wants);
	tcase_add_loop_test(t, what_is_held_is_released_when_slurm_keeps_it_off_and_not_before, 0, 3);
	suite_add_tcase(s, t);
	return s;
}
