/* SPDX-License-Identifier: GPL-2.0-or-later
 * pass_users.c - whole passes over a real ledger and a fake Slurm: a project that is divided among its
 * users */
#include "budgetd/admit.h"
#include "budgetd/ledger_user_share.h"
#include "tests/unit/fake_slurm.h"
#include "tests/unit/pass_scene.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <string.h>

enum { ADA = 1001, BOB = 1002 };

static struct books b;
static struct budgetd d;
static struct settings *settings;
static struct controller *loop;
static int64_t vision;

static int divide(struct ledger *l, void *arg, struct fault *why)
{
	struct project p;

	(void)arg;
	if (project_by_id(l, vision, &p, why) != 1)
		return -1;
	p.user_shares = USER_SHARES_YES;
	return project_set(l, &p, why);
}

static void setup(void)
{
	scene_begin(&b, &d, &settings, &loop);
	settings->lane.gpus = 0;
	fake_slurm_nodes(2, 8);
	vision = books_project(&b, "vision", 0);
	books_allot(&b, vision, 1000 * GPU_H, 0, 0);
	ck_assert_msg(books_do(&b, LEDGER_MONEY, divide, NULL) == 0, "%s", b.why.text);
}

static void teardown(void)
{
	scene_end(&b, &d, settings, loop);
}

static void pass(int64_t now)
{
	scene_pass(&b, loop, now);
}

/* Submitted through the plugin, in the order of their ids, and in the queue. */
static struct fake_job *submit(uint32_t id, int64_t uid, int gpus, const char *tier, const char *team_rank)
{
	char text[32], request[64];
	struct question q = { .uid = uid, .account = "vision", .time_limit_s = 24 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = tier ? NULL : "1h", [OPT_TIER] = tier,
			[OPT_TEAM_RANK] = team_rank } };
	struct fake_job *f;
	struct verdict v;

	snprintf(text, sizeof(text), "gres:gpu:%d", gpus);
	snprintf(request, sizeof(request), "{\"uid\":%jd}", (intmax_t)uid);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = text;
	ck_assert_msg(admit(&d, &q, request, 0, NOON + id, &v, &b.why) == 0 && ledger_write(b.l, &b.why) == 0,
		"%s", b.why.text);
	ck_assert_msg(v.accepted, "%s", v.text);
	f = fake_slurm_pending(id, "vision", gpus, v.qos, v.token);
	f->view.uid = (uid_t)uid;
	f->view.request.tres_per_job = gpus == 8 ? "gres:gpu:8" : "gres:gpu:1";
	return f;
}

#define goes_before(a, b) ck_assert_int_gt((a)->view.site_factor, (b)->view.site_factor)

static int weigh(struct ledger *l, void *arg, struct fault *why)
{
	struct change_words w = { .at = NOON - 8 * 24 * HOUR, .actor = "root" };

	return user_share_set(l, &w, arg, why);
}

/* As if it had been set a week ago. */
static void give_weight(int64_t uid, const char *user, int64_t share)
{
	struct user_share s = { .project = vision, .uid = uid, .share = share };

	snprintf(s.user, sizeof(s.user), "%s", user);
	ck_assert_msg(books_do(&b, LEDGER_MONEY, weigh, &s) == 0, "%s", b.why.text);
}

/* ada runs on all 8 GPUs of a node, and both have a job that waits, hers the older. */
START_TEST(the_user_who_had_less_goes_first)
{
	struct fake_job *runs = submit(1, ADA, 8, NULL, NULL), *hers = submit(2, ADA, 1, NULL, NULL),
		*his = submit(3, BOB, 1, NULL, NULL);

	fake_slurm_start(runs, NOON - HOUR);
	fake_slurm_on(runs, 0, 8);
	pass(NOON + 10);		/* the run is in the books from the next pass on */
	pass(NOON + 20);
	goes_before(his, hers);
}
END_TEST

/* Both run: bob on 1 GPU, ada on 8. A weight of 9 puts her first, and 0 behind everybody. */
START_TEST(a_weight_turns_the_order)
{
	struct fake_job *big = submit(1, ADA, 8, NULL, NULL), *small = submit(2, BOB, 1, NULL, NULL);
	struct fake_job *his = submit(3, BOB, 1, NULL, NULL), *hers = submit(4, ADA, 1, NULL, NULL);

	fake_slurm_start(big, NOON - HOUR);
	fake_slurm_on(big, 0, 8);
	fake_slurm_start(small, NOON - HOUR);
	fake_slurm_on(small, 1, 1);
	pass(NOON + 10);
	goes_before(his, hers);
	give_weight(ADA, "ada", 9);
	pass(NOON + 20);
	goes_before(hers, his);
	give_weight(ADA, "ada", 0);
	pass(NOON + 30);
	goes_before(his, hers);
}
END_TEST

START_TEST(a_team_rank_is_among_the_own_jobs_then)
{
	struct fake_job *runs = submit(1, ADA, 8, NULL, NULL), *second = submit(2, ADA, 1, NULL, NULL),
		*first = submit(3, ADA, 1, NULL, "1");
	struct fake_job *his = submit(4, BOB, 1, NULL, NULL);

	fake_slurm_start(runs, NOON - HOUR);
	fake_slurm_on(runs, 0, 8);
	pass(NOON + 10);		/* the run is in the books from the next pass on */
	pass(NOON + 20);
	goes_before(his, first);
	goes_before(first, second);
}
END_TEST

START_TEST(in_the_free_tier_as_well)
{
	struct fake_job *runs = submit(1, ADA, 8, "free", NULL), *hers = submit(2, ADA, 1, "free", NULL),
		*his = submit(3, BOB, 1, "free", NULL);

	fake_slurm_start(runs, NOON - HOUR);
	fake_slurm_on(runs, 0, 8);
	pass(NOON + 10);
	pass(NOON + 20);
	goes_before(his, hers);
}
END_TEST

/* Both nodes are ada's, past the minimum runtime: one of them is told to go for bob's job, by what each of
 * the two had. */
START_TEST(a_run_of_who_had_more_gives_way)
{
	struct fake_job *one = submit(1, ADA, 8, NULL, NULL), *two = submit(2, ADA, 8, NULL, NULL), *hers,
		*his;

	fake_slurm_start(one, NOON - 2 * HOUR);
	fake_slurm_on(one, 0, 8);
	fake_slurm_start(two, NOON - 2 * HOUR);
	fake_slurm_on(two, 1, 8);
	hers = submit(3, ADA, 8, NULL, NULL);
	pass(NOON + 10);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM leaving"), 0);	/* not for a job of her own */
	his = submit(4, BOB, 8, NULL, NULL);
	pass(NOON + 20);
	goes_before(his, hers);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM leaving WHERE for_job = 4"), 1);
	ck_assert_msg(strstr(one->told, "whose user has used 0") ||
		strstr(two->told, "whose user has used 0"), "%s %s", one->told, two->told);
}
END_TEST

Suite *pass_users_suite(void)
{
	Suite *s = suite_create("users of a pass");
	TCase *t = tcase_create("divided");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_user_who_had_less_goes_first);
	tcase_add_test(t, a_weight_turns_the_order);
	tcase_add_test(t, a_team_rank_is_among_the_own_jobs_then);
	tcase_add_test(t, in_the_free_tier_as_well);
	tcase_add_test(t, a_run_of_who_had_more_gives_way);
	suite_add_tcase(s, t);
	return s;
}
