/* SPDX-License-Identifier: GPL-2.0-or-later
 * trial.h - does Slurm answer, without libslurm ending this program
 *
 * libslurm ends a process whose slurm.conf it does not like (link.h, DANGER), so it is tried in a child
 * first.
 *
 * Threads  one: it forks */
#ifndef DOCTOR_TRIAL_H
#define DOCTOR_TRIAL_H
#include "lib/fault.h"

/* 0: the configuration can be read and slurmctld answers. -1 and a text: libslurm's own or ours. A minute at
 * most. */
int trial_slurm(struct fault *why);

/* What libslurm writes to stderr is not shown from here to trial_quiet_end(): it tells its troubles there
 * once more, in words for developers. Keeps errno. */
int trial_quiet(void);
void trial_quiet_end(int saved);

#endif
