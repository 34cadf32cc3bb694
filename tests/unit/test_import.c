/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_import.c - runs out of Slurm's accounting: once, with their parts, counted or paid, and never with
 * money that is not there */
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_period.h"
#include "budgetd/people.h"
#include "budgetd/rates.h"
#include "budgetd/routes.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

static struct books b;
static int64_t lab, vision;

#define MARCH 1772323200		/* 2026-03-01T00:00:00Z: NOON of the stories is in January 2027 */
#define GPUS 2

static void setup(void)
{
	books_open(&b);
	lab = books_project(&b, "lab", 0);
	vision = books_project(&b, "vision", lab);
}

static void teardown(void)
{
	books_close(&b);
}

/* GPUS GPUs of vision from `start` for some hours. */
static struct import_run run_of(int64_t job, int64_t start, int64_t hours)
{
	return (struct import_run){ .cluster = "c", .label = "job", .partition = "gpu", .state = "COMPLETED",
		.job = job, .start = start, .project = vision, .uid = 1000, .tier = TIER_FUNDED, .npieces = 1,
		.pieces = { { .submit = start - 60, .from = start, .end = start + hours * HOUR, .gpus = GPUS,
		.price = GPUS * AMOUNT_RATE_ONE, .tres = "gres/gpu=2" } } };
}

/* It was made larger or smaller after `hours` more. */
static void resize(struct import_run *r, int64_t gpus, int64_t hours)
{
	int64_t at = r->pieces[r->npieces - 1].end;

	r->pieces[r->npieces++] = (struct import_piece){ .submit = at, .from = at, .end = at + hours * HOUR,
		.gpus = gpus, .price = gpus * AMOUNT_RATE_ONE, .tres = "gres/gpu=x" };
}

static struct import_result import(struct import_run r)
{
	return books_import(&b, &r, false);
}

static struct import_result charge(struct import_run r)
{
	return books_import(&b, &r, true);
}

#define parts_are(what, n) ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM charge WHERE " what), n)

/* --- suspended time that costs nothing ------------------------------------------------------------ */

START_TEST(suspended_seconds_of_what_is_imported_cost_nothing)
{
	struct import_run r = run_of(7, MARCH - HOUR, 2);
	struct import_result out;

	books_allot(&b, vision, 1000 * GPU_H, 0, 0);
	r.pieces[0].suspended_s = HOUR / 2;
	out = _i ? charge(r) : import(r);
	ck_assert_int_eq(out.units, 3 * GPU_H);
	ck_assert_int_eq(out.gpu_seconds, 3 * HOUR);
	ck_assert_int_eq(books_ask(&b,
		"SELECT part_end - part_start FROM charge WHERE kind = 'suspended' AND units = 0"), HOUR / 2);
	parts_are("kind <> 'suspended'", 2);
}
END_TEST

/* --- a row that contradicts itself, as budgetd takes rows ----------------------------------------- */

/* A row of 2 GPUs that lasted two hours from its start, and a sound one behind it. */
static const struct suspension {
	const char *name;
	int how;			/* enum suspended_time */
	int64_t submitted_s, suspended_s;	/* submitted_s: after the start, of a later piece */
	int64_t runs, units;
	const char *aside;		/* a part of the reason; NULL: it is taken */
} suspensions[] = {
	{ "a part of it", SUSPENDED_NOT_CHARGED, -60, HOUR, 2, 2 * GPU_H, NULL },
	{ "all of it", SUSPENDED_NOT_CHARGED, -60, 2 * HOUR, 2, 0, NULL },
	{ "longer than it lasted", SUSPENDED_NOT_CHARGED, -60, 2 * HOUR + 1, 1, 0, "it was suspended for 7201 s, and lasted 7200 s" },
	{ "longer, where it is charged", SUSPENDED_CHARGED, -60, 2 * HOUR + 1, 2, 4 * GPU_H, NULL },
	{ "in the pieces before, too", SUSPENDED_NOT_CHARGED, HOUR, 2 * HOUR - 1, 2, 0, NULL },
};

static struct json_object *rows_sent(struct budgetd *d, const struct suspension *x)
{
	struct request rq = { .b = d, .administrator = true, .now = NOON, .body = json_object_new_object() };
	struct fault why = {0};
	char rows[512];

