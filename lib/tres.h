/* SPDX-License-Identifier: GPL-2.0-or-later
 * tres.h - what was given: the GPUs in Slurm's AllocTRES and gres_detail strings
 *
 * Rule     an untyped gres/gpu=N is the total and typed keys are its breakdown; without it the typed keys are
 *          summed. A device is counted once, by its type when known.
 * Limit    a string can only tell what slurmctld wrote: without gres/gpu in AccountingStorageTRES no
 *          AllocTRES names a GPU, and gres_detail of the running job is the one that does.
 * Threads  pure functions: any thread */
#ifndef LIB_TRES_H
#define LIB_TRES_H
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"
#include "lib/gpu_count.h"

/* Read "cpu=8,mem=64G,node=1,gres/gpu=1,gres/gpu:h100=1" or "gpu:h100:4(IDX:0-3)". NULL and "" are 0 GPUs.
 * 0 and *out set; or -1, *out untouched, errno EINVAL or EOVERFLOW: a cut or malformed string, a numeric id
 * where a name belongs, a relative or negative count is an error with its position, never 0 GPUs. */
int tres_read(const char *tres, struct gpu_count *out, struct fault *why);

/* slurmdbd's rows name a resource by its number; `name` is "gres/gpu", "gres/gpu:h100", "cpu" ... as
 * slurmdb_tres_get gives it. */
struct tres_id {
	int64_t id;
	const char *name;
};

/* The same for "1=128,2=1048576,4=1,1001=8". An id that is not among `ids` is an error: it might be a GPU. */
int tres_read_ids(
	const char *tres, const struct tres_id *ids, size_t n, struct gpu_count *out, struct fault *why);

#endif
