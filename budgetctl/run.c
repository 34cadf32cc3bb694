/* SPDX-License-Identifier: GPL-2.0-or-later
 * run.c - run list, run end */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/when.h"

static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "job", "Job", KIND_TEXT, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "tier", "Tier", KIND_TEXT, NULL, false },
	{ "state", "State", KIND_TEXT, NULL, false },
	{ "start", "Start", KIND_TIME, NULL, false },
	{ "end", "End", KIND_TIME, "", false },
	{ "gpus", "GPUs", KIND_COUNT, NULL, false },
	{ "gpu_seconds", "GPU-s", KIND_COUNT, NULL, false },
	{ "held_units", "Held", KIND_AMOUNT, NULL, false },
	{ "charged_units", "Charged", KIND_AMOUNT, NULL, false },
	{ "refunded_units", "Refunded", KIND_AMOUNT, NULL, false },
	{ "submit", NULL, KIND_TIME, NULL, false },
	{ "partition", NULL, KIND_TEXT, NULL, false },
	{ "tres", NULL, KIND_TEXT, NULL, false },
	{ "covered_until", NULL, KIND_TIME, NULL, false },
	{ "lost_since", NULL, KIND_TIME, NULL, false },
};

int cmd_run_list(struct session *s)
{
	struct list runs = { .columns = columns, .count = ARRAY_SIZE(columns), .paged = true,
		.what = "runs" };
	const char *since = session_option(s, OPT_SINCE);
	struct fault why = { "" };
	char from[24] = "0", *path;
	int64_t at = 0;
	int rv;

	if (since && when_parse(since, time(NULL), &at, &why) < 0)
		return complain(USAGE, "--since: %s", why.text);
	snprintf(from, sizeof(from), "%jd", (intmax_t)at);
	path = request_query("/v1/runs", "since", from, (char *)NULL);
	if (!path)
		return out_of_memory();
	runs.path = path;
	rv = session_list(s, &runs, "job", session_option(s, OPT_JOB));
	free(path);
	return rv;
}

/* --- run end ---------------------------------------------------------------------------------------- */

static const char *row_text(struct json_object *row, const char *key)
{
	struct json_object *v = NULL;

	return json_object_object_get_ex(row, key, &v) && v ? json_object_get_string(v) : "";
}

/* The one open run that is named as squeue does, or by its number; borrowed. NULL after a complaint. */
static struct json_object *open_run(struct json_object *rows, const char *job)
{
	struct json_object *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(row_text(row, "job"), job) != 0 && strcmp(row_text(row, "job_id"), job) != 0)
			continue;
		found = row;
		n++;
	}
	if (n == 1)
		return found;
	if (n)
		complain(REFUSED, "job %s has %zu runs that go on in the books; see budgetctl check --job %s",
			job, n, job);
	else
		complain(REFUSED, "no run of job %s goes on in the books; see budgetctl run list --job %s",
			job, job);
	return NULL;
}

static int end_put(const struct session *s, struct json_object *body)
{
	const char *text = session_option(s, OPT_AT);
	struct fault why = { "" };
	int64_t at;

	if (!text)
		return complain(USAGE, "say when it ended: --at WHEN");
	if (when_parse(text, time(NULL), &at, &why) < 0)
		return complain(USAGE, "--at: %s", why.text);
	return request_number(body, "end", at) < 0 ? out_of_memory() : DONE;
}

static int run_write(struct session *s, struct json_object *row, struct json_object *body)
{
	char *path = request_path("/v1/runs/", row_text(row, "id"));
	struct json_object *reply = NULL;
	int rv = session_write(s, "PATCH", path, body, &reply);

	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, reply) < 0)
		rv = out_of_memory();
	json_object_put(reply);
	free(path);
	return rv;
}

int cmd_run_end(struct session *s)
{
	struct json_object *body = json_object_new_object(), *rows = NULL, *row = NULL;
	int rv = body ? reason_put(s, "an end that is said by hand", body) : out_of_memory();

	if (rv == DONE)
		rv = end_put(s, body);
	if (rv == DONE)
		rv = session_fetch(s, "/v1/runs?open=1", &rows);
	if (rv == DONE)
		row = open_run(rows, session_word(s, 0));
	if (row)
		rv = run_write(s, row, body);
	else
		json_object_put(body);
	json_object_put(rows);
	return rv == DONE && !row ? REFUSED : rv;
}
