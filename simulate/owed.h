/* SPDX-License-Identifier: GPL-2.0-or-later
 * owed.h - what each project of a trace was owed, by the rule of lib/owed
 *
 * Unit     GPU-seconds
 * Threads  pure function */
#ifndef SIMULATE_OWED_H
#define SIMULATE_OWED_H
#include "simulate/shares.h"
#include "simulate/trace.h"

/* owed[] by project of the trace, between two times of the trace. 0, or -1 and ENOMEM. */
int owed_count(const struct trace *t, const struct shares *s, int64_t gpus, int64_t from, int64_t until,
	int64_t *owed);

#endif