	snprintf(rows, sizeof(rows), "7\tc\t7\t7\tvision\t1000\tgpu\tnormal\t%jd\t%d\t%d\tCOMPLETED\tgres/gpu=2\t%jd\n"
		"8\tc\t8\t8\tvision\t1000\tgpu\tnormal\t%d\t%d\t%d\tCOMPLETED\tgres/gpu=1\t0\n",
		(intmax_t)(MARCH + x->submitted_s), MARCH, MARCH + 2 * HOUR, (intmax_t)x->suspended_s, MARCH, MARCH,
		MARCH + HOUR);
	json_object_object_add(rq.body, "rows", json_object_new_string(rows));
	rq.route = route_find("POST", "/v1/imports", &rq.name);
	ck_assert_msg(rq.route->handle(&rq, &why) == 0, "%s: %s", x->name, why.text);
	json_object_put(rq.body);
	return rq.reply;
}

static void answer_is(const struct suspension *x, struct json_object *reply)
{
	struct json_object *runs = NULL, *aside = NULL;
	const char *text = json_object_to_json_string(reply);

	ck_assert(json_object_object_get_ex(reply, "runs", &runs) &&
		json_object_object_get_ex(reply, "rows_set_aside", &aside));
	ck_assert_msg(json_object_get_int64(runs) == x->runs, "%s: %s", x->name, text);
	ck_assert_msg(json_object_array_length(aside) == (x->aside != NULL), "%s: %s", x->name, text);
	ck_assert_msg(!x->aside || (strstr(text, x->aside) && strstr(text, "\"line\": 7")), "%s: %s", x->name, text);
}

START_TEST(a_row_that_was_suspended_for_longer_than_it_lasted_is_set_aside)
{
	const struct suspension *x = &suspensions[_i];
	struct settings *settings = settings_defaults();
	struct budgetd d = { .settings = settings, .ledger = b.l, .cluster = cluster_state_new(),
		.rates = rates_new(), .people = people_new("", &b.why) };
	struct json_object *reply;

	ck_assert(settings && d.cluster && d.rates && d.people);
	settings->charge_suspended = x->how;
	reply = rows_sent(&d, x);
	answer_is(x, reply);
	json_object_put(reply);
	ledger_invariants(&b);
	ck_assert_msg(books_ask(&b, "SELECT coalesce(sum(units), 0) FROM charge WHERE run IN (SELECT id FROM run WHERE job = 7)")
		== x->units, "%s", x->name);
	parts_are("run IN (SELECT id FROM run WHERE job = 8) AND units = 3600000", 1);
	people_free(d.people);
	rates_free(d.rates);
	cluster_state_free(d.cluster);
	settings_free(settings);
}
END_TEST

/* --- dated -------------------------------------------------------------------------------------- */

#define DECEMBER 1796083200		/* 2026-12-01T00:00:00Z */
#define JANUARY  (DECEMBER + 31 * 24 * HOUR)

static int close_november(struct ledger *l, void *arg, struct fault *why)
{
	struct period p;

	(void)arg;
	if (period_parse("2026-11", &p, why) < 0)
		return -1;
	p.closed_at = NOON;
	snprintf(p.actor, sizeof(p.actor), "ada");
	return period_close(l, &p, true, why);
}

START_TEST(what_ran_in_an_open_month_is_booked_in_it)
{
	import(run_of(7, DECEMBER - HOUR, 2));
	ck_assert_int_eq(books_ask(&b, "SELECT dated FROM charge WHERE seq = 0"), DECEMBER - 1);
	ledger_invariants(&b);
}
END_TEST

START_TEST(what_ran_in_a_closed_month_is_booked_in_the_open_one)
{
	ck_assert_msg(books_do(&b, LEDGER_MONEY, close_november, NULL) == 0, "%s", b.why.text);
	import(run_of(7, DECEMBER - HOUR, 2));
	parts_are("seq = 0 AND dated IS NULL", 1);
	ck_assert_int_eq(books_ask(&b, "SELECT dated FROM charge WHERE seq = 1"), JANUARY - 1);
	ledger_invariants(&b);
}
END_TEST

START_TEST(what_is_charged_to_allocations_is_booked_as_it_is_charged)
{
	books_allot(&b, vision, 2 * GPU_H, 0, 0);
	charge(run_of(7, DECEMBER - 3 * HOUR, 3));
	parts_are("kind IN ('funded', 'uncovered') AND dated IS NULL", 2);
	ledger_invariants(&b);
}
END_TEST

