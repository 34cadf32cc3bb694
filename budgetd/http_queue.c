/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_queue.c - the queue in its order, as the last pass had it: each job with the key that it is sorted by,
 * and why the one right in front of it is there.
 *
 * A caller sees jobs of projects that are theirs to see, and own ones; of the others their places are left
 * out, so that the positions tell how many there are. */
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_project.h"
#include "budgetd/people.h"
#include "budgetd/ranking.h"
#include "budgetd/routes.h"
#include "lib/order.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	enum order_front front;
	const char *name;
} fronts[] = { { ORDER_LANE, "lane" }, { ORDER_SLOT, "slot" }, { ORDER_BY_SHARE, "share" }, { ORDER_FREE, "free" } };

static const char *const because_name[] = { [ORDER_BECAUSE_FRONT] = "front", [ORDER_BECAUSE_RATIO] = "ratio",
	[ORDER_BECAUSE_TEAM] = "team_rank", [ORDER_BECAUSE_TIME] = "time" };

/* Of a node of the table: looked up once, however many jobs go by it. */
struct known {
	bool asked, seen, below;	/* the caller sees it; it is at or below the project that was asked for */
	char name[PROJECT_NAME_MAX];
};

struct queue {
	struct request *rq;
	struct ledger *l;
	struct turn_table t;
	struct known *known;		/* by node */
	int64_t only;			/* at and below this project; 0 = all */
	struct json_object *rows;
	struct fault *why;
};

static const char *front_name(enum order_front f)
{
	size_t i = 0;

	while (i + 1 < sizeof(fronts) / sizeof(fronts[0]) && fronts[i].front != f)
		i++;
	return fronts[i].name;
}

static bool is_below(const struct queue *q, int node)
{
	for (; node >= 0; node = q->t.nodes[node].parent)
		if (q->t.nodes[node].project == q->only)
			return true;
	return q->only == 0;
}

/* NULL and q->why when the books cannot be read. */
static const struct known *know(struct queue *q, int node)
{
	struct known *k = &q->known[node];
	struct project p = {0};

	if (k->asked)
		return k;
	if (project_by_id(q->l, q->t.nodes[node].project, &p, q->why) < 0)
		return NULL;
	snprintf(k->name, sizeof(k->name), "%s", p.name);
	k->below = is_below(q, node);
	k->seen = request_may_see(q->rq, q->l, q->t.nodes[node].project, NULL) == 0;
	if (!k->seen && errno != EACCES)
		return NULL;
	k->asked = true;
	return k;
}

/* --- a row ------------------------------------------------------------------------------------------ */

/* Of a node: the name of its project, or of the user in it. Who does not see the project is not told who. */
static int put_node(struct queue *q, struct json_object *o, const char *key, int node)
{
	const struct turn_node *n = node < 0 ? NULL : &q->t.nodes[node];
	const struct known *k = n ? know(q, node) : NULL;
	char name[PERSON_NAME_MAX];

	if (n && !k)
		return -1;
	if (!n)
		put_text(o, key, NULL);
	else if (n->uid == RANKING_NO_USER)
		put_text(o, key, k->name);
	else
		put_text(o, key, k->seen ? people_name(q->rq->b->people, (uid_t)n->uid, q->rq->now, name)
			: "another user");
	return 0;
}

static int64_t ratio_of(const struct queue *q, const struct job_turn *t, int node)
{
	return t->front == ORDER_FREE ? q->t.nodes[node].free_ppm : q->t.nodes[node].funded_ppm;
}

/* The path from the top, by which it is compared. */
static int put_path(struct queue *q, const struct job_turn *t, struct json_object *o)
{
	struct json_object *path = json_object_new_array();
	int nodes[RANKING_LEVELS_MAX], n = 0;

	json_object_object_add(o, "path", path);
	for (int i = t->node; i >= 0 && n < RANKING_LEVELS_MAX; i = q->t.nodes[i].parent)
		nodes[n++] = i;
	while (n-- > 0) {
		struct json_object *level = json_object_new_object();
		int64_t ratio = ratio_of(q, t, nodes[n]);

		json_object_array_add(path, level);
		put_int_or_null(level, "ratio_ppm", ratio, ratio < 0);
		if (put_node(q, level, "name", nodes[n]) < 0)
			return -1;
	}
	return 0;
}

