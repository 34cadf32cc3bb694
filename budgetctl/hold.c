/* SPDX-License-Identifier: GPL-2.0-or-later
 * hold.c - hold list */
#include <stdlib.h>
#include "budgetctl/request.h"
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
	{ "opened_at", "Opened", KIND_TIME, NULL, false },
	{ "covered_until", "Covered until", KIND_TIME, NULL, false },
	{ "closed_at", "Closed", KIND_TIME, NULL, true },
	{ "closed_why", "Why closed", KIND_LONG_TEXT, NULL, true },
};

int cmd_hold_list(struct session *s)
{
	const char *project;
	int64_t limit;
	int rv = session_project(s, &project);
	char *path;

	if (rv == DONE)
		rv = session_limit(s, &limit);
	if (rv != DONE)
		return rv;
	path = request_query("/v1/holds", "project", project, "all", session_option(s, OPT_ALL) ? "1" : NULL,
		(char *)NULL);
	rv = session_list(s, path, limit, columns, ARRAY_SIZE(columns), false, "holds");
	free(path);
	return rv;
}
