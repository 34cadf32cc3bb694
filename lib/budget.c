/* SPDX-License-Identifier: GPL-2.0-or-later
 * budget.c - available, and which project on the path has the least of it (doc/model.md, 2 and 4). */
#include "lib/budget.h"

amount_t budget_available(const struct budget_node *n)
{
	if (!n->metered)
		return AMOUNT_UNBOUNDED;
	if (n->expired)
		return -n->debt;
	return n->amount - n->charged - n->held + n->credit - n->debt;
}

int budget_tightest(const struct budget_node *path, int depth)
{
	int tightest = -1;

	for (int i = 0; i < depth; i++) {
		if (!path[i].metered)
			continue;
		if (tightest < 0 || budget_available(&path[i]) < budget_available(&path[tightest]))
			tightest = i;
	}
	return tightest;
}
