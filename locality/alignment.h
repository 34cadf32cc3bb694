/* SPDX-License-Identifier: GPL-2.0-or-later
 * alignment.h - has a task the CPUs next to its GPUs, and the sentence when it has not
 *
 * Threads  pure functions */
#ifndef LOCALITY_ALIGNMENT_H
#define LOCALITY_ALIGNMENT_H
#include "lib/fault.h"
#include "locality/deal.h"

enum alignment { ALIGNED_UNKNOWN, ALIGNED_ALL, ALIGNED_PART, ALIGNED_NONE, ALIGNMENTS };
extern const char *const alignment_name[ALIGNMENTS];	/* "unknown", "all", "part", "none" */

/* Of the task's CPUs `*local` are next to one of its GPUs. UNKNOWN: it has no GPU, or nobody knows where they
 * are. */
enum alignment alignment_of(const struct deal_task *t, int *local);

/* For a task with ALIGNED_NONE: what is so, and the option that mends it. `gpus` names them, for the reader;
 * `all`: the CPUs of all tasks of the node. Returns -1 with errno ENODEV, as a caller that refuses needs it;
 * one that only tells takes the text. */
int alignment_fault(const struct deal_task *t, int task, const char *gpus, const struct cpu_set *all,
	struct fault *why);

#endif
