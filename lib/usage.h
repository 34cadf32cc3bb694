/* SPDX-License-Identifier: GPL-2.0-or-later
 * usage.h - GPU-seconds by month, account, user and type of GPU
 *
 * Unit     GPU-seconds as they were allocated, of both tiers, not weighted by rates. Runs are split at the
 *          months of a zone, in parts that add up to the run exactly
 * Memory   one row for each month, account, user and type, not for each run
 * Threads  a sum belongs to one thread */
#ifndef LIB_USAGE_H
#define LIB_USAGE_H
#include <stddef.h>
#include "lib/gpu_count.h"
#include "lib/zone.h"

#define USAGE_UNTYPED "untyped"		/* the type of a GPU whose type is not known */

struct usage;

struct usage_row {
	int month;			/* year * 12 + month - 1 */
	const char *account, *user;
	const char *gpu_type;
	int64_t gpu_seconds;
};

struct usage *usage_new(const struct zone *z);	/* `z` stays the caller's. NULL and ENOMEM */
void usage_free(struct usage *u);		/* NULL is fine */

/* `gpus` were allocated from `from` until `end`. 0; or -1, errno ENOMEM or EOVERFLOW: the sum is then of no
 * use. */
int usage_add(struct usage *u, const char *account, const char *user, const struct gpu_count *gpus,
	int64_t from, int64_t end);

/* By month, account, user and type. Valid until the next usage_add(). */
const struct usage_row *usage_rows(struct usage *u, size_t *n);

#endif
