/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_breaker.c - after a missed deadline nobody asks for a while, then exactly one does */
#include "client/breaker.h"
#include "tests/unit/suites.h"
#include <pthread.h>
#include <stdlib.h>

#define THREADS 16

START_TEST(a_closed_breaker_lets_everybody_through)
{
	struct breaker b = BREAKER_INIT(1000);

	for (int64_t now = 0; now < 5; now++)
		ck_assert(breaker_allows(&b, now));
	breaker_report(&b, true, 5);
	ck_assert(breaker_allows(&b, 5));
}
END_TEST

START_TEST(a_failure_opens_it_and_one_probe_closes_it)
{
	struct breaker b = BREAKER_INIT(1000);

	breaker_report(&b, false, 100);
	ck_assert(!breaker_allows(&b, 100));
	ck_assert(!breaker_allows(&b, 1099));
	ck_assert(breaker_allows(&b, 1100));		/* the probe */
	ck_assert(!breaker_allows(&b, 1100));
	breaker_report(&b, true, 1150);
	ck_assert(breaker_allows(&b, 1150));
	ck_assert(breaker_allows(&b, 1150));
}
END_TEST

START_TEST(a_failed_probe_opens_it_again)
{
	struct breaker b = BREAKER_INIT(1000);

	breaker_report(&b, false, 0);
	ck_assert(breaker_allows(&b, 1000));
	breaker_report(&b, false, 1050);
	ck_assert(!breaker_allows(&b, 2049));
	ck_assert(breaker_allows(&b, 2050));
}
END_TEST

START_TEST(a_probe_that_is_never_reported_does_not_close_the_way_for_ever)
{
	struct breaker b = BREAKER_INIT(1000);

	breaker_report(&b, false, 0);
	ck_assert(breaker_allows(&b, 1000));
	ck_assert(!breaker_allows(&b, 1999));
	ck_assert(breaker_allows(&b, 2000));
}
END_TEST

START_TEST(a_clock_around_zero_opens_it_too)
{
	struct breaker b = BREAKER_INIT(1000);

	breaker_report(&b, false, -1000);
	ck_assert(!breaker_allows(&b, -1));
}
END_TEST

struct racer {
	struct breaker *b;
	pthread_barrier_t *start;
	bool allowed;
};

static void *race(void *arg)
{
	struct racer *r = arg;

	pthread_barrier_wait(r->start);
	r->allowed = breaker_allows(r->b, 5000);
	return NULL;
}

START_TEST(of_many_that_ask_at_once_one_probes)
{
	struct breaker b = BREAKER_INIT(1000);
	struct racer racers[THREADS];
	pthread_t threads[THREADS];
	pthread_barrier_t start;
	int allowed = 0;

	breaker_report(&b, false, 0);
	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		racers[i] = (struct racer){ &b, &start, false };
		ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		allowed += racers[i].allowed;
	}
	pthread_barrier_destroy(&start);
	ck_assert_int_eq(allowed, 1);
}
END_TEST

Suite *breaker_suite(void)
{
	Suite *s = suite_create("breaker");
	TCase *t = tcase_create("states");

	tcase_add_test(t, a_closed_breaker_lets_everybody_through);
	tcase_add_test(t, a_failure_opens_it_and_one_probe_closes_it);
	tcase_add_test(t, a_failed_probe_opens_it_again);
	tcase_add_test(t, a_probe_that_is_never_reported_does_not_close_the_way_for_ever);
	tcase_add_test(t, a_clock_around_zero_opens_it_too);
	tcase_add_loop_test(t, of_many_that_ask_at_once_one_probes, 0, 100);
	suite_add_tcase(s, t);
	return s;
}
