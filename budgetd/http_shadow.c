/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_shadow.c - GET /v1/shadow: what would have been refused, moved to the free tier or displaced, and for
 * whom. */
#include "budgetd/ledger_shadow.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include <errno.h>

#define PAGE_MAX 1000		/* rows of one answer: bounds what a call can cost */

struct listing {
	struct request *rq;
	struct json_object *rows;
	int64_t count, limit;
};

static int list_shadow(const struct shadow *s, void *arg)
{
	struct listing *x = arg;
	struct json_object *o;
	char name[PERSON_NAME_MAX];

	if (x->count++ == x->limit)
		return 0;
	o = json_object_new_object();
	put_int(o, "id", s->id);
	put_int(o, "at", s->at);
	put_int(o, "job", s->job);
	put_text(o, "user", people_name(x->rq->b->people, (uid_t)s->uid, x->rq->now, name));
	put_text(o, "account", s->account);
	put_text(o, "partition", s->partition[0] ? s->partition : NULL);
	put_text(o, "kind", s->kind);
	put_int(o, "gpus", s->gpus);
	put_int_or_null(o, "for_job", s->for_job, s->for_job == 0);
	put_text(o, "text", s->text);
	json_object_array_add(x->rows, o);
	return 0;
}

int shadow_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .rows = NULL };
	struct project p;
	int64_t before;
	int rc = -1;

	if (request_query_int(rq, "before", 0, INT64_MAX, &before, why) < 0 ||
		request_query_int(rq, "limit", PAGE_MAX, PAGE_MAX, &x.limit, why) < 0 ||
		ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	x.rows = json_object_new_array();
	if (request_project(rq, rq->b->reader, &p, why) == 0)
		rc = shadow_walk(rq->b->reader, p.id ? p.name : NULL, request_query(rq, "all") != NULL,
			before, x.limit + 1, list_shadow, &x, why);
	ledger_rollback(rq->b->reader);
	rq->reply = reply_rows(x.rows, x.count > x.limit);
	return rc;
}
