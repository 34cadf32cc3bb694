/* SPDX-License-Identifier: GPL-2.0-or-later
 * why.c - why JOB: the daemon's sentences, then its order level by level and its runs */
#include <stdio.h>
#include <stdlib.h>
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"

/* For csv and parsable; people get the sentences. */
static const struct column job_columns[] = {
	{ "job", NULL, KIND_TEXT, NULL, false },
	{ "user", NULL, KIND_TEXT, NULL, false },
	{ "project", NULL, KIND_TEXT, NULL, false },
	{ "path", NULL, KIND_TEXT, NULL, false },
	{ "state", NULL, KIND_TEXT, NULL, false },
	{ "tier", NULL, KIND_TEXT, NULL, false },
	{ "min_runtime_s", NULL, KIND_DURATION, NULL, false },
	{ "team_rank", NULL, KIND_COUNT, NULL, false },
	{ "gpus", NULL, KIND_COUNT, NULL, false },
	{ "held_units", NULL, KIND_AMOUNT, NULL, false },
	{ "charged_units", NULL, KIND_AMOUNT, NULL, false },
	{ "place", NULL, KIND_COUNT, NULL, false },
	{ "reason", NULL, KIND_TEXT, NULL, false },
};

static const struct column level_columns[] = {
	{ "name", "Project", KIND_TEXT, NULL, false },
	{ "share_ppm", "Share", KIND_RATIO, NULL, false },
	{ "ratio_ppm", "Ratio", KIND_RATIO, "no share", false },
	{ "ahead", "Ahead of it", KIND_TEXT, "nobody", false },
};

static const struct column run_columns[] = {
	{ "job", "Run of", KIND_TEXT, NULL, false },
	{ "start", "From", KIND_TIME, NULL, false },
	{ "end", "To", KIND_TIME, "running", false },
	{ "tier", "Tier", KIND_TEXT, NULL, false },
	{ "gpus", "GPUs", KIND_COUNT, NULL, false },
	{ "protected_until", "Protected until", KIND_TIME, NULL, false },
	{ "covered_until", "Covered until", KIND_TIME, NULL, false },
	{ "charged_units", "Charged", KIND_AMOUNT, NULL, false },
	{ "free_s", "Free", KIND_DURATION, NULL, false },
	{ "uncovered_s", "Uncovered", KIND_DURATION, NULL, false },
};

static void lines_print(struct json_object *job)
{
	struct json_object *lines = NULL;

	if (!json_object_object_get_ex(job, "lines", &lines) || !json_object_is_type(lines, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(lines); i++) {
		const char *line = json_object_get_string(json_object_array_get_idx(lines, i));

		say_line(stdout, 0, line ? line : "");
	}
}

/* The rows of one key of the job, below an empty line; nothing when there are none. */
static int rows_print(struct session *s, struct json_object *job, const char *key,
	const struct column *columns, size_t count)
{
	struct json_object *rows = NULL;
	struct table *t;
	int rv = DONE;

	if (!json_object_object_get_ex(job, key, &rows) || !json_object_is_type(rows, json_type_array) ||
		!json_object_array_length(rows))
		return DONE;
	putchar('\n');
	t = table_new(columns, count, &s->style, false);
	if (!t || table_add(t, rows) < 0 || table_print(t) < 0)
		rv = out_of_memory();
	table_free(t);
	return rv;
}

static int job_print(struct session *s, struct json_object *job)
{
	int rv;

	if (s->style.format != FORMAT_TABLE)
		return table_object(job_columns, ARRAY_SIZE(job_columns), &s->style, job) < 0
			? out_of_memory()
			: DONE;
	lines_print(job);
	rv = rows_print(s, job, "levels", level_columns, ARRAY_SIZE(level_columns));
	return rv == DONE ? rows_print(s, job, "runs", run_columns, ARRAY_SIZE(run_columns)) : rv;
}

int cmd_why(struct session *s)
{
	char *path = request_path("/v1/jobs/", session_word(s, 0));
	struct json_object *job = NULL;
	int rv = path ? session_call(s, "GET", path, NULL, &job) : out_of_memory();

	if (rv == DONE)
		rv = job_print(s, job);
	json_object_put(job);
	free(path);
	return rv;
}
