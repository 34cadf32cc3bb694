/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_tree.h - the budget tree with what its past entitles each project to; private to ranking*.c
 *
 * Behind the projects stand the users of those that are divided among them, by project and uid. Weights and
 * parents of the past come out of `change`, what there was of GPUs out of `capacity` (doc/model.md, 5). A
 * project that was removed inside the window is still a node, with a share of 0: what it used stays with
 * those above it.
 *
 * Threads  an object belongs to one thread */
#ifndef BUDGETD_RANKING_TREE_H
#define BUDGETD_RANKING_TREE_H
#include "budgetd/ledger_project.h"
#include "lib/budget.h"
#include "lib/entitlement.h"
#include <sys/types.h>

struct tree_project {
	int64_t id, parent, share;	/* parent 0 = the root of a tree; share as the row has it */
	int up;				/* the node of its parent, or FAIRSHARE_NO_PARENT */
	bool removed;
	enum user_shares user_shares;	/* as the row has it; then NO or YES, as it is in force */
	bool divided;			/* in force, and it is a leaf: its users have nodes below it */
	char name[PROJECT_NAME_MAX];
};

struct tree_user {
	size_t up;			/* the node of the project */
	int64_t uid;
};
/* Their order. */
int tree_user_compare(const struct tree_user *a, const struct tree_user *b);

struct tree_place {
	int64_t project;
	size_t node;
};

struct ranking_tree {
	size_t count, nprojects;	/* nodes in all; what is behind the projects are users */
	bool divides;			/* some project is divided */
	struct tree_project *projects;	/* parents before children, siblings by name */
	struct tree_user *users;	/* users[i] is node nprojects + i */
	struct fairshare_node *nodes;	/* by node: the shares as they are, and what they entitle to */
	struct fairshare_node *past;	/* likewise, as they were when the window began */
	struct tree_place *places;	/* by project */
	struct fairshare_cluster cluster;
	/* what of the books was read; projects that were removed by `from` are not there */
	int64_t last_change, last_project, from;
	bool complete;
	struct weight_change *changes;	/* those of the window, in order of time */
	size_t nchanges, changes_room;
	struct capacity_change *capacities;
	size_t ncapacities, capacities_room;
};

/* In three steps, for the window (from, now]. Wants an open transaction on `l`, which sees what is committed
 * only. The projects, as they are; */
int ranking_tree_read(struct ranking_tree *t, struct ledger *l, int64_t from, struct fault *why);
/* the users of those that are divided, in their order, each once; `users` is not kept; */
int ranking_tree_divide(struct ranking_tree *t, const struct tree_user *users, size_t count,
	struct fault *why);
/* and their past, while the GPUs are worth `capacity` units a second now; -1: what the books saw last.
 * Projects that were added since are taken to have been there from `there_from` on: where use is imported,
 * its projects are as old as that. Users have always been there. */
int ranking_tree_entitle(struct ranking_tree *t, struct ledger *l, int64_t from, int64_t now,
	amount_t capacity, int64_t there_from, struct fault *why);
/* What each was entitled to in each step of that window: out[] as entitlement_by_step has it. */
int ranking_tree_by_step(const struct ranking_tree *t, int64_t from, int64_t now, int64_t step_s,
	int64_t *out, struct fault *why);
void ranking_tree_clear(struct ranking_tree *t);

ssize_t ranking_tree_node(const struct ranking_tree *t, int64_t project);	/* its index, or -1 */
/* in users[]: the first that is not of a node before */
size_t ranking_tree_first_user(const struct ranking_tree *t, size_t project);
/* of the user below that node, or -1 */
ssize_t ranking_tree_user(const struct ranking_tree *t, size_t project, int64_t uid);

#endif
