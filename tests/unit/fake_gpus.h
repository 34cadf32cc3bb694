/* SPDX-License-Identifier: GPL-2.0-or-later
 * fake_gpus.h - a gpu_watch that knows what a test tells it, and asks nobody */
#ifndef UNIT_FAKE_GPUS_H
#define UNIT_FAKE_GPUS_H
#include "budgetd/gpu_watch.h"

struct gpu_watch {
	struct gpu_table table;
};

#endif
