/* SPDX-License-Identifier: GPL-2.0-or-later
 * alignment.c - near or far, for people (alignment.h) */
#include "locality/alignment.h"
#include <errno.h>
#include <stddef.h>

const char *const alignment_name[ALIGNMENTS] = {
	[ALIGNED_UNKNOWN] = "unknown", [ALIGNED_ALL] = "all", [ALIGNED_PART] = "part",
		[ALIGNED_NONE] = "none",
};

enum alignment alignment_of(const struct deal_task *t, int *local)
{
	struct cpu_set both;

	*local = 0;
	if (!t->near || !t->near->known)
		return ALIGNED_UNKNOWN;
	cpu_set_and(&both, &t->cpus, &t->near->local);
	*local = cpu_set_count(&both);
	if (*local == 0)
		return ALIGNED_NONE;
	return *local == cpu_set_count(&t->cpus) ? ALIGNED_ALL : ALIGNED_PART;
}

int alignment_fault(
	const struct deal_task *t, int task, const char *gpus, const struct cpu_set *all, struct fault *why)
{
	char has[CPU_LIST_MAX], near[CPU_LIST_MAX];

	return fault_errno(why, ENODEV,
		"task %d: none of its CPUs %.200s is next to its GPU %.200s, whose CPUs are %.200s; %s", task,
		cpu_set_text(&t->cpus, has), gpus, t->near ? cpu_set_text(&t->near->local, near) : "",
		t->near && cpu_set_meets(&t->near->local, all)
			? "other tasks of the job have some of these. They are dealt with --gpu-numa=auto, "
			  "and without --cpu-bind"
			: "the job's part of this node has no others. Ask for them with "
			  "--gres-flags=enforce-binding, or for more CPUs with "
			  "--cpus-per-gpu");
}
