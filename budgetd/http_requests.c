/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_requests.c - asking for GPU-hours: by members, in the open, decided by who stands above. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_request.h"
#include "lib/number.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MAX 1000

static int request_json(struct ledger *l, const struct budget_request *r, struct json_object **out,
	struct fault *why)
{
	bool is_open = !r->decision[0];
	struct json_object *o;
	struct project p;

	if (project_by_id(l, r->project, &p, why) != 1)
		return -1;
	o = json_object_new_object();
	put_int(o, "id", r->id);
	put_int(o, "at", r->at);
	put_text(o, "project", p.name);
	put_int(o, "amount_units", r->units);
	put_text(o, "actor", r->actor);
	put_text(o, "reason", r->reason);
	put_text(o, "state", is_open ? "open" : r->decision);
	put_int_or_null(o, "granted_units", r->granted, r->entry == 0);
	put_int_or_null(o, "decided_at", r->decided_at, is_open);
	put_text(o, "decided_by", is_open ? NULL : r->decided_by);
	put_text(o, "answer", is_open ? NULL : r->answer);
	put_int_or_null(o, "entry", r->entry, r->entry == 0);
	*out = o;
	return 0;
}

/* --- list --------------------------------------------------------------------------------------- */

struct listing {
	struct request *rq;
	struct json_object *rows;
	int64_t limit, count;
	struct fault *why;
};

/* Without ?project= the rows are those that the caller may see; others do not count, or a page could be empty
 * before the last. */
static int list_request(const struct budget_request *r, void *arg)
{
	struct listing *x = arg;
	struct json_object *row;

	if (x->count > x->limit)
		return 0;
	if (request_may_see(x->rq, x->rq->b->reader, r->project, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	if (x->count++ == x->limit)
		return 0;
	if (request_json(x->rq->b->reader, r, &row, x->why) < 0)
		return -1;
	json_object_array_add(x->rows, row);
	return 0;
}

static int list_in_transaction(struct listing *x, struct fault *why)
{
	struct ledger *l = x->rq->b->reader;
	int64_t all, before, rows;
	struct project p;

	if (request_query_int(x->rq, "all", 0, 1, &all, why) < 0 ||
		request_query_int(x->rq, "before", 0, INT64_MAX, &before, why) < 0 ||
		request_query_int(x->rq, "limit", PAGE_MAX, PAGE_MAX, &x->limit, why) < 0)
		return -1;
	if (request_project(x->rq, l, &p, why) < 0)
		return -1;
	rows = p.id || x->rq->administrator ? x->limit + 1 : INT64_MAX;
	return budget_request_walk(l, p.id, all, before, rows, list_request, x, why);
}

int requests_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .rows = json_object_new_array(), .why = why };
	int rc;

	rq->reply = reply_rows(x.rows, false);
	if (ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	rc = list_in_transaction(&x, why);
	ledger_rollback(rq->b->reader);
	if (x.count > x.limit)
		put_bool(rq->reply, "more", true);
	return rc;
}

/* --- ask ---------------------------------------------------------------------------------------- */

static int ask(struct request *rq, struct fault *why)
{
	struct budget_request r = { .at = rq->now };
	struct journal_entry e;
	const char *name = NULL;
	struct project p;

	if (money_entry(rq, "deposit", true, &e, why) < 0 || money_units(rq, 1, &r.units, why) < 0 ||
		body_need_text(rq, "project", &name, why) < 0 ||
		project_find(rq->b->ledger, name, &p, why) != 1 ||
		request_may_see(rq, rq->b->ledger, p.id, why) < 0)
		return -1;
	r.project = p.id;
	memcpy(r.actor, e.actor, sizeof(r.actor));
	memcpy(r.reason, e.reason, sizeof(r.reason));
	memcpy(r.request_id, e.request_id, sizeof(r.request_id));
	return budget_request_add(rq->b->ledger, &r, why) < 0 ? -1
		: request_json(rq->b->ledger, &r, &rq->reply, why);
}

int request_post(struct request *rq, struct fault *why)
{
	return money_write(rq, ask, why);
}

/* --- decide ------------------------------------------------------------------------------------- */

/* What is granted goes where a deposit would, into the project that asked. */
static int grant(struct request *rq, struct budget_request *r, const struct journal_entry *words,
	struct fault *why)
{
	struct journal_entry e = *words;

	e.units = r->units;
	if (body_int(rq, "amount_units", 1, AMOUNT_MAX, &e.units, why) < 0 ||
		money_allocation_of(rq, r->project, &e.allocation, why) < 0)
		return -1;
	snprintf(e.reason, sizeof(e.reason), "request %jd of %.200s: %.250s", (intmax_t)r->id, r->actor,
		r->reason);
	if (money_change(rq->b->ledger, &e, rq->now, why) < 0)
		return -1;
	r->entry = e.id;
	r->granted = e.units;
	return 0;
}

static int read_decision(struct request *rq, bool *approve, struct fault *why)
{
	const char *text = NULL;

	if (body_need_text(rq, "decision", &text, why) < 0)
		return -1;
	*approve = strcmp(text, "approve") == 0;
	if (!*approve && strcmp(text, "refuse") != 0)
		return fault_errno(why, EINVAL, "\"decision\" is approve or refuse, not \"%.40s\"", text);
	return 0;
}

static int find_request(struct request *rq, struct budget_request *r, struct fault *why)
{
	int64_t id;
	struct project p;
	int rc = number_parse(rq->name, INT64_MAX, &id) < 0 ? 0
		: budget_request_by_id(rq->b->ledger, id, r, why);

	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT, "there is no request %s", rq->name);
	if (project_by_id(rq->b->ledger, r->project, &p, why) != 1)
		return -1;
	return request_may_own(rq, rq->b->ledger, p.parent, why);
}

static int decide(struct request *rq, struct fault *why)
{
	struct budget_request r;
	struct journal_entry e;
	bool approve;

	if (money_entry(rq, "deposit", true, &e, why) < 0 || read_decision(rq, &approve, why) < 0 ||
		find_request(rq, &r, why) < 0)
		return -1;
	if (r.decision[0] && e.request_id[0] && strcmp(r.decision_id, e.request_id) == 0)
		return request_json(rq->b->ledger, &r, &rq->reply, why);	/* said twice, done once */
	if (r.decision[0])
		return fault_errno(why, EEXIST, "request %jd was %s before, by %s: %s", (intmax_t)r.id,
			r.decision, r.decided_by, r.answer);
	if (approve && grant(rq, &r, &e, why) < 0)
		return -1;
	snprintf(r.decision, sizeof(r.decision), "%s", approve ? "approved" : "refused");
	r.decided_at = rq->now;
	memcpy(r.decided_by, e.actor, sizeof(r.decided_by));
	memcpy(r.answer, e.reason, sizeof(r.answer));
	memcpy(r.decision_id, e.request_id, sizeof(r.decision_id));
	return budget_request_decide(rq->b->ledger, &r, why) < 0 ? -1
		: request_json(rq->b->ledger, &r, &rq->reply, why);
}

int request_patch(struct request *rq, struct fault *why)
{
	if (money_write(rq, decide, why) < 0)
		return -1;
	rq->status = 200;
	return 0;
}
