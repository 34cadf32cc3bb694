/* SPDX-License-Identifier: GPL-2.0-or-later
 * period.c - period list, close */
#include "budgetctl/money.h"
#include "budgetctl/range.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"

#define VERIFY_MS 600000L	/* the books are verified first: 10 s for each million runs or so */

static const struct column columns[] = {
	{ "period", "Month", KIND_TEXT, NULL, false },
	{ "starts", "From (UTC)", KIND_TIME, NULL, false },
	{ "ends", "Until (UTC)", KIND_TIME, NULL, false },
	{ "closed_at", "Closed (UTC)", KIND_TIME, NULL, false },
	{ "actor", "Actor", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_LONG_TEXT, NULL, false },
	{ "forced", "Closed over", KIND_LONG_TEXT, NULL, false },
};

static const struct list periods = {
	.path = "/v1/periods", .columns = columns, .count = ARRAY_SIZE(columns),
		.what = "closed months; budgetctl period close YYYY-MM closes one",
};

/* A month begins where UTC has it: its times are UTC's, not of where one sits. */
int cmd_period_list(struct session *s)
{
	const char *zone;
	int rv = range_zone(s, &zone);

	return rv != DONE ? rv : session_list(s, &periods, NULL, NULL);
}

/* A month is of UTC: budgetd knows which one is the next. */
int cmd_period_close(struct session *s)
{
	struct json_object *body = json_object_new_object(), *row = NULL;
	const char *reason = session_option(s, OPT_REASON), *zone;
	int rv = range_zone(s, &zone);

	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	if (!body || request_text(body, "period", session_word(s, 0)) < 0 ||
		(reason && request_text(body, "reason", reason) < 0) ||
		(session_option(s, OPT_FORCE) &&
			json_object_object_add(body, "force", json_object_new_boolean(true)) < 0)) {
		json_object_put(body);
		return out_of_memory();
	}
	s->deadline_ms = VERIFY_MS;
	rv = session_write(s, "POST", "/v1/periods", body, &row);
	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, row) < 0)
		rv = out_of_memory();
	json_object_put(row);
	return rv;
}
