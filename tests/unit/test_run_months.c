/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_run_months.c - runs over the edges of months: the parts are the same whenever a pass looked, and add
 * up to the run
 *
 * Each story is lived three times: settled at its end with no pass in between, with a pass at each edge, and
 * with one late pass. */
#include "lib/zone.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <string.h>

static struct books b;

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	books_close(&b);
}

/* "2028-02-29 12:00" of UTC */
static int64_t at(const char *text)
{
	struct zone_reading r = {0};
	int64_t t = 0;

	ck_assert_int_eq(sscanf(text, "%d-%d-%d %d:%d", &r.year, &r.month, &r.day, &r.hour, &r.minute), 5);
	ck_assert_int_eq(zone_utc(&r, &t), 1);
	return t;
}

/* The parts of run 1: month, kind, GPUs and seconds of each. */
static const char *parts(void)
{
	static char text[1024];
	static const char parts_sql[] =
		"SELECT group_concat(printf('%s %s %dx%d', strftime('%Y-%m', part_start, 'unixepoch'), kind, gpus, part_end - part_start), ', ')"
		" FROM (SELECT * FROM charge WHERE run = 1 ORDER BY seq)";
	sqlite3_stmt *st;

	ck_assert_int_eq(sqlite3_prepare_v2(b.look, parts_sql, -1, &st, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	snprintf(text, sizeof(text), "%s", (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return text;
}

/* --- steps -------------------------------------------------------------------------------------- */

struct step {
	struct run *run;
	int64_t at, now, gpus;
};

static int interim(struct ledger *l, void *arg, struct fault *why)
{
	struct step *x = arg;

	return run_interim(l, x->run, x->at, x->now, why);
}

static int resize(struct ledger *l, void *arg, struct fault *why)
{
	struct step *x = arg;

	return run_resize(l, x->run, x->at, x->gpus, x->gpus * AMOUNT_RATE_ONE, "gres/gpu", x->now, why);
}

/* The cover has ended: what lies between is nobody's, and the next quantum is an hour. */
static int extend_late(struct ledger *l, void *arg, struct fault *why)
{
	struct step *x = arg;
	struct hold_row h;
	struct path p;

	if (hold_of_run(l, x->run->id, &h, why) != 1 || path_load(l, x->run->project, x->now, &p, why) < 0 ||
		run_cut(l, x->run, &h, x->now, x->now, why) < 0)
		return -1;
	x->run->covered_until += HOUR;
	return hold_grow(l, &p, &h, HOUR * x->run->price, why) < 0 ? -1 : run_update(l, x->run, why);
}

static int must(enum ledger_durability d, books_step step, struct step *x)
{
	int rc = books_do(&b, d, step, x);

	ck_assert_msg(rc >= 0, "%s", b.why.text);
	ledger_invariants(&b);
	return rc;
}

/* --- stories ------------------------------------------------------------------------------------ */

struct story {
	const char *title, *start, *end;
	int64_t held_s;			/* covered from the start on; 0 = it is in the free tier */
	const char *resized;		/* from 2 GPUs to 1 */
	const char *free_since;
	const char *parts;
};

static const struct story stories[] = {
	{ "within a month", "2027-04-10 00:00", "2027-04-10 02:00", 7200, NULL, NULL, "2027-04 funded 2x7200" },
	{ "over one edge", "2027-04-30 23:00", "2027-05-01 01:00", 7200, NULL, NULL, "2027-04 funded 2x3600, 2027-05 funded 2x3600" },
	{ "over the 29th of February", "2028-02-28 23:00", "2028-03-01 01:00", 90000 * 2, NULL, NULL,
		"2028-02 funded 2x90000, 2028-03 funded 2x3600" },
	{ "over the 28th of February", "2027-02-28 23:00", "2027-03-01 01:00", 7200, NULL, NULL,
		"2027-02 funded 2x3600, 2027-03 funded 2x3600" },
	{ "over the end of a year and whole months", "2027-11-30 23:00", "2028-02-01 00:01", 70 * 86400, NULL, NULL,
		"2027-11 funded 2x3600, 2027-12 funded 2x2678400, 2028-01 funded 2x2678400, 2028-02 funded 2x60" },
	{ "from one edge to the next", "2027-04-01 00:00", "2027-05-01 00:00", 40 * 86400, NULL, NULL, "2027-04 funded 2x2592000" },
	{ "begun on the edge", "2027-05-01 00:00", "2027-05-01 01:00", 7200, NULL, NULL, "2027-05 funded 2x3600" },
	{ "ended on the edge", "2027-04-30 23:00", "2027-05-01 00:00", 7200, NULL, NULL, "2027-04 funded 2x3600" },
	{ "of no time, on the edge", "2027-05-01 00:00", "2027-05-01 00:00", 7200, NULL, NULL, "2027-05 funded 2x0" },
	{ "covered up to before the edge", "2027-04-30 22:00", "2027-05-01 01:00", 3600, NULL, NULL,
		"2027-04 funded 2x3600, 2027-04 uncovered 2x3600, 2027-05 uncovered 2x3600" },
	{ "covered up to the edge", "2027-04-30 23:00", "2027-05-01 01:00", 3600, NULL, NULL,
		"2027-04 funded 2x3600, 2027-05 uncovered 2x3600" },
	{ "covered up to after the edge", "2027-04-30 23:30", "2027-05-01 01:00", 3600, NULL, NULL,
		"2027-04 funded 2x1800, 2027-05 funded 2x1800, 2027-05 uncovered 2x1800" },
	{ "free from before the edge on", "2027-04-30 22:00", "2027-05-01 01:00", 3600, NULL, "2027-04-30 23:00",
		"2027-04 funded 2x3600, 2027-04 free 2x3600, 2027-05 free 2x3600" },
	{ "in the free tier", "2027-04-30 23:00", "2027-06-01 00:00", 0, NULL, NULL, "2027-04 free 2x3600, 2027-05 free 2x2678400" },
	{ "resized before the edge", "2027-04-30 22:00", "2027-05-01 01:00", 4 * 3600, "2027-04-30 23:00", NULL,
		"2027-04 funded 2x3600, 2027-04 funded 1x3600, 2027-05 funded 1x3600" },
	{ "resized on the edge", "2027-04-30 23:00", "2027-05-01 01:00", 4 * 3600, "2027-05-01 00:00", NULL,
		"2027-04 funded 2x3600, 2027-05 funded 1x3600" },
	{ "resized after the edge", "2027-04-30 23:00", "2027-05-01 02:00", 4 * 3600, "2027-05-01 01:00", NULL,
		"2027-04 funded 2x3600, 2027-05 funded 2x3600, 2027-05 funded 1x3600" },
};

#define STORIES (int)(sizeof(stories) / sizeof(stories[0]))

enum passes { NO_PASS, EACH_EDGE, LATE_PASS, PASSES };

static int open_free(struct ledger *l, void *run, struct fault *why)
{
	return run_open(l, run, why);
}

static void begin(const struct story *s, struct run *r)
{
	int64_t p = books_project(&b, "p", 0);
	struct submission x = { .project = p, .gpus = 2, .min_runtime_s = s->held_s, .now = at(s->start) };

	books_allot(&b, p, 100000 * GPU_H, 0, 0);
	if (s->held_s) {
		ck_assert_int_eq(books_submit(&b, &x), 0);
		books_start(&b, &x, 7, at(s->start), r);
	} else {
		*r = (struct run){ .cluster = "c", .job = 7, .submit = at(s->start), .start = at(s->start),
			.label = "7", .partition = "gpu", .project = p, .tier = TIER_FREE, .gpus = 2,
			.tres = "gres/gpu=2", .price = 2 * AMOUNT_RATE_ONE, .covered_until = at(s->start) };
		ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, open_free, r), 0);
	}
}

static int stop_paying(struct ledger *l, void *arg, struct fault *why)
{
	return run_update(l, arg, why);
}

/* A pass at `now`: the last edge that has gone by; a second one finds nothing to do. */
static void pass(struct run *r, int64_t now)
{
	int64_t edge, end;

	zone_utc_month(now, &edge, &end);
	must(LEDGER_HOLDS, interim, &(struct step){ r, edge, now, 0 });
	ck_assert_int_eq(must(LEDGER_HOLDS, interim, &(struct step){ r, edge, now, 0 }), 1);
}

static void passes_between(struct run *r, int64_t from, int64_t to, enum passes how)
{
	int64_t start, edge;

	if (how == LATE_PASS && to > from)
		pass(r, to);
	for (int64_t t = from; how == EACH_EDGE && t < to; t = edge) {
		zone_utc_month(t, &start, &edge);
		if (edge <= to)
			pass(r, edge);
	}
}

static void live(const struct story *s, enum passes how)
{
	int64_t resized = s->resized ? at(s->resized) : at(s->start);
	struct run r;

	begin(s, &r);
	if (s->free_since) {
		r.free_since = at(s->free_since);
		ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, stop_paying, &r), 0);
	}
	passes_between(&r, r.start, resized, how);
	if (s->resized) {
		ck_assert_int_eq(must(LEDGER_MONEY, resize, &(struct step){ &r, resized, resized, 1 }), 0);
		ck_assert_int_eq(must(LEDGER_MONEY, resize, &(struct step){ &r, resized, resized, 1 }), 1);
	}
	passes_between(&r, resized, at(s->end), how);
	ck_assert_int_eq(books_end(&b, &r, at(s->end)), 0);
	ck_assert_msg(!strcmp(parts(), s->parts), "a run %s (%d) has the parts \"%s\", not \"%s\"", s->title,
		how, parts(), s->parts);
}

