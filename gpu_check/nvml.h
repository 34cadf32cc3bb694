/* SPDX-License-Identifier: GPL-2.0-or-later
 * nvml.h - what NVIDIA's management library tells of the GPUs: memory errors, rows, what slows them down,
 * whether they work, whether they have to be reset
 *
 * The library runs in a process of its own that is killed at the deadline: its calls hang where the driver
 * does, and what hangs inside the kernel is left behind.
 *
 * Threads  one; the caller has no other threads */
#ifndef GPU_CHECK_NVML_H
#define GPU_CHECK_NVML_H
#include <stdint.h>
#include "gpu_check/finding.h"
#include "gpu_check/node_state.h"

#define NVML_LIBRARY     "libnvidia-ml.so.1"
#define NVML_DEADLINE_MS 10000

/* Ask for each GPU of NVIDIA in `s`: health goes there, and `works` of its links; what it answers with an
 * error (but "not supported") and what it says is wrong goes to `out`, as does a hang. `library`: name or
 * path. */
void nvml_read(const char *library, int64_t deadline_ms, struct node_state *s, struct findings *out);

#endif
