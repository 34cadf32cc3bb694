/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_view.h - how `gpu-check node` tells what it found
 *
 * Threads  one */
#ifndef GPU_CHECK_NODE_VIEW_H
#define GPU_CHECK_NODE_VIEW_H
#include <stdio.h>
#include "gpu_check/finding.h"
#include "gpu_check/node_rules.h"

struct node_result {
	const struct node_views *views;
	const struct findings *findings;
	enum policy worst;
};

/* "gpu-check: " and a sentence for each finding; where there is none, one that says what was looked at. */
void node_print_lines(FILE *to, const struct node_result *r);

/* One object in one line; its keys are promised in gpu-check(8). 0; or -1 and ENOMEM. */
int node_print_json(FILE *to, const struct node_result *r);

#endif
