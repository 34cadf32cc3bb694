/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_shares.c - the weights of projects among their siblings, and of users in projects that are divided:
 * list, and set those of users
 *
 * The weight of a project is set as a project is: http_projects.c. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_user_share.h"
#include "budgetd/routes.h"
#include "lib/fairshare.h"
#include <errno.h>
#include <stdio.h>

/* `user` NULL: of the project. */
static struct json_object *share_json(const char *project, const char *user, int64_t share)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "project", project);
	put_text(o, "user", user);
	put_int(o, "share", share);
	return o;
}

/* --- list --------------------------------------------------------------------------------------- */

struct listing {
	struct request *rq;
	struct json_object *rows;
	const char *project;
	char path[1024];
	int depth;
	struct fault *why;
};

static void add_row(struct listing *x, const char *user, int64_t share)
{
	struct json_object *o = share_json(x->project, user, share);
	char path[sizeof(x->path) + USER_NAME_MAX];

	snprintf(path, sizeof(path), "%s%s%s", x->path, user ? "/" : "", user ? user : "");
	put_text(o, "path", path);
	put_int(o, "depth", x->depth + (user != NULL));
	put_text(o, "name", user ? user : x->project);
	json_object_array_add(x->rows, o);
}

static int list_user(const struct user_share *s, void *arg)
{
	add_row(arg, s->user, s->share);
	return 0;
}

static int list_project(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;

	if (request_may_see(x->rq, x->rq->b->reader, p->id, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	if (project_path_text(x->rq->b->reader, p->id, x->path, sizeof(x->path), x->why) < 0)
		return -1;
	x->project = p->name;
	x->depth = depth;
	add_row(x, NULL, p->share);
	return user_share_walk(x->rq->b->reader, p->id, list_user, x, x->why);
}

int shares_get(struct request *rq, struct fault *why)
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

/* Found before the transaction; else who is gone from the host and has a weight, by the name it was set
 * for. */
static int whose(struct request *rq, const struct project *p, struct user_share *s, struct fault *why)
{
	int rc = body_int(rq, "uid", 0, UINT32_MAX, &s->uid, why);

	if (rc == 0)
		rc = user_share_uid(rq->b->ledger, p->id, s->user, &s->uid, why);
	if (rc == 0)
		return fault_errno(why, ENOENT,
			"there is no user %s on the host of budgetd, so %s/%s has no weight; a project has one by its own name "
			"alone: budgetctl share set PROJECT WEIGHT", s->user, p->name, s->user);
	return rc < 0 ? -1 : 0;
}

/* A weight that has no effect yet is taken, and said to have none. */
static int note_effect(struct request *rq, const struct project *p, struct fault *why)
{
	char text[256];
	bool divided;

	if (user_shares_effective(rq->b->ledger, p, &divided, why) < 0)
		return -1;
	snprintf(text, sizeof(text),
		"%s is not divided among its users, so the weight has no effect yet: budgetctl project set %s --user-shares=yes",
		p->name, p->name);
	if (!divided)
		put_text(rq->reply, "note", text);
	return 0;
}

static int set_share(struct request *rq, struct fault *why)
{
	struct ledger *l = rq->b->ledger;
	const char *name = NULL, *user = NULL;
	struct user_share s = {0};
	struct change_words w;
	struct project p;
	int said;

	if (money_words(rq, &w, why) < 0 || body_need_text(rq, "project", &name, why) < 0 ||
		body_need_text(rq, "user", &user, why) < 0 ||
		(said = body_int(rq, "share", 0, FAIRSHARE_WEIGHT_MAX, &s.share, why)) < 0)
		return -1;
	if (!said)
		return fault_errno(why, EINVAL, "\"share\" is missing");
	if (project_find(l, name, &p, why) != 1 || request_may_own(rq, l, p.id, why) < 0)
		return -1;
	snprintf(s.user, sizeof(s.user), "%s", user);
	s.project = p.id;
	if (whose(rq, &p, &s, why) < 0 || (!rq->said && user_share_set(l, &w, &s, why) < 0))
		return -1;
	rq->reply = share_json(p.name, s.user, s.share);
	return note_effect(rq, &p, why);
}

int share_post(struct request *rq, struct fault *why)
{
	return money_write_of_user(rq, set_share, why);
}
