/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_admit.c - submissions and changes against the books; and sixty-four of them that race for the last
 * hours */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "lib/duration.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct books b;
static struct budgetd d;
static struct settings *settings;
static int64_t lab, vision, speech;

static void setup(void)
{
	books_open(&b);
	settings = settings_defaults();
	d = (struct budgetd){ .settings = settings, .ledger = b.l, .cluster = cluster_state_new() };
	ck_assert(settings && d.cluster);
	lab = books_project(&b, "lab", 0);
	vision = books_project(&b, "vision", lab);
	speech = books_project(&b, "speech", lab);
}

static void teardown(void)
{
	cluster_state_free(d.cluster);
	settings_free(settings);
	books_close(&b);
}

/* GPUs for four hours at most, an hour of them protected. */
static struct question asks(const char *gpus)
{
	struct question q = { .uid = 1000, .account = "vision", .time_limit_s = 4 * HOUR, .requeueable = true,
		.text = { [OPT_MIN_RUNTIME] = "1h" } };

	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = gpus;
	return q;
}

static struct verdict submit(const struct question *q)
{
	struct verdict v;

	ck_assert_msg(admit(&d, q, "{}", 0, NOON, &v, &b.why) == 0, "%s", b.why.text);
	ck_assert_msg(ledger_write(b.l, &b.why) == 0, "%s", b.why.text);
	ledger_invariants(&b);
	return v;
}

START_TEST(a_submission_that_fits_is_written_down_with_its_hold)
{
	struct question q = asks("gres:gpu:2");
	struct verdict v;

	books_allot(&b, vision, 8 * GPU_H, 0, 0);
	v = submit(&q);
	ck_assert(v.accepted && v.tier == TIER_FUNDED && !strcmp(v.account, "vision") &&
		!strcmp(v.qos, settings->qos_funded));
	ck_assert(token_valid(v.token));
	ck_assert_int_eq(books_ask(&b,
		"SELECT units FROM hold JOIN admission a ON a.id = admission WHERE token = '%s'", v.token),
		2 * GPU_H);
	ck_assert_int_eq(books_available(&b, vision, NOON), 6 * GPU_H);
}
END_TEST

START_TEST(what_does_not_fit_is_written_down_without_one)
{
	struct question q = asks("gres:gpu:9");
	struct verdict v;

	books_allot(&b, vision, 8 * GPU_H, 0, 0);
	v = submit(&q);
	ck_assert(v.accepted && v.tier == TIER_FREE && !strcmp(v.qos, settings->qos_free) && v.token[0]);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold"), 0);
	q.text[OPT_TIER] = "funded";
	v = submit(&q);
	ck_assert(!v.accepted && !v.token[0]);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM admission"), 1);
}
END_TEST

/* Each of these is answered with a refusal that says why, and nothing is written. */
static const struct {
	const char *account, *gpus, *min_runtime, *says;
} refused[] = {
	{ "nobody", "gres:gpu:1", "1h", "there is no project nobody" },
	{ "two words", "gres:gpu:1", "1h", "the name of a project is that of a Slurm account" },
	{ NULL, "gres:gpu:1", "1h", "no account was given" },
	{ "", "gres:gpu:1", "1h", "no account was given" },
	{ "vision", "gres:gpu:-1", "1h", "refused: " },
	{ "vision", "gres:gpu:1000000000000", "1h", "refused: " },
	{ "vision", "gres:gpu:1", "9h", "maximum of 8 h" },
	{ "vision", "gres:gpu:1", "soon", "--gpu-min-runtime" },
	{ "vision", "gres:gpu:1", "-1h", "--gpu-min-runtime" },
};

START_TEST(what_makes_no_sense_is_refused_with_a_reason)
{
	struct question q = asks(refused[_i].gpus);
	struct verdict v;

	q.account = refused[_i].account;
	q.text[OPT_MIN_RUNTIME] = refused[_i].min_runtime;
	v = submit(&q);
	ck_assert(!v.accepted && v.tier == TIER_UNSET && !v.token[0]);
	ck_assert_msg(strstr(v.text, refused[_i].says), "\"%s\"", v.text);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM admission"), 0);
}
END_TEST

