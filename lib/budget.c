/* SPDX-License-Identifier: GPL-2.0-or-later
 * budget.c - available, and which project on the path has the least of it (doc/model.md, 2 and 4). */
#include "lib/budget.h"
#include "lib/fraction.h"

amount_t budget_own(const struct budget_node *n)
{
	return n->expired ? -n->debt : n->amount - n->unvested - n->charged - n->held - n->debt;
}

/* Of the project, whoever asks. */
static amount_t available_to_all(const struct budget_node *n)
{
	return n->expired ? -n->debt : budget_own(n) + n->credit;
}

amount_t budget_cap_left(const struct budget_node *n)
{
	return n->cap - n->cap_charged - n->cap_held;
}

bool budget_cap_binds(const struct budget_node *n)
{
	return n->metered && n->capped && budget_cap_left(n) < available_to_all(n);
}

amount_t budget_available(const struct budget_node *n)
{
	if (!n->metered)
		return AMOUNT_UNBOUNDED;
	return budget_cap_binds(n) ? budget_cap_left(n) : available_to_all(n);
}

amount_t budget_usable(amount_t amount, amount_t burst, int64_t starts, int64_t ends, int64_t now)
{
	amount_t vested;

	if (amount <= 0 || now >= ends)
		return amount;
	/* The product of an amount and a time does not fit into 64 bits. */
	vested = now <= starts ? 0 : (amount_t)((fraction_int)amount * (fraction_int)(now - starts) /
		(fraction_int)(ends - starts));
	return burst >= amount - vested ? amount : vested + burst;
}

amount_t budget_accrued(amount_t held, amount_t price, int64_t covered_until, int64_t now)
{
	amount_t ahead;

	if (now >= covered_until)
		return held;
	if (__builtin_mul_overflow(price, covered_until - now, &ahead) || ahead > held)
		return 0;
	return held - ahead;
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

int64_t budget_tasks(const struct budget_node *path, int depth, amount_t per_task, int64_t tasks)
{
	int tightest = budget_tightest(path, depth);
	amount_t available = tightest < 0 ? AMOUNT_UNBOUNDED : budget_available(&path[tightest]);

	if (available == AMOUNT_UNBOUNDED || (per_task == 0 && available >= 0))
		return tasks;
	if (available < per_task || per_task == 0)
		return 0;
	return available / per_task < tasks ? available / per_task : tasks;
}
