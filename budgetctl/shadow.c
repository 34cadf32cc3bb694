/* SPDX-License-Identifier: GPL-2.0-or-later
 * shadow.c - shadow report: what would have happened to whom, had the budget been enforced */
#include "budgetctl/session.h"

static const struct column columns[] = {
	{ "id", NULL, KIND_COUNT, NULL, false },
	{ "at", "At", KIND_TIME, NULL, false },
	{ "job", "Job", KIND_COUNT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "account", "Account", KIND_TEXT, NULL, false },
	{ "partition", "Partition", KIND_TEXT, NULL, true },
	{ "gpus", "GPUs", KIND_COUNT, NULL, false },
	{ "kind", "Would be", KIND_TEXT, NULL, false },
	{ "for_job", "For job", KIND_COUNT, NULL, true },
	{ "text", "Why", KIND_LONG_TEXT, NULL, false },
};

static const struct list decisions = {
	.path = "/v1/shadow", .columns = columns, .count = ARRAY_SIZE(columns), .paged = true,
		.what = "decisions of shadow mode",
};

int cmd_shadow_report(struct session *s)
{
	return session_list(s, &decisions, "all", session_option(s, OPT_ALL) ? "1" : NULL);
}
