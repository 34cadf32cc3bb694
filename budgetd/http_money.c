/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_money.c - lists of allocations, balances and the journal; deposits. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_cap.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "budgetd/said.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_MAX 1000		/* rows of one answer: bounds what a call can cost */

/* --- allocations -------------------------------------------------------------------------------- */

static const char *allocation_state(const struct allocation *a, int64_t now)
{
	return allocation_live(a, now) ? "live" : a->starts > now ? "future" : "expired";
}

struct json_object *allocation_json(const struct allocation *a, const char *project, int64_t now)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "id", a->id);
	put_text(o, "project", project);
	put_int(o, "starts", a->starts);
	put_int_or_null(o, "ends", a->ends, a->ends == 0);
	put_text(o, "state", allocation_state(a, now));
	put_int(o, "amount_units", a->amount);
	put_int(o, "charged_units", a->charged);
	put_int(o, "held_units", a->held);
	put_int(o, "free_units", allocation_free(a));
	put_int(o, "carry_over_percent", a->carry_over_percent);
	put_bool(o, "vests", a->vests);
	put_int(o, "burst_units", a->burst);
	put_text(o, "comment", a->comment);
	return o;
}

struct listing {
	struct request *rq;
	struct ledger *l;
	struct json_object *rows;
	const char *project;	/* name of the one being listed */
	int64_t limit, count;
	struct fault *why;
};

static int list_allocation(const struct allocation *a, void *arg)
{
	struct listing *x = arg;

	json_object_array_add(x->rows, allocation_json(a, x->project, x->rq->now));
	return 0;
}

