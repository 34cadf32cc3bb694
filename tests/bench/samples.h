/* SPDX-License-Identifier: GPL-2.0-or-later
 * samples.h - times that were measured, and what is told of them
 *
 * Unit     nanoseconds of CLOCK_MONOTONIC
 * Threads  a struct samples belongs to one thread */
#ifndef TESTS_BENCH_SAMPLES_H
#define TESTS_BENCH_SAMPLES_H
#include <stddef.h>
#include <stdint.h>

struct samples {
	int64_t *ns;
	size_t n, max;
};

int64_t samples_now(void);

/* Room for `max` of them. 0, or -1 and errno ENOMEM. samples_free is for what this made, and for all zero. */
int samples_new(struct samples *s, size_t max);
void samples_free(struct samples *s);

/* What is beyond the room is dropped. */
void samples_add(struct samples *s, int64_t ns);

/* The smallest time that `permille` of them do not exceed; 500 is the median, 1000 the longest. Sorts them.
 * 0 when there are none. */
int64_t samples_at(struct samples *s, int permille);

#endif
