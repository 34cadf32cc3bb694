/* SPDX-License-Identifier: GPL-2.0-or-later
 * task_devices.h - which GPUs are a task's, from its environment
 *
 * Who tells what
 *   CUDA_VISIBLE_DEVICES   indices or UUIDs; with ConstrainDevices indices count what the cgroup leaves, else
 *                          all GPUs of the node. The first word that names nothing ends the list; MIG-... is
 *                          a part of one GPU
 *   ROCR_VISIBLE_DEVICES   the same for AMD, in the order of KFD; HIP_VISIBLE_DEVICES counts what ROCR left
 *                          over (and so does CUDA_VISIBLE_DEVICES where no NVIDIA GPU is)
 *   ZE_AFFINITY_MASK       Intel: cards, "0.1" a tile of card 0
 *   SLURM_STEP_GPUS, SLURM_JOB_GPUS    Slurm's own indices on the node, in the order of the bus with
 *                                      AutoDetect
 *   device files           what the cgroup lets through: the surest of all
 * Where several GPUs can be meant the result has all of them and is `unsure`: near to all is safe, near to
 * the wrong one is not.
 *
 * Threads  pure functions but for the getter */
#ifndef LOCALITY_TASK_DEVICES_H
#define LOCALITY_TASK_DEVICES_H
#include "locality/device_names.h"

/* The value of a variable in the task's environment; NULL: it is not set. It need not live longer than to the
 * next call. */
typedef const char *(*variable_get)(void *from, const char *name);

struct task_gpus {
	int count;
	const struct gpu *gpu[GPUS_MAX];	/* in the order of the bus */
	bool unsure;
};

/* Cannot fail: a task without any of these variables, and without device files that are kept from it, has
 * none. */
void task_gpus_find(const struct devices *devices, const struct device_name names[], variable_get get,
	void *from, struct task_gpus *out);

#endif
