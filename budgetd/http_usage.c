/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_usage.c - what was used in a span, grouped; and when a project runs out. */
#include "budgetd/ledger_money.h"
#include "budgetd/ledger_usage.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- usage ------------------------------------------------------------------------------------------ */

#define GROUP_NAME_MAX 256

struct group {
	char name[GROUP_NAME_MAX];
	struct used_row sum;		/* its key is not used */
};

struct listing {
	struct request *rq;
	struct ledger *l;
	enum usage_key key;
	int64_t from, to;
	struct group *groups;
	size_t count, room;
	const struct project *project;	/* the one that is walked */
	struct fault *why;
};

/* "h100"; "a100+h100" of a run that had both, which cannot be told apart in what it was charged; "gpu"
 * without a type. */
static void type_name(const char *tres, char out[GROUP_NAME_MAX])
{
	struct gpu_count gpus;
	size_t used = 0;

	snprintf(out, GROUP_NAME_MAX, "gpu");
	if (tres_read(tres, &gpus, NULL) < 0)
		return;
	for (int i = 0; i < gpus.ntypes && used < GROUP_NAME_MAX; i++)
		used += (size_t)snprintf(out + used, GROUP_NAME_MAX - used, "%s%s", i ? "+" : "",
			gpus.types[i].type[0] ? gpus.types[i].type : "gpu");
}

static void group_name(const struct listing *x, const char *key, char out[GROUP_NAME_MAX])
{
	char user[PERSON_NAME_MAX];

	switch (x->key) {
	case USAGE_PROJECT:
		snprintf(out, GROUP_NAME_MAX, "%s", x->project->name);
		break;
	case USAGE_USER:
		snprintf(out, GROUP_NAME_MAX, "%s",
			people_name(x->rq->b->people, (uid_t)strtoll(key, NULL, 10), x->rq->now, user));
		break;
	case USAGE_GPU_TYPE:
		type_name(key, out);
		break;
	default:
		snprintf(out, GROUP_NAME_MAX, "%s", key);
	}
}

static int add_row(const struct used_row *u, void *arg)
{
	struct listing *x = arg;
	struct group *g;

	if (x->count == x->room) {
		size_t room = x->room ? x->room * 2 : 64;

		g = reallocarray(x->groups, room, sizeof(*g));
		if (!g)
			return fault_errno(x->why, ENOMEM, "out of memory");
		x->groups = g;
		x->room = room;
	}
	g = &x->groups[x->count++];
	group_name(x, u->key, g->name);
	g->sum = *u;
	return 0;
}

static int add_project(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;

	(void)depth;
	if (request_may_see(x->rq, x->l, p->id, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	x->project = p;
	return usage_walk(x->l, p->id, x->key, x->from, x->to, add_row, x, x->why);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

/* The same user in two projects, the same type in two kinds of jobs: one row. */
static void merge(struct listing *x)
{
	size_t n = 0;

	if (x->count)
		qsort(x->groups, x->count, sizeof(*x->groups), by_name);
	for (size_t i = 0; i < x->count; i++) {
		struct used_row *to, *u = &x->groups[i].sum;

		if (!n || strcmp(x->groups[n - 1].name, x->groups[i].name) != 0) {
			x->groups[n++] = x->groups[i];
			continue;
		}
		to = &x->groups[n - 1].sum;
		to->runs += u->runs;
		to->gpu_s += u->gpu_s;
		to->free_gpu_s += u->free_gpu_s;
		to->charged += u->charged;
		to->refunded += u->refunded;
	}
	x->count = n;
}

static struct json_object *group_json(const struct group *g)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "name", g->name);
	put_int(o, "runs", g->sum.runs);
	/* as units of GPUs at rate 1.000: hours of GPUs, whatever they cost */
	put_int(o, "gpu_units", g->sum.gpu_s * AMOUNT_RATE_ONE);
	put_int(o, "free_gpu_units", g->sum.free_gpu_s * AMOUNT_RATE_ONE);
	put_int(o, "charged_units", g->sum.charged);
	put_int(o, "refunded_units", g->sum.refunded);
	return o;
}

static int read_query(struct listing *x, struct fault *why)
{
	const char *by = request_query(x->rq, "by");

	for (x->key = USAGE_PROJECT; by && x->key < USAGE_KEYS; x->key++)
		if (!strcmp(by, usage_key_name[x->key]))
			break;
	if (x->key == USAGE_KEYS)
		return fault_errno(why, EINVAL, "by=%.40s is not known here; there is: project user gpu_type partition",
			by);
	return request_query_int(x->rq, "from", 0, INT64_MAX, &x->from, why) < 0 ||
		request_query_int(x->rq, "to", x->rq->now, INT64_MAX, &x->to, why) < 0 ? -1 : 0;
}

int usage_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .l = rq->b->reader, .why = why };
	struct json_object *rows = json_object_new_array();
	struct project p;
	int rc = -1;

	if (read_query(&x, why) == 0 && ledger_begin(x.l, LEDGER_READ, why) == 0) {
		if (request_project(rq, x.l, &p, why) == 0)
			rc = project_walk(x.l, p.id, add_project, &x, why);
		ledger_rollback(x.l);
	}
	merge(&x);
	for (size_t i = 0; rc == 0 && i < x.count; i++)
		json_object_array_add(rows, group_json(&x.groups[i]));
	free(x.groups);
	rq->reply = reply_rows(rows, false);
	return rc;
}

