/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking.h - the budget tree with what each project got, as lib/fairshare ranks it
 *
 * Occupancy comes from the ledger's charges in the window and the runs that are open, never from a second counter.
 *
 * Threads  one object belongs to one thread */
#ifndef BUDGETD_RANKING_H
#define BUDGETD_RANKING_H
#include "budgetd/ledger.h"
#include "budgetd/rates.h"
#include "lib/budget.h"
#include "lib/fairshare.h"
#include "lib/gpu_count.h"
#include <sys/types.h>

struct ranking;

/* What the projects are entitled to together are the GPUs that could be given work, as long as they could, each at the rate of its type, as what
 * was charged is weighted: a share of a cluster with dear and cheap GPUs is a share of what they cost. Shards are of those GPUs and not counted
 * beside them. `healthy` is what there is now, what there was is in the books (ledger_capacity.h); NULL: what they saw last. Wants an open
 * transaction on `l`, which sees what is committed only. `rates` NULL: every GPU at 1.000. To be freed by ranking_free. */
int ranking_new(struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy, int64_t now, struct ranking **out,
	struct fault *why);
/* The same anew, `now`, for what is new in the books: entries that were added are gone. On failure it is of no use but to be freed. */
int ranking_renew(struct ranking *r, struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy, int64_t now,
	struct fault *why);
void ranking_free(struct ranking *r);	/* NULL is fine */

/* What the GPUs that can be given work are worth now, in units a second. */
int ranking_capacity(struct rates *rates, const struct gpu_count *healthy, int64_t now, amount_t *out, struct fault *why);

/* The tree behind it, for questions beyond those here. Its nodes are ranking_node's; it is gone when the ranking changes. */
const struct fairshare *ranking_funded(const struct ranking *r);
/* The same nodes ranked by what they used without paying for it in the window: the free tier goes to who had least of it for its share. */
const struct fairshare *ranking_free_tier(const struct ranking *r);
ssize_t ranking_node(const struct ranking *r, int64_t project);	/* its index in both; -1: it is not in the tree */

/* GPUs were promised to a job of the project: `units`, the price of its minimum runtime, count at once, as they will when it runs. Both trees
 * that were handed out before are gone. 0; or -1, ENOMEM or EOVERFLOW, and nothing has changed. */
int ranking_add_entry(struct ranking *r, int64_t project, amount_t units, struct fault *why);

/* By node, in units: what each was owed in the window, with all that is below it (doc/model.md, 10); its demand is what the books know of
 * its jobs (ledger_demand.h). *out is to be freed. Wants the transaction that the ranking was made in. `holds_limit`: holds are taken for
 * whole time limits. */
int ranking_owed(const struct ranking *r, struct ledger *l, bool holds_limit, amount_t **out, struct fault *why);

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
