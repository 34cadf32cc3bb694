/* SPDX-License-Identifier: GPL-2.0-or-later
 * nvlink.h - NVIDIA's own links between GPUs, from its management library
 *
 * No file of the kernel has them. The library runs in a process apart (apart.h).
 *
 * Direct   two GPUs with links to each other: how many
 * Switch   GPUs with links to NVSwitches reach each other over all of them, so two of them have as many as the
 *          one that has fewer; how many switches there are and which of them a link ends at does not matter
 *
 * Threads  one; the caller has no other threads */
#ifndef GPU_CHECK_NVLINK_H
#define GPU_CHECK_NVLINK_H
#include <stdint.h>
#include "lib/fault.h"
#include "locality/devices.h"

#define NVLINKS_MAX 36	/* of one GPU */

struct nvlinks {
	int gpus;	/* in the order that was asked for */
	struct {
		unsigned char possible, active, to_switch;	/* links; the second and third of the first */
		unsigned char to[GPUS_MAX];			/* active links to that GPU */
	} gpu[GPUS_MAX];
};

/* Of the GPUs at `gpu`, all of the node; those of other vendors have none. 0; or -1 with why, *out is then
 * without a link. `library`: name or path. */
int nvlink_read(const char *library, int64_t deadline_ms, const struct gpu *const gpu[], int gpus,
	struct nvlinks *out, struct fault *why);

/* Links between two of them, *switched when they are over switches; 0: none. */
int nvlink_between(const struct nvlinks *n, int a, int b, bool *switched);

#endif
