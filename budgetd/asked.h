/* SPDX-License-Identifier: GPL-2.0-or-later
 * asked.h - of which jobs slurmdbd has told all earlier runs
 *
 * A job that was requeued keeps its number of restarts for as long as it is in slurmctld's table, weeks
 * perhaps; its earlier runs are asked for once. Runs that lasted no second count as restarts too, and are in
 * no book: only this tells that they were asked for.
 *
 * Memory   bounded: when it is full all is forgotten, and asked once more
 * Threads  the loop's alone */
#ifndef BUDGETD_ASKED_H
#define BUDGETD_ASKED_H
#include <stdbool.h>
#include <stdint.h>

struct asked;

struct asked *asked_new(void);		/* NULL and ENOMEM */
void asked_free(struct asked *a);	/* NULL is fine */

/* Has it told of all the runs that came before this restart of the job, put back in the queue at `submit`? */
bool asked_about(const struct asked *a, uint32_t job, int64_t submit);
void asked_put(struct asked *a, uint32_t job, int64_t submit);

#endif
