/* SPDX-License-Identifier: GPL-2.0-or-later
 * tally.c - counters and histograms. */
#include "budgetd/tally.h"
#include <stdlib.h>

/* Around the plugin's deadline (50 ms) and what a decision takes (well below 1 ms). */
const struct tally_bound tally_decision_bounds[TALLY_BOUNDS] = {
	{ 100, "0.0001" }, { 250, "0.00025" }, { 500, "0.0005" }, { 1000, "0.001" }, { 2500, "0.0025" },
	{ 5000, "0.005" }, { 10000, "0.01" }, { 25000, "0.025" }, { 50000, "0.05" }, { 100000, "0.1" },
	{ 1000000, "1.0" },
};

const struct tally_bound tally_pass_bounds[TALLY_BOUNDS] = {
	{ 10000, "0.01" }, { 25000, "0.025" }, { 50000, "0.05" }, { 100000, "0.1" }, { 250000, "0.25" },
	{ 500000, "0.5" }, { 1000000, "1.0" }, { 2500000, "2.5" }, { 5000000, "5.0" }, { 10000000, "10.0" },
	{ 60000000, "60.0" },
};

/* From a pass to a week. */
const struct tally_bound tally_wait_bounds[TALLY_BOUNDS] = {
	{ 10 * INT64_C(1000000), "10.0" }, { 60 * INT64_C(1000000), "60.0" },
	{ 300 * INT64_C(1000000), "300.0" }, { 900 * INT64_C(1000000), "900.0" },
	{ 1800 * INT64_C(1000000), "1800.0" }, { 3600 * INT64_C(1000000), "3600.0" },
	{ 14400 * INT64_C(1000000), "14400.0" }, { 43200 * INT64_C(1000000), "43200.0" },
	{ 86400 * INT64_C(1000000), "86400.0" }, { 259200 * INT64_C(1000000), "259200.0" },
	{ 604800 * INT64_C(1000000), "604800.0" },
};

struct tally *tally_new(void)
{
	return calloc(1, sizeof(struct tally));
}

static void add(atomic_uint_fast64_t *to, uint64_t n)
{
	atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static void observe(struct tally_histogram *h, const struct tally_bound bounds[TALLY_BOUNDS], int64_t us)
{
	int i = 0;

	if (us < 0)			/* clocks of two hosts */
		us = 0;
	while (i < TALLY_BOUNDS && us > bounds[i].us)
		i++;
	add(&h->in[i], 1);
	add(&h->sum_us, (uint64_t)us);
}

void tally_decided(struct tally *t, enum tally_decision d, int64_t us)
{
	if (!t)
		return;
	add(&t->decisions[d], 1);
	observe(&t->deciding, tally_decision_bounds, us);
}

void tally_not_answered(struct tally *t, enum tally_unanswered cause, uint64_t times)
{
	if (t)
		add(&t->unanswered[cause], times);
}

void tally_met(struct tally *t)
{
	if (t)
		add(&t->met, 1);
}

void tally_passed(struct tally *t, bool ok, int64_t us)
{
	if (!t)
		return;
	add(ok ? &t->passes : &t->failed_passes, 1);
	observe(&t->passing, tally_pass_bounds, us);
}

void tally_waited(struct tally *t, enum tally_tier tier, int64_t us)
{
	if (t)
		observe(&t->waiting[tier], tally_wait_bounds, us);
}
