/* SPDX-License-Identifier: GPL-2.0-or-later
 * project.c - project add, list, show, set, remove */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/project.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/fairshare.h"
#include "lib/amount.h"

static const struct column columns[] = {
	{ "name", "Project", KIND_TEXT, NULL, false },
	{ "parent", NULL, KIND_TEXT, NULL, false },
	{ "path", NULL, KIND_TEXT, NULL, false },
	{ "depth", NULL, KIND_COUNT, NULL, false },
	{ "share", "Share", KIND_COUNT, NULL, false },
	{ "on_exhausted", NULL, KIND_TEXT, NULL, false },
	{ "on_exhausted_effective", "When exhausted", KIND_TEXT, NULL, false },
	{ "credit_units", "Credit", KIND_AMOUNT, NULL, false },
	{ "unmetered", NULL, KIND_YESNO, NULL, false },
	{ "user_shares", NULL, KIND_TEXT, NULL, false },
	{ "user_shares_effective", NULL, KIND_YESNO, NULL, false },
	{ "owners", "Owners", KIND_LIST, NULL, false },
	{ "members", "Members", KIND_LIST, NULL, false },
	{ "created_at", NULL, KIND_TIME, NULL, false },
};

static const struct column one_columns[] = {
	{ "name", "Project", KIND_TEXT, NULL, false },
	{ "parent", "Parent", KIND_TEXT, "none, it is at the root", false },
	{ "path", "Path", KIND_TEXT, NULL, false },
	{ "depth", NULL, KIND_COUNT, NULL, false },
	{ "share", "Share", KIND_COUNT, NULL, false },
	{ "on_exhausted", "On exhausted", KIND_TEXT, "inherit", false },
	{ "on_exhausted_effective", "In effect", KIND_TEXT, NULL, false },
	{ "credit_units", "Credit", KIND_AMOUNT, NULL, false },
	{ "unmetered", "Unmetered", KIND_YESNO, NULL, false },
	{ "user_shares", "User shares", KIND_TEXT, "inherit", false },
	{ "user_shares_effective", "Divided", KIND_YESNO, NULL, false },
	{ "owners", "Owners", KIND_LIST, NULL, false },
	{ "members", "Members", KIND_LIST, NULL, false },
	{ "created_at", "Created", KIND_TIME, NULL, false },
};

static const struct list projects = {
	.path = "/v1/projects",
	.columns = columns,
	.count = ARRAY_SIZE(columns),
	.tree = true,
	.what = "projects that you may see",
};

int cmd_project_list(struct session *s)
{
	return session_list(s, &projects, NULL, NULL);
}

static int project_print(struct session *s, struct json_object *project)
{
	return table_object(one_columns, ARRAY_SIZE(one_columns), &s->style, project) < 0
		? out_of_memory() : DONE;
}

int cmd_project_show(struct session *s)
{
	const char *name = session_word(s, 0);
	char *path = request_query("/v1/projects", "project", name, (char *)NULL);
	struct json_object *project = NULL;
	int rv = session_find(s, path, "name", name, "project", &project);

	free(path);
	if (rv == DONE)
		rv = project_print(s, project);
	json_object_put(project);
	return rv;
}

/* --- what add and set send -------------------------------------------------------------------------- */

int weight_put(struct json_object *body, const char *key, const char *name, const char *text)
{
	long long share;
	char *end;

	errno = 0;
	share = strtoll(text, &end, 10);
	if (errno || end == text || *end || share < 0 || share > FAIRSHARE_WEIGHT_MAX)
		return complain(USAGE, "%s%s: give a whole number from 0 to %d; only how siblings compare counts", name, text,
			FAIRSHARE_WEIGHT_MAX);
	return request_number(body, key, share) < 0 ? out_of_memory() : DONE;
}

static int share_put(struct json_object *body, const char *key, const char *text)
{
	return weight_put(body, key, "--share ", text);
}

static int credit_put(struct json_object *body, const char *key, const char *text)
{
	struct fault why = { "" };
	amount_t amount;

	if (amount_parse(text, &amount, &why) < 0)
		return complain(USAGE, "--credit: %s", why.text);
	return request_number(body, key, amount) < 0 ? out_of_memory() : DONE;
}

static int policy_put(struct json_object *body, const char *key, const char *text)
{
	static const char *const policies[] = { "free", "reject", "wait", "inherit" };
	char hint[HINT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
		if (!strcmp(text, policies[i]))
			return request_text(body, key, text) < 0 ? out_of_memory() : DONE;
	return complain(USAGE, "--on-exhausted %s: it is free, reject, wait or inherit.%s", text,
		nearest_hint(text, "", policies, ARRAY_SIZE(policies), hint));
}

static int text_put(struct json_object *body, const char *key, const char *text)
{
	return request_text(body, key, text) < 0 ? out_of_memory() : DONE;
}

static int people_put(struct json_object *body, const char *key, const char *text)
{
	return request_list(body, key, text) < 0 ? out_of_memory() : DONE;
}

static int force_put(struct json_object *body, const char *key, const char *given)
{
	(void)given;
	return json_object_object_add(body, key, json_object_new_boolean(true)) < 0 ? out_of_memory() : DONE;
}

static int user_shares_put(struct json_object *body, const char *key, const char *text)
{
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0 && strcmp(text, "inherit") != 0)
		return complain(USAGE, "--user-shares %s: it is yes, no or inherit", text);
	return request_text(body, key, text) < 0 ? out_of_memory() : DONE;
}

