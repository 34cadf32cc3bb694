/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_caps.c - what one user may take of a project: list, set. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_cap.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct json_object *cap_json(const struct cap *c, const char *project)
{
	struct json_object *o = json_object_new_object();
	bool none = c->units == CAP_NONE;

	put_text(o, "project", project);
	put_text(o, "user", c->user);
	put_int_or_null(o, "cap_units", c->units, none);
	put_int(o, "charged_units", c->charged);
	put_int(o, "held_units", c->held);
	put_int_or_null(o, "left_units", c->units - c->charged - c->held, none);
	return o;
}

/* --- list --------------------------------------------------------------------------------------- */

struct listing {
	struct request *rq;
	struct json_object *rows;
	const char *project;
	struct fault *why;
};

static int list_cap(const struct cap *c, void *arg)
{
	struct listing *x = arg;

	json_object_array_add(x->rows, cap_json(c, x->project));
	return 0;
}

static int list_project(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;

	(void)depth;
	if (request_may_see(x->rq, x->rq->b->reader, p->id, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	x->project = p->name;
	return cap_walk(x->rq->b->reader, p->id, x->rq->now, list_cap, x, x->why);
}

int caps_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .rows = json_object_new_array(), .why = why };
	struct ledger *l = rq->b->reader;
	struct project p;
	int rc = -1;

	rq->reply = reply_rows(x.rows, false);
	if (ledger_begin(l, LEDGER_READ, why) < 0)
		return -1;
	if (request_project(rq, l, &p, why) == 0)
		rc = project_walk(l, p.id, list_project, &x, why);
	ledger_rollback(l);
	return rc;
}

/* --- set ---------------------------------------------------------------------------------------- */

/* GPU-hours, or none: exactly one of both is said. */
static int read_cap(struct request *rq, struct cap *c, struct fault *why)
{
	bool none = false;
	int said = body_int(rq, "amount_units", 0, AMOUNT_MAX, &c->units, why);

	if (said < 0 || body_flag(rq, "none", &none, why) < 0)
		return -1;
	if (said != !none)
		return fault_errno(why, EINVAL, "say \"amount_units\", or \"none\": true");
	if (none)
		c->units = CAP_NONE;
	return 0;
}

static int note_cap(struct request *rq, int64_t project, const char *user, amount_t was, amount_t became,
	struct change_words *w, struct fault *why)
{
	struct change change = { .project = project, .what = "cap_units", .user = user };
	char from[32], to[32];

	snprintf(from, sizeof(from), "%jd", (intmax_t)was);
	snprintf(to, sizeof(to), "%jd", (intmax_t)became);
	change.was = was == CAP_NONE ? NULL : from;
	change.became = became == CAP_NONE ? NULL : to;
	return change_add(rq->b->ledger, w, &change, why);
}

/* Who has another name by now has the cap under that one. */
static int write_cap(struct request *rq, const struct cap *c, const struct cap *was, struct change_words *w,
	struct fault *why)
{
	bool renamed = was->units != CAP_NONE && c->units != CAP_NONE && strcmp(was->user, c->user) != 0;

	if (cap_set(rq->b->ledger, c, rq->now, why) < 0)
		return -1;
	if (renamed && note_cap(rq, c->project, was->user, was->units, CAP_NONE, w, why) < 0)
		return -1;
	return note_cap(rq, c->project, was->units == CAP_NONE || renamed ? c->user : was->user,
		renamed ? CAP_NONE : was->units, c->units, w, why);
}

/* Found before the transaction; else who is gone from the host and still has a cap, by the name it was set
 * for. */
static int whose(struct request *rq, int64_t project, const char *user, int64_t *uid, struct fault *why)
{
	int rc = body_int(rq, "uid", 0, UINT32_MAX, uid, why);

	if (rc == 0)
		rc = cap_user(rq->b->ledger, project, user, uid, why);
	return rc == 0 ? fault_errno(why, ENOENT, "there is no user %s on the host of budgetd", user) : rc < 0
		? -1 : 0;
}

static int set_cap(struct request *rq, struct fault *why)
{
	struct ledger *l = rq->b->ledger;
	const char *name = NULL, *user = NULL;
	struct cap c = { .units = CAP_NONE }, there = { .units = CAP_NONE };
	struct change_words w;
	struct project p;

	if (money_words(rq, &w, why) < 0 || body_need_text(rq, "project", &name, why) < 0 ||
		body_need_text(rq, "user", &user, why) < 0 || read_cap(rq, &c, why) < 0 ||
		project_find(l, name, &p, why) != 1 || request_may_own(rq, l, p.id, why) < 0 ||
		whose(rq, p.id, user, &c.uid, why) < 0 || cap_of(l, p.id, c.uid, rq->now, &there, why) < 0)
		return -1;
	c.project = p.id;
	snprintf(c.user, sizeof(c.user), "%s", user);
	if ((!rq->said && write_cap(rq, &c, &there, &w, why) < 0) ||
		cap_of(l, p.id, c.uid, rq->now, &c, why) < 0)
		return -1;	/* none is left as it was said: cap_of leaves it alone */
	rq->reply = cap_json(&c, p.name);
	return 0;
}

int cap_post(struct request *rq, struct fault *why)
{
	return money_write_of_user(rq, set_cap, why);
}
