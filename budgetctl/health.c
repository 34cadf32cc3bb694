/* SPDX-License-Identifier: GPL-2.0-or-later
 * health.c - health: what budgetd says of itself */
#include "budgetctl/session.h"

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
	{ "differing_runs", "Runs that differ", KIND_COUNT, NULL, false },
	{ "prometheus", "Prometheus", KIND_TEXT, "not asked", false },
	{ "gpus_watched", "GPUs it tells of", KIND_COUNT, NULL, false },
	{ "gpus_unseen", "GPUs it lacks", KIND_COUNT, NULL, false },
	{ "idle_jobs", "Jobs with idle GPUs", KIND_COUNT, NULL, false },
	{ "notices", "Notices", KIND_LONG_TEXT, NULL, false },
	{ "notices_waiting", "Notices that wait", KIND_COUNT, NULL, false },
	{ "notices_failed", "Notices never told", KIND_COUNT, NULL, false },
	{ "slurm", "Slurm", KIND_TEXT, NULL, false },
};

int cmd_health(struct session *s)
{
	struct json_object *health = NULL;
	int rv = session_call(s, "GET", "/v1/health", NULL, &health);

	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, health) < 0)
		rv = out_of_memory();
	json_object_put(health);
	return rv;
}
