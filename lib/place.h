/* SPDX-License-Identifier: GPL-2.0-or-later
 * place.h - positions in the one order as SiteFactor values
 *
 * A running funded job stands above every pending one, so that Slurm by itself displaces nobody but free
 * runs; pending funded jobs stand in their order, exactly for the first 1,000 and together behind; free jobs
 * stand below all of them, likewise, with 0 behind (doc/model.md, 6). Neighbours are at least a gap apart,
 * more than all that the site's own priority factors can add, and usually several, so that a newcomer goes
 * between two of them and nobody else moves: each update costs slurmctld 0.6 ms under its locks.
 *
 * Unit     SiteFactor: signed, added to the priority by priority/multifactor
 * Threads  pure functions: any thread */
#ifndef LIB_PLACE_H
#define LIB_PLACE_H
#include <stddef.h>
#include <stdint.h>

#define PLACE_EXACT 1000		/* pending jobs with a place of their own */
#define PLACE_TOP 900000000		/* no pending job is above */
#define PLACE_FLOOR 100000000		/* no exact place is below */
#define PLACE_BEHIND (PLACE_FLOOR / 2)	/* of all that have no exact one; far above a free job */

#define PLACE_FREE_TOP 40000000		/* no free job is above */

/* The distance of neighbours for a site whose PriorityWeight* sum to `weights`; cut where 1,000 places would
 * not fit. */
int32_t place_gap(int64_t weights);

int32_t place_running(int32_t gap);

/* Places for `count` pending jobs in their order. now[i] is the one that job i has (anything else than a
 * place is 0): as many as possible keep theirs. 0 and all of out[] set, strictly falling by at least a gap;
 * or -1, out[] untouched, ENOMEM. */
int place_assign(const int32_t *now, size_t count, int32_t gap, int32_t *out);

/* The same for pending jobs of the free tier: fewer have a place of their own where the gap is wide. All of
 * out[] are 0 .. PLACE_FREE_TOP. */
int place_assign_free(const int32_t *now, size_t count, int32_t gap, int32_t *out);

/* The place behind `last`, for one that has just been submitted: at the end of the order until the next pass
 * knows better. */
int32_t place_behind(int32_t last, int32_t gap);

#endif
