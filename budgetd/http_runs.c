/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_runs.c - runs with what was made of them: list. */
#include "budgetd/http_runs.h"
#include "budgetd/people.h"

#define PAGE_MAX (RUN_LIST_MAX - 1)

struct listing {
	struct request *rq;
	struct json_object *rows;
	struct run_question q;
	int64_t count;
	struct fault *why;
};

static void put_project(struct ledger *l, struct json_object *o, int64_t id)
{
	struct project p = {0};

	put_text(o, "project", project_by_id(l, id, &p, NULL) == 1 ? p.name : NULL);
}

static void put_correction(struct ledger *l, struct json_object *o, const struct correction *c)
{
	struct json_object *k = c->id ? json_object_new_object() : NULL;

	json_object_object_add(o, "correction", k);
	if (!k)
		return;
	put_int(k, "id", c->id);
	put_int(k, "at", c->at);
	put_text(k, "kind", c->kind);
	put_int(k, "end", c->ended);
	put_int(k, "gpu_seconds", c->gpu_seconds);
	put_text(k, "tier", job_tier_name(c->tier));
	put_project(l, k, c->project);
	put_int(k, "refunded_units", c->refunded);
	put_text(k, "actor", c->actor);
	put_text(k, "reason", c->reason);
}

struct json_object *run_json(struct request *rq, struct ledger *l, const struct run_account *a)
{
	const struct run *r = &a->run;
	struct json_object *o = json_object_new_object();
	char user[PERSON_NAME_MAX];

	put_int(o, "id", r->id);
	put_text(o, "job", r->label);
	put_int(o, "job_id", r->job);
	put_text(o, "cluster", r->cluster);
	put_project(l, o, r->project);
	put_text(o, "user", people_name(rq->b->people, (uid_t)r->uid, rq->now, user));
	put_text(o, "partition", r->partition);
	put_text(o, "tier", job_tier_name(r->tier));
	put_int(o, "submit", r->submit);
	put_int(o, "start", r->start);
	put_int_or_null(o, "end", r->ended, r->ended == 0);
	put_text(o, "state", r->ended ? r->state : r->lost_at ? "LOST" : "RUNNING");
	put_int_or_null(o, "lost_since", r->lost_at, r->ended || r->lost_at == 0);
	put_int(o, "gpus", r->gpus);
	put_text(o, "tres", r->tres);
	put_int(o, "price_units", r->price);
	put_int_or_null(o, "covered_until", r->covered_until, r->tier == TIER_FREE);
	put_bool(o, "answered", r->admission != 0);
	put_int_or_null(o, "suspended_s", r->suspended_s, !r->pauses_free);
	put_int(o, "gpu_seconds", a->gpu_seconds);
	put_int(o, "charged_units", a->charged);
	put_int(o, "refunded_units", a->refunded);
	put_int(o, "held_units", a->held);
	put_correction(l, o, &a->last);
	return o;
}

static int list_run(const struct run_account *a, void *arg)
{
	struct listing *x = arg;

	if (x->count++ < x->q.limit - 1)	/* one more than asked for tells that there are more */
		json_object_array_add(x->rows, run_json(x->rq, x->rq->b->reader, a));
	return 0;
}

static int read_query(struct listing *x, struct fault *why)
{
	struct request *rq = x->rq;

	if (request_query_int(rq, "since", 0, INT64_MAX, &x->q.since, why) < 0 ||
		request_query_int(rq, "job", 0, UINT32_MAX, &x->q.job, why) < 0 ||
		request_query_int(rq, "before", 0, INT64_MAX, &x->q.before, why) < 0 ||
		request_query_int(rq, "limit", PAGE_MAX, PAGE_MAX, &x->q.limit, why) < 0)
		return -1;
	x->q.open = request_query(rq, "open") != NULL;
	x->q.limit++;
	return 0;
}

int runs_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .why = why };
	struct project p;
	int rc = -1;

	if (read_query(&x, why) < 0 || ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	x.rows = json_object_new_array();
	if (request_project(rq, rq->b->reader, &p, why) == 0) {
		x.q.project = p.id;
		rc = run_account_walk(rq->b->reader, &x.q, list_run, &x, why);
	}
	ledger_rollback(rq->b->reader);
	rq->reply = reply_rows(x.rows, x.count == x.q.limit);
	return rc;
}
