/* SPDX-License-Identifier: GPL-2.0-or-later
 * drain.h - a node that is to be empty: who leaves it, and when
 *
 * A run that is protected leaves as its minimum runtime is over, after the grace; one that is not leaves
 * after the grace, a free one at once; `critical` spares nobody (doc/model.md, 6). What is not ours to move
 * ends by itself.
 *
 * Unit     epoch seconds, seconds
 * Threads  pure functions: any thread */
#ifndef LIB_DRAIN_H
#define LIB_DRAIN_H
#include <stdbool.h>
#include <stdint.h>

struct drain_run {
	int64_t ends;		/* by its time limit; DURATION_UNLIMITED = never by itself */
	bool ours;		/* in one of our tiers: it can be told to go */
	bool funded;
	int64_t protected_until; /* 0 = it is not, or not any more */
};

/* The components of a het job go together, when the last of them may: `d` is one of them, `other` another. */
void drain_goes_with(struct drain_run *d, const struct drain_run *other);

/* From when on it is told to go; DURATION_UNLIMITED: it is not. */
int64_t drain_tells_at(const struct drain_run *r, bool critical);

/* When it is gone, if told as soon as it may be, from `now` on. */
int64_t drain_gone_at(const struct drain_run *r, bool critical, int64_t grace_s, int64_t now);

#endif
