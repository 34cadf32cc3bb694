/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_tree.c - the tree by fair share: what each project is entitled to, had, was owed and got. */
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_project.h"
#include "budgetd/people.h"
#include "budgetd/ranking.h"
#include "budgetd/routes.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct listing {
	struct request *rq;
	struct ledger *l;
	struct ranking *ranking;
	amount_t *owed;			/* by node */
	struct json_object *rows;
	struct fault *why;
	const struct project *project;	/* whose row it is, or whose users have the rows */
	char path[1024];
	int depth;
};

/* `i` is its node. Delivered is counted up to what was owed: more is not what it was owed. */
static void put_figures(const struct listing *x, size_t i, struct json_object *o)
{
	const struct fairshare *funded = ranking_funded(x->ranking);
	amount_t occupied = fairshare_charged(funded, i), owed = x->owed[i];
	int64_t ratio = fairshare_ratio_ppm(funded, i);

	put_int(o, "share_ppm", fairshare_share_ppm(funded, i));
	put_int(o, "entitled_units", fairshare_entitled(funded, i));
	put_int(o, "occupied_units", occupied);
	put_int(o, "entry_units", fairshare_entry(funded, i));
	put_int_or_null(o, "ratio_ppm", ratio, ratio < 0);
	put_int(o, "owed_units", owed);
	put_int(o, "delivered_units", occupied < owed ? occupied : owed);
	put_int(o, "free_units", fairshare_charged(ranking_free_tier(x->ranking), i));
}

/* `user` NULL: the project itself. */
static void add_row(struct listing *x, size_t node, const char *user, int64_t weight)
{
	struct json_object *o = json_object_new_object();
	char path[sizeof(x->path) + PERSON_NAME_MAX];

	snprintf(path, sizeof(path), "%s%s%s", x->path, user ? "/" : "", user ? user : "");
	json_object_array_add(x->rows, o);
	put_text(o, "name", user ? user : x->project->name);
	put_text(o, "project", x->project->name);
	put_text(o, "user", user);
	put_text(o, "path", path);
	put_int(o, "depth", x->depth + (user != NULL));
	put_int(o, "share", weight);
	put_figures(x, node, o);
}

static int list_user(size_t node, int64_t uid, int64_t weight, void *arg)
{
	struct listing *x = arg;
	char name[PERSON_NAME_MAX];

	add_row(x, node, people_name(x->rq->b->people, (uid_t)uid, x->rq->now, name), weight);
	return 0;
}

static int list_project(const struct project *p, int depth, void *arg)
{
	struct listing *x = arg;
	ssize_t i = ranking_node(x->ranking, p->id);

	if (i < 0)
		return 0;
	if (request_may_see(x->rq, x->l, p->id, NULL) < 0)
		return errno == EACCES ? 0 : -1;
	if (project_path_text(x->l, p->id, x->path, sizeof(x->path), x->why) < 0)
		return -1;
	x->project = p;
	x->depth = depth;
	add_row(x, (size_t)i, NULL, p->share);
	return ranking_walk_users(x->ranking, p->id, list_user, x);
}

static int list(struct listing *x, struct fault *why)
{
	const struct budgetd *b = x->rq->b;
	struct cluster_health health;
	struct project p;

	if (request_project(x->rq, x->l, &p, why) < 0)
		return -1;
	/* before the first pass nobody knows: as the books saw it last */
	cluster_state_health(b->cluster, &health);
	if (ranking_new(x->l, b->settings->window_s, b->rates, health.gpus ? &health.healthy : NULL,
		x->rq->now, &x->ranking, why) < 0 ||
		ranking_owed(x->ranking, x->l, b->settings->hold == HOLD_TIME_LIMIT, &x->owed, why) < 0)
		return -1;
	return project_walk(x->l, p.id, list_project, x, why);
}

int tree_get(struct request *rq, struct fault *why)
{
	struct listing x = { .rq = rq, .l = rq->b->reader, .rows = json_object_new_array(), .why = why };
	int rc = -1;

	if (ledger_begin(x.l, LEDGER_READ, why) == 0) {
		rc = list(&x, why);
		ledger_rollback(x.l);
	}
	ranking_free(x.ranking);
	free(x.owed);
	rq->reply = reply_rows(x.rows, false);
	put_int(rq->reply, "window_s", rq->b->settings->window_s);
	return rc;
}