START_TEST(a_job_without_gpus_is_left_alone)
{
	struct question q = asks(NULL);
	struct verdict v = submit(&q);

	ck_assert(v.accepted && v.tier == TIER_UNSET && !v.text[0] && !v.token[0]);
}
END_TEST

START_TEST(of_an_array_as_many_tasks_are_held_for_as_fit)
{
	struct question q = asks("gres:gpu:2");
	struct verdict v;

	q.gpus.array = "0-9%2";
	books_allot(&b, vision, 7 * GPU_H, 0, 0);
	v = submit(&q);
	ck_assert(v.accepted && v.tier == TIER_FUNDED && v.waits && !strcmp(v.qos, settings->qos_funded));
	ck_assert_int_eq(books_ask(&b, "SELECT tasks FROM hold"), 3);
	ck_assert_int_eq(books_available(&b, vision, NOON), GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT tasks FROM admission WHERE parked_at = %d AND waits_at = %d",
		(int)NOON, (int)vision), 10);
	v = submit(&q);		/* not one task fits any more */
	ck_assert(v.tier == TIER_FREE && !v.waits);
}
END_TEST

START_TEST(where_jobs_wait_a_small_one_does_not_overtake)
{
	struct question large = asks("gres:gpu:9"), small = asks("gres:gpu:1"), other = asks("gres:gpu:1");
	struct verdict v;

	settings->on_exhausted = EXHAUSTED_WAIT;
	other.account = "speech";
	books_allot(&b, vision, 8 * GPU_H, 0, 0);
	v = submit(&small);
	ck_assert(v.accepted && !v.waits);
	v = submit(&large);
	ck_assert(v.accepted && v.tier == TIER_FUNDED && v.waits && v.token[0]);
	ck_assert_ptr_null(books_try(&b, "UPDATE admission SET job = 12 WHERE waits_at IS NOT NULL"));
	v = submit(&small);
	ck_assert_msg(v.accepted && v.waits && strstr(v.text, "job 12 waits in front of it at vision"), "%s",
		v.text);
	v = submit(&other);	/* what vision has no more of, speech does not wait for */
	ck_assert(v.accepted && !v.waits);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold"), 2);
	small.text[OPT_TIER] = "funded";
	v = submit(&small);
	ck_assert(v.accepted && v.waits);
	large.begin = NOON + HOUR;
	v = submit(&large);	/* not eligible: nothing is held, neither hours nor the job */
	ck_assert(v.accepted && v.tier == TIER_FUNDED && !v.waits);
}
END_TEST

START_TEST(what_is_not_yet_eligible_reserves_nothing)
{
	struct question q = asks("gres:gpu:2");

	books_allot(&b, vision, 8 * GPU_H, 0, 0);
	q.begin = NOON + HOUR;
	ck_assert(submit(&q).tier == TIER_FUNDED);
	q.begin = 0;
	q.held = true;
	ck_assert(submit(&q).tier == TIER_FUNDED);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold"), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT min(per_task) FROM admission"), 2 * GPU_H);
}
END_TEST

/* --- changes ------------------------------------------------------------------------------------ */

/* vision has 8 GPU-h and so has lab; a job (or an array of `tasks`) of 2 GPUs holds an hour of each. Then it
 * wants to become another. */
