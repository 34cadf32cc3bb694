/* SPDX-License-Identifier: GPL-2.0-or-later
 * gather_budgetd.c - what budgetd says of itself, and its tree of projects (gather.h) */
#include "doctor/gathering.h"
#include <stdlib.h>
#include <string.h>
#include "client/client.h"

#define DEADLINE_MS 5000L

static const char *text_of(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(object, key, &value) && value ? json_object_get_string(value) : NULL;
}

static int64_t number_of(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_int64(value) : 0;
}

/* 0 and *reply; or -1 and a text. */
static int get(struct client *c, const char *path, struct json_object **reply, struct fault *why)
{
	struct json_object *answer = NULL;
	int status = 0;

	if (client_call(c, "GET", path, NULL, &status, &answer, why) < 0)
		return -1;
	if (status == 200) {
		*reply = answer;
		return 0;
	}
	fault_set(why, "GET %s: %s", path, client_error(status, answer));
	json_object_put(answer);
	return -1;
}

static bool is_parent(const char *name, struct json_object *rows, size_t after)
{
	struct json_object *next = json_object_array_get_idx(rows, after + 1);
	const char *parent = next ? text_of(next, "parent") : NULL;

	return parent && name && !strcmp(parent, name);
}

/* Rows come in depth-first order: what has something below it is followed by that. */
static int projects_keep(struct gathering *g)
{
	struct json_object *rows = NULL;
	size_t count;

	if (!json_object_object_get_ex(g->project_reply, "rows", &rows) ||
		!json_object_is_type(rows, json_type_array))
		return 0;
	count = json_object_array_length(rows);
	g->projects = calloc(count + 1, sizeof(*g->projects));
	if (!g->projects)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);
		const char *name = text_of(row, "name");

		if (name)
			g->projects[g->facts.project_count++] = (struct fact_project){ .name = name,
				.parent = text_of(row, "parent"), .leaf = !is_parent(name, rows, i) };
	}
	g->facts.projects = g->projects;
	g->facts.projects_known = true;
	return 0;
}

static int ask(struct gathering *g, struct client *c)
{
	struct facts *f = &g->facts;
	struct fault ignored = { "" };

	if (get(c, "/v1/health", &g->health, &g->budgetd_why) < 0) {
		f->budgetd_error = g->budgetd_why.text;
		return 0;
	}
	f->budgetd_version = text_of(g->health, "version");
	f->budgetd_slurm = text_of(g->health, "slurm");
	f->last_pass_at = number_of(g->health, "last_pass_at");
	f->prometheus = text_of(g->health, "prometheus");
	f->notices = text_of(g->health, "notices");
	f->notices_waiting = number_of(g->health, "notices_waiting");
	f->notices_failed = number_of(g->health, "notices_failed");
	f->gpus_used = number_of(g->health, "gpus_used");
	f->gpus_unseen = number_of(g->health, "gpus_unseen");
	if (!f->budgetd_version || !f->budgetd_slurm) {
		fault_set(&g->budgetd_why, "what answers at %s is no budgetd", f->socket_path);
		f->budgetd_error = g->budgetd_why.text;
		return 0;
	}
	return get(c, "/v1/projects", &g->project_reply, &ignored) < 0 ? 0 : projects_keep(g);
}

int gather_budgetd(struct gathering *g, const char *socket)
{
	struct client *c;
	int rv;

	g->facts.budgetd_asked = socket || !g->facts.settings_error;
	g->facts.socket_path = socket ? socket : g->settings->socket;
	if (!g->facts.budgetd_asked)
		return 0;
	c = client_new(g->facts.socket_path, DEADLINE_MS);
	if (!c)
		return -1;
	rv = ask(g, c);
	client_free(c);
	return rv;
}
