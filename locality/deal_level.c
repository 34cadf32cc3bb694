/* SPDX-License-Identifier: GPL-2.0-or-later
 * deal_level.c - local pieces evenly among the tasks that need them (deal_cycles.h)
 *
 * The sum of the squares of what tasks have gets smaller with each exchange, so there is an end. */
#include "locality/deal_cycles.h"

static int64_t cost_of(const struct deal_counts *d, int task, int class)
{
	return d->cost[d->kind_of[task] * d->room + class];
}

static bool local_to(const struct deal_counts *d, int task, int class)
{
	return d->local[d->kind_of[task] * d->room + class];
}

static int local_cpus(const struct deal_counts *d, int task)
{
	int n = 0;

	for (int c = 0; c < d->classes; c++)
		if (local_to(d, task, c))
			n += d->has[task * d->classes + c] * d->size[c];
	return n;
}

/* How many pieces of class a the rich task gives for as many of class b, so that both come nearer to each
 * other; 0: none. */
static int pieces_to_change(const struct deal_counts *d, int rich, int poor, int a, int b, int difference)
{
	int has_a = d->has[rich * d->classes + a], has_b = d->has[poor * d->classes + b],
		level = difference / (2 * d->size[a]);

	if (!has_a || !has_b || d->size[a] != d->size[b] || !local_to(d, rich, a) || !local_to(d, poor, a) ||
		local_to(d, rich, b) || local_to(d, poor, b) ||
		cost_of(d, poor, a) - cost_of(d, poor, b) != cost_of(d, rich, a) - cost_of(d, rich, b))
		return 0;
	has_a = has_a < has_b ? has_a : has_b;
	return has_a < level ? has_a : level;
}

/* true: something changed hands. */
static bool pair_level(const struct deal_counts *d, int rich, int poor, int difference)
{
	int n = d->classes;

	for (int a = 0; a < n; a++)
		for (int b = 0; b < n; b++) {
			int times = pieces_to_change(d, rich, poor, a, b, difference);

			if (times <= 0)
				continue;
			d->has[rich * n + a] -= times;
			d->has[rich * n + b] += times;
			d->has[poor * n + b] -= times;
			d->has[poor * n + a] += times;
			return true;
		}
	return false;
}

void deal_level(const struct deal_counts *d)
{
	bool changed;

	do {
		changed = false;
		for (int rich = 0; rich < d->tasks; rich++)
			for (int poor = 0; poor < d->tasks; poor++) {
				int difference = local_cpus(d, rich) - local_cpus(d, poor);

				if (difference > 1)
					changed |= pair_level(d, rich, poor, difference);
			}
	} while (changed);
}
