/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking.h - the budget tree with what each project got, as lib/fairshare ranks it
 *
 * Occupancy comes from the ledger's charges in the window and the runs that are open, never from a second counter.
 *
 * Threads  one object is constant once made */
#ifndef BUDGETD_RANKING_H
#define BUDGETD_RANKING_H
#include "budgetd/ledger.h"
#include "budgetd/rates.h"
#include "lib/budget.h"
#include "lib/gpu_count.h"

struct ranking;

/* What the projects are entitled to together are the GPUs that can be given work, each at the rate of its type now, as what was charged is
 * weighted: a share of a cluster with dear and cheap GPUs is a share of what they cost. Shards are of those GPUs and not counted beside them.
 * Wants an open transaction on `l`. `rates` NULL: every GPU at 1.000. To be freed by ranking_free. */
int ranking_new(struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy, int64_t now, struct ranking **out,
	struct fault *why);
void ranking_free(struct ranking *r);	/* NULL is fine */

/* Position of the project in the one order: smaller goes first, ties are equal. UINT32_MAX for one that is not in the tree. */
uint32_t ranking_rank(const struct ranking *r, int64_t project);

/* What people are shown of one project. */
struct ranking_level {
	char name[PROJECT_NAME_MAX];
	int64_t share_ppm, ratio_ppm;	/* ratio -1: a share of 0 */
	char ahead[PROJECT_NAME_MAX];	/* the sibling in front, "" = none */
};
/* The path of the project from the top; at most `max` levels. The number of levels. */
int ranking_levels(const struct ranking *r, int64_t project, struct ranking_level *out, int max);

#endif
