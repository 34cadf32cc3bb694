/* SPDX-License-Identifier: GPL-2.0-or-later
 * allocation.c - allocation add, set, list, show */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "budgetctl/when.h"
#include "lib/amount.h"

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
	{ "carry_over_percent", "Carry-over %", KIND_COUNT, NULL, false },
	{ "vests", "Vests", KIND_YESNO, NULL, false },
	{ "burst_units", "Burst", KIND_AMOUNT, NULL, false },
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

	if (!text || (o == OPT_ENDS && !strcmp(text, "none")))
		return DONE;
	if (when_parse(text, time(NULL), &at, &why) < 0)
		return complain(USAGE, "--%s: %s", option_table[o].name, why.text);
	return request_number(body, key, at) < 0 ? out_of_memory() : DONE;
}

/* --carry-over, --vests, --burst. */
static int terms_put(const struct session *s, struct json_object *body)
{
	const char *carry = session_option(s, OPT_CARRY_OVER), *vests = session_option(s, OPT_VESTS),
		*burst = session_option(s, OPT_BURST);
	struct fault why = { "" };
	amount_t units;
	long percent;
	char *end;

	if (carry) {
		percent = strtol(carry, &end, 10);
		if (end == carry || *end || percent < 0 || percent > 100)
			return complain(USAGE, "--carry-over %s: a percentage from 0 to 100", carry);
		if (request_number(body, "carry_over_percent", percent) < 0)
			return out_of_memory();
	}
	if (vests && strcmp(vests, "yes") != 0 && strcmp(vests, "no") != 0)
		return complain(USAGE, "--vests %s: it is yes or no", vests);
	if (vests &&
		json_object_object_add(body, "vests", json_object_new_boolean(!strcmp(vests, "yes"))) < 0)
		return out_of_memory();
	if (burst && amount_parse(burst, &units, &why) < 0)
		return complain(USAGE, "--burst: %s", why.text);
	return burst && request_number(body, "burst_units", units) < 0 ? out_of_memory() : DONE;
}

static int allocation_write(struct session *s, int rv, const char *method, const char *path,
	struct json_object *body)
{
	struct json_object *allocation = NULL;

	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, method, path, body, &allocation);
	if (rv == DONE)
		rv = allocation_print(s, allocation);
	json_object_put(allocation);
	return rv;
}

/* --starts and --ends, of which "none" opens it. */
static int dates_put(const struct session *s, struct json_object *body)
{
	const char *ends = session_option(s, OPT_ENDS);
	int rv = when_put(s, OPT_STARTS, "starts", body);

	if (rv == DONE)
		rv = when_put(s, OPT_ENDS, "ends", body);
	if (rv == DONE && ends && !strcmp(ends, "none") &&
		json_object_object_add(body, "open", json_object_new_boolean(1)) < 0)
		rv = out_of_memory();
	return rv;
}

int cmd_allocation_set(struct session *s)
{
	struct json_object *body = json_object_new_object();
	char *path = request_path("/v1/allocations/", session_word(s, 0));
	int rv = body && path ? terms_put(s, body) : out_of_memory();

	if (rv == DONE)
		rv = dates_put(s, body);
	if (rv == DONE && request_text(body, "comment", session_option(s, OPT_COMMENT)) < 0)
		rv = out_of_memory();
	if (rv == DONE && !json_object_object_length(body))
		rv = complain(USAGE, "nothing to set. See budgetctl allocation set --help");
	if (rv == DONE && request_text(body, "reason", session_option(s, OPT_REASON)) < 0)
		rv = out_of_memory();
	rv = allocation_write(s, rv, "PATCH", path, body);
	free(path);
	return rv;
}

int cmd_allocation_add(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? amount_or_zero_put(body, session_word(s, 1)) : out_of_memory();

	if (rv == DONE && (request_text(body, "project", session_word(s, 0)) < 0 ||
		request_text(body, "reason", session_option(s, OPT_REASON)) < 0))
		rv = out_of_memory();
	if (rv == DONE)
		rv = when_put(s, OPT_STARTS, "starts", body);
	if (rv == DONE)
		rv = when_put(s, OPT_ENDS, "ends", body);
	if (rv == DONE)
		rv = terms_put(s, body);
	return allocation_write(s, rv, "POST", "/v1/allocations", body);
}
