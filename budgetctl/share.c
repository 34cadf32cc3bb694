/* SPDX-License-Identifier: GPL-2.0-or-later
 * share.c - share list, share set: the weight of a project among its siblings, and of a user in a project
 * that is divided among its users */
#include <stdlib.h>
#include <string.h>
#include "budgetctl/project.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"

static const struct column columns[] = {
	{ "name", "Project or user", KIND_TEXT, NULL, false },
	{ "project", NULL, KIND_TEXT, NULL, false },
	{ "user", NULL, KIND_TEXT, NULL, false },
	{ "path", NULL, KIND_TEXT, NULL, false },
	{ "share", "Weight", KIND_COUNT, NULL, false },
};

static const struct list shares = {
	.path = "/v1/shares",
	.columns = columns,
	.count = ARRAY_SIZE(columns),
	.tree = true,
	.what = "projects that you may see",
};

int cmd_share_list(struct session *s)
{
	return session_list(s, &shares, NULL, NULL);
}

static const struct column one_columns[] = {
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "share", "Share", KIND_COUNT, NULL, false },
};

/* `body` has the weight and the reason, and is put. */
static int user_write(struct session *s, const char *project, const char *user, struct json_object *body)
{
	struct json_object *share = NULL, *note = NULL;
	int rv;

	if (request_text(body, "project", project) < 0 || request_text(body, "user", user) < 0) {
		json_object_put(body);
		return out_of_memory();
	}
	rv = session_write(s, "POST", "/v1/shares", body, &share);
	if (rv == DONE && table_object(one_columns, ARRAY_SIZE(one_columns), &s->style, share) < 0)
		rv = out_of_memory();
	if (rv == DONE && json_object_object_get_ex(share, "note", &note))
		complain(DONE, "%s", json_object_get_string(note));
	json_object_put(share);
	return rv;
}

/* PROJECT/USER: no name of a project has a /. */
static int user_set(struct session *s, const char *word, struct json_object *body)
{
	char *project = strdup(word), *user = project ? strrchr(project, '/') : NULL;
	int rv;

	if (!user) {
		free(project);
		json_object_put(body);
		return out_of_memory();
	}
	*user++ = '\0';
	rv = user_write(s, project, user, body);
	free(project);
	return rv;
}

int cmd_share_set(struct session *s)
{
	const char *word = session_word(s, 0);
	struct json_object *body = json_object_new_object();
	int rv = body ? weight_put(body, "share", "", session_word(s, 1)) : out_of_memory();

	if (rv == DONE && request_text(body, "reason", session_option(s, OPT_REASON)) < 0)
		rv = out_of_memory();
	if (rv == DONE)
		return strchr(word, '/') ? user_set(s, word, body) :
			project_write(s, "PATCH", request_path("/v1/projects/", word), body);
	json_object_put(body);
	return rv;
}
