/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_period.c - months that are closed: when that is refused, and where everything later is dated
 *
 * The present of the stories is in January 2027. The database itself is asked, too: what is dated in a closed
 * month is refused to any program. */
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_statement.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define JANUARY  (2027 * 12)
#define EDGE     1801440000		/* 2027-02-01T00:00:00Z */
#define LATER    (EDGE + 5 * 86400)

static struct books b;

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	ledger_invariants(&b);
	books_close(&b);
}

/* --- the steps of this file --------------------------------------------------------------------- */

struct closing {
	const char *month;
	int64_t now, seen;		/* seen: all runs are known up to then */
	bool force;
	struct period p;		/* set */
};

static int close_month(struct ledger *l, void *arg, struct fault *why)
{
	struct closing *c = arg;

	if (period_parse(c->month, &c->p, why) < 0 || (c->seen && ledger_set_all_seen(l, c->seen, why) < 0))
		return -1;
	c->p.closed_at = c->now ? c->now : LATER;
	snprintf(c->p.actor, sizeof(c->p.actor), "ada");
	return period_close(l, &c->p, c->force, why);
}

static int closes(struct closing *c)
{
	int rc = books_do(&b, LEDGER_MONEY, close_month, c);

	ledger_invariants(&b);
	return rc;
}

#define CLOSE(...) closes(&(struct closing){ __VA_ARGS__ })
#define REFUSED(words, ...) \
	do { \
		ck_assert_int_eq(CLOSE(__VA_ARGS__), -1); \
		ck_assert_msg(strstr(b.why.text, words) != NULL, "%s", b.why.text); \
		ck_assert_int_eq(books_ask(&b, "SELECT count(*) FROM period_held"), 0); \
	} while (0)

static int expire(struct ledger *l, void *arg, struct fault *why)
{
	return money_expire(l, *(int64_t *)arg, why);
}

struct settling {
	struct run *run;
	int64_t end, now;
};

static int settle(struct ledger *l, void *arg, struct fault *why)
{
	struct settling *x = arg;

	return run_end(l, x->run, x->end, "COMPLETED", x->now, why);
}

static int to_the_edge(struct ledger *l, void *arg, struct fault *why)
{
	return run_interim(l, arg, EDGE, EDGE + 90, why);
}

static void must(books_step step, void *arg)
{
	ck_assert_msg(books_do(&b, LEDGER_MONEY, step, arg) >= 0, "%s", b.why.text);
	ledger_invariants(&b);
}

/* A run of one GPU that is covered for an hour. */
static struct run start(int64_t project, int64_t job, int64_t at)
{
	struct submission s = { .project = project, .gpus = 1, .min_runtime_s = HOUR, .now = at };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, job, at, &r);
	return r;
}

/* --- months ------------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int64_t month;			/* 0 = it is none */
} months[] = {
	{ "2027-01", JANUARY }, { "2028-02", JANUARY + 13 }, { "1999-12", 1999 * 12 + 11 }, { "2027-13", 0 }, { "2027-00", 0 },
	{ "2027-1", 0 }, { "27-01", 0 }, { "2027-01-01", 0 }, { "january", 0 }, { "", 0 }, { "2027-0x", 0 }, { "2027--1", 0 },
};

START_TEST(a_month_is_written_as_year_and_month)
{
	char text[PERIOD_TEXT_MAX];
	struct period p;
	int rc = period_parse(months[_i].text, &p, &b.why);

	ck_assert_msg((rc == 0) == (months[_i].month != 0), "%s", months[_i].text);
	if (rc < 0)
		return;
	ck_assert_int_eq(p.month, months[_i].month);
	ck_assert_str_eq(period_text(p.month, text), months[_i].text);
}
END_TEST

/* --- refused ------------------------------------------------------------------------------------ */

