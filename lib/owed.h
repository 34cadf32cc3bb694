/* SPDX-License-Identifier: GPL-2.0-or-later
 * owed.h - what a project was owed: its entitlement, capped hour by hour at its demand (doc/model.md, 10)
 *
 * The demand of a job counts once: what it was owed in one hour is not owed again in the next, so a short job
 * that waits for a day is owed no more than it asked for. It is what the project would have had on a cluster
 * of its own, as large as its share, that wastes nothing: the oldest job first, none faster than it can run.
 * It does not depend on the scheduler.
 *
 * Unit     of the caller's choice: GPU-seconds, or units of amount.h; seconds
 * Threads  pure function */
#ifndef LIB_OWED_H
#define LIB_OWED_H
#include <stddef.h>
#include <stdint.h>

#define OWED_STEP_S 3600

/* A job asks for `units`, at most `rate` of them a second, from `from` on. */
struct demand {
	int64_t from, rate, units;
};

/* Of one project, in order of `from`. Those that are asked for and not served yet are moved to the front. */
struct demands {
	struct demand *rows;
	size_t all, next;	/* how many there are; the first that is not asked for yet */
	size_t count;		/* not served yet */
};

/* What is owed between two times, at most `cap`; it is taken from the demands. The times of calls follow each
 * other. */
int64_t owed_serve(struct demands *d, int64_t from, int64_t to, int64_t cap);

#endif