static int unmetered_put(struct json_object *body, const char *key, const char *text)
{
	if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
		return complain(USAGE, "--unmetered %s: it is yes or no", text);
	return json_object_object_add(body, key, json_object_new_boolean(!strcmp(text, "yes"))) < 0
		? out_of_memory() : DONE;
}

static const struct {
	enum command_option option;
	const char *key;
	int (*put)(struct json_object *body, const char *key, const char *text);
} fields[] = {
	{ OPT_PARENT, "parent", text_put },
	{ OPT_SHARE, "share", share_put },
	{ OPT_ON_EXHAUSTED, "on_exhausted", policy_put },
	{ OPT_CREDIT, "credit_units", credit_put },
	{ OPT_UNMETERED, "unmetered", unmetered_put },
	{ OPT_USER_SHARES, "user_shares", user_shares_put },
	{ OPT_OWNERS, "owners", people_put },
	{ OPT_MEMBERS, "members", people_put },
	{ OPT_ADD_OWNERS, "add_owners", people_put },
	{ OPT_REMOVE_OWNERS, "remove_owners", people_put },
	{ OPT_ADD_MEMBERS, "add_members", people_put },
	{ OPT_REMOVE_MEMBERS, "remove_members", people_put },
	{ OPT_FORCE, "force", force_put },
};

static int fields_put(const struct session *s, struct json_object *body)
{
	int rv = DONE;

	for (size_t i = 0; i < ARRAY_SIZE(fields) && rv == DONE; i++) {
		const char *text = session_option(s, fields[i].option);

		if (text)
			rv = fields[i].put(body, fields[i].key, text);
	}
	return rv;
}

int project_write(struct session *s, const char *method, char *path, struct json_object *body)
{
	struct json_object *project = NULL, *note = NULL;
	int rv = session_write(s, method, path, body, &project);

	if (rv == DONE)
		rv = project_print(s, project);
	if (rv == DONE && json_object_object_get_ex(project, "note", &note))
		complain(DONE, "%s", json_object_get_string(note));
	json_object_put(project);
	free(path);
	return rv;
}

int cmd_project_add(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? text_put(body, "name", session_word(s, 0)) : out_of_memory();

	if (rv == DONE)
		rv = fields_put(s, body);
	if (rv == DONE)
		rv = text_put(body, "reason", session_option(s, OPT_REASON));
	if (rv == DONE)
		return project_write(s, "POST", strdup("/v1/projects"), body);
	json_object_put(body);
	return rv;
}

int cmd_project_set(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? fields_put(s, body) : out_of_memory();

	if (rv == DONE && !json_object_object_length(body))
		rv = complain(USAGE, "nothing to set. See budgetctl project set --help");
	if (rv == DONE)
		rv = text_put(body, "reason", session_option(s, OPT_REASON));
	if (rv == DONE)
		return project_write(s, "PATCH", request_path("/v1/projects/", session_word(s, 0)), body);
	json_object_put(body);
	return rv;
}

static const struct column removed_columns[] = {
	{ "removed", "Removed", KIND_TEXT, NULL, false },
	{ "withdrawn_units", "Withdrawn", KIND_AMOUNT, NULL, false },
};

static void say_removed(const struct session *s, struct json_object *reply, bool dry_run)
{
	struct json_object *withdrawn = NULL;
	char amount[AMOUNT_TEXT_MAX];

	json_object_object_get_ex(reply, "withdrawn_units", &withdrawn);
	printf("Project %s %s removed; its journal stays.", session_word(s, 0), dry_run ? "would be" : "is");
	if (json_object_get_int64(withdrawn))
		printf(" %s GPU-h %s withdrawn.", amount_text(json_object_get_int64(withdrawn), amount),
			dry_run ? "would be" : "are");
	putchar('\n');
}

int cmd_project_remove(struct session *s)
{
	const char *dry_run = session_option(s, OPT_DRY_RUN) ? "1" : NULL,
		*force = session_option(s, OPT_FORCE) ? "1" : NULL;
	char *base = request_path("/v1/projects/", session_word(s, 0)), *path = NULL;
	struct json_object *reply = NULL;
	int rv;

	if (base)
		path = request_query(base, "reason", session_option(s, OPT_REASON), "request_id",
			s->request_id, "dry_run", dry_run, "force", force, (char *)NULL);
	rv = path ? session_call(s, "DELETE", path, NULL, &reply) : out_of_memory();
	if (rv == DONE && s->style.format == FORMAT_TABLE)
		say_removed(s, reply, dry_run);
	else if (rv == DONE &&
		table_object(removed_columns, ARRAY_SIZE(removed_columns), &s->style, reply) < 0)
		rv = out_of_memory();
	json_object_put(reply);
	free(path);
	free(base);
	return rv;
}
