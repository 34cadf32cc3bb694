/* SPDX-License-Identifier: GPL-2.0-or-later
 * lane.c - the limits of the debug lane. */
#include "lib/lane.h"

struct lane_limits lane_defaults(void)
{
	return (struct lane_limits){
		.gpus = 2, .min_runtime_s = 15 * 60, .time_limit_s = 2 * 3600, .allowance_gpu_s = 2 * 3600};
}

bool lane_takes(const struct lane_limits *l, int64_t gpus, int64_t min_runtime_s, int64_t time_limit_s)
{
	return gpus > 0 && gpus <= l->gpus && min_runtime_s > 0 && min_runtime_s <= l->min_runtime_s &&
	       time_limit_s <= l->time_limit_s;
}

bool lane_is_open(
	const struct lane_limits *l, int64_t running, int64_t used_gpu_s, int64_t gpus, int64_t min_runtime_s)
{
	return running == 0 && used_gpu_s + gpus * min_runtime_s <= l->allowance_gpu_s;
}
