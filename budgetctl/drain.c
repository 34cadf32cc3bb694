/* SPDX-License-Identifier: GPL-2.0-or-later
 * drain.c - drain, undrain, drains: nodes that are to be empty */
#include <stdlib.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"

static const struct column columns[] = {
	{ "node", "Node", KIND_TEXT, NULL, false },
	{ "state", "State", KIND_TEXT, NULL, false },
	{ "empty_at", "Empty by", KIND_TIME, "nobody can tell", false },
	{ "jobs", "Jobs", KIND_COUNT, NULL, false },
	{ "last_job", "The last is", KIND_TEXT, NULL, false },
	{ "critical", "Critical", KIND_TEXT, NULL, false },
	{ "at", "Since", KIND_TIME, NULL, false },
	{ "actor", "Actor", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_LONG_TEXT, NULL, false },
};

static const struct column ended_columns[] = {
	{ "node", "Node", KIND_TEXT, NULL, false },
	{ "state", "Drain", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_LONG_TEXT, NULL, false },
};

static const struct list drains = {
	.path = "/v1/drains", .columns = columns, .count = ARRAY_SIZE(columns), .what = "nodes that drain",
};

int cmd_drains(struct session *s)
{
	return session_list(s, &drains, NULL, NULL);
}

int cmd_drain(struct session *s)
{
	struct json_object *body = json_object_new_object(), *drain = NULL;
	int rv = body ? reason_put(s, "a drain", body) : out_of_memory();

	if (rv == DONE && request_text(body, "node", session_word(s, 0)) < 0)
		rv = out_of_memory();
	if (rv == DONE && session_option(s, OPT_CRITICAL) &&
		json_object_object_add(body, "critical", json_object_new_boolean(true)) < 0)
		rv = out_of_memory();
	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, "POST", "/v1/drains", body, &drain);
	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, drain) < 0)
		rv = out_of_memory();
	json_object_put(drain);
	return rv;
}

int cmd_undrain(struct session *s)
{
	const char *dry_run = session_option(s, OPT_DRY_RUN) ? "1" : NULL;
	char *base = request_path("/v1/drains/", session_word(s, 0)), *path = NULL;
	struct json_object *reply = NULL;
	int rv;

	if (base)
		path = request_query(base, "reason", session_option(s, OPT_REASON), "request_id",
			s->request_id, "dry_run", dry_run, (char *)NULL);
	rv = path ? session_call(s, "DELETE", path, NULL, &reply) : out_of_memory();
	if (rv == DONE && table_object(ended_columns, ARRAY_SIZE(ended_columns), &s->style, reply) < 0)
		rv = out_of_memory();
	json_object_put(reply);
	free(path);
	free(base);
	return rv;
}
