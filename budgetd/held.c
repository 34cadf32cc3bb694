/* SPDX-License-Identifier: GPL-2.0-or-later
 * held.c - a hold of the daemon's. */
#include "budgetd/held.h"
#include "lib/token.h"
#include <stdlib.h>

bool job_held_by_us(const struct job_view *j)
{
	return (j->held == HELD_BY_ADMIN || j->held == HELD_BY_USER) && token_waits(j->admin_comment);
}

bool job_is_eligible(const struct job_view *j, int64_t now)
{
	return (j->held == HELD_NOT || job_held_by_us(j)) && !j->dependency && j->eligible <= now;
}

int64_t job_first_task(const struct job_view *j)
{
	if (j->array_tasks)
		return strtoll(j->array_tasks + (*j->array_tasks == '['), NULL, 10);
	return j->array_job_id && j->array_task_id != JOB_NOT_A_TASK ? j->array_task_id : 0;
}
