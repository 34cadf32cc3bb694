/* SPDX-License-Identifier: GPL-2.0-or-later
 * place.c - positions in the one order as SiteFactor values (doc/model.md, 6). */
#include "lib/place.h"

#define TOP 1000000000			/* half of what a SiteFactor can be: the other half is left to the site */
#define GAP_MIN 100
#define GAP_MAX (TOP / 2 / PLACE_EXACT)	/* the last exact place stays far above a free job */

int32_t place_gap(int64_t weights)
{
	if (weights < GAP_MIN)
		return GAP_MIN;
	return weights < GAP_MAX ? (int32_t)weights + 1 : GAP_MAX;
}

int32_t place_running(int32_t gap)
{
	return TOP + gap;
}

int32_t place_pending(size_t position, int32_t gap)
{
	return TOP - (int32_t)(position < PLACE_EXACT ? position : PLACE_EXACT) * gap;
}

int32_t place_newcomer(int32_t gap)
{
	return place_pending(PLACE_EXACT, gap);
}