START_TEST(what_is_not_over_or_not_known_is_not_closed)
{
	REFUSED("2027-01 is not over: it ends at 2027-02-01T00:00:00Z", .month = "2027-01", .now = EDGE - 1);
	REFUSED("known up to no time", .month = "2027-01");
	REFUSED("known up to 2027-01-31T23:59:59Z", .month = "2027-01", .seen = EDGE - 1);
	ck_assert_int_eq(CLOSE(.month = "2027-01", .seen = EDGE), 0);
}
END_TEST

START_TEST(months_are_closed_once_and_one_after_the_other)
{
	ck_assert_int_eq(CLOSE(.month = "2026-10", .seen = EDGE), 0);
	REFUSED("2026-11 comes before 2026-12 and is open", .month = "2026-12", .seen = EDGE);
	ck_assert_int_eq(CLOSE(.month = "2026-11", .seen = EDGE), 0);
	REFUSED("2026-11 is closed already", .month = "2026-11", .seen = EDGE);
	REFUSED("2026-09 is closed already", .month = "2026-09", .seen = EDGE);
	ck_assert_int_eq(CLOSE(.month = "2026-12", .seen = EDGE), 0);
}
END_TEST

START_TEST(a_run_that_is_not_charged_to_the_end_keeps_the_month_open)
{
	int64_t p = books_project(&b, "p", 0);
	struct run r;

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	r = start(p, 77, EDGE - HOUR / 2);
	REFUSED("1 runs of 2027-01 are not charged to its end (jobs job): the next passes do that", .month = "2027-01", .seen = LATER);
	ck_assert_str_eq(books_try(&b, "UPDATE run SET lost_at = 1801440100") ?: "", "");
	REFUSED("1 runs of 2027-01 are not charged to its end, 1 of them gone from Slurm without an end (jobs job): say when",
		.month = "2027-01", .seen = LATER);
	must(to_the_edge, &r);
	ck_assert_int_eq(CLOSE(.month = "2027-01", .seen = LATER), 0);
	ck_assert_int_eq(books_ask(&b, "SELECT units FROM period_held"), GPU_H / 2);
}
END_TEST

START_TEST(it_is_closed_over_what_is_open_by_force_and_that_is_recorded)
{
	int64_t p = books_project(&b, "p", 0);
	struct closing c = { .month = "2027-01", .seen = LATER, .force = true };

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	for (int i = 0; i < 9; i++)
		start(p, 77 + i, EDGE - HOUR / 2);
	ck_assert_ptr_null(books_try(&b, "UPDATE run SET lost_at = 1801440100, label = '12_3' WHERE id = 9"));
	ck_assert_int_eq(closes(&c), 0);
	ck_assert_msg(strstr(c.p.forced, "9 runs of 2027-01 are not charged to its end, 1 of them gone") != NULL &&
		strstr(c.p.forced, "(jobs 12_3, job, job, job, job, job, job, job and others)") != NULL, "%s", c.p.forced);
	ck_assert_int_eq(books_ask(&b, "SELECT forced LIKE '%%(jobs 12_3, job, %%' FROM period"), 1);
}
END_TEST

/* --- dated -------------------------------------------------------------------------------------- */

#define ENTRY(what, kind) books_ask(&b, "SELECT " what " FROM journal WHERE kind = '" kind "' ORDER BY id DESC LIMIT 1")

START_TEST(a_charge_is_booked_in_its_month_while_that_is_open)
{
	int64_t p = books_project(&b, "p", 0);
	struct run r;

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	r = start(p, 77, EDGE - HOUR / 2);
	must(settle, &(struct settling){ &r, EDGE + HOUR / 4, LATER });
	/* of January: its last second; of February: now */
	ck_assert_int_eq(books_ask(&b, "SELECT dated FROM charge WHERE seq = 0"), EDGE - 1);
	ck_assert_int_eq(books_ask(&b, "SELECT at FROM charge WHERE seq = 0"), LATER);
	ck_assert_int_eq(books_ask(&b, "SELECT dated IS NULL AND at = %d FROM charge WHERE seq = 1", LATER), 1);
	ck_assert_int_eq(books_ask(&b, "SELECT at FROM journal WHERE charge = 1"), EDGE - 1);
	ck_assert_int_eq(books_ask(&b, "SELECT at FROM journal WHERE charge = 2"), LATER);
	ck_assert_int_eq(books_ask(&b, "SELECT group_concat(seq) = '1' FROM charge WHERE ends_run"), 1);
}
END_TEST

