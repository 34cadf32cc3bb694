/* SPDX-License-Identifier: GPL-2.0-or-later
 * job.c - job set: what a pending job declares */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/job_options.h"

static const struct {
	enum command_option option;
	const char *key;
} fields[JOB_OPTIONS] = {
	[OPT_MIN_RUNTIME] = {OPT_DECLARE_MIN_RUNTIME, "min_runtime"},
	[OPT_TIER] = {OPT_DECLARE_TIER, "tier"},
	[OPT_TEAM_RANK] = {OPT_DECLARE_TEAM_RANK, "team_rank"},
};

static const struct column columns[] = {
	{"job", "Job", KIND_TEXT, NULL, false},
	{"project", "Project", KIND_TEXT, NULL, false},
	{"tier", "Tier", KIND_TEXT, NULL, false},
	{"min_runtime_s", "Minimum runtime", KIND_DURATION, NULL, false},
	{"team_rank", "Team rank", KIND_COUNT, NULL, false},
	{"held_units", "Held", KIND_AMOUNT, NULL, false},
	{"text", NULL, KIND_TEXT, NULL, false},
};

static int job_print(struct session *s, struct json_object *job)
{
	struct json_object *text = json_object_object_get(job, "text");

	if (table_object(columns, ARRAY_SIZE(columns), &s->style, job) < 0)
		return out_of_memory();
	if (s->style.format == FORMAT_TABLE && text) {
		putchar('\n');
		say_line(stdout, 0, json_object_get_string(text));
	}
	return DONE;
}

/* budgetd and the rules call an option as sbatch has it, --gpu-tier; here --tier was typed. */
static int fields_check(const struct session *s)
{
	for (int i = 0; i < JOB_OPTIONS; i++) {
		const char *text = session_option(s, fields[i].option);
		struct job_options scratch;
		struct fault why = {""};

		job_options_init(&scratch);
		if (text && job_options_set(&scratch, (enum job_option)i, text, &why) < 0)
			return complain(USAGE, "--%s", why.text + strlen("--gpu-"));
	}
	return DONE;
}

int cmd_job_set(struct session *s)
{
	struct json_object *body = json_object_new_object(), *job = NULL;
	char *path = request_path("/v1/jobs/", session_word(s, 0));
	int rv = body && path ? DONE : out_of_memory();

	if (rv == DONE)
		rv = fields_check(s);
	for (size_t i = 0; i < ARRAY_SIZE(fields) && rv == DONE; i++)
		if (request_text(body, fields[i].key, session_option(s, fields[i].option)) < 0)
			rv = out_of_memory();
	if (rv == DONE && !json_object_object_length(body))
		rv = complain(USAGE, "nothing to set. See budgetctl job set --help");
	if (rv == DONE)
		rv = session_write(s, "PATCH", path, json_object_get(body), &job);
	if (job)
		rv = job_print(s, job);
	json_object_put(job);
	json_object_put(body);
	free(path);
	return rv;
}
