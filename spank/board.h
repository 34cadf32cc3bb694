/* SPDX-License-Identifier: GPL-2.0-or-later
 * board.h - the page on which the tasks of a node tell each other what they have
 *
 * Made by slurmstepd before it forks them. Each task has a row of its own that nobody else writes: slurmstepd
 * its CPUs, right after the fork and before any task is let go; the task its GPUs, which only its own
 * environment tells. When all rows are there every task works out the same deal from them.
 *
 * Threads  rows are published by an atomic store and a futex; all else is said at each function */
#ifndef SPANK_BOARD_H
#define SPANK_BOARD_H
#include <stdbool.h>
#include <stdint.h>
#include "locality/cpu_set.h"

struct board;

/* For tasks 0 .. tasks - 1, shared with what is forked later. NULL and errno. board_free in each process,
 * NULL is fine. */
struct board *board_new(int tasks);
void board_free(struct board *b);

int board_tasks(const struct board *b);

/* By slurmstepd: what Slurm gave the task. */
void board_put_cpus(struct board *b, int task, const struct cpu_set *cpus);

/* By the task, once: which GPUs it has, as bits of the order of the bus; `kept`: its CPUs are not to be
 * touched. It counts as told even when the task has none. */
void board_put_gpus(struct board *b, int task, uint64_t gpus, bool kept);

/* Until every task has told. 0; or -1 and ETIMEDOUT: one has not (it failed before). */
int board_wait(struct board *b, int64_t deadline_ms);

/* Valid after board_wait. false: slurmstepd did not tell the CPUs of this task. */
bool board_row(const struct board *b, int task, struct cpu_set *cpus, uint64_t *gpus, bool *kept);

#endif
