/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_statements.c - statements of projects. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_statement.h"
#include <errno.h>
#include <stdio.h>

struct listing {
	struct ledger *l;
	struct json_object *rows;
	struct statement_range range;
	const struct project *project;
	struct statement_line sum;
	int count;
	struct fault *why;
};

/* ?period=, or ?from= and ?to=. */
int request_range(struct request *rq, struct statement_range *out, struct fault *why)
{
	const char *month = request_query(rq, "period");
	struct period p;

	*out = (struct statement_range){ .now = rq->now };
	if (request_query_int(rq, "from", -1, INT64_MAX / 4, &out->from, why) < 0 ||
		request_query_int(rq, "to", -1, INT64_MAX / 4, &out->to, why) < 0)
		return -1;
	if (month && (out->from >= 0 || out->to >= 0))
		return fault_errno(why, EINVAL, "either a period is named, or from and to");
	if (month) {
		if (period_parse(month, &p, why) < 0)
			return -1;
		out->from = p.starts;
		out->to = p.ends;
	}
	if (out->from < 0 || out->to <= out->from)
		return fault_errno(why, EINVAL, "name a period, or from and a later to");
	return 0;
}

/* The allocation 0 is the project, over all of its own. */
static struct json_object *line_json(const struct listing *x, const struct statement_line *s)
{
	struct json_object *o = json_object_new_object();
	char key[40];

	put_text(o, "project", x->project->name);
	put_int_or_null(o, "allocation", s->allocation, s->allocation == 0);
	put_int(o, "from", x->range.from);
	put_int(o, "to", x->range.to);
	for (int i = 0; i < STATEMENT_ITEMS; i++) {
		snprintf(key, sizeof(key), "%s_units", statement_item_name[i]);
		put_int(o, key, s->items[i]);
	}
	put_int_or_null(o, "held_units", s->held, !s->held_known);
	return o;
}

static int list_line(const struct statement_line *s, void *arg)
{
	struct listing *x = arg;

	statement_add(&x->sum, s);
	x->count++;
	json_object_array_add(x->rows, line_json(x, s));
	return 0;
}

static int list_project(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;

	(void)depth;
	x->project = p;
	x->sum = (struct statement_line){ .held_known = true };
	x->count = 0;
	if (statement_walk(x->l, p->id, &x->range, list_line, x, x->why) < 0)
		return -1;
	if (x->count > 0)
		json_object_array_add(x->rows, line_json(x, &x->sum));
	return 0;
}

int statements_get(struct request *rq, struct fault *why)
{
	struct listing x = { .l = rq->b->reader, .why = why };
	int64_t below;
	struct project p;
	int rc = -1;

	if (request_range(rq, &x.range, why) < 0 || request_query_int(rq, "below", 0, 1, &below, why) < 0 ||
		ledger_begin(x.l, LEDGER_READ, why) < 0)
		return -1;
	x.rows = json_object_new_array();
	if (request_project(rq, x.l, &p, why) == 0)
		rc = p.id && !below ? list_project(&p, 0, &x) : project_walk(x.l, p.id, list_project, &x, why);
	ledger_rollback(x.l);
	rq->reply = reply_rows(x.rows, false);
	return rc;
}