START_TEST(parts_are_of_one_month_and_add_up_whenever_a_pass_looked)
{
	const struct story *s = &stories[_i / PASSES];

	live(s, _i % PASSES);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(part_end - part_start) FROM charge"),
		at(s->end) - at(s->start));
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM charge"),
		books_ask(&b,
		"SELECT sum(gpus * (part_end - part_start) * 1000) FROM charge WHERE kind = 'funded'"));
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum"),
		books_ask(&b, "SELECT sum(units) FROM charge"));
	ck_assert_int_eq(books_ask(&b, "SELECT held FROM allocation_sum"), 0);
}
END_TEST

/* --- what a pass leaves ------------------------------------------------------------------------- */

START_TEST(the_hold_goes_on_over_the_edge_and_is_less_by_what_was_charged)
{
	struct run r;

	begin(&(struct story){ .start = "2027-04-30 23:00", .held_s = 2 * HOUR }, &r);
	pass(&r, at("2027-05-01 00:01"));
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM hold WHERE closed_at IS NULL"), 2 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum"), 2 * GPU_H);
	ck_assert_int_eq(r.covered_until, at("2027-05-01 01:00"));
	ck_assert_int_eq(r.ended, 0);
	ck_assert_int_eq(books_extend(&b, &r, HOUR, at("2027-05-01 00:58")), 0);
	ck_assert_int_eq(books_end(&b, &r, at("2027-05-01 02:00")), 0);
	ck_assert_str_eq(parts(), "2027-04 funded 2x3600, 2027-05 funded 2x7200");
}
END_TEST

