/* SPDX-License-Identifier: GPL-2.0-or-later
 * charge.c - charge list */
#include <stdlib.h>
#include "budgetctl/request.h"
#include "budgetctl/session.h"

static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "at", "At", KIND_TIME, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "job", "Job", KIND_TEXT, NULL, false },
	{ "run_start", NULL, KIND_TIME, NULL, false },
	{ "part_start", "From", KIND_TIME, NULL, false },
	{ "part_end", "To", KIND_TIME, NULL, false },
	{ "elapsed_s", "Elapsed", KIND_DURATION, NULL, false },
	{ "gpus", "GPUs", KIND_COUNT, NULL, false },
	{ "tres", NULL, KIND_TEXT, NULL, false },
	{ "units", "Charged", KIND_AMOUNT, NULL, false },
};

int cmd_charge_list(struct session *s)
{
	const char *project;
	int64_t limit;
	int rv = session_project(s, &project);
	char *path;

	if (rv == DONE)
		rv = session_limit(s, &limit);
	if (rv != DONE)
		return rv;
	path = request_query("/v1/charges", "project", project, "job", session_option(s, OPT_JOB), (char *)NULL);
	rv = session_list(s, path, limit, columns, ARRAY_SIZE(columns), false, "charges");
	free(path);
	return rv;
}
