/* SPDX-License-Identifier: GPL-2.0-or-later
 * slot.c - is a weekly window open, and is there something of it left. */
#include "lib/slot.h"

#define FIRST_MONDAY ((int64_t)4 * 86400) /* 1970-01-05 */
#define PPM          1000000

bool slot_is_open(const struct slot *s, int64_t now)
{
	int64_t since = (now - FIRST_MONDAY - s->starts_s) % SLOT_WEEK_S;

	return (since < 0 ? since + SLOT_WEEK_S : since) < s->length_s;
}

bool slot_goes_first(const struct slot *s, int64_t now, int64_t held_gpus, int64_t healthy_gpus)
{
	return slot_is_open(s, now) && held_gpus * PPM < s->boosted_ppm * healthy_gpus;
}