static int list_allocations_of(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;

	(void)depth;
	if (request_may_see(x->rq, x->l, p->id, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	x->project = p->name;
	return allocation_walk(x->l, p->id, list_allocation, x, x->why);
}

/* --- balances ----------------------------------------------------------------------------------- */

/* The ancestor that has less than the project itself, or NULL. */
static const char *bound_by(const struct path *path)
{
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	int tightest;

	path_budgets(path, nodes);
	tightest = budget_tightest(nodes, path->depth);
	return tightest > 0 ? path->nodes[tightest].budget.name : NULL;
}

/* What the caller may take of it, where there is a cap. */
static int put_own_cap(struct listing *x, int64_t project, struct json_object *o)
{
	struct cap c;
	int rc = cap_of(x->l, project, x->rq->uid, x->rq->now, &c, x->why);

	put_int_or_null(o, "cap_units", rc == 1 ? c.units : 0, rc != 1);
	put_int_or_null(o, "cap_left_units", rc == 1 ? c.units - c.charged - c.held : 0, rc != 1);
	return rc < 0 ? -1 : 0;
}

static int list_balance(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;
	struct json_object *o;
	char text[1024] = "";
	struct path path;
	const struct budget_node *n = &path.nodes[0].budget;

	if (request_may_see(x->rq, x->l, p->id, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	if (path_load(x->l, p->id, x->rq->now, &path, x->why) < 0 ||
		project_path_text(x->l, p->id, text, sizeof(text), x->why) < 0)
		return -1;
	o = json_object_new_object();
	put_text(o, "project", p->name);
	put_text(o, "path", text);
	put_int(o, "depth", depth);
	put_bool(o, "metered", n->metered);
	put_int_or_null(o, "amount_units", n->amount, !n->metered);
	put_int_or_null(o, "charged_units", n->charged, !n->metered);
	put_int_or_null(o, "balance_units", n->amount - n->charged, !n->metered);
	put_int_or_null(o, "held_units", n->held, !n->metered);
	put_int_or_null(o, "unvested_units", n->unvested, !n->metered);
	put_int_or_null(o, "credit_units", n->credit, !n->metered);
	put_int_or_null(o, "available_units", n->metered ? budget_available(n) : 0, !n->metered);
	put_text(o, "bound_by", bound_by(&path));
	json_object_array_add(x->rows, o);
	return put_own_cap(x, p->id, o);
}

/* Lists that follow the tree: what is below ?project=, or all that the caller may see. */
static int list_tree(struct request *rq, project_fn each, struct fault *why)
{
	struct listing x = { .rq = rq, .l = rq->b->reader, .rows = json_object_new_array(), .why = why };
	struct project p;
	int rc = -1;

	if (ledger_begin(x.l, LEDGER_READ, why) < 0)
		return -1;
	if (request_project(rq, x.l, &p, why) == 0)
		rc = project_walk(x.l, p.id, each, &x, why);
	ledger_rollback(x.l);
	rq->reply = reply_rows(x.rows, false);
	return rc;
}

int allocations_get(struct request *rq, struct fault *why)
{
	return list_tree(rq, list_allocations_of, why);
}

int balances_get(struct request *rq, struct fault *why)
{
	return list_tree(rq, list_balance, why);
}

/* --- the journal -------------------------------------------------------------------------------- */

int journal_json(struct request *rq, struct ledger *l, const struct journal_entry *e,
	struct json_object **out, struct fault *why)
{
	struct json_object *o = json_object_new_object();
	char user[PERSON_NAME_MAX];
	struct project p = {0};

	if (project_by_id(l, e->project, &p, why) < 0) {
		json_object_put(o);
		return -1;
	}
	put_int(o, "id", e->id);
	put_int(o, "at", e->at);
	put_text(o, "kind", e->kind);
	put_text(o, "project", p.name);
	put_int(o, "allocation", e->allocation);
	put_int(o, "units", e->units);
	put_int(o, "balance_units", e->balance);
	put_int_or_null(o, "charge", e->charge, e->charge == 0);
	put_text(o, "job", e->job[0] ? e->job : NULL);
	put_text(o, "user", e->uid >= 0 ? people_name(rq->b->people, (uid_t)e->uid, rq->now, user) : NULL);
	put_text(o, "actor", e->actor);
	put_text(o, "reason", e->reason);
	put_int(o, "first", e->first ? e->first : e->id);
	put_int_or_null(o, "corrects", e->corrects, e->corrects == 0);
	*out = o;
	return 0;
}

static int list_entry(const struct journal_entry *e, void *arg)
{
	struct listing *x = arg;
	struct json_object *row;

	if (x->count++ == x->limit)	/* one more than asked for tells that there are more */
		return 0;
	if (journal_json(x->rq, x->l, e, &row, x->why) < 0)
		return -1;
	json_object_array_add(x->rows, row);
	return 0;
}

int journal_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .l = rq->b->reader, .rows = NULL, .why = why };
	int64_t job, before;
	struct project p;
	int rc = -1;

	if (request_query_int(rq, "job", 0, UINT32_MAX, &job, why) < 0 ||
		request_query_int(rq, "before", 0, INT64_MAX, &before, why) < 0 ||
		request_query_int(rq, "limit", PAGE_MAX, PAGE_MAX, &x.limit, why) < 0 ||
		ledger_begin(x.l, LEDGER_READ, why) < 0)
		return -1;
	x.rows = json_object_new_array();
	if (request_project(rq, x.l, &p, why) == 0)
		rc = journal_walk(x.l, p.id, job, before, x.limit + 1, list_entry, &x, why);
	ledger_rollback(x.l);
	rq->reply = reply_rows(x.rows, x.count > x.limit);
	return rc;
}

/* --- deposits ----------------------------------------------------------------------------------- */

/* Deposits into one project go to its only live allocation; with several the caller must say which. */
struct only {
	int64_t now, id;
	int count;
};

static int find_only(const struct allocation *a, void *arg)
{
	struct only *o = arg;

	if (allocation_live(a, o->now)) {
		o->id = a->id;
		o->count++;
	}
	return 0;
}

/* The allocation that is named by its id is one of the project. */
static int named_allocation(struct request *rq, const struct project *p, int64_t id, struct fault *why)
{
	struct allocation a;

	if (allocation_by_id(rq->b->ledger, id, &a, why) != 1)
		return fault_errno(why, ENOENT, "there is no allocation %jd", (intmax_t)id);
	if (p && p->id != a.project)
		return fault_errno(why, EEXIST,
			"allocation %jd is not one of %s; see budgetctl allocation list %s", (intmax_t)id,
			p->name, p->name);
	return 0;
}

static int choose_allocation(struct request *rq, const struct project *p, int64_t *allocation,
	struct fault *why)
{
	struct only only = { .now = rq->now };
	int rc = body_int(rq, "allocation", 1, INT64_MAX, allocation, why);

	if (rc != 0)
		return rc < 0 ? -1 : named_allocation(rq, p, *allocation, why);
	if (!p)
		return fault_errno(why, EINVAL, "\"project\" is missing");
	if (allocation_walk(rq->b->ledger, p->id, find_only, &only, why) < 0)
		return -1;
	if (only.count == 0)
		return fault_errno(why, EEXIST,
			"%s has no live allocation; make one: budgetctl allocation add %s GPU-HOURS", p->name,
			p->name);
	if (only.count > 1)
		return fault_errno(why, EEXIST,
			"%s has %d live allocations; say which one: --allocation ID, see budgetctl allocation list %s",
			p->name, only.count, p->name);
	*allocation = only.id;
	return 0;
}

int money_allocation(struct request *rq, int64_t *allocation, struct fault *why)
{
	const char *name = NULL;
	struct project p;

	if (body_text(rq, "project", &name, why) < 0 ||
		(name && project_find(rq->b->ledger, name, &p, why) != 1))
		return -1;
	return choose_allocation(rq, name ? &p : NULL, allocation, why);
}

int money_allocation_of(struct request *rq, int64_t project, int64_t *allocation, struct fault *why)
{
	struct project p;

	return project_by_id(rq->b->ledger, project, &p, why) != 1 ? -1
		: choose_allocation(rq, &p, allocation, why);
}

/* Reason, actor and request id of a write. */
int money_entry(struct request *rq, const char *kind, bool need_reason, struct journal_entry *e,
	struct fault *why)
{
	const char *reason = "", *request_id = "";

	if (body_text(rq, "reason", &reason, why) < 0 || body_text(rq, "request_id", &request_id, why) < 0)
		return -1;
	if (need_reason && !*reason)
		return fault_errno(why, EINVAL, "\"reason\" is missing: it is kept in the journal");
	if (strlen(reason) >= sizeof(e->reason))
		return fault_errno(why, EINVAL, "the reason has at most %zu bytes", sizeof(e->reason) - 1);
	if (request_id_check(rq, request_id, why) < 0)
		return -1;
	*e = (struct journal_entry){ .at = rq->now, .uid = -1 };
	snprintf(e->kind, sizeof(e->kind), "%s", kind);
	snprintf(e->reason, sizeof(e->reason), "%s", reason);
	snprintf(e->request_id, sizeof(e->request_id), "%s", request_id);
	people_name(rq->b->people, rq->uid, rq->now, e->actor);
	return 0;
}

int money_words(struct request *rq, struct change_words *out, struct fault *why)
{
	struct journal_entry e;

	if (money_entry(rq, "", false, &e, why) < 0)
		return -1;
	*out = (struct change_words){ .at = e.at };
	memcpy(out->actor, e.actor, sizeof(out->actor));
	memcpy(out->reason, e.reason, sizeof(out->reason));
	memcpy(out->request_id, e.request_id, sizeof(out->request_id));
	return 0;
}

int money_units(struct request *rq, int64_t min, amount_t *out, struct fault *why)
{
	int rc = body_int(rq, "amount_units", min, AMOUNT_MAX, out, why);

	return rc == 0 ? fault_errno(why, EINVAL, "\"amount_units\" is missing") : rc < 0 ? -1 : 0;
}

static int deposit(struct request *rq, struct fault *why)
{
	struct journal_entry e;

	if (money_entry(rq, "deposit", false, &e, why) < 0 || money_units(rq, 1, &e.units, why) < 0 ||
		money_allocation(rq, &e.allocation, why) < 0 ||
		money_change(rq->b->ledger, &e, rq->now, why) < 0)
		return -1;
	return journal_json(rq, rq->b->ledger, &e, &rq->reply, why);
}

void money_body_of_query(struct request *rq)
{
	static const char *const texts[] = { "reason", "request_id" },
		*const flags[] = { "dry_run", "force" };

	rq->body = json_object_new_object();
	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
		if (request_query(rq, texts[k]))
			put_text(rq->body, texts[k], request_query(rq, texts[k]));
	for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++)
		if (request_query(rq, flags[k]))
			put_bool(rq->body, flags[k], true);
}

int money_write_lasting(struct request *rq, enum ledger_durability d, handler_fn apply, struct fault *why)
{
	bool dry_run = false;

	if (body_flag(rq, "dry_run", &dry_run, why) < 0 || ledger_begin(rq->b->ledger, d, why) < 0)
		return -1;
	if (money_expire(rq->b->ledger, rq->now, why) < 0 || request_said(rq, why) < 0 ||
		apply(rq, why) < 0) {
		ledger_rollback(rq->b->ledger);
		return -1;
	}
	if (dry_run) {
		ledger_rollback(rq->b->ledger);
		put_bool(rq->reply, "dry_run", true);
		return 0;
	}
	rq->status = MHD_HTTP_CREATED;
	return ledger_commit(rq->b->ledger, why);
}

int money_write(struct request *rq, handler_fn apply, struct fault *why)
{
	return money_write_lasting(rq, LEDGER_MONEY, apply, why);
}

int money_write_of_user(struct request *rq, handler_fn apply, struct fault *why)
{
	const char *user = NULL;
	int64_t uid;

	if (body_need_text(rq, "user", &user, why) < 0)
		return -1;
	if (!*user || strlen(user) >= USER_NAME_MAX)
		return fault_errno(why, EINVAL, "a user name has 1 to %d characters", USER_NAME_MAX - 1);
	/* not while a transaction is open: the directory can be slow */
	if (people_uid(user, &uid, NULL) == 0)
		json_object_object_add(rq->body, "uid", json_object_new_int64(uid));
	if (money_write(rq, apply, why) < 0)
		return -1;
	rq->status = MHD_HTTP_OK;
	return 0;
}

int deposit_post(struct request *rq, struct fault *why)
{
	return money_write(rq, deposit, why);
}
