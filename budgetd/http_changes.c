/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_changes.c - the history of settings and terms: list. */
#include "budgetd/ledger_change.h"
#include "budgetd/routes.h"
#include "lib/zone.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MAX 1000

/* A value as people read it: what ends in _units is GPU-hours, a moment is UTC. Returns buf. */
#define VALUE_MAX 320
static const char *value_text(const struct change *c, const char *value, char buf[static VALUE_MAX])
{
	size_t n = strlen(c->what);
	char amount[AMOUNT_TEXT_MAX];

	if (!value) {
		snprintf(buf, VALUE_MAX, "none");
	} else if (n > 6 && strcmp(c->what + n - 6, "_units") == 0) {
		snprintf(buf, VALUE_MAX, "%s GPU-h", amount_text(strtoll(value, NULL, 10), amount));
	} else if (strcmp(c->what, "starts") == 0 || strcmp(c->what, "ends") == 0) {
		zone_utc_text(strtoll(value, NULL, 10), buf);
	} else {
		snprintf(buf, VALUE_MAX, "%s", value);
	}
	return buf;
}

/* "cap of ada: none -> 10.00 GPU-h" */
static void put_sentence(struct json_object *o, const struct change *c)
{
	char was[VALUE_MAX], became[VALUE_MAX], text[2 * VALUE_MAX + 2 * USER_NAME_MAX];
	size_t n = strlen(c->what);
	bool units = n > 6 && strcmp(c->what + n - 6, "_units") == 0;

	snprintf(text, sizeof(text), "%.*s%s%s: %s -> %s", (int)(units ? n - 6 : n), c->what,
		c->user ? " of " : "", c->user ? c->user : "", value_text(c, c->was, was),
		value_text(c, c->became, became));
	put_text(o, "change", text);
}

struct listing {
	struct request *rq;
	struct json_object *rows;
	int64_t limit, count;
	struct fault *why;
};

static int list_change(const struct change *c, void *arg)
{
	struct listing *x = arg;
	struct json_object *o;
	struct project p;

	if (x->count++ == x->limit)	/* one more than asked for tells that there are more */
		return 0;
	if (project_by_id(x->rq->b->reader, c->project, &p, x->why) != 1)
		return -1;
	o = json_object_new_object();
	put_int(o, "id", c->id);
	put_int(o, "at", c->words.at);
	put_text(o, "project", p.name);
	put_int_or_null(o, "allocation", c->allocation, c->allocation == 0);
	put_text(o, "what", c->what);
	put_text(o, "user", c->user);
	put_text(o, "was", c->was);
	put_text(o, "became", c->became);
	put_sentence(o, c);
	put_text(o, "actor", c->words.actor);
	put_text(o, "reason", c->words.reason);
	put_int(o, "first", c->words.first ? c->words.first : c->id);
	json_object_array_add(x->rows, o);
	return 0;
}

int changes_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .rows = json_object_new_array(), .why = why };
	struct project p;
	int64_t before;
	int rc = -1;

	rq->reply = reply_rows(x.rows, false);
	if (request_query_int(rq, "before", 0, INT64_MAX, &before, why) < 0 ||
		request_query_int(rq, "limit", PAGE_MAX, PAGE_MAX, &x.limit, why) < 0 ||
		ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	if (request_project(rq, rq->b->reader, &p, why) == 0)
		rc = change_walk(rq->b->reader, p.id, before, x.limit + 1, list_change, &x, why);
	ledger_rollback(rq->b->reader);
	if (x.count > x.limit)
		put_bool(rq->reply, "more", true);
	return rc;
}
