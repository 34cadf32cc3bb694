/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_count.h - how many GPUs of which type
 *
 * Types    as Slurm prints them, case kept ("h100", "a100_3g.20gb"); "" is untyped. MIG profiles are types.
 *          shard and mps are fractions of a device and counted apart: they are never whole GPUs
 *          (doc/model.md, 4)
 * Threads  pure functions: any thread */
#ifndef LIB_GPU_COUNT_H
#define LIB_GPU_COUNT_H
#include <stdint.h>

#define GPU_TYPE_MAX 64			/* bytes of a type's name with its NUL */
#define GPU_TYPES_MAX 16		/* distinct types of one job; more is an error, never cut */

struct gpu_type_count {
	char type[GPU_TYPE_MAX];
	int64_t count;
};

struct gpu_count {
	int64_t total;			/* whole GPUs, typed and untyped */
	int ntypes;
	struct gpu_type_count types[GPU_TYPES_MAX];	/* sums to total; "" holds what has no type */
	int64_t shards;
	int64_t mps;
};

/* Add `count` GPUs of `type` ("" = untyped) to `c`, merging equal names.
 * 0; or -1 with c untouched: errno E2BIG (too many types, or a name too long), EINVAL (negative),
 * EOVERFLOW. */
int gpu_count_add(struct gpu_count *c, const char *type, int64_t count);

/* "2 GPUs", "1 GPU", "4 h100 GPUs", "2 h100 and 6 h200 GPUs", "40 shards". Returns buf; cut when it does not
 * fit. */
#define GPU_COUNT_TEXT_MAX 256
const char *gpu_count_text(const struct gpu_count *c, char buf[GPU_COUNT_TEXT_MAX]);

#endif
