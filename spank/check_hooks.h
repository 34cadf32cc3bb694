/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_hooks.h - SPANK's side of check.h: the options --gpu-check and --gpu-backend, and when what is called
 *
 * Threads  as SPANK's hooks: one at a time in slurmstepd, one in each task */
#ifndef SPANK_CHECK_HOOKS_H
#define SPANK_CHECK_HOOKS_H
#include <slurm/spank.h>
#include "lib/fault.h"

/* In slurm_spank_init, before the arguments. */
void check_hooks_init(void);

/* A word of plugstack.conf: 1: ours; 0: not; -1 and EINVAL: ours, and wrong. */
int check_hooks_argument(const char *argument, struct fault *why);

void check_hooks_register(spank_t sp);

/* In slurmstepd, before it forks tasks; does nothing for a step without GPUs. */
void check_hooks_begin(spank_t sp);

/* In the task, last before it is executed, when it has its CPUs. 0; or -1: its program must not start, the
 * user has been told. Where Slurm can put a program before the task's own, that one proves. */
int check_hooks_task(spank_t sp);

/* In slurmstepd, when the tasks are gone: what such programs found goes to the log. */
void check_hooks_end(void);

#endif
