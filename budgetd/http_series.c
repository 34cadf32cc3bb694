/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_series.c - one project over time: what it was entitled to, had, was owed and got, hour by hour, and how
 * its balance burns down. The last of each is what /v1/tree and /v1/balances say. */
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_balance.h"
#include "budgetd/ledger_project.h"
#include "budgetd/ranking.h"
#include "budgetd/routes.h"
#include <errno.h>
#include <stdlib.h>

#define DAY 86400
#define DAYS_MAX 92		/* each is 24 rows, and as many steps of work for each project */
#define BALANCE_DAYS_MAX 366
#define STEPS_OF_HOURS (8 * 24)	/* a balance of more hours than that goes by days */

/* --- of its share ----------------------------------------------------------------------------------- */

static struct json_object *step_json(const struct ranking_step *s)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "at", s->at);
	put_int(o, "entitled_units", s->entitled);
	put_int(o, "occupied_units", s->occupied);
	put_int(o, "owed_units", s->owed);
	put_int(o, "delivered_units", s->occupied < s->owed ? s->occupied : s->owed);
	return o;
}

static int list_steps(struct request *rq, struct ledger *l, const struct project *p, int64_t window_s,
	struct json_object *rows, struct fault *why)
{
	const struct budgetd *b = rq->b;
	struct ranking_step *steps = NULL;
	struct cluster_health health;
	struct ranking *r;
	size_t count = 0;
	ssize_t node;
	int rc = 0;

	cluster_state_health(b->cluster, &health);
	if (ranking_new(l, window_s, b->rates, health.gpus ? &health.healthy : NULL, rq->now, &r, why) < 0)
		return -1;
	node = ranking_node(r, p->id);
	if (node >= 0)
		rc = ranking_steps(r, l, b->settings->hold == HOLD_TIME_LIMIT, (size_t)node, &steps, &count, why);
	for (size_t i = 0; rc == 0 && i < count; i++)
		json_object_array_add(rows, step_json(&steps[i]));
	free(steps);
	ranking_free(r);
	return rc;
}

/* --- of its balance --------------------------------------------------------------------------------- */

struct burning {
	struct json_object *rows;
	int64_t from, step_s, next;	/* the step that has no row yet */
	amount_t balance;
};

static void fill_to(struct burning *x, int64_t step, int64_t now)
{
	for (; x->next < step; x->next++) {
		int64_t at = x->from + (x->next + 1) * x->step_s;
		struct json_object *o = json_object_new_object();

		put_int(o, "at", at < now ? at : now);
		put_int(o, "balance_units", x->balance);
		json_object_array_add(x->rows, o);
	}
}

struct burning_at {
	struct burning *x;
	int64_t now, last;		/* the step that goes on */
};

static int add_units(int64_t step, amount_t units, void *arg)
{
	struct burning_at *a = arg;

	fill_to(a->x, step < a->last ? step : a->last, a->now);
	a->x->balance += units;
	return 0;
}

/* What was entered for a time to come, by a clock that was put back, is in the last row as well. */
static int list_balance(struct request *rq, struct ledger *l, const struct project *p, struct json_object *o,
	struct fault *why)
{
	struct burning x = { .rows = json_object_new_array() };
	struct burning_at a = { &x, rq->now, 0 };
	int64_t starts, ends;

	json_object_object_add(o, "balance", x.rows);
	if (balance_span(l, p->id, rq->now, &starts, &ends, why) < 0)
		return -1;
	put_int_or_null(o, "starts", starts, starts == 0);
	put_int_or_null(o, "ends", ends, ends == 0);
	if (!starts)
		return 0;
	x.from = starts < rq->now - BALANCE_DAYS_MAX * DAY ? rq->now - BALANCE_DAYS_MAX * DAY : starts;
	x.step_s = rq->now - x.from > STEPS_OF_HOURS * 3600 ? DAY : 3600;
	a.last = (rq->now - x.from) / x.step_s;
	if (balance_walk(l, p->id, rq->now, x.from, x.step_s, add_units, &a, why) < 0)
		return -1;
	fill_to(&x, a.last + 1, rq->now);
	return 0;
}

int series_get(struct request *rq, struct fault *why)
{
	struct json_object *rows = json_object_new_array();
	struct ledger *l = rq->b->reader;
	int64_t days, window_s;
	struct project p;
	int rc = -1;

	rq->reply = reply_rows(rows, false);
	if (request_query_int(rq, "days", 0, DAYS_MAX, &days, why) < 0 || ledger_begin(l, LEDGER_READ, why) < 0)
		return -1;
	window_s = days ? days * DAY : rq->b->settings->window_s;
	if (window_s > DAYS_MAX * DAY)
		window_s = DAYS_MAX * DAY;
	put_int(rq->reply, "window_s", window_s);
	if (request_project(rq, l, &p, why) == 0) {
		put_text(rq->reply, "project", p.name);
		rc = p.id == 0 ? fault_errno(why, EINVAL, "name a project: ?project=")
			: list_steps(rq, l, &p, window_s, rows, why) < 0 ? -1
			: list_balance(rq, l, &p, rq->reply, why);
	}
	ledger_rollback(l);
	return rc;
}
