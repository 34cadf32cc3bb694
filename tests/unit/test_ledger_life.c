/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ledger_life.c - long lives of a budget tree, made up by dice; the invariants are checked after every step */
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <stdlib.h>

static struct books b;

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	books_close(&b);
}

#define STEPS 400
#define RUNS 12

struct life {
	int64_t project[3], allocation[3], now;
	struct submission waiting[RUNS];
	struct run running[RUNS];
	int nwaiting, nrunning;
	int funded, refused, extended, stopped;		/* what happened, so that the story is known to be one */
};

static int64_t any(int64_t below)
{
	return random() % below;
}

static void submit_something(struct life *x)
{
	struct submission s = { .project = x->project[any(3)], .gpus = 1 + any(8), .min_runtime_s = 60 * (1 + any(300)), .tasks = 1 + any(3),
		.now = x->now };

	if (x->nwaiting == RUNS)
		return;
	if (books_submit(&b, &s) == 0) {
		x->waiting[x->nwaiting++] = s;
		x->funded++;
	} else {
		x->refused++;
	}
}

static void start_something(struct life *x, int job)
{
	struct submission *s;

	if (x->nwaiting == 0 || x->nrunning == RUNS)
		return;
	s = &x->waiting[any(x->nwaiting)];
	books_start(&b, s, job, x->now, &x->running[x->nrunning++]);
	if (--s->tasks == 0)
		*s = x->waiting[--x->nwaiting];
}

static void extend_something(struct life *x)
{
	struct run *r = x->nrunning ? &x->running[any(x->nrunning)] : NULL;

	if (!r || r->free_since)
		return;
	if (books_extend(&b, r, 60 * (1 + any(60)), x->now) == 0)
		x->extended++;
	else
		x->stopped++;
}

struct charging {
	struct run *run;
	int64_t now;
};

static int interim(struct ledger *l, void *arg, struct fault *why)
{
	struct charging *c = arg;

	return run_interim(l, c->run, c->now, c->now, why);
}

/* As if a month ended here. */
static void charge_something(struct life *x)
{
	struct run *r = x->nrunning ? &x->running[any(x->nrunning)] : NULL;

	if (!r)
		return;
	ck_assert_int_ge(books_do(&b, LEDGER_HOLDS, interim, &(struct charging){ r, x->now }), 0);
	ledger_invariants(&b);
}

static void end_something(struct life *x)
{
	struct run *r = x->nrunning ? &x->running[any(x->nrunning)] : NULL;

	if (!r)
		return;
	ck_assert_int_eq(books_end(&b, r, x->now), 0);
	*r = x->running[--x->nrunning];
}

static void do_something(struct life *x, int step)
{
	x->now += any(1800);
	switch (any(9)) {
	case 0:
		ck_assert_int_eq(books_deposit(&b, x->allocation[any(3)], any(20 * GPU_H), ""), 0);
		ledger_invariants(&b);
		return;
	case 1:
	case 2:
		submit_something(x);
		return;
	case 3:
	case 4:
		start_something(x, step);
		return;
	case 5:
		extend_something(x);
		return;
	case 6:
		charge_something(x);
		return;
	default:
		end_something(x);
	}
}

/* A fixed sequence for each round, so that a failure comes back. Allocations expire on the way. */
START_TEST(whatever_happens_in_whatever_order_the_books_are_sound)
{
	struct life x = { .now = NOON };

	srandom((unsigned)_i + 1);
	for (int i = 0; i < 3; i++) {
		x.project[i] = books_project(&b, (const char *[]){ "lab", "vision", "speech" }[i], i ? x.project[0] : 0);
		x.allocation[i] = books_allot(&b, x.project[i], 100 * GPU_H, 0, i ? NOON + 20 * HOUR * (1 + any(3)) : 0);
		books_allot(&b, x.project[i], 50 * GPU_H, NOON + any(30 * HOUR), 0);
	}
	ck_assert_ptr_null(books_try(&b, "UPDATE project SET credit = 5 * 3600000 WHERE name = 'vision'"));
	for (int step = 0; step < STEPS; step++)
		do_something(&x, step);
	while (x.nrunning)
		end_something(&x);
	ck_assert_int_gt(x.funded, 20);
	ck_assert_int_gt(x.refused + x.stopped, 0);
	ck_assert_int_gt(x.extended, 5);
}
END_TEST

Suite *ledger_life_suite(void)
{
	Suite *s = suite_create("ledger_life");
	TCase *t = tcase_create("life");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, whatever_happens_in_whatever_order_the_books_are_sound, 0, 8);
	suite_add_tcase(s, t);
	return s;
}
