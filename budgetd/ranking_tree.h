/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_tree.h - the budget tree with what its past entitles each project to; private to ranking*.c
 *
 * Weights and parents of the past come out of `change`, what there was of GPUs out of `capacity` (doc/model.md, 5). A project that was removed
 * inside the window is still a node, with a share of 0: what it used stays with those above it.
 *
 * Threads  an object belongs to one thread */
#ifndef BUDGETD_RANKING_TREE_H
#define BUDGETD_RANKING_TREE_H
#include "budgetd/ledger.h"
#include "lib/budget.h"
#include "lib/entitlement.h"
#include <sys/types.h>

struct tree_project {
	int64_t id, parent, share;	/* parent 0 = the root of a tree; share as the row has it */
	int up;				/* the node of its parent, or FAIRSHARE_NO_PARENT */
	bool removed;
	char name[PROJECT_NAME_MAX];
};

struct tree_place {
	int64_t project;
	size_t node;
};

struct ranking_tree {
	size_t count;
	struct tree_project *projects;	/* parents before children, siblings by name */
	struct fairshare_node *nodes;	/* likewise: the shares as they are, and what they entitle to */
	struct fairshare_node *past;	/* likewise, as they were when the window began */
	struct tree_place *places;	/* by project */
	struct fairshare_cluster cluster;
	int64_t last_change, last_project, from;	/* what of the books was read; projects that were removed by `from` are not there */
	bool complete;
	struct weight_change *changes;	/* those of the window, in order of time */
	size_t nchanges, changes_room;
	struct capacity_change *capacities;
	size_t ncapacities, capacities_room;
};

/* Projects and their past in the window (from, now], while the GPUs are worth `capacity` units a second now; -1: what the books saw last. What
 * was added since is taken to have been there from `there_from` on: where use is imported, its projects are as old as that. Wants an open
 * transaction on `l`, which sees what is committed only. */
int ranking_tree_read(struct ranking_tree *t, struct ledger *l, int64_t from, int64_t now, amount_t capacity, int64_t there_from,
	struct fault *why);
/* What each was entitled to in each step of that window: out[] as entitlement_by_step has it. */
int ranking_tree_by_step(const struct ranking_tree *t, int64_t from, int64_t now, int64_t step_s, int64_t *out, struct fault *why);
void ranking_tree_clear(struct ranking_tree *t);

ssize_t ranking_tree_node(const struct ranking_tree *t, int64_t project);	/* its index, or -1 */

#endif
