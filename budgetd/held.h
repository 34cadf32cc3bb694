/* SPDX-License-Identifier: GPL-2.0-or-later
 * held.h - a hold of the daemon's: which records it holds, told from the holds of users and administrators
 *
 * What waits for money is held by an administrator's hold, which its user cannot undo, and has WAITS_WORD in
 * AdminComment: the record itself says who holds it, whatever becomes of the books. The plugin can only give
 * a user's hold; with the word it is ours, and the next pass makes it an administrator's.
 *
 * Threads  pure functions: any thread */
#ifndef BUDGETD_HELD_H
#define BUDGETD_HELD_H
#include "slurm_link/job_view.h"

bool job_held_by_us(const struct job_view *j);

/* Can it start as far as its user goes: no begin time ahead, no dependency, and held by nobody, or by us?
 * Then it needs its hours. */
bool job_is_eligible(const struct job_view *j, int64_t now);

/* The number of its first task: what of an array is released goes by that. 0 for what is no array. */
int64_t job_first_task(const struct job_view *j);

#endif
