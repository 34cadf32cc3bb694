/* SPDX-License-Identifier: GPL-2.0-or-later
 * plan.h - may the CPUs that Slurm gave to the tasks of a node be dealt anew, and what each task has then
 *
 *      SLURM_CPU_BIND_TYPE              means                                        is
 *      none, map_cpu, *_ldom            the user wanted it so                        kept
 *      mask_cpu alone                   Slurm's, unless srun was told (the caller    swapped; when all have
 *                                       knows, BINDING_USER)                         one mask, shared out
 *      cores, threads, sockets, ldoms   Slurm's binding by units                     swapped among the tasks
 *      not set                          no binding                                   shared out
 *
 * Shared out: every task its even share, and never less than Slurm's CPUs for each task; when that does not
 * fit, kept.
 *
 * Threads  pure functions; allocate and free */
#ifndef LOCALITY_PLAN_H
#define LOCALITY_PLAN_H
#include "locality/deal.h"

enum binding { BINDING_NONE, BINDING_USER, BINDING_MASK, BINDING_UNITS };

/* Of SLURM_CPU_BIND_TYPE, "quiet,cores,mask_cpu:"; NULL and "" are not set. */
enum binding binding_of(const char *type);

enum plan { PLAN_KEPT, PLAN_SHARED_OUT, PLAN_SWAPPED };

/* `cpus_each`: what Slurm gives a task at least. *done set and tasks[].cpus as they are to be. 0; or -1 and
 * ENOMEM, the CPUs untouched. */
int plan_make(const struct cores *cores, struct deal_task *tasks, int count, enum binding binding,
	int cpus_each, enum plan *done);

#endif