/* The daemon was away from before the end of the cover until after the edge. */
static void away_over_the_edge(bool edge_first)
{
	int64_t back = at("2027-05-01 02:00");
	struct run r;

	begin(&(struct story){ .start = "2027-04-30 22:00", .held_s = HOUR }, &r);
	if (edge_first)
		pass(&r, back);
	must(LEDGER_MONEY, extend_late, &(struct step){ &r, 0, back, 0 });
	if (!edge_first)
		ck_assert_int_eq(must(LEDGER_HOLDS, interim,
			&(struct step){ &r, at("2027-05-01 00:00"), back, 0 }), 1);
	ck_assert_int_eq(books_end(&b, &r, at("2027-05-01 03:30")), 0);
	ck_assert_str_eq(parts(),
		"2027-04 funded 2x3600, 2027-04 uncovered 2x3600, 2027-05 uncovered 2x7200, 2027-05 funded 2x3600,"
		" 2027-05 uncovered 2x1800");
}

START_TEST(away_over_the_edge_the_parts_are_the_same_whatever_comes_first)
{
	away_over_the_edge(_i);
}
END_TEST

START_TEST(a_month_has_what_ran_in_it)
{
	const struct story *year = &stories[4];

	live(year, EACH_EDGE);
	ck_assert_int_eq(books_ask(&b,
		"SELECT sum(units) FROM charge WHERE part_start >= %lld AND part_end <= %lld",
		(long long)at("2027-12-01 00:00"), (long long)at("2028-01-01 00:00")), 2 * 31 * 24 * GPU_H);
	ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM journal WHERE kind = 'charge'"), 4);
}
END_TEST

