/* SPDX-License-Identifier: GPL-2.0-or-later
 * place.h - positions in the one order as SiteFactor values
 *
 * A running funded job stands above every pending one, so that Slurm by itself displaces nobody but free runs; pending funded jobs
 * stand in their order, exactly for the first 1,000 and together behind; free jobs keep 0. Neighbours are farther apart than all that
 * the site's own priority factors can add.
 *
 * Unit     SiteFactor: signed, added to the priority by priority/multifactor
 * Threads  pure functions: any thread */
#ifndef LIB_PLACE_H
#define LIB_PLACE_H
#include <stddef.h>
#include <stdint.h>

#define PLACE_EXACT 1000		/* pending jobs with a place of their own */

/* The distance of neighbours for a site whose PriorityWeight* sum to `weights`; cut where 1,000 places would not fit. */
int32_t place_gap(int64_t weights);

int32_t place_running(int32_t gap);
int32_t place_pending(size_t position, int32_t gap);	/* 0 goes first */
int32_t place_newcomer(int32_t gap);			/* behind all exact ones, until the next pass knows better */

#endif
