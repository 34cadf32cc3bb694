/* SPDX-License-Identifier: GPL-2.0-or-later
 * leaves.h - a running job as lib/drain.h sees it: one reading for the loop and for who asks by when a node
 * is empty
 *
 * Threads  pure: any thread */
#ifndef BUDGETD_LEAVES_H
#define BUDGETD_LEAVES_H
#include "budgetd/ledger_run.h"
#include "lib/drain.h"
#include "slurm_link/job_view.h"
#include "slurm_link/link.h"

/* `r` NULL: the books have no run of it, it is not ours to move. */
struct drain_run drain_run_of(const struct job_view *j, const struct run *r);

#endif
