/* SPDX-License-Identifier: GPL-2.0-or-later
 * rate.c - rate list, set */
#include <string.h>
#include <time.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/when.h"
#include "lib/number.h"

static const struct column columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "gpu_type", "GPU type", KIND_TEXT, NULL, false },
	{ "thousandths", "Thousandths", KIND_COUNT, NULL, false },
	{ "valid_from", "Valid from", KIND_TIME, NULL, false },
	{ "actor", "Actor", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_LONG_TEXT, NULL, false },
};

static const struct list rates = {
	.path = "/v1/rates", .columns = columns, .count = ARRAY_SIZE(columns),
		.what = "rates: every GPU-hour costs 1.000",
};

int cmd_rate_list(struct session *s)
{
	return session_list(s, &rates, NULL, NULL);
}

/* "1.5" in thousandths: at most three decimals. */
static int rate_put(struct json_object *body, const char *text)
{
	const char *p = text;
	int64_t whole = 0, part = 0;
	size_t digits = 0;

	if (number_read(&p, &whole) == 0 && *p == '.') {
		digits = strspn(p + 1, "0123456789");
		p++;
		if (digits < 1 || digits > 3 || number_read(&p, &part) < 0)
			p = "?";
	}
	if (p == text || *p || whole > 1000)
		return complain(USAGE,
			"%s: a rate is a number from 0.001 to 1000, with three decimals at most", text);
	for (; digits && digits < 3; digits++)
		part *= 10;
	return request_number(body, "thousandths", whole * 1000 + part) < 0 ? out_of_memory() : DONE;
}

int cmd_rate_set(struct session *s)
{
	const char *type = session_word(s, 0), *from = session_option(s, OPT_STARTS);
	struct json_object *body = json_object_new_object(), *row = NULL;
	struct fault why = { "" };
	int64_t at;
	int rv = body ? reason_put(s, "a rate", body) : out_of_memory();

	if (rv == DONE)
		rv = rate_put(body, session_word(s, 1));
	if (rv == DONE && request_text(body, "gpu_type", strcmp(type, "default") ? type : "") < 0)
		rv = out_of_memory();
	if (rv == DONE && from && when_parse(from, time(NULL), &at, &why) < 0)
		rv = complain(USAGE, "--starts: %s", why.text);
	if (rv == DONE && from && request_number(body, "valid_from", at) < 0)
		rv = out_of_memory();
	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, "POST", "/v1/rates", body, &row);
	if (rv == DONE && table_object(columns, ARRAY_SIZE(columns), &s->style, row) < 0)
		rv = out_of_memory();
	json_object_put(row);
	return rv;
}
