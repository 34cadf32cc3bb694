/* SPDX-License-Identifier: GPL-2.0-or-later
 * gres_list.h - the one reader of Slurm's comma lists of resources
 *
 * Item     [gres/ or gres:] name [:type] [: or = count], the count with k, m, g, t or p (powers of 1024),
 *          then parts in brackets such as (IDX:0,2) or (S:0-1), whose commas do not split.
 * Lists    what was asked ("gres:gpu:h100:2" up to Slurm 23.02, "gres/gpu:h100:2" later) as well as what was
 *          given ("cpu=8,mem=64G,gres/gpu=1")
 * Threads  pure functions: any thread; an item points into its list */
#ifndef LIB_GRES_LIST_H
#define LIB_GRES_LIST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"
#include "lib/gpu_count.h"

enum gres_kind { GRES_OTHER, GRES_GPU, GRES_SHARD, GRES_MPS, GRES_KINDS };

struct gres_item {
	enum gres_kind kind;		/* by the whole name: "gpumem" and "foo/gres/gpuutil" are OTHER */
	const char *name;		/* in the list, without the gres prefix, not NUL-terminated */
	size_t name_len;
	const char *value; /* behind the name's separator, brackets cut; NULL when there is none */
	size_t value_len;
	bool id; /* the name is a number: an id of slurmdbd, or a count whose name was forgotten */
	char type[GPU_TYPE_MAX];	/* "" = untyped; "" for OTHER */
	bool counted;			/* a count is written there */
	int64_t count; /* 1 when it is not; 0 for OTHER, whose values may be times, sizes or fractions */
};

/* The next item of `list`; *cursor is NULL at first and belongs to this function.
 * 1 and *item set; 0 at the end; or -1, errno EINVAL (malformed, cut, negative, relative) or EOVERFLOW, `why`
 * with the position. */
int gres_list_next(const char *list, const char **cursor, struct gres_item *item, struct fault *why);

/* Say what is wrong at `at`, a place within `list`. Returns -1 with errno = err. */
int gres_list_fault(const char *list, const char *at, int err, struct fault *why, const char *what);

#endif
