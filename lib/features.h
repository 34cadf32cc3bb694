/* SPDX-License-Identifier: GPL-2.0-or-later
 * features.h - does a node have what `sbatch --constraint` asks for
 *
 * What is known here is a list with one operator, "a&b" or "a|b". Counts, brackets and both operators in one
 * are Slurm's to read: whoever asks is told that nobody knows.
 *
 * Threads  pure functions: any thread */
#ifndef LIB_FEATURES_H
#define LIB_FEATURES_H

enum features_met { FEATURES_UNKNOWN = -1, FEATURES_NO, FEATURES_YES };

/* `wanted` as the job has it, `has` the node's with commas between. NULL and "" ask for, or have, none. */
enum features_met features_met(const char *wanted, const char *has);

#endif
