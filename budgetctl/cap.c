/* SPDX-License-Identifier: GPL-2.0-or-later
 * cap.c - cap list, cap set, changes */
#include <string.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/amount.h"

static const struct column cap_columns[] = {
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "cap_units", "Cap", KIND_AMOUNT, "none", false },
	{ "held_units", "Held", KIND_AMOUNT, NULL, false },
	{ "charged_units", "Charged", KIND_AMOUNT, NULL, false },
	{ "left_units", "Left", KIND_AMOUNT, NULL, false },
};

static const struct list caps = {
	.path = "/v1/caps",
	.columns = cap_columns,
	.count = ARRAY_SIZE(cap_columns),
	.what = "caps: a user may take all that a project has",
};

int cmd_cap_list(struct session *s)
{
	return session_list(s, &caps, NULL, NULL);
}

/* A cap of 0 is one: nothing may be taken. */
static int cap_put(struct json_object *body, const char *text)
{
	struct fault why = { "" };
	amount_t amount;

	if (!strcmp(text, "none"))
		return json_object_object_add(body, "none", json_object_new_boolean(1)) < 0 ? out_of_memory()
			: DONE;
	if (*text == '-' || amount_parse(text, &amount, &why) < 0)
		return complain(USAGE, "%s: give GPU-hours, or none%s%s", text, *why.text ? ": " : "",
			why.text);
	return request_number(body, "amount_units", amount) < 0 ? out_of_memory() : DONE;
}

int cmd_cap_set(struct session *s)
{
	struct json_object *body = json_object_new_object(), *cap = NULL;
	int rv = body ? cap_put(body, session_word(s, 2)) : out_of_memory();

	if (rv == DONE && (request_text(body, "project", session_word(s, 0)) < 0 ||
		request_text(body, "user", session_word(s, 1)) < 0 ||
		request_text(body, "reason", session_option(s, OPT_REASON)) < 0))
		rv = out_of_memory();
	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, "POST", "/v1/caps", body, &cap);
	if (rv == DONE && table_object(cap_columns, ARRAY_SIZE(cap_columns), &s->style, cap) < 0)
		rv = out_of_memory();
	json_object_put(cap);
	return rv;
}

static const struct column change_columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "at", "At", KIND_TIME, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "allocation", "Allocation", KIND_COUNT, NULL, false },
	{ "what", NULL, KIND_TEXT, NULL, false },
	{ "user", NULL, KIND_TEXT, NULL, false },
	{ "was", NULL, KIND_TEXT, NULL, false },
	{ "became", NULL, KIND_TEXT, NULL, false },
	{ "change", "Change", KIND_LONG_TEXT, NULL, false },
	{ "actor", "Actor", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_LONG_TEXT, NULL, false },
};

static const struct list changes = {
	.path = "/v1/changes",
	.columns = change_columns,
	.count = ARRAY_SIZE(change_columns),
	.paged = true,
	.what = "changes of settings or terms",
};

int cmd_changes(struct session *s)
{
	return session_list(s, &changes, NULL, NULL);
}
