/* SPDX-License-Identifier: GPL-2.0-or-later
 * charge.c - charge list */
#include "budgetctl/session.h"

static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "at", "At", KIND_TIME, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "job", "Job", KIND_TEXT, NULL, false },
	{ "kind", "Kind", KIND_TEXT, NULL, false },
	{ "run_start", NULL, KIND_TIME, NULL, false },
	{ "part_start", "From", KIND_TIME, NULL, false },
	{ "part_end", "To", KIND_TIME, NULL, false },
	{ "elapsed_s", "Elapsed", KIND_DURATION, NULL, false },
	{ "gpus", "GPUs", KIND_COUNT, NULL, false },
	{ "tres", NULL, KIND_TEXT, NULL, false },
	{ "units", "Charged", KIND_AMOUNT, NULL, false },
};

static const struct list charges = {
	.path = "/v1/charges",
	.columns = columns,
	.count = ARRAY_SIZE(columns),
	.paged = true,
	.what = "charges",
};

int cmd_charge_list(struct session *s)
{
	return session_list(s, &charges, "job", session_option(s, OPT_JOB));
}
