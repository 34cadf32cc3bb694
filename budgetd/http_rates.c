/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_rates.c - what a GPU-hour of a type costs: list, set. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_rate.h"
#include "budgetd/rates.h"
#include <errno.h>
#include <string.h>

static struct json_object *rate_json(const struct rate_row *r)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "id", r->id);
	put_text(o, "gpu_type", r->rate.type);
	put_int(o, "thousandths", r->rate.thousandths);
	put_int(o, "valid_from", r->rate.valid_from);
	put_int(o, "at", r->at);
	put_text(o, "actor", r->actor);
	put_text(o, "reason", r->reason);
	return o;
}

static int list_rate(const struct rate_row *r, void *rows)
{
	json_object_array_add(rows, rate_json(r));
	return 0;
}

int rates_get(struct request *rq, struct fault *why)
{
	struct json_object *rows = json_object_new_array();
	int rc;

	rq->reply = reply_rows(rows, false);
	if (ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	rc = rate_walk(rq->b->reader, list_rate, rows, why);
	ledger_rollback(rq->b->reader);
	return rc;
}

static int set_rate(struct request *rq, struct fault *why)
{
	struct journal_entry e;
	struct rate_row r = { .at = rq->now, .rate = { .valid_from = rq->now + 1, .thousandths = -1 } };
	const char *type = NULL;

	if (money_entry(rq, "", true, &e, why) < 0 || body_need_text(rq, "gpu_type", &type, why) < 0 ||
		body_int(rq, "thousandths", 0, RATE_MAX, &r.rate.thousandths, why) < 0 ||
		body_int(rq, "valid_from", 0, INT64_MAX / 4, &r.rate.valid_from, why) < 0)
		return -1;
	if (r.rate.thousandths < 0)
		return fault_errno(why, EINVAL, "\"thousandths\" is missing");
	if (r.rate.valid_from == rq->now)	/* "now" is the next second: what starts in this one may be priced already */
		r.rate.valid_from++;
	if (strlen(type) >= sizeof(r.rate.type) || strpbrk(type, " ,:=\t\n"))
		return fault_errno(why, EINVAL, "\"%.40s\" is no GPU type as Slurm writes them", type);
	memcpy(r.rate.type, type, strlen(type) + 1);
	memcpy(r.actor, e.actor, sizeof(r.actor));
	memcpy(r.reason, e.reason, sizeof(r.reason));
	memcpy(r.request_id, e.request_id, sizeof(r.request_id));
	if (rate_add(rq->b->ledger, &r, rq->now, why) < 0)
		return -1;
	rq->reply = rate_json(&r);
	return 0;
}

/* What is committed is read by a transaction of its own: a dry run and a failed commit leave the rates as
 * they are. */
int rate_post(struct request *rq, struct fault *why)
{
	int rc;

	if (money_write(rq, set_rate, why) < 0 || ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	rc = rates_read(rq->b->rates, rq->b->reader, why);
	ledger_rollback(rq->b->reader);
	return rc;
}
