/* SPDX-License-Identifier: GPL-2.0-or-later
 * health.c - health: what budgetd says of itself */
#include "budgetctl/session.h"
#include <string.h>

static const struct column columns[] = {
	{ "version", "Version", KIND_TEXT, NULL, false },
	{ "schema", "Schema", KIND_COUNT, NULL, false },
	{ "cluster", "Cluster", KIND_TEXT, NULL, false },
	{ "last_pass_at", "Last pass", KIND_TIME, "none yet", false },
	{ "last_pass_ms", "It took (ms)", KIND_COUNT, NULL, false },
	{ "last_pass_looked_ms", "Reading Slurm (ms)", KIND_COUNT, NULL, false },
	{ "last_pass_decided_ms", "Deciding (ms)", KIND_COUNT, NULL, false },
	{ "last_pass_published_ms", "Telling Slurm (ms)", KIND_COUNT, NULL, false },
	{ "jobs", "Jobs seen", KIND_COUNT, NULL, false },
	{ "lost_runs", "Runs without an end", KIND_COUNT, NULL, false },
	{ "names_left_out", "Node lists left out", KIND_COUNT, NULL, false },
	{ "differing_runs", "Runs that differ", KIND_COUNT, NULL, false },
	{ "prometheus", "Prometheus", KIND_TEXT, "not asked", false },
	{ "gpus_watched", "GPUs it tells of", KIND_COUNT, NULL, false },
	{ "gpus_unseen", "GPUs it lacks", KIND_COUNT, NULL, false },
	{ "idle_jobs", "Jobs with idle GPUs", KIND_COUNT, NULL, false },
	{ "notices", "Notices", KIND_LONG_TEXT, NULL, false },
	{ "notices_waiting", "Notices that wait", KIND_COUNT, NULL, false },
	{ "notices_failed", "Notices never told", KIND_COUNT, NULL, false },
	{ "books", "Books", KIND_TEXT, NULL, false },
	{ "slurm", "Slurm", KIND_TEXT, NULL, false },
};

/* What has to be well for jobs to be answered and charged; "not asked yet" is a start. */
static bool is_well(struct json_object *health)
{
	static const char *const keys[] = { "books", "slurm" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *text = json_object_get_string(json_object_object_get(health, keys[i]));

		if (text && strcmp(text, "ok") != 0 && strcmp(text, "not asked yet") != 0)
			return false;
	}
	return true;
}

int cmd_health(struct session *s)
{
	struct json_object *health = NULL;
	int rv = session_call(s, "GET", "/v1/health", NULL, &health);

	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, health) < 0)
		rv = out_of_memory();
	if (rv == DONE && !is_well(health))
		rv = ILL;
	json_object_put(health);
	return rv;
}
