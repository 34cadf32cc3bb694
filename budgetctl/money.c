/* SPDX-License-Identifier: GPL-2.0-or-later
 * money.c - deposit, balance, journal */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/money.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "lib/amount.h"

static const struct column journal_columns[] = {
	{ "id", "Id", KIND_COUNT, NULL, false },
	{ "at", "At", KIND_TIME, NULL, false },
	{ "kind", "Kind", KIND_TEXT, NULL, false },
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "allocation", "Allocation", KIND_COUNT, NULL, false },
	{ "units", "Amount", KIND_AMOUNT, NULL, false },
	{ "balance_units", "Balance", KIND_AMOUNT, NULL, false },
	{ "job", "Job", KIND_TEXT, NULL, false },
	{ "user", "User", KIND_TEXT, NULL, false },
	{ "actor", "Actor", KIND_TEXT, NULL, false },
	{ "reason", "Reason", KIND_LONG_TEXT, NULL, false },
	{ "charge", NULL, KIND_COUNT, NULL, false },
	{ "first", NULL, KIND_COUNT, NULL, false },
	{ "corrects", NULL, KIND_COUNT, NULL, false },
};

/* "available" is the project's own; what an ancestor leaves of it stands in Bound by. */
static const struct column balance_columns[] = {
	{ "project", "Project", KIND_TEXT, NULL, false },
	{ "path", NULL, KIND_TEXT, NULL, false },
	{ "depth", NULL, KIND_COUNT, NULL, false },
	{ "metered", NULL, KIND_YESNO, NULL, false },
	{ "amount_units", "Amount", KIND_AMOUNT, NULL, false },
	{ "charged_units", "Charged", KIND_AMOUNT, NULL, false },
	{ "balance_units", "Balance", KIND_AMOUNT, NULL, false },
	{ "held_units", "Held", KIND_AMOUNT, NULL, false },
	{ "credit_units", "Credit", KIND_AMOUNT, NULL, false },
	{ "available_units", "Available", KIND_AMOUNT, "unmetered", false },
	{ "bound_by", "Bound by", KIND_TEXT, NULL, false },
	{ "cap_units", NULL, KIND_AMOUNT, NULL, false },
	{ "cap_left_units", NULL, KIND_AMOUNT, NULL, false },
};

int amount_or_zero_put(struct json_object *body, const char *text)
{
	struct fault why = { "" };
	amount_t amount;

	if (*text == '-')
		return complain(USAGE,
			"%s: an amount of GPU-hours is never negative; budgetctl withdraw takes hours back",
			text);
	if (amount_parse(text, &amount, &why) < 0)
		return complain(USAGE, "%s", why.text);
	return request_number(body, "amount_units", amount) < 0 ? out_of_memory() : DONE;
}

int amount_put(struct json_object *body, const char *text)
{
	struct json_object *units = NULL;
	int rv = amount_or_zero_put(body, text);

	if (rv == DONE && json_object_object_get_ex(body, "amount_units", &units) &&
		json_object_get_int64(units) == 0)
		rv = complain(USAGE, "%s GPU-hours are nothing to give", text);
	return rv;
}

int signed_amount_put(struct json_object *body, const char *text)
{
	struct json_object *units = NULL;
	int rv = amount_put(body, text + (*text == '-' || *text == '+'));

	if (rv == DONE && *text == '-' && json_object_object_get_ex(body, "amount_units", &units))
		rv = request_number(body, "amount_units", -json_object_get_int64(units)) < 0 ? out_of_memory()
			: DONE;
	return rv;
}

int id_put(struct json_object *body, const char *key, const char *text, const char *shown_by)
{
	long long id;
	char *end;

	errno = 0;
	id = strtoll(text, &end, 10);
	if (errno || end == text || *end || id <= 0)
		return complain(USAGE, "%s %s: give the id that budgetctl %s shows", key, text, shown_by);
	return request_number(body, key, id) < 0 ? out_of_memory() : DONE;
}

int allocation_put(const struct session *s, struct json_object *body)
{
	const char *text = session_option(s, OPT_ALLOCATION);

	return text ? id_put(body, "allocation", text, "allocation list") : DONE;
}

int reason_put(const struct session *s, const char *what, struct json_object *body)
{
	const char *reason = session_option(s, OPT_REASON);

	if (!reason || !*reason)
		return complain(USAGE, "%s needs a reason: --reason TEXT", what);
	return request_text(body, "reason", reason) < 0 ? out_of_memory() : DONE;
}

static int entries_print(struct session *s, struct json_object *reply)
{
	struct json_object *rows = NULL;
	struct table *t;
	int rv;

	if (!json_object_object_get_ex(reply, "rows", &rows))
		return table_object(journal_columns, ARRAY_SIZE(journal_columns), &s->style, reply) < 0
			? out_of_memory() : DONE;
	t = table_new(journal_columns, ARRAY_SIZE(journal_columns), &s->style, false);
	rv = t && table_add(t, rows) == 0 && table_print(t) == 0 ? DONE : out_of_memory();
	table_free(t);
	return rv;
}

int entries_write(struct session *s, int rv, const char *path, struct json_object *body)
{
	struct json_object *reply = NULL;

	if (rv != DONE) {
		json_object_put(body);
		return rv;
	}
	rv = session_write(s, "POST", path, body, &reply);
	if (rv == DONE)
		rv = entries_print(s, reply);
	json_object_put(reply);
	return rv;
}

int cmd_deposit(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? reason_put(s, "a deposit", body) : out_of_memory();

	if (rv == DONE)
		rv = amount_put(body, session_word(s, 1));
	if (rv == DONE)
		rv = allocation_put(s, body);
	if (rv == DONE && request_text(body, "project", session_word(s, 0)) < 0)
		rv = out_of_memory();
	return entries_write(s, rv, "/v1/deposits", body);
}

static const struct list balances = {
	.path = "/v1/balances",
	.columns = balance_columns,
	.count = ARRAY_SIZE(balance_columns),
	.tree = true,
	.what = "projects that you may see",
};

int cmd_balance(struct session *s)
{
	const char *option = session_option(s, OPT_PROJECT);
	struct table *t = table_new(balance_columns, ARRAY_SIZE(balance_columns), &s->style, true);
	int n = s->arguments->nwords;
	int rv = t ? DONE : out_of_memory();

	if (rv == DONE && (option || !n))
		rv = session_rows(s, &balances, option, t);
	for (int i = 0; i < n && rv == DONE; i++)
		rv = session_rows(s, &balances, session_word(s, i), t);
	if (rv == DONE)
		rv = session_print(s, &balances, t);
	table_free(t);
	return rv;
}

static const struct list journal = {
	.path = "/v1/journal",
	.columns = journal_columns,
	.count = ARRAY_SIZE(journal_columns),
	.paged = true,
	.what = "journal entries",
};

int cmd_journal(struct session *s)
{
	return session_list(s, &journal, "job", session_option(s, OPT_JOB));
}