/* --- forecast ----------------------------------------------------------------------------------------- */

enum basis { RUNNING, QUEUED, BASES };

/* The first of the path that runs out, at each of the rates. */
struct outlook {
	amount_t rate[BASES];		/* of the project itself */
	enum forecast_end end[BASES];
	int64_t at[BASES];
	char where[BASES][PROJECT_NAME_MAX];
};

static int look_at_node(struct request *rq, struct ledger *l, const struct path_node *n, bool own,
	struct outlook *o, struct fault *why)
{
	struct forecast_grant grants[FORECAST_GRANTS_MAX];
	amount_t running = 0, waiting = 0;
	int count = usage_grants(l, n->id, rq->now, grants, why);

	if (count < 0 || usage_rates(l, n->id, rq->b->settings->hold == HOLD_TIME_LIMIT,
		&running, &waiting, why) < 0)
		return -1;
	for (int i = 0; i < BASES; i++) {
		amount_t rate = running + (i == QUEUED ? waiting : 0);
		int64_t at = 0;
		enum forecast_end end = FORECAST_NEVER;

		if (own)
			o->rate[i] = rate;
		if (n->budget.metered)
			end = forecast(grants, (size_t)count, n->budget.credit, rate, rq->now, &at);
		if (end == FORECAST_NEVER || (o->end[i] != FORECAST_NEVER && o->at[i] <= at))
			continue;
		o->end[i] = end;
		o->at[i] = at;
		snprintf(o->where[i], sizeof(o->where[i]), "%s", n->budget.name);
	}
	return 0;
}

static struct json_object *outlook_json(const struct outlook *o, const char *project, enum basis i)
{
	static const char *const names[BASES] = { "running", "queued" };
	struct json_object *row = json_object_new_object();
	bool never = o->end[i] == FORECAST_NEVER;

	put_text(row, "project", project);
	put_text(row, "basis", names[i]);
	put_int(row, "hourly_units", o->rate[i] * 3600);
	put_text(row, "end", forecast_end_name(o->end[i]));
	put_int_or_null(row, "at", o->at[i], never);
	put_text(row, "decided_by", never ? NULL : o->where[i]);
	return row;
}

static int look(struct request *rq, struct ledger *l, struct json_object *rows, struct fault *why)
{
	struct outlook o = { .end = { FORECAST_NEVER, FORECAST_NEVER } };
	struct project p;
	struct path path;

	if (request_project(rq, l, &p, why) < 0)
		return -1;
	if (!p.id)
		return fault_errno(why, EINVAL, "?project= is missing");
	if (path_load(l, p.id, rq->now, &path, why) < 0)
		return -1;
	for (int i = 0; i < path.depth; i++)
		if (look_at_node(rq, l, &path.nodes[i], i == 0, &o, why) < 0)
			return -1;
	for (enum basis i = 0; i < BASES; i++)
		json_object_array_add(rows, outlook_json(&o, p.name, i));
	return 0;
}

int forecast_get(struct request *rq, struct fault *why)
{
	struct json_object *rows = json_object_new_array();
	int rc = -1;

	if (ledger_begin(rq->b->reader, LEDGER_READ, why) == 0) {
		rc = look(rq, rq->b->reader, rows, why);
		ledger_rollback(rq->b->reader);
	}
	rq->reply = reply_rows(rows, false);
	return rc;
}