/* --- counted ------------------------------------------------------------------------------------ */

START_TEST(what_was_imported_once_is_not_imported_twice)
{
	struct import_result first = import(run_of(7, MARCH + HOUR, 3)),
		second = import(run_of(7, MARCH + HOUR, 3));

	ck_assert_int_eq(first.runs, 1);
	ck_assert_int_eq(first.known, 0);
	ck_assert_int_eq(first.gpu_seconds, 6 * HOUR);
	ck_assert_int_eq(first.units, 6 * GPU_H);
	ck_assert_int_eq(second.runs, 0);
	ck_assert_int_eq(second.known, 1);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM charge"), 6 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM import"), 1);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM journal"), 0);
}
END_TEST

START_TEST(the_same_row_twice_in_one_batch_counts_once)
{
	struct import_run r = run_of(7, MARCH, 1);

	r.pieces[r.npieces++] = r.pieces[0];
	ck_assert_int_eq(import(r).known, 1);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM charge"), 2 * GPU_H);
}
END_TEST

START_TEST(the_same_row_with_another_end_is_told_and_changes_nothing)
{
	struct import_run r = run_of(7, MARCH, 1);

	r.pieces[r.npieces] = r.pieces[0];
	r.pieces[r.npieces++].end += HOUR;
	ck_assert_int_eq(import(r).known, 0);
	ck_assert_int_eq(b.booked_to, MARCH + HOUR);
	ck_assert_int_eq(import(run_of(7, MARCH, 2)).known, 0);
	ck_assert_int_eq(b.booked_to, MARCH + HOUR);
	ck_assert_int_eq(import(run_of(7, MARCH, 1)).known, 1);
	ck_assert_int_eq(b.booked_to, 0);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM charge"), 2 * GPU_H);
}
END_TEST

START_TEST(a_later_end_of_the_last_piece_is_no_run_of_its_own)
{
	struct import_run r = run_of(7, MARCH, 1);

	resize(&r, 4, 1);
	import(r);
	r.pieces[1].end += HOUR;
	ck_assert_int_eq(import(r).runs, 0);
	ck_assert_int_eq(b.booked_to, MARCH + 2 * HOUR);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM run"), 1);
}
END_TEST

START_TEST(a_requeued_job_has_several_runs)
{
	import(run_of(7, MARCH, 1));
	ck_assert_int_eq(import(run_of(7, MARCH + 2 * HOUR, 1)).runs, 1);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM run WHERE job = 7"), 2);
}
END_TEST

START_TEST(a_run_that_the_loop_knows_is_left_alone)
{
	struct submission s = { .project = vision, .gpus = 1, .min_runtime_s = HOUR, .now = NOON };
	struct import_run told = run_of(12, NOON + 5, 1);
	struct run r;

	told.pieces[0].submit = NOON;
	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 12, NOON + 5, &r);
	ck_assert_int_eq(import(told).known, 1);
	ck_assert_int_eq(books_end(&b, &r, NOON + 5 + HOUR), 0);
	ck_assert_int_eq(import(told).known, 1);
	told.pieces[0].submit = NOON + 1;		/* slurmctld and slurmdbd may differ in that */
	ck_assert_int_eq(import(told).known, 1);
	parts_are("kind = 'imported'", 0);
}
END_TEST

START_TEST(the_loop_does_not_open_what_was_imported)
{
	struct import_run told = run_of(12, NOON - 7 * HOUR, 2);
	struct run out;

	import(told);
	ck_assert_int_eq(ledger_begin(b.l, LEDGER_HOLDS, &b.why), 0);
	out = (struct run){ .cluster = "c", .job = 12, .submit = told.pieces[0].submit, .start = told.start,
		.label = "12", .partition = "gpu", .project = vision, .tres = "" };
	ck_assert_int_eq(run_open(b.l, &out, &b.why), 1);
	ck_assert_int_ne(out.ended, 0);
	ledger_rollback(b.l);
}
END_TEST

START_TEST(a_run_is_split_at_the_edge_of_the_month)
{
	import(run_of(7, MARCH - 2 * HOUR, 5));
	parts_are("kind = 'imported'", 2);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM charge WHERE part_end = %d", MARCH), 4 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM charge WHERE part_start = %d", MARCH), 6 * GPU_H);
}
END_TEST

