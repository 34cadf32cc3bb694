/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_events.c - what was done about the runs of a job, and why: list. Who may see the job may see its
 * events. */
#include "budgetd/http_job_seen.h"
#include "budgetd/ledger_event.h"
#include "budgetd/routes.h"
#include "lib/job_id.h"
#include <errno.h>
#include <string.h>

#define PAGE_MAX 1000

struct listing {
	struct request *rq;
	struct json_object *rows;
	int64_t limit, count;
};

static int list_event(const struct event *e, void *arg)
{
	struct listing *x = arg;
	struct json_object *o;

	if (x->count++ == x->limit)	/* one more than asked for tells that there are more */
		return 0;
	o = json_object_new_object();
	put_int(o, "id", e->id);
	put_int(o, "at", e->at);
	put_text(o, "cluster", e->cluster);
	put_int(o, "job", e->job);
	put_int_or_null(o, "run", e->run, e->run == 0);
	put_text(o, "event", event_what_name(e->what));
	put_text(o, "reason", event_reason_name(e->reason));
	put_int_or_null(o, "for_job", e->for_job, e->for_job == 0);
	put_text(o, "detail", e->detail);
	json_object_array_add(x->rows, o);
	return 0;
}

static int first_run(const struct run *r, void *arg)
{
	struct run *first = arg;

	if (!first->id)
		*first = *r;
	return 0;
}

/* A job that the budget knows by its answer or by a run of it. */
static int may_see(struct request *rq, struct ledger *l, int64_t job, struct fault *why)
{
	struct admission_row a;
	struct run run = {0};
	int rc = admission_by_job(l, job, &a, why);

	if (rc < 0 || run_walk_job(l, job, first_run, &run, why) < 0)
		return -1;
	if (rc == 0 && !run.id)
		return job_unknown(rq->b, job, rq->now, why);
	if ((int64_t)rq->uid == (run.id ? run.uid : a.uid))
		return 0;
	return request_may_see(rq, l, run.id ? run.project : a.project, why);
}

int events_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .rows = json_object_new_array() };
	struct ledger *l = rq->b->reader;
	struct job_name id;
	int64_t before;
	int rc = -1;

	rq->reply = reply_rows(x.rows, false);
	if (job_id_parse(rq->name, &id, why) < 0 ||
		request_query_int(rq, "before", 0, INT64_MAX, &before, why) < 0 ||
		request_query_int(rq, "limit", PAGE_MAX, PAGE_MAX, &x.limit, why) < 0 ||
		ledger_begin(l, LEDGER_READ, why) < 0)
		return -1;
	if (may_see(rq, l, id.job, why) == 0)	/* several tasks: those of all */
		rc = event_walk_tasks(l, id.job, id.part == JOB_TASK ? rq->name : "", before, x.limit + 1,
			list_event, &x, why);
	ledger_rollback(l);
	if (x.count > x.limit)
		put_bool(rq->reply, "more", true);
	return rc;
}
