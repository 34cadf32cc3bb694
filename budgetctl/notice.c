/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice.c - notice list, test: what people are told without asking */
#include <stdlib.h>
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"

static const struct column columns[] = {
	{ "at", "At", KIND_TIME, NULL, false },
	{ "kind", "Kind", KIND_TEXT, NULL, false },
	{ "subject", "Subject", KIND_LONG_TEXT, NULL, false },
	{ "to", "To", KIND_TEXT, NULL, false },
	{ "way", "By", KIND_TEXT, NULL, false },
	{ "state", "State", KIND_TEXT, NULL, false },
	{ "attempts", "Tries", KIND_COUNT, NULL, false },
	{ "next_at", "Next try", KIND_TIME, NULL, false },
	{ "error", "What went wrong", KIND_LONG_TEXT, NULL, false },
	{ "id", "ID", KIND_TEXT, NULL, false },
};

static const struct list notices = {
	.path = "/v1/notices", .columns = columns, .count = ARRAY_SIZE(columns), .what = "notices",
};

int cmd_notice_list(struct session *s)
{
	return session_list(s, &notices, "state", session_option(s, OPT_FAILED) ? "failed" : NULL);
}

int cmd_notice_test(struct session *s)
{
	struct json_object *body = json_object_new_object(), *sent = NULL;
	int rv = body ? session_write(s, "POST", "/v1/notices", body, &sent) : out_of_memory();

	if (rv == DONE && json_object_get_boolean(json_object_object_get(sent, "said")))
		say_line(stdout, 0, "sent before, with the same request id: nothing is sent again");
	else if (rv == DONE)
		say_line(stdout, 0, session_option(s, OPT_DRY_RUN) ? "would be queued"
			: "queued; budgetctl notice list tells whether it arrived");
	json_object_put(sent);
	return rv;
}
