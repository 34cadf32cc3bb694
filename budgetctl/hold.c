/* SPDX-License-Identifier: GPL-2.0-or-later
 * hold.c - hold list */
#include "budgetctl/session.h"

static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "job", "Job", KIND_TEXT, "not seen yet", false },
	{ "state", "State", KIND_TEXT, NULL, false },
	{ "gpus", "GPUs", KIND_COUNT, NULL, false },
	{ "tasks", "Tasks", KIND_COUNT, NULL, false },
	{ "min_runtime_s", "Min runtime", KIND_DURATION, NULL, false },
	{ "units", "Held", KIND_AMOUNT, NULL, false },
	{ "accrued_units", "Accrued", KIND_AMOUNT, NULL, false },
	{ "opened_at", "Opened", KIND_TIME, NULL, false },
	{ "covered_until", "Covered until", KIND_TIME, NULL, false },
	{ "closed_at", "Closed", KIND_TIME, NULL, true },
	{ "closed_why", "Why closed", KIND_LONG_TEXT, NULL, true },
};

static const struct list holds = {
	.path = "/v1/holds", .columns = columns, .count = ARRAY_SIZE(columns), .paged = true, .what = "holds",
};

int cmd_hold_list(struct session *s)
{
	return session_list(s, &holds, "all", session_option(s, OPT_ALL) ? "1" : NULL);
}
