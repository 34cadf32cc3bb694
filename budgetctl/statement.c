/* SPDX-License-Identifier: GPL-2.0-or-later
 * statement.c - statement: what became of the GPU-hours of a project in a month or another range */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "budgetctl/range.h"
#include "budgetctl/request.h"

static const struct column columns[] = {
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "allocation", "Allocation", KIND_COUNT, "all", false },
	{ "from", NULL, KIND_TIME, NULL, false },
	{ "to", NULL, KIND_TIME, NULL, false },
	{ "opening_units", "Opening", KIND_AMOUNT, NULL, false },
	{ "deposits_units", "Deposits", KIND_AMOUNT, NULL, false },
	{ "withdrawals_units", "Withdrawals", KIND_AMOUNT, NULL, false },
	{ "transfers_in_units", "In", KIND_AMOUNT, NULL, false },
	{ "transfers_out_units", "Out", KIND_AMOUNT, NULL, false },
	{ "charges_units", "Charges", KIND_AMOUNT, NULL, false },
	{ "refunds_units", "Refunds", KIND_AMOUNT, NULL, false },
	{ "adjustments_units", "Adjusted", KIND_AMOUNT, NULL, false },
	{ "voids_units", "Voided", KIND_AMOUNT, NULL, false },
	{ "expired_units", "Expired", KIND_AMOUNT, NULL, false },
	{ "carried_in_units", "Carried in", KIND_AMOUNT, NULL, false },
	{ "carried_out_units", "Carried out", KIND_AMOUNT, NULL, false },
	{ "closing_units", "Closing", KIND_AMOUNT, NULL, false },
	{ "held_units", "Held", KIND_AMOUNT, "not known", false },
};

int cmd_statement(struct session *s)
{
	static const struct list lines = { .columns = columns, .count = ARRAY_SIZE(columns),
		.what = "GPU-hours of this project in that time" };
	struct json_object *rows = NULL;
	char from_text[24], to_text[24], *path;
	struct table *t;
	int64_t from, to;
	int rv = range_read(s, &from, &to);

	if (rv != DONE)
		return rv;
	snprintf(from_text, sizeof(from_text), "%" PRId64, from);
	snprintf(to_text, sizeof(to_text), "%" PRId64, to);
	path = request_query("/v1/statements", "project", session_word(s, 0), "from", from_text, "to", to_text,
		(char *)NULL);
	rv = session_fetch(s, path, &rows);
	free(path);
	if (rv != DONE)
		return rv;
	t = table_new(columns, ARRAY_SIZE(columns), &s->style, false);
	rv = !t || table_add(t, rows) < 0 ? out_of_memory() : session_print(s, &lines, t);
	table_free(t);
	json_object_put(rows);
	return rv;
}
