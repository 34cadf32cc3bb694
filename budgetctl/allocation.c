/* SPDX-License-Identifier: GPL-2.0-or-later
 * allocation.c - allocation add, list, show */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "budgetctl/when.h"

/* Read by list and by show alike. */
static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "state", "State", KIND_TEXT, NULL, false },
	{ "starts", "Starts", KIND_TIME, NULL, false },
	{ "ends", "Ends", KIND_TIME, "open", false },
	{ "amount_units", "Amount", KIND_AMOUNT, NULL, false },
	{ "charged_units", "Charged", KIND_AMOUNT, NULL, false },
	{ "held_units", "Held", KIND_AMOUNT, NULL, false },
	{ "free_units", "Left", KIND_AMOUNT, NULL, false },
	{ "comment", "Comment", KIND_LONG_TEXT, NULL, false },
};

static const struct list allocations = {
	.path = "/v1/allocations", .columns = columns, .count = ARRAY_SIZE(columns), .what = "allocations",
};

int cmd_allocation_list(struct session *s)
{
	return session_list(s, &allocations, NULL, NULL);
}

static int allocation_print(struct session *s, struct json_object *allocation)
{
	return table_object(columns, ARRAY_SIZE(columns), &s->style, allocation) < 0 ? out_of_memory() : DONE;
}

int cmd_allocation_show(struct session *s)
{
	struct json_object *allocation = NULL;
	int rv = session_find(s, "/v1/allocations", "id", session_word(s, 0), "allocation", &allocation);

	if (rv == DONE)
		rv = allocation_print(s, allocation);
	json_object_put(allocation);
	return rv;
}

static int when_put(const struct session *s, enum command_option o, const char *key, struct json_object *body)
{
	const char *text = session_option(s, o);
	struct fault why = { "" };
	int64_t at;

	if (!text)
		return DONE;
	if (when_parse(text, time(NULL), &at, &why) < 0)
		return complain(USAGE, "--%s: %s", option_table[o].name, why.text);
	return request_number(body, key, at) < 0 ? out_of_memory() : DONE;
}

int cmd_allocation_add(struct session *s)
{
	struct json_object *body = json_object_new_object(), *allocation = NULL;
	int rv = body ? amount_put(body, session_word(s, 1)) : out_of_memory();

	if (rv == DONE && (request_text(body, "project", session_word(s, 0)) < 0 ||
		request_text(body, "reason", session_option(s, OPT_REASON)) < 0))
		rv = out_of_memory();
	if (rv == DONE)
		rv = when_put(s, OPT_STARTS, "starts", body);
	if (rv == DONE)
		rv = when_put(s, OPT_ENDS, "ends", body);
	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, "POST", "/v1/allocations", body, &allocation);
	if (rv == DONE)
		rv = allocation_print(s, allocation);
	json_object_put(allocation);
	return rv;
}
