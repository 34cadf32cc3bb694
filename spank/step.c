/* SPDX-License-Identifier: GPL-2.0-or-later
 * step.c - a step, as Slurm tells of it (step.h) */
#include "spank/step.h"
#include <ctype.h>
#include <slurm/slurm.h>
#include <stdio.h>

bool step_runs_user_code(spank_t sp)
{
	uint32_t step = 0;

	return spank_get_item(sp, S_JOB_STEPID, &step) == ESPANK_SUCCESS && step != SLURM_EXTERN_CONT &&
	       step != SLURM_INTERACTIVE_STEP;
}

static bool is_set(spank_t sp, const char *name)
{
	char value[2];
	spank_err_t rc = spank_getenv(sp, name, value, sizeof(value));

	return rc == ESPANK_NOSPACE || (rc == ESPANK_SUCCESS && value[0]);
}

bool step_has_gpus(spank_t sp)
{
	static const char *const names[] = {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "CUDA_VISIBLE_DEVICES",
		"ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_set(sp, names[i]))
			return true;
	return false;
}

bool step_was_given_gpus(spank_t sp)
{
	uint32_t step = 0;

	return spank_get_item(sp, S_JOB_STEPID, &step) == ESPANK_SUCCESS &&
	       is_set(sp, step == SLURM_BATCH_SCRIPT ? "SLURM_JOB_GPUS" : "SLURM_STEP_GPUS");
}

int step_tasks(spank_t sp)
{
	uint32_t tasks = 0;

	return spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &tasks) == ESPANK_SUCCESS ? (int)tasks : 0;
}

const char *step_inherited(spank_t sp, const char *option, char *buf, size_t size)
{
	char name[128];

	snprintf(name, sizeof(name), "SLURM_SPANK__SLURM_SPANK_OPTION_gpubudget_%s", option);
	for (char *c = name; *c; c++)	/* Slurm writes '_' for what is no letter and no digit */
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return spank_getenv(sp, name, buf, (int)size) == ESPANK_SUCCESS ? buf : NULL;
}
