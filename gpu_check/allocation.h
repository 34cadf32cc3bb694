/* SPDX-License-Identifier: GPL-2.0-or-later
 * allocation.h - how many GPUs a process was given: by Slurm, and by the variables that choose devices
 *
 * Slurm's own lists are those of its configuration, not of any driver; only their number is used. The
 * variables of AMD work one behind the other (HIP_VISIBLE_DEVICES counts within ROCR_VISIBLE_DEVICES), so the
 * shortest decides.
 *
 * Threads  pure functions over an environment: any thread */
#ifndef GPU_CHECK_ALLOCATION_H
#define GPU_CHECK_ALLOCATION_H
#include <stdbool.h>

struct allocation {
	/* GPUs that Slurm gave to the task, step or job on this node; -1: none of Slurm's variables is
	 * there */
	int allocated;
	int named;		/* devices in the variable that decides; -1: none is set */
	const char *variable;	/* its name; NULL where named is -1. Static */
	bool instance;		/* it names MIG instances, of which a process has one */
	bool shared;		/* shards or MPS: a part of a GPU, no whole ones */
};

/* What `environment` (NULL at its end) says about `backend`. Cannot fail. */
void allocation_read(char *const *environment, const char *backend, struct allocation *out);

/* The value of a variable; NULL: it is not set. */
const char *environment_value(char *const *environment, const char *name);

#endif
