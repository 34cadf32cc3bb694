/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_users.h - who has a node below a project that is divided among its users; private to ranking*.c
 *
 * A user has one who used something in the window, has a run that goes on, or a job that waits (doc/model.md,
 * 5). Who waits in the free tier is in no book: the caller says so.
 *
 * Threads  an object belongs to one thread */
#ifndef BUDGETD_RANKING_USERS_H
#define BUDGETD_RANKING_USERS_H
#include "budgetd/occupancy.h"
#include "budgetd/ranking_tree.h"

/* A user who has a job in a project, divided or not. */
struct project_user {
	int64_t project, uid;
};

/* Is any project divided, or says that those below it are? 0 and *out, or -1. */
int ranking_users_any(struct ledger *l, bool *out, struct fault *why);

/* Out of the books and `waiting` into the tree, whose projects were read. Wants an open transaction on
 * `l`. */
int ranking_users_find(struct ranking_tree *t, const struct occupancy *o, struct ledger *l,
	const struct project_user *waiting, size_t nwaiting, struct fault *why);

#endif
