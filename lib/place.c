/* SPDX-License-Identifier: GPL-2.0-or-later
 * place.c - positions in the one order as SiteFactor values.
 *
 * Which jobs can stay: with positions i < j and places p, q there must be room for those in between, p - q >=
 * gap * (j - i), which is p + gap * i >= q + gap * j. So those that stay are a longest not rising subsequence
 * of p + gap * i. */
#include "lib/place.h"
#include <stdbool.h>
#include <stdlib.h>

#define GAP_MIN 100
#define GAP_MAX ((PLACE_TOP - PLACE_FLOOR) / PLACE_EXACT)
#define SPREAD 16			/* gaps between neighbours where there is room for it */
#define NONE SIZE_MAX

/* Where exact places are, and the one of all behind them. */
struct band {
	int64_t top, floor;
	int32_t behind;
};

int32_t place_gap(int64_t weights)
{
	if (weights < GAP_MIN)
		return GAP_MIN;
	return weights < GAP_MAX ? (int32_t)weights + 1 : GAP_MAX;
}

int32_t place_running(int32_t gap)
{
	return PLACE_TOP + gap;
}

int32_t place_behind(int32_t last, int32_t gap)
{
	int64_t next = (int64_t)last - (int64_t)SPREAD * gap;

	return next >= PLACE_FLOOR ? (int32_t)next : PLACE_BEHIND;
}

/* Room above for those in front of it, and below for those behind. */
static bool can_stay(const struct band *b, int32_t place, size_t i, size_t count, int32_t gap)
{
	return place <= b->top - (int64_t)gap * (int64_t)i &&
		place >= b->floor + (int64_t)gap * (int64_t)(count - 1 - i);
}

/* Patience: best[k] is the index that a subsequence of length k + 1 ends with best; before[] leads back from
 * it. */
static size_t longest(const struct band *b, const int32_t *now, size_t count, int32_t gap, size_t *best,
	size_t *before)
{
	size_t length = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t d = now[i] + (int64_t)gap * (int64_t)i;
		size_t low = 0, high = length;

		if (!can_stay(b, now[i], i, count, gap))
			continue;
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (now[best[middle]] + (int64_t)gap * (int64_t)best[middle] >= d)
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low ? best[low - 1] : NONE;
		best[low] = i;
		if (low == length)
			length++;
	}
	return length;
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Nobody stays: from the upper quarter down, so that there is room in front; over the whole range when that
 * is too narrow. */
static void spread_all(const struct band *b, int32_t *out, size_t count, int32_t gap)
{
	int64_t start = b->top - (b->top - b->floor) / 4, steps = count > 1 ? (int64_t)count - 1 : 1;
	int64_t step = smaller((int64_t)SPREAD * gap, (start - b->floor) / steps);

	if (step < gap) {
		start = b->top;
		step = (b->top - b->floor) / steps;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = (int32_t)(start - step * (int64_t)i);
}

/* Those behind `from`, up to the next that stays (`to`, NONE at the end) or the floor. */
static void fill_behind(const struct band *b, int32_t *out, size_t from, size_t to, size_t count, int32_t gap)
{
	size_t between = (to == NONE ? count : to) - from;
	int64_t room = to == NONE
		? smaller((int64_t)SPREAD * gap * (int64_t)(between - 1), out[from] - b->floor)
		: out[from] - out[to];
	int64_t parts = to == NONE ? (int64_t)between - 1 : (int64_t)between;

	for (size_t k = 1; k < between; k++)
		out[from + k] = (int32_t)(out[from] - room * (int64_t)k / parts);
}

static void fill_in_front(const struct band *b, int32_t *out, size_t first, int32_t gap)
{
	int64_t step = first ? smaller((int64_t)SPREAD * gap, (b->top - out[first]) / (int64_t)first) : 0;

	for (size_t k = 1; k <= first; k++)
		out[first - k] = (int32_t)(out[first] + step * (int64_t)k);
}

static void assign_exact(const struct band *b, const int32_t *now, size_t count, int32_t gap, int32_t *out,
	size_t *best, size_t *before)
{
	size_t length = longest(b, now, count, gap, best, before), next = NONE;

	if (length == 0) {
		spread_all(b, out, count, gap);
		return;
	}
	for (size_t i = best[length - 1]; i != NONE; i = before[i]) {
		out[i] = now[i];
		fill_behind(b, out, i, next, count, gap);
		next = i;
	}
	fill_in_front(b, out, next, gap);
}

static int assign(const struct band *b, const int32_t *now, size_t count, size_t most, int32_t gap,
	int32_t *out)
{
	size_t exact = count < most ? count : most;
	size_t *work = calloc(2 * exact + 1, sizeof(*work));

	if (!work)
		return -1;
	if (exact)
		assign_exact(b, now, exact, gap, out, work, work + exact);
	for (size_t i = exact; i < count; i++)
		out[i] = b->behind;
	free(work);
	return 0;
}

int place_assign(const int32_t *now, size_t count, int32_t gap, int32_t *out)
{
	static const struct band funded = { PLACE_TOP, PLACE_FLOOR, PLACE_BEHIND };

	return assign(&funded, now, count, PLACE_EXACT, gap, out);
}

int place_assign_free(const int32_t *now, size_t count, int32_t gap, int32_t *out)
{
	const struct band below = { PLACE_FREE_TOP, gap, 0 };
	size_t room = (size_t)(PLACE_FREE_TOP / gap);

	return assign(&below, now, count, room < PLACE_EXACT ? room : PLACE_EXACT, gap, out);
}
