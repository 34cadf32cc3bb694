/* SPDX-License-Identifier: GPL-2.0-or-later
 * backend_names.c - the table of backend_names.h */
#include "gpu_check/backend_names.h"
#include <stdio.h>
#include <string.h>

const char *const backend_name[BACKENDS] = {
	[BACKEND_CUDA] = "cuda",
	[BACKEND_HIP] = "hip",
	[BACKEND_LEVEL_ZERO] = "level-zero",
	[BACKEND_OPENCL] = "opencl",
	[BACKEND_OPENCL_CPU] = "opencl-cpu",
};

int backend_of(const char *name)
{
	for (int i = 0; i < BACKENDS; i++)
		if (!strcmp(name, backend_name[i]))
			return i;
	return -1;
}

const char *backend_list(char buf[BACKEND_LIST_MAX])
{
	size_t n = 0;

	for (int i = 0; i < BACKENDS && n < BACKEND_LIST_MAX; i++)
		n += (size_t)snprintf(buf + n, BACKEND_LIST_MAX - n, i ? ", %s" : "%s", backend_name[i]);
	return buf;
}