START_TEST(a_late_charge_and_a_refund_are_dated_in_the_open_month)
{
	int64_t p = books_project(&b, "p", 0);
	struct run r, before;

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	before = start(p, 76, NOON);
	must(settle, &(struct settling){ &before, NOON + HOUR, NOON + HOUR });
	r = start(p, 77, EDGE - HOUR / 2);
	ck_assert_int_eq(CLOSE(.month = "2027-01", .seen = LATER, .force = true), 0);
	must(settle, &(struct settling){ &r, EDGE - 60, LATER + 60 });
	ck_assert_int_eq(books_ask(&b, "SELECT at FROM journal WHERE kind = 'charge' AND charge = 2"), LATER + 60);
	ck_assert_int_eq(books_ask(&b, "SELECT part_start FROM charge WHERE id = 2"), EDGE - HOUR / 2);
	ck_assert_int_eq(ENTRY("charge", "charge"), 2);
	/* what stands in January stays as it was closed */
	ck_assert_int_eq(books_ask(&b, "SELECT sum(units) FROM journal WHERE at < %d", EDGE), 9 * GPU_H);
}
END_TEST

START_TEST(an_expiry_that_is_late_is_dated_in_the_open_month)
{
	int64_t p = books_project(&b, "p", 0), now = LATER;

	books_allot(&b, p, 3 * GPU_H, 0, NOON + HOUR);
	books_allot(&b, p, 5 * GPU_H, 0, EDGE + HOUR);
	ck_assert_int_eq(CLOSE(.month = "2027-01", .seen = LATER), 0);
	must(expire, &now);
	ck_assert_int_eq(books_ask(&b, "SELECT at FROM journal WHERE kind = 'expiry' AND allocation = 1"), LATER);
	ck_assert_int_eq(books_ask(&b, "SELECT at FROM journal WHERE kind = 'expiry' AND allocation = 2"),
		EDGE + HOUR);
}
END_TEST

/* --- statements --------------------------------------------------------------------------------- */

struct asking {
	int64_t project, now;
	const char *month;
	struct statement_line sum;	/* set */
	int lines;
};

static int one_line(const struct statement_line *s, void *arg)
{
	struct asking *x = arg;

	statement_add(&x->sum, s);
	x->lines++;
	return 0;
}

static int state(struct ledger *l, void *arg, struct fault *why)
{
	struct asking *x = arg;
	struct period p;

	x->sum = (struct statement_line){ .held_known = true };
	x->lines = 0;
	if (period_parse(x->month, &p, why) < 0)
		return -1;
	return statement_walk(l, x->project, &(struct statement_range){ p.starts, p.ends, x->now }, one_line, x,
		why);
}

static int refund(struct ledger *l, void *arg, struct fault *why)
{
	struct journal_entry e = { .at = LATER + 60, .uid = -1, .kind = "refund", .actor = "ada", .reason = "r" };

	return money_refund(l, *(int64_t *)arg, GPU_H / 4, &e, LATER + 60, why);
}

