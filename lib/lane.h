/* SPDX-License-Identifier: GPL-2.0-or-later
 * lane.h - the debug lane: few GPUs, for a short time, one job a user, a daily allowance
 *
 * Jobs in it stand first in the order (doc/model.md, 6). Without the last two limits it would be a priority
 * that everybody can give to all of their work.
 *
 * Unit     GPU-seconds, seconds
 * Threads  pure functions: any thread */
#ifndef LIB_LANE_H
#define LIB_LANE_H
#include <stdbool.h>
#include <stdint.h>

struct lane_limits {
	int64_t gpus; /* 0: there is no lane */
	int64_t min_runtime_s;
	int64_t time_limit_s;
	int64_t allowance_gpu_s; /* of a user and a day */
};

/* 2 GPUs, 15 min, 2 h, 2 GPU-hours a day. */
struct lane_limits lane_defaults(void);

/* Is a job of this shape one for the lane? A minimum runtime of 0 asks for the free tier, which has none. */
bool lane_takes(const struct lane_limits *l, int64_t gpus, int64_t min_runtime_s, int64_t time_limit_s);

/* May such a job of a user go into it now? `running`: jobs of the user that run in the lane; `used_gpu_s`:
 * what they had of it today, those that run included. A job must have its minimum runtime left. */
bool lane_is_open(const struct lane_limits *l, int64_t running, int64_t used_gpu_s, int64_t gpus,
	int64_t min_runtime_s);

#endif
