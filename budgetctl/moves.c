/* SPDX-License-Identifier: GPL-2.0-or-later
 * moves.c - withdraw, adjust, transfer, refund, void */
#include "budgetctl/money.h"
#include "budgetctl/request.h"

/* A reason, a project and perhaps its allocation: what deposits have too. */
static int change(struct session *s, const char *what, int (*amount)(struct json_object *, const char *),
	const char *path)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? reason_put(s, what, body) : out_of_memory();

	if (rv == DONE)
		rv = amount(body, session_word(s, 1));
	if (rv == DONE)
		rv = allocation_put(s, body);
	if (rv == DONE && request_text(body, "project", session_word(s, 0)) < 0)
		rv = out_of_memory();
	return entries_write(s, rv, path, body);
}

int cmd_withdraw(struct session *s)
{
	return change(s, "a withdrawal", amount_put, "/v1/withdrawals");
}

int cmd_adjust(struct session *s)
{
	return change(s, "an adjustment", signed_amount_put, "/v1/adjustments");
}

int cmd_transfer(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? reason_put(s, "a transfer", body) : out_of_memory();

	if (rv == DONE)
		rv = amount_put(body, session_word(s, 2));
	if (rv == DONE && (request_text(body, "from", session_word(s, 0)) < 0 ||
		request_text(body, "to", session_word(s, 1)) < 0))
		rv = out_of_memory();
	if (rv == DONE && session_option(s, OPT_FROM_ALLOCATION))
		rv = id_put(body, "from_allocation", session_option(s, OPT_FROM_ALLOCATION),
			"allocation list");
	if (rv == DONE && session_option(s, OPT_TO_ALLOCATION))
		rv = id_put(body, "to_allocation", session_option(s, OPT_TO_ALLOCATION), "allocation list");
	return entries_write(s, rv, "/v1/transfers", body);
}

int cmd_refund(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? reason_put(s, "a refund", body) : out_of_memory();

	if (rv == DONE)
		rv = id_put(body, "charge", session_word(s, 0), "charge list");
	if (rv == DONE && session_word(s, 1))
		rv = amount_put(body, session_word(s, 1));
	return entries_write(s, rv, "/v1/refunds", body);
}

int cmd_void(struct session *s)
{
	struct json_object *body = json_object_new_object();
	int rv = body ? reason_put(s, "a void", body) : out_of_memory();

	if (rv == DONE)
		rv = id_put(body, "entry", session_word(s, 0), "journal");
	return entries_write(s, rv, "/v1/voids", body);
}