START_TEST(a_statement_of_a_closed_month_stays_and_the_next_one_has_what_came_late)
{
	int64_t p = books_project(&b, "p", 0), charge = 1;
	struct asking january = { .project = p, .now = LATER + 3600, .month = "2027-01" },
		february = { .project = p, .now = LATER + 3600, .month = "2027-02" };
	struct run r;

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	r = start(p, 77, EDGE - HOUR / 2);
	must(to_the_edge, &r);
	ck_assert_int_eq(CLOSE(.month = "2027-01", .seen = LATER), 0);
	must(settle, &(struct settling){ &r, EDGE + HOUR / 2, LATER + 30 });
	must(refund, &charge);
	must(state, &january);
	ck_assert_int_eq(january.lines, 1);
	ck_assert_int_eq(january.sum.items[ITEM_DEPOSITS], 10 * GPU_H);
	ck_assert_int_eq(january.sum.items[ITEM_CHARGES], GPU_H / 2);
	ck_assert_int_eq(january.sum.items[ITEM_CLOSING], 19 * GPU_H / 2);
	ck_assert(january.sum.held_known);
	ck_assert_int_eq(january.sum.held, GPU_H / 2);	/* as it was closed */
	must(state, &february);
	ck_assert_int_eq(february.sum.items[ITEM_OPENING], 19 * GPU_H / 2);
	ck_assert_int_eq(february.sum.items[ITEM_CHARGES], GPU_H / 2);
	ck_assert_int_eq(february.sum.items[ITEM_REFUNDS], GPU_H / 4);
	ck_assert_int_eq(february.sum.items[ITEM_CLOSING], 37 * GPU_H / 4);
	ck_assert_int_eq(february.sum.held, 0);
	february.now = EDGE + 40 * 86400;		/* it is over and was not closed: what was held then is not known */
	must(state, &february);
	ck_assert(!february.sum.held_known);
}
END_TEST

/* --- the database itself ------------------------------------------------------------------------ */

static const char *const writes[] = {
	"INSERT INTO journal (at, kind, allocation, project, units, balance, actor) VALUES (1801439999, 'deposit', 1, 1, 0, 36000000, 'eve')",
	"INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units) VALUES (1, 9, 'free', 1, 1801439999, 1, 1, 1, 1, 0)",
	"INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units, dated)"
	" VALUES (1, 9, 'free', 1, 1801440000, 1, 1, 1, 1, 0, 1801439999)",
	"INSERT INTO correction (at, run, kind, ended, gpu_seconds, tier, project, refunded, actor, reason)"
	" VALUES (1801439999, 1, 'end', 1, 1, 'free', 1, 0, 'eve', 'r')",
	"UPDATE period SET ends = ends - 1",
	"DELETE FROM period",
	"UPDATE period_held SET units = 1",
	"DELETE FROM period_held",
	"INSERT OR REPLACE INTO period SELECT * FROM period",
	"INSERT INTO period (id, starts, ends, closed_at, entries, charges, actor) VALUES (24326, 1, 2, 3, 0, 0, 'eve')",
};

START_TEST(the_database_refuses_what_is_dated_in_a_closed_month)
{
	int64_t p = books_project(&b, "p", 0);
	const char *error;
	struct run r;

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	r = start(p, 77, EDGE - HOUR / 2);
	must(to_the_edge, &r);
	ck_assert_int_eq(CLOSE(.month = "2027-01", .seen = LATER), 0);
	error = books_try(&b, writes[_i]);
	ck_assert_msg(error && (strstr(error, "closed") || strstr(error, "one after the other")), "%s: %s",
		writes[_i], error ? error : "was done");
}
END_TEST

Suite *period_suite(void)
{
	Suite *s = suite_create("period");
	TCase *t = tcase_create("period");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_month_is_written_as_year_and_month, 0, (int)(sizeof(months) / sizeof(months[0])));
	tcase_add_test(t, what_is_not_over_or_not_known_is_not_closed);
	tcase_add_test(t, months_are_closed_once_and_one_after_the_other);
	tcase_add_test(t, a_run_that_is_not_charged_to_the_end_keeps_the_month_open);
	tcase_add_test(t, it_is_closed_over_what_is_open_by_force_and_that_is_recorded);
	tcase_add_test(t, a_charge_is_booked_in_its_month_while_that_is_open);
	tcase_add_test(t, a_late_charge_and_a_refund_are_dated_in_the_open_month);
	tcase_add_test(t, an_expiry_that_is_late_is_dated_in_the_open_month);
	tcase_add_test(t, a_statement_of_a_closed_month_stays_and_the_next_one_has_what_came_late);
	tcase_add_loop_test(t, the_database_refuses_what_is_dated_in_a_closed_month, 0,
		(int)(sizeof(writes) / sizeof(writes[0])));
	suite_add_tcase(s, t);
	return s;
}
