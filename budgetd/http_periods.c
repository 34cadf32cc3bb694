/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_periods.c - months that are closed: list, close. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_period.h"
#include "budgetd/log.h"
#include <errno.h>
#include <string.h>

static struct json_object *period_json(const struct period *p)
{
	struct json_object *o = json_object_new_object();
	char month[PERIOD_TEXT_MAX];

	put_text(o, "period", period_text(p->month, month));
	put_int(o, "starts", p->starts);
	put_int(o, "ends", p->ends);
	put_int(o, "closed_at", p->closed_at);
	put_text(o, "actor", p->actor);
	put_text(o, "reason", p->reason);
	put_text(o, "forced", p->forced[0] ? p->forced : NULL);
	return o;
}

static int list_period(const struct period *p, void *rows)
{
	json_object_array_add(rows, period_json(p));
	return 0;
}

int periods_get(struct request *rq, struct fault *why)
{
	struct json_object *rows = json_object_new_array();
	int rc;

	rq->reply = reply_rows(rows, false);
	if (ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	rc = period_walk(rq->b->reader, list_period, rows, why);
	ledger_rollback(rq->b->reader);
	return rc;
}

static int read_period(struct request *rq, struct period *out, struct fault *why)
{
	const char *month = NULL;
	struct journal_entry e;

	if (body_need_text(rq, "period", &month, why) < 0 || period_parse(month, out, why) < 0 ||
		money_entry(rq, "", false, &e, why) < 0)
		return -1;
	out->closed_at = rq->now;
	memcpy(out->actor, e.actor, sizeof(out->actor));
	memcpy(out->reason, e.reason, sizeof(out->reason));
	memcpy(out->request_id, e.request_id, sizeof(out->request_id));
	return 0;
}

static int close_month(struct request *rq, struct fault *why)
{
	struct period p, known;
	bool force = false;
	int rc;

	if (read_period(rq, &p, why) < 0 || body_flag(rq, "force", &force, why) < 0)
		return -1;
	rc = rq->said ? period_by_month(rq->b->ledger, p.month, &known, why) : 0;
	if (rc < 0 || (rc == 0 && period_close(rq->b->ledger, &p, force, why) < 0))
		return -1;
	rq->reply = period_json(rc == 1 ? &known : &p);
	return 0;
}

/* Books that are not sound are not closed over: what is wrong would stay. Looked at before the write, over
 * the reader, so that no submission waits for it. */
int period_post(struct request *rq, struct fault *why)
{
	struct fault wrong = {0};
	struct period p;

	if (read_period(rq, &p, why) < 0)
		return -1;
	if (ledger_audit(rq->b->reader, &wrong) < 0)
		return fault_errno(why, errno == EBADMSG ? EEXIST : errno,
			"%.700s; nothing is closed: see budgetctl verify", wrong.text);
	return money_write(rq, close_month, why);
}
