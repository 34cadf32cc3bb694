/* SPDX-License-Identifier: GPL-2.0-or-later
 * leaves.c - a running job as lib/drain.h sees it. */
#include "budgetd/leaves.h"
#include "lib/duration.h"

static int64_t ends_of(const struct job_view *j)
{
	return j->time_limit_s == DURATION_UNLIMITED ||
		j->time_limit_s < 0 ? DURATION_UNLIMITED : j->start + j->time_limit_s;
}

struct drain_run drain_run_of(const struct job_view *j, const struct run *r)
{
	return (struct drain_run){ .ends = ends_of(j), .ours = r != NULL,
		.funded = r && r->tier == TIER_FUNDED, .protected_until = r && !r->unprotected_at &&
		!r->free_since ? r->start + r->min_runtime_s : 0 };
}
