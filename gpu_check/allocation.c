/* SPDX-License-Identifier: GPL-2.0-or-later
 * allocation.c - Slurm's variables and those that choose devices, counted (allocation.h) */
#include "gpu_check/allocation.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *backend, *variable;
} chosen_by[] = {
	{ "cuda", "CUDA_VISIBLE_DEVICES" },
	{ "hip", "ROCR_VISIBLE_DEVICES" },
	{ "hip", "HIP_VISIBLE_DEVICES" },
	/* HIP takes it for its own where HIP_VISIBLE_DEVICES is not set */
	{ "hip", "CUDA_VISIBLE_DEVICES" },
	{ "level-zero", "ZE_AFFINITY_MASK" },
};

const char *environment_value(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++)
		if (!strncmp(*environment, name, n) && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

/* "0-3" is four, everything else one. */
static int item_count(const char *item, size_t n)
{
	const char *dash = memchr(item, '-', n);
	long from, to;
	char *end;

	if (!dash || dash == item || strspn(item, "0123456789-") < n)
		return 1;
	from = strtol(item, &end, 10);
	to = strtol(dash + 1, NULL, 10);
	return end == dash && to >= from && to - from < 1024 ? (int)(to - from + 1) : 1;
}

/* Items of a list; what means "none" to drivers ends it. */
static int list_count(const char *list)
{
	int sum = 0;

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == 0 || !strncmp(list, "-1", 2) || !strncmp(list, "NoDevFiles", 10))
			break;
		sum += item_count(list, n);
		list += n + (list[n] == ',');
	}
	return sum;
}

static void read_variables(char *const *environment, const char *backend, struct allocation *out)
{
	bool hip_set = environment_value(environment, "HIP_VISIBLE_DEVICES") != NULL;

	for (size_t i = 0; i < sizeof(chosen_by) / sizeof(chosen_by[0]); i++) {
		const char *list = environment_value(environment, chosen_by[i].variable);
		int n;

		if (!list || strcmp(chosen_by[i].backend, backend) ||
			(hip_set && !strcmp(backend, "hip") && *chosen_by[i].variable == 'C'))
			continue;
		n = list_count(list);
		if (out->named >= 0 && n >= out->named)
			continue;
		out->named = n;
		out->variable = chosen_by[i].variable;
		out->instance = !strncmp(list, "MIG-", 4);
	}
}

void allocation_read(char *const *environment, const char *backend, struct allocation *out)
{
	const char *list = environment_value(environment, "SLURM_STEP_GPUS");

	*out = (struct allocation){ .allocated = -1, .named = -1 };
	if (!list)
		list = environment_value(environment, "SLURM_JOB_GPUS");
	if (list)
		out->allocated = list_count(list);
	out->shared = environment_value(environment, "SLURM_SHARDS_ON_NODE") ||
		environment_value(environment, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE");
	read_variables(environment, backend, out);
}
