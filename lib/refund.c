/* SPDX-License-Identifier: GPL-2.0-or-later
 * refund.c - which runs are given back by themselves. */
#include "lib/refund.h"
#include <string.h>

bool run_gave_way(const char *state, bool told)
{
	static const char *const by_itself[] = { "COMPLETED", "TIMEOUT", "DEADLINE", "NODE_FAIL", "BOOT_FAIL",
		"OUT_OF_MEMORY" };

	if (!told)
		return strcmp(state, "PREEMPTED") == 0;
	for (size_t i = 0; i < sizeof(by_itself) / sizeof(by_itself[0]); i++)
		if (strcmp(state, by_itself[i]) == 0)
			return false;
	return true;
}

enum refund_cause refund_cause(const struct refund_run *r, int64_t *since)
{
	if (!r->funded || r->end <= r->start)
		return REFUND_NONE;
	if (r->displaced && !r->unprotected && r->end - r->start < r->min_runtime_s) {
		*since = r->start;
		return REFUND_DISPLACED;
	}
	if (strcmp(r->state, "NODE_FAIL") == 0 && r->node_fail_s > 0) {
		*since = r->end - r->start > r->node_fail_s ? r->end - r->node_fail_s : r->start;
		return REFUND_NODE_FAILURE;
	}
	return REFUND_NONE;
}

amount_t refund_of_part(amount_t units, int64_t part_start, int64_t part_end, int64_t since)
{
	if (since >= part_end)
		return 0;
	if (since <= part_start)
		return units;
	return units - units / (part_end - part_start) * (since - part_start);
}
