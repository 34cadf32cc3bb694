/* SPDX-License-Identifier: GPL-2.0-or-later
 * events.c - events JOB: what was done about its runs, and why */
#include <stdlib.h>
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "budgetctl/table.h"

static const struct column columns[] = {
	{ "id", NULL, KIND_COUNT, NULL, false },
	{ "at", "At", KIND_TIME, NULL, false },
	{ "job", "Job", KIND_COUNT, NULL, false },
	{ "run", NULL, KIND_COUNT, NULL, false },
	{ "event", "Event", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_TEXT, NULL, false },
	{ "for_job", "For job", KIND_COUNT, "", false },
	{ "detail", "Detail", KIND_TEXT, NULL, false },
};

int cmd_events(struct session *s)
{
	const struct list events = { .columns = columns, .count = ARRAY_SIZE(columns), .what = "events" };
	char *path = request_path("/v1/events/", session_word(s, 0));
	struct table *t = table_new(columns, ARRAY_SIZE(columns), &s->style, false);
	struct json_object *rows = NULL;
	int rv = path && t ? session_fetch(s, path, &rows) : out_of_memory();

	if (rv == DONE)
		rv = table_add(t, rows) == 0 ? session_print(s, &events, t) : out_of_memory();
	json_object_put(rows);
	table_free(t);
	free(path);
	return rv;
}
