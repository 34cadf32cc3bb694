/* SPDX-License-Identifier: GPL-2.0-or-later
 * backend_names.h - the names of the backends: for the helper, which has them, and for its parent, which only
 * names them
 *
 * Threads  pure functions, static table: any thread */
#ifndef GPU_CHECK_BACKEND_NAMES_H
#define GPU_CHECK_BACKEND_NAMES_H

enum backend_id {
	BACKEND_CUDA,
	BACKEND_HIP,
	BACKEND_LEVEL_ZERO,
	BACKEND_OPENCL,
	BACKEND_OPENCL_CPU,	/* OpenCL, and a processor will do */
	BACKENDS
};

extern const char *const backend_name[BACKENDS];

/* -1: there is none of this name. */
int backend_of(const char *name);

/* "cuda, hip, ..." Returns buf. */
#define BACKEND_LIST_MAX 80
const char *backend_list(char buf[BACKEND_LIST_MAX]);

#endif
