/* SPDX-License-Identifier: GPL-2.0-or-later
 * submit_part.h - one component of a submission while its options are being read
 *
 * Options arrive in any order and the later one wins, so what was given is kept as given; the component that
 * callers see is built from it when all are read.
 *
 * Ownership  a part owns its strings; its component borrows them
 * Threads    one object per thread */
#ifndef LIB_SUBMIT_PART_H
#define LIB_SUBMIT_PART_H
#include "lib/submit_options.h"
#include "lib/submit_options_table.h"

struct submit_part {
	char *text[SUBMIT_TEXTS];			/* NULL = not given; GPUs already as "gres/gpu:..." */
	uint32_t number[SUBMIT_NUMBERS_END - SUBMIT_TEXTS];
	uint32_t min_nodes, max_nodes;
	int64_t time_limit_s;
	bool exclusive, held, no_requeue, signal_script;
	int signal;
	struct job_options options;
	char *per_node, *per_task;			/* built: two options that fill one field */
	struct submit_component component;		/* built */
};

void submit_part_init(struct submit_part *p);
void submit_part_clear(struct submit_part *p);

/* Take one option; `value` is NULL where none was written. 0; or -1, p untouched, errno EINVAL, EOVERFLOW or
 * ENOMEM, and a text that begins with the option. */
int submit_part_set(
	struct submit_part *p, const struct submit_option *option, const char *value, struct fault *why);

/* Build p->component. Account, QOS, comment, time limit and our own options are taken over from `before`, the
 * component in front (NULL for the first), where p has none: sbatch does so. 0, or -1 and ENOMEM. */
int submit_part_build(struct submit_part *p, const struct submit_part *before, struct fault *why);

#endif
