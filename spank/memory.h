/* SPDX-License-Identifier: GPL-2.0-or-later
 * memory.h - where a task's memory comes from: near its GPUs
 *
 * preferred  MPOL_PREFERRED_MANY (Linux 5.15), else MPOL_PREFERRED of the first node: what does not fit comes
 *            from the next
 * bind       MPOL_BIND: what does not fit ends the task, though memory is free elsewhere
 * A policy survives exec and is of the calling thread alone, which is all that a task has then. Raw system
 * calls: libnuma has nothing that would be missed.
 *
 * Threads  the one that becomes the task */
#ifndef SPANK_MEMORY_H
#define SPANK_MEMORY_H
#include "lib/fault.h"
#include "locality/deal.h"

enum memory_mode { MEMORY_OFF, MEMORY_PREFERRED, MEMORY_BIND };

/* The nodes, as ids, for a task: those nearest to its GPUs that have memory; when none of its CPUs is beside
 * them those nearest to its CPUs, since most memory of a host is touched by CPUs. Empty when all nodes with
 * memory would be in it. */
void memory_nodes(const struct numa *numa, const struct deal_task *t, struct cpu_set *out);

/* Set it for this thread, unless the set is empty or there is a policy already. 0; or -1 and errno, `why`
 * what was tried. */
int memory_set(const struct cpu_set *nodes, enum memory_mode mode, struct fault *why);

#endif