START_TEST(a_run_in_the_free_tier_costs_nothing)
{
	struct import_run r = run_of(7, MARCH, 3);

	r.tier = TIER_FREE;
	ck_assert_int_eq(import(r).units, 0);
	parts_are("kind = 'free' AND units = 0", 1);
}
END_TEST

START_TEST(it_counts_for_fair_share_as_far_as_it_is_in_the_window)
{
	import(run_of(7, NOON - 10 * HOUR, 4));
	import(run_of(8, NOON - 100 * HOUR, 4));
	ck_assert_int_eq(books_occupied(&b, vision, NOON - 8 * HOUR), 2 * GPUS * GPU_H);
}
END_TEST

/* --- resized ------------------------------------------------------------------------------------ */

START_TEST(the_rows_of_a_resized_job_are_parts_of_one_run)
{
	struct import_run r = run_of(7, MARCH, 1);
	struct import_result told;

	resize(&r, 4, 2);
	told = import(r);
	ck_assert_int_eq(told.runs, 1);
	ck_assert_int_eq(told.units, 10 * GPU_H);
	parts_are("run = 1", 2);
	ck_assert_int_eq(books_ask(&b, "SELECT ended FROM run"), MARCH + 3 * HOUR);
	told = import(r);
	ck_assert_int_eq(told.runs, 0);
	ck_assert_int_eq(told.known, 2);
}
END_TEST

START_TEST(a_file_that_begins_in_the_middle_of_a_run_and_one_with_all_of_it_count_it_once)
{
	struct import_run all = run_of(7, MARCH, 1), end = all;

	resize(&all, 4, 2);
	end.pieces[0] = all.pieces[1];
	ck_assert_int_eq(import(end).units, 8 * GPU_H);
	ck_assert_int_eq(import(all).known, 1);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM charge"), 10 * GPU_H);
	ck_assert_int_eq(import(end).known, 1);
	ck_assert_int_eq(import(all).known, 2);
}
END_TEST

START_TEST(a_file_that_ends_in_the_middle_of_a_run_and_one_with_all_of_it_count_it_once)
{
	struct import_run all = run_of(7, MARCH, 1), begin = all;

	resize(&all, 4, 2);
	import(begin);
	ck_assert_int_eq(import(all).known, 1);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM charge"), 10 * GPU_H);
	ck_assert_int_eq(import(all).known, 2);
}
END_TEST

/* --- charged ------------------------------------------------------------------------------------ */

