/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_holds.c - what is set aside, and what was charged. */
#include "budgetd/ledger_run.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "lib/budget.h"
#include <errno.h>
#include <stdio.h>

#define PAGE_MAX 1000		/* rows of one answer: bounds what a call can cost */

struct listing {
	struct request *rq;
	struct json_object *rows;
	int64_t project, job, before, limit, count;
	struct fault *why;
};

static int read_query(struct listing *x, struct fault *why)
{
	return request_query_int(x->rq, "job", 0, UINT32_MAX, &x->job, why) < 0 ||
			       request_query_int(x->rq, "before", 0, INT64_MAX, &x->before, why) < 0 ||
			       request_query_int(x->rq, "limit", PAGE_MAX, PAGE_MAX, &x->limit, why) < 0 ?
		       -1 : 0;
}

static int put_project(struct listing *x, struct json_object *o, int64_t project)
{
	struct project p = {0};

	if (project_by_id(x->rq->b->reader, project, &p, x->why) < 0)
		return -1;
	put_text(o, "project", p.name);
	return 0;
}

static void put_user(struct listing *x, struct json_object *o, int64_t uid)
{
	char name[PERSON_NAME_MAX];

	put_text(o, "user", people_name(x->rq->b->people, (uid_t)uid, x->rq->now, name));
}

static const char *hold_state(const struct hold_row *h)
{
	return h->closed_at ? "closed" : h->run ? "running" : h->job ? "pending" : "unbound";
}

static int list_hold(const struct hold_row *h, void *arg)
{
	struct listing *x = arg;
	struct json_object *o;
	char job[64];

	if (x->count++ == x->limit)
		return 0;
	o = json_object_new_object();
	snprintf(job, sizeof(job), "%jd", (intmax_t)h->job);
	put_int(o, "id", h->id);
	json_object_array_add(x->rows, o);
	put_text(o, "job", h->label[0] ? h->label : h->job ? job : NULL);
	put_user(x, o, h->uid);
	put_text(o, "state", hold_state(h));
	put_int(o, "gpus", h->gpus);
	put_int(o, "tasks", h->tasks);
	put_int(o, "min_runtime_s", h->min_runtime_s);
	put_int(o, "units", h->units);
	put_int(o, "accrued_units", h->run && !h->closed_at
		? budget_accrued(h->units, h->price, h->covered_until, x->rq->now) : 0);
	put_int(o, "opened_at", h->opened_at);
	put_int_or_null(o, "covered_until", h->covered_until, !h->run);
	put_int_or_null(o, "closed_at", h->closed_at, !h->closed_at);
	put_text(o, "closed_why", h->closed_at ? h->closed_why : NULL);
	return put_project(x, o, h->project);
}

static int list_charge(const struct charge *c, void *arg)
{
	struct listing *x = arg;
	struct json_object *o;

	if (x->count++ == x->limit)
		return 0;
	o = json_object_new_object();
	put_int(o, "id", c->id);
	json_object_array_add(x->rows, o);
	put_int(o, "at", c->at);
	put_user(x, o, c->uid);
	put_text(o, "job", c->label);
	put_text(o, "kind", c->kind);
	put_int(o, "run_start", c->run_start);
	put_int(o, "part_start", c->part_start);
	put_int(o, "part_end", c->part_end);
	put_int(o, "elapsed_s", c->part_end - c->part_start);
	put_int(o, "gpus", c->gpus);
	put_text(o, "tres", c->tres);
	put_int(o, "units", c->units);
	return put_project(x, o, c->project);
}

static int walk_holds(struct listing *x, struct fault *why)
{
	bool all = request_query(x->rq, "all") != NULL;

	return hold_walk(x->rq->b->reader, x->project, all, x->before, x->limit + 1, list_hold, x, why);
}

static int walk_charges(struct listing *x, struct fault *why)
{
	return charge_walk(x->rq->b->reader, x->project, x->job, x->before, x->limit + 1, list_charge, x,
		why);
}

static int list(struct request *rq, int (*walk)(struct listing *x, struct fault *why), struct fault *why)
{
	struct listing x = { .rq = rq, .rows = NULL, .why = why };
	struct project p;
	int rc = -1;

	if (read_query(&x, why) < 0 || ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	x.rows = json_object_new_array();
	if (request_project(rq, rq->b->reader, &p, why) == 0) {
		x.project = p.id;
		rc = walk(&x, why);
	}
	ledger_rollback(rq->b->reader);
	rq->reply = reply_rows(x.rows, x.count > x.limit);
	return rc;
}

int holds_get(struct request *rq, struct fault *why)
{
	return list(rq, walk_holds, why);
}

int charges_get(struct request *rq, struct fault *why)
{
	return list(rq, walk_charges, why);
}
