/* SPDX-License-Identifier: GPL-2.0-or-later
 * history.c - a random history (history.h). */
#include "tests/model/history.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define QUIET_PASSES 4
#define THOROUGH     40 /* one history in so many opens and closes its file as budgetd does */

/* --- chance ------------------------------------------------------------------------------------- */

/* splitmix64: one number of state, the same everywhere. */
static uint64_t next_random(struct history *h)
{
	uint64_t z = h->random += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int64_t below(struct history *h, int64_t n)
{
	return (int64_t)(next_random(h) % (uint64_t)n);
}

bool chance(struct history *h, int percent)
{
	return below(h, 100) < percent;
}

int64_t between(struct history *h, int64_t from, int64_t to)
{
	return from + below(h, to - from + 1);
}

/* --- telling ------------------------------------------------------------------------------------ */

void tell(struct history *h, const char *fmt, ...)
{
	va_list ap;

	if (!h->story)
		return;
	fprintf(h->story, "%4d %+7jd s  ", h->step, (intmax_t)(h->now - h->epoch));
	va_start(ap, fmt);
	vfprintf(h->story, fmt, ap);
	va_end(ap);
	fputc('\n', h->story);
}

void differ(struct history *h, const char *fmt, ...)
{
	int n = snprintf(h->difference, sizeof(h->difference), "step %d, %+jd s: ", h->step,
		(intmax_t)(h->now - h->epoch));
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(h->difference + n, sizeof(h->difference) - (size_t)n, fmt, ap);
	va_end(ap);
	longjmp(h->differs, 1);
}

/* --- steps -------------------------------------------------------------------------------------- */

static void look(struct history *h)
{
	struct o_seen table[O_JOBS], rows[W_ROWS];
	int n, nrows, rc;

	h->w.now = h->now;
	h->looked = h->w.slurmctld_away ? h->looked : h->now;
	n = world_table(&h->w, table);
	nrows = world_rows(&h->w, rows);
	bench_ranks(h->b, h->now, h->o.nnodes, h->o.rank);
	rc = bench_pass(h->b, h->now);
	tell(h, "budgetd looks%s%s", h->w.slurmctld_away ? ", slurmctld is away" : "",
		h->w.slurmdbd_away ? ", slurmdbd is away" : "");
	if ((rc < 0) != h->w.slurmctld_away)
		differ(h, "the pass failed: %s", h->b->why.text);
	if (rc < 0)
		oracle_trouble(&h->o, false);
	else
		oracle_pass(&h->o, h->now, table, n, h->w.slurmdbd_away ? NULL : rows,
			h->w.slurmdbd_away ? 0 : nrows);
}

static void trouble(struct history *h)
{
	switch (below(h, 5)) {
	case 0:
		h->w.slurmctld_away = !h->w.slurmctld_away;
		break;
	case 1:
		h->w.slurmdbd_away = !h->w.slurmdbd_away;
		break;
	case 2:
		h->w.updates_fail = !h->w.updates_fail;
		break;
	default:
		h->must_look = true;
		h->w.slurmctld_away = false;
		if (chance(h, 50))
			bench_kill(h->b);
		else
			bench_restart(h->b);
		oracle_trouble(&h->o, true);
	}
	tell(h, "slurmctld %s, slurmdbd %s, updates %s%s", h->w.slurmctld_away ? "away" : "there",
		h->w.slurmdbd_away ? "away" : "there", h->w.updates_fail ? "fail" : "work",
		h->must_look ? "; budgetd is started anew" : "");
}

/* What is away comes back some day. */
static void trouble_ends(struct history *h)
{
	if (chance(h, 40))
		h->w.slurmctld_away = false;
	if (chance(h, 30))
		h->w.slurmdbd_away = false;
	if (chance(h, 30))
		h->w.updates_fail = false;
}

static void time_goes_by(struct history *h)
{
	static const int64_t lengths[] = {1, 7, 30, 60, 60, 60, 60, 60, 60, 60, 60, 60, 100, 300, 900, 4000};

	h->before = h->now;
	h->now += lengths[below(h, sizeof(lengths) / sizeof(lengths[0]))];
	h->w.now = h->now;
}

static void one_step(struct history *h)
{
	int acts = (int)between(h, 1, 3);

	h->step++;
	time_goes_by(h);
	for (int i = 0; i < acts; i++) {
		if (chance(h, 20))
			money_act(h);
		else
			job_act(h);
		compare_money(h);
		if (h->must_look)
			look(h);
		h->must_look = false;
	}
	trouble_ends(h);
	if (chance(h, 5))
		trouble(h);
	if (h->must_look || chance(h, 80))
		look(h);
	h->must_look = false;
	compare_money(h);
}

static void last_steps(struct history *h)
{
	h->w.slurmctld_away = h->w.slurmdbd_away = h->w.updates_fail = false;
	jobs_end(h);
	for (int i = 0; i < QUIET_PASSES; i++) {
		h->step++;
		h->before = h->now;
		h->now += i == 0 ? 0 : 500;
		look(h);
		compare_money(h);
	}
	compare_runs(h);
}

int history_run(struct history *h, struct bench *b, uint64_t seed, FILE *story)
{
	const char *unsound;

	memset(h, 0, sizeof(*h));
	h->seed = h->random = seed;
	h->b = b;
	h->story = story;
	h->epoch = H_MONTH + between(h, -20000, 5000);
	h->now = h->before = h->w.now = h->epoch;
	h->o.lead = 2 * b->settings->pass_interval_s + 5;
	h->o.unbound = b->settings->unbound_hold_s;
	h->o.user_held = 600;
	h->o.max_minimum = b->settings->max_min_runtime_s;
	h->o.away = 60;
	h->o.again = 600;
	h->o.types = O_TYPES;
	h->o.pauses_are_free = seed % 3 == 0;
	b->settings->charge_suspended = h->o.pauses_are_free ? SUSPENDED_NOT_CHARGED : SUSPENDED_CHARGED;
	bench_log_to(story);
	bench_begin(b, &h->w, seed % THOROUGH == 0);
	if (setjmp(h->differs)) {
		tell_numbers(h);
		bench_end(b);
		return -1;
	}
	money_begins(h);
	look(h);
	for (int64_t n = between(h, 10, 80); n > 0; n--)
		one_step(h);
	last_steps(h);
	unsound = bench_verify(b);
	if (unsound)
		differ(h, "verify: %s", unsound);
	bench_end(b);
	return 0;
}
