/* SPDX-License-Identifier: GPL-2.0-or-later
 * slot.h - a weekly window in which a project goes first, up to a boosted share
 *
 * Its use is charged and counted as always, and idle GPUs stay shared: nothing is set aside. A larger weight
 * for some hours would do nothing, since four hours a week move a ratio of seven days by 2 % (doc/model.md,
 * 6).
 *
 * Unit     seconds of the week from Monday 00:00 UTC; ppm of the healthy GPUs
 * Threads  pure functions: any thread */
#ifndef LIB_SLOT_H
#define LIB_SLOT_H
#include <stdbool.h>
#include <stdint.h>

#define SLOT_WEEK_S ((int64_t)7 * 86400)

struct slot {
	int64_t starts_s;    /* of the week, 0 .. SLOT_WEEK_S - 1 */
	int64_t length_s;    /* 1 .. SLOT_WEEK_S; may go on over the end of the week */
	int64_t boosted_ppm; /* up to this part of the healthy GPUs */
};

bool slot_is_open(const struct slot *s, int64_t now);

/* Open, and the project holds less than its boosted share: its jobs go first. */
bool slot_goes_first(const struct slot *s, int64_t now, int64_t held_gpus, int64_t healthy_gpus);

#endif
