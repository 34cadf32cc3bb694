/* SPDX-License-Identifier: GPL-2.0-or-later
 * idle.c - the ladder of idle GPUs. */
#include "lib/idle.h"
#include <math.h>

/* What nobody asks for is NAN in each sample, and does not change. */
static bool differ(double a, double b)
{
	return isnan(a) != isnan(b) || (!isnan(a) && (a < b || a > b));
}

void idle_add(struct idle_gpu *g, const struct idle_sample *s, int64_t step_s)
{
	bool hole, changed;

	if (isnan(s->utilization) || s->at <= g->last)
		return;
	hole = s->at - g->last > step_s;
	changed = differ(s->memory, g->memory) || differ(s->processes, g->processes);
	if (s->utilization < 0 || s->utilization > 0)
		g->since = 0;
	else if (!g->since || hole || changed)
		g->since = s->at;
	g->last = s->at;
	g->memory = s->memory;
	g->processes = s->processes;
}

int64_t idle_since(
	const struct idle_gpu *const known[], size_t count, int64_t gpus, int64_t start, int64_t fresh)
{
	int64_t since = start;

	if (count == 0 || (int64_t)count < gpus)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!known[i]->since || known[i]->last < fresh)
			return 0;
		if (known[i]->since > since)
			since = known[i]->since;
	}
	return since;
}

static enum idle_word word_after(const struct idle_limits *l, int64_t idle_s)
{
	const int64_t after[] = {
		[IDLE_NOTE] = l->note_s,
		[IDLE_WARNING] = l->warning_s,
		[IDLE_LAST_WARNING] = l->last_warning_s,
		[IDLE_UNPROTECTED] = l->unprotected_s,
	};
	enum idle_word word = IDLE_NOTHING;

	for (enum idle_word w = IDLE_NOTE; w <= IDLE_UNPROTECTED; w++)
		if (after[w] && idle_s >= after[w])
			word = w;
	return word;
}

enum idle_word idle_next(
	const struct idle_limits *l, int64_t since, enum idle_word said, int64_t said_at, int64_t now)
{
	enum idle_word due = since ? word_after(l, now - since) : IDLE_NOTHING;

	if (said_at < since)
		said = IDLE_NOTHING;
	if (due <= said)
		return IDLE_NOTHING;
	if (due < IDLE_UNPROTECTED || !l->last_warning_s)
		return due;
	if (said < IDLE_LAST_WARNING)
		return IDLE_LAST_WARNING;
	return now - said_at >= l->unprotected_s - l->last_warning_s ? due : IDLE_NOTHING;
}