START_TEST(it_is_charged_to_the_project_and_those_above_it)
{
	struct import_result told;

	books_allot(&b, lab, 100 * GPU_H, 0, 0);
	books_allot(&b, vision, 50 * GPU_H, 0, 0);
	told = charge(run_of(7, MARCH - HOUR, 3));
	ck_assert_int_eq(told.units, 6 * GPU_H);
	ck_assert_int_eq(told.unpaid, 0);
	ck_assert_int_eq(books_available(&b, vision, NOON), 44 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum WHERE allocation = 1"), 6 * GPU_H);
	ck_assert_int_eq(books_ask(&b,
		"SELECT count(*) FROM journal WHERE kind = 'charge' AND at = %d AND actor = 'ada'", NOON), 4);
	ck_assert_int_eq(charge(run_of(7, MARCH - HOUR, 3)).known, 1);
	ck_assert_int_eq(books_available(&b, vision, NOON), 44 * GPU_H);
}
END_TEST

START_TEST(what_no_money_is_there_for_is_uncovered_and_nothing_is_overdrawn)
{
	struct import_result told;

	books_allot(&b, lab, 3 * GPU_H, 0, 0);
	books_allot(&b, vision, 50 * GPU_H, 0, 0);
	told = charge(run_of(7, MARCH, 3));
	ck_assert_int_eq(told.units, 3 * GPU_H);
	ck_assert_int_eq(told.unpaid, 3 * GPU_H);
	parts_are("kind = 'uncovered' AND units = 0", 1);
	ck_assert_int_eq(books_available(&b, vision, NOON), 0);
	ck_assert_int_eq(charge(run_of(8, MARCH, 3)).unpaid, 6 * GPU_H);
}
END_TEST

START_TEST(what_is_held_is_not_touched)
{
	struct submission s = { .project = vision, .gpus = 1, .min_runtime_s = 4 * HOUR, .now = NOON };

	books_allot(&b, vision, 6 * GPU_H, 0, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	ck_assert_int_eq(charge(run_of(7, MARCH, 3)).units, 2 * GPU_H);
}
END_TEST

START_TEST(an_allocation_pays_only_for_what_ended_while_it_was_live)
{
	books_allot(&b, vision, 50 * GPU_H, MARCH + HOUR, 0);
	ck_assert_int_eq(charge(run_of(7, MARCH - 24 * HOUR, 3)).unpaid, 6 * GPU_H);
	ck_assert_int_eq(charge(run_of(8, MARCH, 3)).unpaid, 0);
}
END_TEST

START_TEST(an_allocation_that_has_expired_pays_nothing)
{
	books_allot(&b, vision, 50 * GPU_H, 0, NOON + HOUR);
	books_allot(&b, vision, 1 * GPU_H, 0, NOON + 2 * HOUR);
	ck_assert_ptr_null(books_try(&b, "UPDATE allocation SET ends = ends - 7200 WHERE id = 1"));
	ck_assert_int_eq(charge(run_of(7, MARCH, 3)).units, 1 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum WHERE allocation = 1"), 0);
}
END_TEST

START_TEST(the_soonest_to_expire_pays_first)
{
	books_allot(&b, vision, 50 * GPU_H, 0, 0);
	books_allot(&b, vision, 4 * GPU_H, 0, NOON + HOUR);
	charge(run_of(7, MARCH, 3));
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum WHERE allocation = 2"), 4 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum WHERE allocation = 1"), 2 * GPU_H);
}
END_TEST

START_TEST(a_project_without_allocations_is_charged_nothing_and_counted)
{
	struct import_result told = charge(run_of(7, MARCH, 3));

	ck_assert_int_eq(told.units, 6 * GPU_H);
	ck_assert_int_eq(told.unpaid, 0);
	parts_are("kind = 'funded'", 1);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM journal"), 0);
}
END_TEST

Suite *import_suite(void)
{
	TCase *t = tcase_create("import");
	Suite *s = suite_create("import");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, suspended_seconds_of_what_is_imported_cost_nothing, 0, 2);
	tcase_add_loop_test(t, a_row_that_was_suspended_for_longer_than_it_lasted_is_set_aside, 0,
		sizeof(suspensions) / sizeof(suspensions[0]));
	tcase_add_test(t, what_ran_in_an_open_month_is_booked_in_it);
	tcase_add_test(t, what_ran_in_a_closed_month_is_booked_in_the_open_one);
	tcase_add_test(t, what_is_charged_to_allocations_is_booked_as_it_is_charged);
	tcase_add_test(t, what_was_imported_once_is_not_imported_twice);
	tcase_add_test(t, the_same_row_twice_in_one_batch_counts_once);
	tcase_add_test(t, the_same_row_with_another_end_is_told_and_changes_nothing);
	tcase_add_test(t, a_later_end_of_the_last_piece_is_no_run_of_its_own);
	tcase_add_test(t, a_requeued_job_has_several_runs);
	tcase_add_test(t, a_run_that_the_loop_knows_is_left_alone);
	tcase_add_test(t, the_loop_does_not_open_what_was_imported);
	tcase_add_test(t, a_run_is_split_at_the_edge_of_the_month);
	tcase_add_test(t, a_run_in_the_free_tier_costs_nothing);
	tcase_add_test(t, it_counts_for_fair_share_as_far_as_it_is_in_the_window);
	tcase_add_test(t, the_rows_of_a_resized_job_are_parts_of_one_run);
	tcase_add_test(t, a_file_that_begins_in_the_middle_of_a_run_and_one_with_all_of_it_count_it_once);
	tcase_add_test(t, a_file_that_ends_in_the_middle_of_a_run_and_one_with_all_of_it_count_it_once);
	tcase_add_test(t, it_is_charged_to_the_project_and_those_above_it);
	tcase_add_test(t, what_no_money_is_there_for_is_uncovered_and_nothing_is_overdrawn);
	tcase_add_test(t, what_is_held_is_not_touched);
	tcase_add_test(t, an_allocation_pays_only_for_what_ended_while_it_was_live);
	tcase_add_test(t, an_allocation_that_has_expired_pays_nothing);
	tcase_add_test(t, the_soonest_to_expire_pays_first);
	tcase_add_test(t, a_project_without_allocations_is_charged_nothing_and_counted);
	suite_add_tcase(s, t);
	return s;
}
