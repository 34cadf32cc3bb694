/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking.h - the budget tree with what each project got, as lib/fairshare ranks it
 *
 * Occupancy comes from the ledger's charges in the window and the runs that are open, never from a second
 * counter. A leaf that is divided among its users has a node for each that used something or has jobs
 * (doc/model.md, 5); all other jobs are of their project's node.
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
struct project_user;			/* ranking_users.h */

#define RANKING_NO_USER (-1)		/* of the project itself */

/* What the projects are entitled to together are the GPUs that could be given work, as long as they could,
 * each at the rate of its type, as what was charged is weighted: a share of a cluster with dear and cheap
 * GPUs is a share of what they cost. Shards are of those GPUs and not counted beside them. `healthy` is what
 * there is now, what there was is in the books (ledger_capacity.h); NULL: what they saw last. Wants an open
 * transaction on `l`, which sees what is committed only. `rates` NULL: every GPU at 1.000. To be freed by
 * ranking_free. ranking_new is ranking_empty, renewed. */
int ranking_empty(struct ranking **out, struct fault *why);	/* to be renewed before anything is asked */
int ranking_new(struct ledger *l, int64_t window_s, struct rates *rates, const struct gpu_count *healthy,
	int64_t now, struct ranking **out, struct fault *why);
/* The same anew, `now`, for what is new in the books: entries that were added are gone. On failure it is of
 * no use but to be freed. */
int ranking_renew(struct ranking *r, struct ledger *l, int64_t window_s, struct rates *rates,
	const struct gpu_count *healthy, int64_t now, struct fault *why);
void ranking_free(struct ranking *r);	/* NULL is fine */
/* Who has jobs that the books do not know as waiting: free ones. For every renewal from now on; copied. 0, or
 * -1 and ENOMEM. */
int ranking_expect(struct ranking *r, const struct project_user *users, size_t count, struct fault *why);

/* What the GPUs that can be given work are worth now, in units a second. */
int ranking_capacity(struct rates *rates, const struct gpu_count *healthy, int64_t now, amount_t *out,
	struct fault *why);

/* The tree behind it, for questions beyond those here. Its nodes are ranking_node's; it is gone when the
 * ranking changes. */
const struct fairshare *ranking_funded(const struct ranking *r);
/* The same nodes ranked by what they used without paying for it in the window: the free tier goes to who had
 * least of it for its share. */
const struct fairshare *ranking_free_tier(const struct ranking *r);
/* its index in both; -1: it is not in the tree */
ssize_t ranking_node(const struct ranking *r, int64_t project);
/* The node that orders the jobs of a user in a project: the user's where the project is divided, and who has
 * none there has used nothing and goes with the first of those who have one; else the project's. -1. */
ssize_t ranking_node_of(const struct ranking *r, int64_t project, int64_t uid);
/* The same as lib/placement wants it: index + 1 of the user's node, 0 = there is none. */
uint32_t ranking_user_of(const struct ranking *r, int64_t project, int64_t uid);
/* The users of a divided project, by uid; none of another one. */
typedef int (*ranking_user_fn)(size_t node, int64_t uid, int64_t weight, void *arg);
int ranking_walk_users(const struct ranking *r, int64_t project, ranking_user_fn each, void *arg);

/* All nodes, parents before their children. */
struct ranking_node {
	int parent;			/* index, -1 = none */
	int64_t project, uid;		/* RANKING_NO_USER: the project itself */
};
size_t ranking_count(const struct ranking *r);
struct ranking_node ranking_node_at(const struct ranking *r, size_t node);

/* GPUs were promised to a job of the user in the project: `units`, the price of its minimum runtime, count at
 * once, as they will when it runs. Both trees that were handed out before are gone. 0; or -1, ENOMEM or
 * EOVERFLOW, and nothing has changed. */
int ranking_add_entry(struct ranking *r, int64_t project, int64_t uid, amount_t units, struct fault *why);

/* By node, in units: what each was owed in the window, with all that is below it (doc/model.md, 10); its
 * demand is what the books know of its jobs (ledger_demand.h). *out is to be freed. Wants the transaction
 * that the ranking was made in. `holds_limit`: holds are taken for whole time limits. */
int ranking_owed(const struct ranking *r, struct ledger *l, bool holds_limit, amount_t **out,
	struct fault *why);

/* The same of one node up to the end of each hour of the window, with what it was entitled to and what it
 * occupied: sums from the beginning of the window on, so that the last are those of the whole of it. *out is
 * to be freed; *count of them. */
struct ranking_step {
	int64_t at;
	amount_t entitled, occupied, owed;
};
int ranking_steps(const struct ranking *r, struct ledger *l, bool holds_limit, size_t node,
	struct ranking_step **out, size_t *count, struct fault *why);

/* Position of the jobs of a user in a project in the one order: smaller goes first, ties are equal.
 * UINT32_MAX for a project that is not in the tree. */
uint32_t ranking_rank(const struct ranking *r, int64_t project, int64_t uid);

/* What people are shown of one project, or of a user in it. */
struct ranking_level {
	char name[PROJECT_NAME_MAX];
	int64_t share_ppm, ratio_ppm;	/* ratio -1: a share of 0 */
	char ahead[PROJECT_NAME_MAX];	/* the sibling in front, "" = none */
	/* of a user: `name` is the project's; RANKING_NO_USER = it is none, there is none ahead */
	int64_t uid, ahead_uid;
};
#define RANKING_LEVELS_MAX (BUDGET_DEPTH_MAX + 1)
/* The path of the project from the top, and its user where it is divided; at most `max` levels. The number of
 * levels. */
int ranking_levels(const struct ranking *r, int64_t project, int64_t uid, struct ranking_level *out, int max);

#endif