static const struct {
	const char *what, *gpus, *account;
	int64_t time_limit_s, tasks, running;
	const char *says;		/* NULL = accepted */
} changes[] = {
	{ "nothing", "gres:gpu:2", "vision", 4 * HOUR, 1, 0, NULL },
	{ "all that is left and what it holds", "gres:gpu:8", "vision", 4 * HOUR, 1, 0, NULL },
	{ "one more than that", "gres:gpu:9", "vision", 4 * HOUR, 1, 0, "the change is refused: the job needs 9.00 GPU-h" },
	{ "fewer", "gres:gpu:1", "vision", 4 * HOUR, 1, 0, NULL },
	{ "another time limit costs nothing", "gres:gpu:2", "vision", 40 * HOUR, 1, 0, NULL },
	{ "no time limit", "gres:gpu:2", "vision", DURATION_UNLIMITED, 1, 0, "no time limit" },
	{ "a sibling, under a lab that has its hold already", "gres:gpu:8", "speech", 4 * HOUR, 1, 0, NULL },
	{ "a sibling, with more than the lab has", "gres:gpu:9", "speech", 4 * HOUR, 1, 0, "lab has 8.00 of 8.00" },
	{ "a project that does not exist", "gres:gpu:2", "nobody", 4 * HOUR, 1, 0, "there is no project nobody" },
	{ "an array as it is", "gres:gpu:2", "vision", 4 * HOUR, 4, 0, NULL },
	{ "an array grows with all its tasks", "gres:gpu:3", "vision", 4 * HOUR, 4, 0, "needs 12.00 GPU-h (4 tasks x 3 GPUs" },
	{ "two tasks run, the third grows into what is free", "gres:gpu:4", "vision", 4 * HOUR, 3, 2, NULL },
	{ "two tasks run, the third grows beyond", "gres:gpu:5", "vision", 4 * HOUR, 3, 2, "needs 5.00 GPU-h (5 GPUs" },
	{ "a run is not priced anew", "gres:gpu:2", "vision", 40 * HOUR, 1, 1, NULL },
};

static struct verdict change(const struct verdict *first, const struct question *q)
{
	struct admission_row a;
	struct verdict v;

	ck_assert_int_eq(ledger_begin(b.l, LEDGER_HOLDS, &b.why), 0);
	ck_assert_int_eq(admission_by_token(b.l, first->token, &a, &b.why), 1);
	ck_assert_msg(admit_change(&d, q, NULL, &a, NOON, &v, &b.why) == 0, "%s", b.why.text);
	ledger_rollback(b.l);
	return v;
}

static void start_tasks(const struct verdict *v, int64_t tasks)
{
	struct submission s = { .project = vision, .gpus = 2, .min_runtime_s = HOUR, .now = NOON };
	struct run r;

	s.admission.id = books_ask(&b, "SELECT id FROM admission WHERE token = '%s'", v->token);
	for (int64_t i = 0; i < tasks; i++)
		books_start(&b, &s, 10 + i, NOON, &r);
}

START_TEST(a_change_is_a_check_of_the_difference)
{
	struct question q = asks("gres:gpu:2");
	char array[8];
	struct verdict v;

	books_allot(&b, lab, 8 * GPU_H, 0, 0);
	books_allot(&b, vision, 8 * GPU_H, 0, 0);
	snprintf(array, sizeof(array), "1-%d", (int)changes[_i].tasks);
	q.gpus.array = changes[_i].tasks > 1 ? array : NULL;
	v = submit(&q);
	ck_assert(v.tier == TIER_FUNDED);
	start_tasks(&v, changes[_i].running);
	q.gpus.tres_per_job = changes[_i].gpus;
	q.account = changes[_i].account;
	q.time_limit_s = changes[_i].time_limit_s;
	v = change(&v, &q);
	ck_assert_msg(v.accepted == !changes[_i].says, "%s: %s", changes[_i].what, v.text);
	ck_assert_msg(v.accepted || strstr(v.text, changes[_i].says), "%s: \"%s\"", changes[_i].what, v.text);
	ck_assert_msg(!strstr(v.text, "--gpu-tier"), "%s offers what a change cannot do: \"%s\"",
		changes[_i].what, v.text);
}
END_TEST

