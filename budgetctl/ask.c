/* SPDX-License-Identifier: GPL-2.0-or-later
 * ask.c - request, request list, approve, refuse: asking for GPU-hours */
#include <stdlib.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"

static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "at", "At", KIND_TIME, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "amount_units", "Amount", KIND_AMOUNT, NULL, false },
	{ "actor", "Asked by", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_LONG_TEXT, NULL, false },
	{ "state", "State", KIND_TEXT, NULL, false },
	{ "granted_units", "Granted", KIND_AMOUNT, "", false },
	{ "decided_by", "Decided by", KIND_TEXT, NULL, false },
	{ "answer", "Answer", KIND_LONG_TEXT, NULL, false },
};

static const struct list requests = {
	.path = "/v1/requests", .columns = columns, .count = ARRAY_SIZE(columns), .paged = true,
		.what = "requests that wait for an answer",
};

int cmd_request_list(struct session *s)
{
	return session_list(s, &requests, "all", session_option(s, OPT_ALL) ? "1" : NULL);
}

/* `body` and `path` may be NULL (no memory); the body is put. */
static int request_write(struct session *s, int rv, const char *method, const char *path,
	struct json_object *body)
{
	struct json_object *row = NULL;

	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, method, path, body, &row);
	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, row) < 0)
		rv = out_of_memory();
	json_object_put(row);
	return rv;
}

int cmd_request(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? reason_put(s, "a request", body) : out_of_memory();

	if (rv == DONE)
		rv = amount_put(body, session_word(s, 1));
	if (rv == DONE && request_text(body, "project", session_word(s, 0)) < 0)
		rv = out_of_memory();
	return request_write(s, rv, "POST", "/v1/requests", body);
}

static int decide(struct session *s, const char *decision)
{
	struct json_object *body = json_object_new_object();
	char *path = request_path("/v1/requests/", session_word(s, 0));
	int rv = body ? reason_put(s, "an answer", body) : out_of_memory();

	if (rv == DONE && request_text(body, "decision", decision) < 0)
		rv = out_of_memory();
	if (rv == DONE && session_word(s, 1))
		rv = amount_put(body, session_word(s, 1));
	if (rv == DONE)
		rv = allocation_put(s, body);
	rv = request_write(s, rv, "PATCH", path, body);
	free(path);
	return rv;
}

int cmd_request_approve(struct session *s)
{
	return decide(s, "approve");
}

int cmd_request_refuse(struct session *s)
{
	return decide(s, "refuse");
}
