/* SPDX-License-Identifier: GPL-2.0-or-later
 * commands.h - what gpu-check can do; the table is in options.c */
#ifndef GPU_CHECK_COMMANDS_H
#define GPU_CHECK_COMMANDS_H
#include "gpu_check/options.h"

/* Is every backend that there should be proven (prove.h). */
int prove_command(const struct options *o);

/* Where the GPUs of a machine are, and which CPUs the tasks of a job would get. */
int locality_command(const struct options *o);

/* Is the node itself at fault (node_rules.h); learn how it should be. */
int node_command(const struct options *o);

/* What a person looks at first: links between GPUs, network cards, IOMMU, memory, CPUs. */
int report_command(const struct options *o);

#endif