START_TEST(a_job_may_become_smaller_even_when_its_project_is_overspent)
{
	struct question q = asks("gres:gpu:4");
	int64_t a = books_allot(&b, vision, 4 * GPU_H, 0, 0);
	struct verdict v = submit(&q), smaller;

	ck_assert_int_eq(books_deposit(&b, a, -3 * GPU_H, ""), 0);	/* a pull-back */
	q.gpus.tres_per_job = "gres:gpu:2";
	smaller = change(&v, &q);
	ck_assert_msg(smaller.accepted, "%s", smaller.text);
	q.gpus.tres_per_job = "gres:gpu:5";
	ck_assert(!change(&v, &q).accepted);
}
END_TEST

/* --- the race ----------------------------------------------------------------------------------- */

#define RACERS 64
#define ROUNDS 20

struct racer {
	pthread_t thread;
	pthread_barrier_t *line;
	const struct question *q;
	struct verdict v;
	int rc;
};

static void *race(void *arg)
{
	struct racer *r = arg;
	struct fault why = {0};

	pthread_barrier_wait(r->line);
	r->rc = admit(&d, r->q, "{}", 0, NOON, &r->v, &why);
	if (r->rc == 0)
		r->rc = ledger_write(b.l, &why);
	return NULL;
}

/* One job's worth of budget, at the leaf or above it; all ask at once. */
static int race_once(struct question *q)
{
	static struct racer racers[RACERS];
	pthread_barrier_t line;
	int funded = 0;

	ck_assert_int_eq(pthread_barrier_init(&line, NULL, RACERS), 0);
	for (int i = 0; i < RACERS; i++) {
		racers[i] = (struct racer){ .line = &line, .q = &q[i % 2] };
		ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
	}
	for (int i = 0; i < RACERS; i++) {
		ck_assert_int_eq(pthread_join(racers[i].thread, NULL), 0);
		ck_assert_int_eq(racers[i].rc, 0);
		funded += racers[i].v.tier == TIER_FUNDED;
	}
	pthread_barrier_destroy(&line);
	return funded;
}

START_TEST(of_those_that_race_for_the_last_hours_one_gets_them)
{
	struct question q[2] = { asks("gres:gpu:2"), asks("gres:gpu:2") };
	int64_t a = books_allot(&b, lab, 2 * GPU_H + 1, 0, 0);

	q[1].account = "speech";	/* two projects, one money */
	books_allot(&b, vision, 1000 * GPU_H, 0, 0);
	for (int round = 1; round <= ROUNDS; round++) {
		ck_assert_int_eq(race_once(q), 1);
		ledger_invariants(&b);
		ck_assert_int_eq(books_available(&b, vision, NOON), 1);
		ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM hold"), round);
		ck_assert_int_eq(books_deposit(&b, a, 2 * GPU_H, ""), 0);
	}
}
END_TEST

Suite *admit_suite(void)
{
	Suite *s = suite_create("admit");
	TCase *t = tcase_create("submission"), *c = tcase_create("change"), *r = tcase_create("race");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_submission_that_fits_is_written_down_with_its_hold);
	tcase_add_test(t, what_does_not_fit_is_written_down_without_one);
	tcase_add_loop_test(t, what_makes_no_sense_is_refused_with_a_reason, 0,
		sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(t, a_job_without_gpus_is_left_alone);
	tcase_add_test(t, of_an_array_as_many_tasks_are_held_for_as_fit);
	tcase_add_test(t, where_jobs_wait_a_small_one_does_not_overtake);
	tcase_add_test(t, what_is_not_yet_eligible_reserves_nothing);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, a_change_is_a_check_of_the_difference, 0,
		sizeof(changes) / sizeof(changes[0]));
	tcase_add_test(c, a_job_may_become_smaller_even_when_its_project_is_overspent);
	suite_add_tcase(s, c);
	tcase_add_checked_fixture(r, setup, teardown);
	tcase_set_timeout(r, 120);
	tcase_add_test(r, of_those_that_race_for_the_last_hours_one_gets_them);
	suite_add_tcase(s, r);
	return s;
}