/* Why the one in front is there. What the ratio of the other is, who may see it is told. */
static int put_because(struct queue *q, const struct job_turn *t, struct json_object *o)
{
	struct json_object *b = json_object_new_object();
	bool parts = t->because == ORDER_BECAUSE_RATIO && t->ahead_at >= 0;
	const struct known *ahead = parts ? know(q, t->ahead_at) : NULL;
	int64_t own = parts ? ratio_of(q, t, t->own_at) : -1,
		other = parts && ahead && ahead->seen ? ratio_of(q, t, t->ahead_at) : -1;

	json_object_object_add(o, "behind", b);
	put_text(b, "because", because_name[t->because]);
	put_int_or_null(b, "ratio_ppm", own, own < 0);
	put_int_or_null(b, "ahead_ratio_ppm", other, other < 0);
	if (parts && !ahead)
		return -1;
	return put_node(q, b, "name", parts ? t->own_at : -1) < 0 ||
		put_node(q, b, "ahead", parts ? t->ahead_at : -1) < 0 ? -1 : 0;
}

static int put_row(struct queue *q, const struct job_turn *t)
{
	struct json_object *o = json_object_new_object();
	char user[PERSON_NAME_MAX];

	json_object_array_add(q->rows, o);
	put_int(o, "position", (int64_t)t->position);
	put_text(o, "front", front_name(t->front));
	put_int(o, "job", t->job);
	put_text(o, "user", people_name(q->rq->b->people, (uid_t)t->uid, q->rq->now, user));
	put_text(o, "project", t->node < 0 ? "" : q->known[t->node].name);
	put_int(o, "gpus", t->gpus);
	put_int(o, "tasks", t->tasks);
	put_int(o, "team_rank", t->team_rank);
	put_int(o, "asked_at", t->asked_at);
	put_bool(o, "cleared", t->cleared);
	if (t->position == 1)
		json_object_object_add(o, "behind", NULL);
	else if (put_because(q, t, o) < 0)
		return -1;
	return put_path(q, t, o);
}

/* 1 = the caller sees it, 0, -1. One without a node is of a project that was removed: for administrators. */
static int sees(struct queue *q, const struct job_turn *t)
{
	const struct known *k = t->node < 0 ? NULL : know(q, t->node);

	if (t->node < 0)
		return q->rq->administrator && !q->only;
	if (!k)
		return -1;
	return k->below && (k->seen || (int64_t)q->rq->uid == t->uid);
}

static int list(struct queue *q)
{
	for (size_t i = 0; i < q->t.nturns; i++) {
		int rc = sees(q, &q->t.turns[i]);

		if (rc < 0 || (rc == 1 && put_row(q, &q->t.turns[i]) < 0))
			return -1;
	}
	return 0;
}

static void put_counts(const struct queue *q, struct json_object *o)
{
	size_t funded = 0, free = 0;

	for (size_t i = 0; i < q->t.nturns; i++)
		*(q->t.turns[i].front == ORDER_FREE ? &free : &funded) += 1;
	put_int(o, "funded", (int64_t)funded);
	put_int(o, "free", (int64_t)free);
	put_int_or_null(o, "at", q->t.at, q->t.at == 0);
}

static int read_queue(struct queue *q)
{
	struct project p;

	q->known = calloc(q->t.nnodes + 1, sizeof(*q->known));
	if (!q->known)
		return fault_errno(q->why, ENOMEM, "out of memory");
	if (request_project(q->rq, q->l, &p, q->why) < 0)
		return -1;
	q->only = p.id;
	return list(q);
}

int queue_get(struct request *rq, struct fault *why)
{
	struct queue q = { .rq = rq, .l = rq->b->reader, .why = why };
	int rc = -1;

	if (cluster_state_turns(rq->b->cluster, &q.t) < 0)
		return fault_errno(why, ENOMEM, "out of memory");
	q.rows = json_object_new_array();
	rq->reply = reply_rows(q.rows, false);
	put_counts(&q, rq->reply);
	if (ledger_begin(q.l, LEDGER_READ, why) == 0) {
		rc = read_queue(&q);
		ledger_rollback(q.l);
	}
	free(q.known);
	turn_table_free(&q.t);
	return rc;
}
