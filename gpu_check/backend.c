/* SPDX-License-Identifier: GPL-2.0-or-later
 * backend.c - the table of backends, and how they tell of failures (backend.h) */
#include "gpu_check/backend.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "gpu_check/backend_names.h"

static const struct backend *const backend_table[BACKENDS] = {
	[BACKEND_CUDA] = &backend_cuda,
	[BACKEND_HIP] = &backend_hip,
	[BACKEND_LEVEL_ZERO] = &backend_level_zero,
	[BACKEND_OPENCL] = &backend_opencl,
	[BACKEND_OPENCL_CPU] = &backend_opencl,
};

const struct backend *backend_find(const char *name, bool *any_kind)
{
	int id = backend_of(name);

	*any_kind = id == BACKEND_OPENCL_CPU;
	return id < 0 ? NULL : backend_table[id];
}

int backend_fault(struct session *s, enum cause cause, const char *fmt, ...)
{
	va_list ap;

	if (s->cause != CAUSE_NONE)
		return -1;
	s->cause = cause;
	va_start(ap, fmt);
	vsnprintf(s->text, sizeof(s->text), fmt, ap);
	va_end(ap);
	return -1;
}

int backend_failed(struct session *s, const char *call, int64_t code)
{
	const struct backend *b = s->backend;
	char number[32];

	for (size_t i = 0; i < b->code_count; i++)
		if (b->codes[i].code == code)
			return backend_fault(s, b->codes[i].cause, "%s: %s", call, b->codes[i].name);
	if (code > 0xFFFF)
		snprintf(number, sizeof(number), "0x%jx", (uintmax_t)code);
	else
		snprintf(number, sizeof(number), "%jd", (intmax_t)code);
	return backend_fault(s, CAUSE_API, "%s: error %s", call, number);
}

int64_t backend_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
