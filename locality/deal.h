/* SPDX-License-Identifier: GPL-2.0-or-later
 * deal.h - which CPUs each task of a node gets: those next to its GPUs
 *
 * What holds, whatever comes in (tests/unit/test_deal.c):
 *   1. every task has as many CPUs as before
 *   2. all tasks together have the CPUs that they had before, and no CPU has two tasks
 *   3. the sum over all tasks of the distances to their GPUs is the smallest that there is for these pieces,
 *   and so never more
 *      than before
 *   4. threads of a core that one task had are one task's afterwards
 *   5. of the ways to that sum one in which tasks that need the same CPUs have equally many of them, as far
 *   as single exchanges
 *      lead to it: a task far from its GPU beside one that has all CPUs there is the one that all others wait
 *      for
 *   6. nothing moves but for 3 and 5
 *   7. the result depends on the tasks' numbers, not on the order in which they were known
 *
 * Threads  pure functions; allocate and free */
#ifndef LOCALITY_DEAL_H
#define LOCALITY_DEAL_H
#include "lib/fault.h"
#include "locality/cores.h"
#include "locality/nearness.h"

struct deal_task {
	struct cpu_set cpus;
	/* of its GPUs; NULL: it has none, any CPU is as good. Tasks with the same GPUs may share one */
	const struct nearness *near;
};

/* The CPUs of `cores` shared out over `tasks` tasks in the order of the cores, so that neighbours stay
 * together: whole cores as long as every task gets at least `at_least` CPUs so; else CPUs, as evenly as they
 * go. 0 and out[i] set; or -1, out untouched, errno ERANGE (there are less than tasks * at_least, or no task)
 * or ENOMEM. */
int deal_evenly(const struct cores *cores, int tasks, int at_least, struct cpu_set out[]);

/* Swap CPUs between tasks until no swap makes the sum of distances smaller. `cores` has every CPU of theirs.
 * 0, `tasks` changed in place; or -1, errno EEXIST (two tasks share a CPU; untouched) or ENOMEM (as good as
 * what is promised, or untouched). */
int deal_nearest(const struct cores *cores, struct deal_task *tasks, int count);

/* The sum of the distances: only to be compared with another of the same cores and GPUs. */
int64_t deal_cost(const struct cores *cores, const struct deal_task *tasks, int count);

#endif
