/* SPDX-License-Identifier: GPL-2.0-or-later
 * step.h - what the hooks of a node have to know of a step before they do anything
 *
 * Threads  as SPANK's hooks */
#ifndef SPANK_STEP_H
#define SPANK_STEP_H
#include <slurm/spank.h>
#include <stdbool.h>
#include <stddef.h>

/* Neither the container of a job without steps nor the shell of salloc. */
bool step_runs_user_code(spank_t sp);

/* Is there any word of GPUs in its environment? */
bool step_has_gpus(spank_t sp);

/* Was it itself given GPUs? The variables of its job are there in a step without GPUs, too. */
bool step_was_given_gpus(spank_t sp);

/* Tasks on this node; 0: Slurm does not say. */
int step_tasks(spank_t sp);

/* The text of an option that sbatch or salloc left for inner steps, which is there after --export=NONE, too.
 * NULL: none. */
const char *step_inherited(spank_t sp, const char *option, char *buf, size_t size);

#endif
