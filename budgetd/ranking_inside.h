/* SPDX-License-Identifier: GPL-2.0-or-later
 * ranking_inside.h - what a ranking is made of; private to ranking*.c
 *
 * Threads  as ranking.h */
#ifndef BUDGETD_RANKING_INSIDE_H
#define BUDGETD_RANKING_INSIDE_H
#include "budgetd/occupancy.h"
#include "budgetd/ranking.h"
#include "budgetd/ranking_tree.h"
#include "budgetd/ranking_users.h"

struct ranking {
	struct ranking_tree tree;
	struct occupancy *occupancy;
	amount_t *unpaid;		/* by node: what each used without paying for it, in the window */
	struct fairshare *funded, *free_tier;
	struct project_user *expected;	/* who waits, beside those that the books know */
	size_t nexpected;
	int64_t from, now;
};

#endif