/* Two clocks that differ, or a job cancelled in its suspension: what was charged beyond the end goes back. */
START_TEST(an_end_before_what_was_charged_gives_the_rest_back)
{
	struct run r;

	begin(&(struct story){ .start = "2027-04-30 22:00", .held_s = 3 * HOUR }, &r);
	pass(&r, at("2027-05-01 00:01"));
	ck_assert_int_eq(books_end(&b, &r, at("2027-04-30 23:30")), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM journal WHERE kind = 'refund'"), GPU_H);
	ck_assert_int_eq(books_available(&b, 1, at("2027-05-01 00:01")), 100000 * GPU_H - 3 * GPU_H);
	ck_assert_int_eq(r.ended, at("2027-05-01 00:00"));
	ck_assert_int_eq(books_end(&b, &r, at("2027-04-30 23:30")), 1);
}
END_TEST

/* --- suspended time that costs nothing ------------------------------------------------------------ */

/* Seconds from the start on. Seen: a pass looked during each pause and after it; else slurmdbd told the sum
 * when all was over. */
static const struct pauses {
	const char *title, *start;
	int64_t held_s, free_s, end, pause[2][2];
	const char *seen, *told;
} pauses[] = {
	{ "paused within its cover", "2027-04-10 00:00", 7200, 0, 5400, { { 1800, 3600 } },
		"2027-04 funded 2x1800, 2027-04 suspended 2x1800, 2027-04 funded 2x1800",
		"2027-04 funded 2x3600, 2027-04 suspended 2x1800" },
	{ "whose cover lasts as much longer", "2027-04-10 00:00", 3600, 0, 5400, { { 1800, 3600 } },
		"2027-04 funded 2x1800, 2027-04 suspended 2x1800, 2027-04 funded 2x1800",
		"2027-04 funded 2x3600, 2027-04 suspended 2x1800" },
	{ "paused twice", "2027-04-10 00:00", 7200, 0, 3600, { { 600, 1200 }, { 1800, 2400 } },
		"2027-04 funded 2x600, 2027-04 suspended 2x600, 2027-04 funded 2x600, 2027-04 suspended 2x600, 2027-04 funded 2x1200",
		"2027-04 funded 2x2400, 2027-04 suspended 2x1200" },
	{ "whose cover was over before", "2027-04-10 00:00", 600, 0, 3600, { { 1800, 2400 } },
		"2027-04 funded 2x600, 2027-04 uncovered 2x1200, 2027-04 suspended 2x600, 2027-04 uncovered 2x1200",
		"2027-04 funded 2x600, 2027-04 uncovered 2x2400, 2027-04 suspended 2x600" },
	{ "that was to be free at the end of its cover", "2027-04-10 00:00", 600, 600, 1200, { { 300, 600 } },
		"2027-04 funded 2x300, 2027-04 suspended 2x300, 2027-04 funded 2x300, 2027-04 free 2x300",
		"2027-04 funded 2x600, 2027-04 free 2x300, 2027-04 suspended 2x300" },
	{ "that was free before", "2027-04-10 00:00", 600, 600, 1800, { { 900, 1200 } },
		"2027-04 funded 2x600, 2027-04 free 2x300, 2027-04 suspended 2x300, 2027-04 free 2x600",
		"2027-04 funded 2x600, 2027-04 free 2x900, 2027-04 suspended 2x300" },
	{ "paused all along", "2027-04-10 00:00", 7200, 0, 3600, { { 0, 3600 } }, "2027-04 suspended 2x3600", "2027-04 suspended 2x3600" },
	{ "paused over the edge of a month", "2027-04-30 23:00", 7200, 0, 7200, { { 1800, 5400 } },
		"2027-04 funded 2x1800, 2027-04 suspended 2x1800, 2027-05 suspended 2x1800, 2027-05 funded 2x1800",
		"2027-04 funded 2x3600, 2027-05 suspended 2x3600" },
	{ "paused up to the edge", "2027-04-30 23:00", 7200, 0, 5400, { { 1800, 3600 } },
		"2027-04 funded 2x1800, 2027-04 suspended 2x1800, 2027-05 funded 2x1800",
		"2027-04 funded 2x3600, 2027-05 suspended 2x1800" },
	{ "of the free tier", "2027-04-10 00:00", 0, 0, 3600, { { 600, 1200 } },
		"2027-04 free 2x600, 2027-04 suspended 2x600, 2027-04 free 2x2400",
		"2027-04 free 2x3000, 2027-04 suspended 2x600" },
};

struct pausing {
	struct run *run;
	int64_t total_s, until;
	bool over;
};

static int suspend(struct ledger *l, void *arg, struct fault *why)
{
	struct pausing *x = arg;

	return run_suspend(l, x->run, x->total_s, x->until, x->over, x->until, why);
}

static int paused(struct run *r, int64_t total_s, int64_t until, bool over)
{
	int rc = books_do(&b, LEDGER_HOLDS, suspend, &(struct pausing){ r, total_s, until, over });

	ck_assert_msg(rc >= 0, "%s", b.why.text);
	ledger_invariants(&b);
	return rc;
}

static int64_t pause_at(struct run *r, const int64_t pause[2], int64_t before_s)
{
	int64_t middle = (pause[0] + pause[1]) / 2, total_s = before_s + pause[1] - pause[0];

	ck_assert_int_eq(paused(r, before_s + middle - pause[0], r->start + middle, false), 0);
	ck_assert_int_eq(paused(r, before_s + middle - pause[0], r->start + middle, false), 1);
	ck_assert_int_eq(paused(r, total_s, r->start + pause[1], true), 0);
	ck_assert_int_eq(paused(r, total_s, r->start + pause[1], true), 1);
	return total_s;
}

START_TEST(suspended_seconds_cost_nothing_and_lie_where_they_were_seen)
{
	const struct pauses *p = &pauses[_i / 2];
	const char *due = _i % 2 ? p->seen : p->told;
	int64_t total_s = 0;
	struct run r;

	begin(&(struct story){ .start = p->start, .held_s = p->held_s }, &r);
	if (p->free_s) {
		r.free_since = r.start + p->free_s;
		ck_assert_int_eq(books_do(&b, LEDGER_HOLDS, stop_paying, &r), 0);
	}
	for (int i = 0; i < 2 && p->pause[i][1]; i++)
		total_s = _i % 2 ? pause_at(&r, p->pause[i], total_s)
			: total_s + p->pause[i][1] - p->pause[i][0];
	if (_i % 2 == 0)
		ck_assert_int_eq(paused(&r, total_s, r.start + p->end, false), 0);
	ck_assert_int_eq(books_end(&b, &r, r.start + p->end), 0);
	ck_assert_msg(!strcmp(parts(), due), "a run %s (%s) has the parts \"%s\", not \"%s\"", p->title,
		_i % 2 ? "seen" : "told", parts(), due);
	ck_assert_int_eq(books_ask(&b,
		"SELECT sum(part_end - part_start) FROM charge WHERE kind = 'suspended'"), total_s);
	ck_assert_int_eq(books_ask(&b, "SELECT held FROM allocation_sum"), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT charged FROM allocation_sum"),
		books_ask(&b,
		"SELECT coalesce(sum(2000 * (part_end - part_start)), 0) FROM charge WHERE kind = 'funded'"));
}
END_TEST

/* For Slurm a job that is cancelled in its suspension ended as that began. */
START_TEST(a_pause_in_which_the_job_is_cancelled_was_none)
{
	struct run r;

	begin(&(struct story){ .start = "2027-04-10 00:00", .held_s = 2 * HOUR }, &r);
	ck_assert_int_eq(paused(&r, 600, r.start + 2400, false), 0);
	ck_assert_int_eq(r.covered_until, r.start + 2 * HOUR + 600);
	ck_assert_int_eq(paused(&r, 0, r.start + 1800, false), 0);
	ck_assert_int_eq(books_end(&b, &r, r.start + 1800), 0);
	ck_assert_str_eq(parts(), "2027-04 funded 2x1800");
}
END_TEST

Suite *run_months_suite(void)
{
	Suite *s = suite_create("run_months");
	TCase *t = tcase_create("months");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, parts_are_of_one_month_and_add_up_whenever_a_pass_looked, 0, STORIES * PASSES);
	tcase_add_loop_test(t, suspended_seconds_cost_nothing_and_lie_where_they_were_seen, 0,
		2 * (int)(sizeof(pauses) / sizeof(pauses[0])));
	tcase_add_test(t, a_pause_in_which_the_job_is_cancelled_was_none);
	tcase_add_test(t, the_hold_goes_on_over_the_edge_and_is_less_by_what_was_charged);
	tcase_add_loop_test(t, away_over_the_edge_the_parts_are_the_same_whatever_comes_first, 0, 2);
	tcase_add_test(t, a_month_has_what_ran_in_it);
	tcase_add_test(t, an_end_before_what_was_charged_gives_the_rest_back);
	suite_add_tcase(s, t);
	return s;
}
