/* SPDX-License-Identifier: GPL-2.0-or-later
 * numa_hooks.h - SPANK's side of numa.h: the option --gpu-numa, and when what is called
 *
 * Threads  as SPANK's hooks: one at a time in slurmstepd, one in each task */
#ifndef SPANK_NUMA_HOOKS_H
#define SPANK_NUMA_HOOKS_H
#include <slurm/spank.h>
#include "lib/fault.h"

/* In slurm_spank_init, before the arguments. */
void numa_hooks_init(void);

/* A word of plugstack.conf: 1: ours; 0: not; -1 and EINVAL: ours, and wrong. */
int numa_hooks_argument(const char *argument, struct fault *why);

void numa_hooks_register(spank_t sp);

/* In srun, before it launches the tasks: tell them whether --cpu-bind was given. */
void numa_hooks_launch(spank_t sp);

/* In slurmstepd, before it forks tasks; does nothing for a step without GPUs. */
void numa_hooks_begin(spank_t sp);

/* In slurmstepd, for each task before any is let go. */
void numa_hooks_forked(spank_t sp);

/* In the task, last before it is executed. 0; or -1: --gpu-numa=strict and it is far from its GPUs; the user
 * has been told. */
int numa_hooks_task(spank_t sp);

void numa_hooks_end(void);

#endif
