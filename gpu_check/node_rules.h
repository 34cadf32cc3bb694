/* SPDX-License-Identifier: GPL-2.0-or-later
 * node_rules.h - the rules: a node as it is, held against its baseline and its mark
 *
 * Width     fewer lanes than learned at any time. Without a baseline: than both ends can do, and then at most
 *           a warning, since some links are narrow by design.
 * Speed     what both ends can do is less than learned; or slower than that while a GPU is known to work, and
 *           on links that do not idle at any time.
 * Errors    A counter counts from the mark on, else from what the baseline had in its own boot: the bus of
 *           some boards makes a few errors in each. Corrected ones count by the hour, and at least an hour.
 *           Without a baseline and a mark at most a warning.
 * Image     each version that differs from the baseline's, and each that is gone (some only root can read)
 *
 * Threads   pure functions: any thread */
#ifndef GPU_CHECK_NODE_RULES_H
#define GPU_CHECK_NODE_RULES_H
#include "gpu_check/finding.h"
#include "gpu_check/node_state.h"

/* `baseline` and `mark` may be NULL; a mark of another boot than now's counts as none. */
struct node_views {
	const struct node_state *now, *baseline, *mark;
	bool as_root; /* so `now` has all that is there */
};

void rule_gpus(const struct node_views *v, struct findings *out);
void rule_links(const struct node_views *v, struct findings *out);
void rule_errors(const struct node_views *v, int64_t corrected_per_hour, struct findings *out);
void rule_image(const struct node_views *v, struct findings *out);

/* Is it of now's boot? Where the kernel tells no boot it is. */
bool mark_counts(const struct node_views *v);

#endif
