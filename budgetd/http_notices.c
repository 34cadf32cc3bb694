/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_notices.c - notices that wait, were told or failed, and one to try the ways with
 *
 * Over a connection of their own to the queue: the thread that tells is in none of their ways. */
#include "budgetd/http_money.h"
#include "budgetd/notices.h"
#include "budgetd/people.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE_MAX 1000

struct listing {
	struct json_object *rows;
	int64_t limit, count;
};

static int list_delivery(const struct notice_delivery *d, void *arg)
{
	struct listing *x = arg;
	struct json_object *o;

	if (x->count++ == x->limit)	/* one more than asked for tells that there are more */
		return 0;
	o = json_object_new_object();
	put_text(o, "id", d->notice.key);
	put_int(o, "at", d->notice.at);
	put_text(o, "kind", notice_kinds[d->notice.kind].name);
	put_text(o, "severity", notice_severity_name(d->notice.severity));
	put_text(o, "project", d->notice.project[0] ? d->notice.project : NULL);
	put_text(o, "job", d->notice.job[0] ? d->notice.job : NULL);
	put_text(o, "to", d->notice.to);
	put_text(o, "subject", d->notice.subject);
	put_text(o, "way", d->way);
	put_text(o, "state", d->state);
	put_int(o, "attempts", d->attempts);
	put_int_or_null(o, "next_at", d->next_at, d->next_at == 0 || strcmp(d->state, "waiting") != 0);
	put_int_or_null(o, "done_at", d->done_at, d->done_at == 0);
	put_text(o, "error", d->error[0] ? d->error : NULL);
	json_object_array_add(x->rows, o);
	return 0;
}

static int need_ways(const struct request *rq, struct fault *why)
{
	const struct settings *s = rq->b->settings;

	return notices_ways(s) ? 0 : fault_errno(why, EEXIST,
		"notices are off: set notice_command or notice_url_file in budgetd.conf, then systemctl reload budgetd");
}

int notices_get(struct request *rq, struct fault *why)
{
	const struct settings *s = rq->b->settings;
	struct listing x = { .rows = json_object_new_array() };
	const char *state = request_query(rq, "state");
	struct notice_queue *q;
	int rc;

	rq->reply = reply_rows(x.rows, false);
	if (state && strcmp(state, "waiting") && strcmp(state, "told") && strcmp(state, "failed"))
		return fault_errno(why, EINVAL, "state is waiting, told or failed, not \"%.40s\"", state);
	if (request_query_int(rq, "limit", PAGE_MAX, PAGE_MAX, &x.limit, why) < 0 || need_ways(rq, why) < 0 ||
		notice_queue_open(s->database, &q, why) < 0)
		return -1;
	rc = notice_walk(q, state ? state : "", x.limit + 1, list_delivery, &x, why);
	notice_queue_close(q);
	if (x.count > x.limit)
		put_bool(rq->reply, "more", true);
	return rc;
}

static int queue_test(struct request *rq, struct notice_queue *q, struct fault *why)
{
	const struct settings *s = rq->b->settings;
	struct notice n = { .kind = NOTICE_TEST, .severity = NOTICE_INFO, .at = rq->now,
		.subject = "a notice to try whether notices arrive",
		.text = (char[]){ "Sent by budgetctl notice test. Nothing is the matter.\n" } };

	people_name(rq->b->people, rq->uid, rq->now, n.to);
	if (notice_queue_begin(q, why) < 0)
		return -1;
	if (notice_add(q, &n, notices_ways(s), why) == 0)
		return notice_queue_commit(q, why);
	notice_queue_rollback(q);
	return -1;
}

/* Said twice with the same request id it is sent once. The books remember the id, and the queue is written
 * before them: where they then cannot be, it is sent, and said again it is sent again. */
static int send_test(struct request *rq, struct fault *why)
{
	const struct settings *s = rq->b->settings;
	struct notice_queue *q;
	bool dry_run = false;
	int rc;

	rq->reply = json_object_new_object();
	put_bool(rq->reply, "command", *s->notice_command != '\0');
	put_bool(rq->reply, "webhook", *s->notice_url_file != '\0');
	put_bool(rq->reply, "said", rq->said);
	if (rq->said || body_flag(rq, "dry_run", &dry_run, why) < 0 || dry_run)
		return rq->said || dry_run ? 0 : -1;
	if (notice_queue_open(s->database, &q, why) < 0)
		return -1;
	rc = queue_test(rq, q, why);
	notice_queue_close(q);
	return rc;
}

int notice_post(struct request *rq, struct fault *why)
{
	if (need_ways(rq, why) < 0 || notices_check(rq->b->settings, why) < 0 || money_write(rq, send_test, why) < 0)
		return -1;
	notices_wake(rq->b->notices);
	return 0;
}
