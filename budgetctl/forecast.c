/* SPDX-License-Identifier: GPL-2.0-or-later
 * forecast.c - forecast: when a project has no more GPU-hours */
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "budgetctl/usage.h"
#include "budgetctl/when.h"
#include "lib/amount.h"
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "basis", "If", KIND_TEXT, NULL, false },
	{ "hourly_units", "An hour", KIND_AMOUNT, NULL, false },
	{ "end", "Then it is", KIND_TEXT, NULL, false },
	{ "at", "At", KIND_TIME, "never", false },
	{ "decided_by", "Of", KIND_TEXT, NULL, false },
};

static const char *text_of(struct json_object *row, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(row, key, &v);
	return v ? json_object_get_string(v) : "";
}

static void say_row(const char *project, struct json_object *row)
{
	bool queued = !strcmp(text_of(row, "basis"), "queued"), spent = !strcmp(text_of(row, "end"), "spent");
	const char *where = text_of(row, "decided_by");
	char hourly[AMOUNT_TEXT_MAX], at[WHEN_TEXT_MAX], line[512];

	amount_text(usage_number(row, "hourly_units"), hourly);
	if (!*where)
		snprintf(line, sizeof(line), "%s (%s GPU-hours an hour): it does not run out.",
			queued ? "With all that waits running too" : "As it runs now", hourly);
	else
		snprintf(line, sizeof(line), "%s (%s GPU-hours an hour): %s %s at %s.",
			queued ? "With all that waits running too" : "As it runs now", hourly,
			strcmp(where, project) ? where : "it",
			spent ? "has spent its GPU-hours" : "loses what is left, as its allocation ends,",
			when_text(usage_number(row, "at"), false, at));
	say_line(stdout, 0, line);
}

int cmd_forecast(struct session *s)
{
	const struct list l = { .what = "forecasts", .columns = columns, .count = ARRAY_SIZE(columns) };
	const char *project = session_word(s, 0);
	char *path = request_query("/v1/forecast", "project", project, (char *)NULL);
	struct json_object *rows = NULL;
	struct table *t = NULL;
	int rv = session_fetch(s, path, &rows);

	free(path);
	if (rv == DONE && s->style.format == FORMAT_TABLE) {
		for (size_t i = 0; i < json_object_array_length(rows); i++)
			say_row(project, json_object_array_get_idx(rows, i));
	} else if (rv == DONE) {
		t = table_new(columns, ARRAY_SIZE(columns), &s->style, false);
		rv = t && table_add(t, rows) == 0 ? session_print(s, &l, t) : out_of_memory();
		table_free(t);
	}
	json_object_put(rows);
	return rv;
}
