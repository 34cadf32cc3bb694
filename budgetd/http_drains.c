/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_drains.c - nodes that are to be empty: which, why, and by when they are. */
#include "budgetd/cluster_state.h"
#include "budgetd/http_money.h"
#include "budgetd/ledger_drain.h"
#include "budgetd/ledger_run.h"
#include "budgetd/leaves.h"
#include "lib/duration.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* --- when is it empty ---------------------------------------------------------------------------- */

/* A job on the node, copied from under the lock; or a component of a het job, wherever it runs. */
struct on_node {
	int64_t job, submit, start, limit_s, het_job;
	bool here;
	char name[JOB_NAME_TEXT_MAX];
};

struct jobs_on_node {
	const char *node;
	struct on_node *jobs;
	size_t count, room;
	size_t here;			/* of them, on the node */
	bool failed;
};

static void collect(const struct job_view *j, void *arg)
{
	struct jobs_on_node *x = arg;
	bool here = slurm_link_has_node(j->nodes, x->node);

	if ((j->stage != STAGE_RUNNING && j->stage != STAGE_SUSPENDED) || (!here && !j->het_job_id))
		return;
	x->here += here;
	if (x->count == x->room) {
		size_t room = x->room ? 2 * x->room : 16;
		struct on_node *more = reallocarray(x->jobs, room, sizeof(*more));

		x->failed = x->failed || !more;
		if (!more)
			return;
		x->jobs = more;
		x->room = room;
	}
	x->jobs[x->count] = (struct on_node){ j->job_id, j->submit, j->start, j->time_limit_s, j->het_job_id,
		here, "" };
	job_view_text(j, x->jobs[x->count++].name);
}

struct emptying {
	int64_t at;			/* DURATION_UNLIMITED: nobody can tell */
	const char *last;		/* the job that leaves last, NULL = none is there */
};

/* 1 = the books have a run of it, 0, -1. */
static int run_of(struct ledger *l, const char *cluster, const struct on_node *j, struct drain_run *out,
	struct fault *why)
{
	const struct job_view v = { .start = j->start, .time_limit_s = j->limit_s };
	struct run r;
	int rc = run_find(l, cluster, j->job, j->submit, j->start, &r, why);

	if (rc >= 0)
		*out = drain_run_of(&v, rc == 1 ? &r : NULL);
	return rc;
}

/* As the loop does it (controller_drain.c): components that the books do not know have no say. */
static int join_het(struct ledger *l, const char *cluster, const struct jobs_on_node *x,
	const struct on_node *j, struct drain_run *d, struct fault *why)
{
	struct drain_run other;

	for (size_t i = 0; j->het_job && i < x->count; i++) {
		int rc = x->jobs[i].het_job == j->het_job &&
			&x->jobs[i] != j ? run_of(l, cluster, &x->jobs[i], &other, why) : 0;

		if (rc < 0)
			return -1;
		if (rc == 1)
			drain_goes_with(d, &other);
	}
	return 0;
}

static int job_leaves(struct request *rq, struct ledger *l, const char *cluster, const struct jobs_on_node *x,
	const struct on_node *j, bool critical, struct emptying *e, struct fault *why)
{
	struct drain_run d;
	int64_t gone;

	if (run_of(l, cluster, j, &d, why) < 0 || join_het(l, cluster, x, j, &d, why) < 0)
		return -1;
	gone = drain_gone_at(&d, critical, rq->b->settings->grace_s, rq->now);
	if (!e->last || gone > e->at) {
		e->at = gone;
		e->last = j->name;
	}
	return 0;
}

static int put_emptying(struct request *rq, struct ledger *l, const char *node, bool critical,
	struct json_object *o, struct fault *why)
{
	struct jobs_on_node x = { .node = node };
	struct emptying e = { .at = rq->now };
	struct cluster_health health;
	int rc = 0;

	cluster_state_health(rq->b->cluster, &health);
	cluster_state_each_job(rq->b->cluster, collect, &x);
	if (x.failed)
		rc = fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < x.count; i++)
		if (x.jobs[i].here)
			rc = job_leaves(rq, l, health.cluster, &x, &x.jobs[i], critical, &e, why);
	put_int(o, "jobs", (int64_t)x.here);
	put_int_or_null(o, "empty_at", e.at, e.at == DURATION_UNLIMITED);
	put_text(o, "last_job", e.last);
	free(x.jobs);
	return rc;
}

/* `d` NULL: Slurm or somebody with scontrol drains it. */
static int drain_json(struct request *rq, struct ledger *l, const char *node, const struct drain *d,
	struct json_object **out, struct fault *why)
{
	struct json_object *o = json_object_new_object();
	struct node_answer n = cluster_state_node(rq->b->cluster, node);

	put_text(o, "node", node);
	put_text(o, "reason", d ? d->reason : n.reason);
	put_text(o, "actor", d ? d->actor : NULL);
	put_int_or_null(o, "at", d ? d->at : 0, !d);
	put_bool(o, "critical", d && d->critical);
	put_text(o, "state", n.draining ? "draining" : n.asked && !n.known ? "gone" : "asked");
	*out = o;
	return put_emptying(rq, l, node, d && d->critical, o, why);
}

/* --- list ---------------------------------------------------------------------------------------- */

struct listing {
	struct request *rq;
	struct json_object *rows;
	struct fault *why;
};

static int list_drain(const struct drain *d, void *arg)
{
	struct listing *x = arg;
	struct json_object *row = NULL;
	int rc = drain_json(x->rq, x->rq->b->reader, d->node, d, &row, x->why);

	json_object_array_add(x->rows, row);
	return rc;
}

/* Those of Slurm, without those that are ours. */
static int list_others(struct listing *x)
{
	char *names = cluster_state_draining(x->rq->b->cluster), *save = NULL;
	struct json_object *row;
	struct drain d;
	int rc = names ? 0 : fault_errno(x->why, ENOMEM, "out of memory");

	for (char *name = names ? strtok_r(names, ",", &save) : NULL; name && rc == 0;
		name = strtok_r(NULL, ",", &save)) {
		rc = drain_of(x->rq->b->reader, name, &d, x->why);
		if (rc == 1 && !d.ended_at)
			rc = 0;
		else if (rc >= 0) {
			rc = drain_json(x->rq, x->rq->b->reader, name, NULL, &row, x->why);
			json_object_array_add(x->rows, row);
		}
	}
	free(names);
	return rc;
}

int drains_get(struct request *rq, struct fault *why)
{
	struct listing x = { rq, json_object_new_array(), why };
	int rc = -1;

	rq->reply = reply_rows(x.rows, false);
	if (ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	if (drain_walk_open(rq->b->reader, list_drain, &x, why) == 0)
		rc = list_others(&x);
	ledger_rollback(rq->b->reader);
	return rc;
}

/* --- drain, undrain ------------------------------------------------------------------------------ */

static int node_is_known(struct request *rq, const char *node, struct fault *why)
{
	struct node_answer n = cluster_state_node(rq->b->cluster, node);

	if (node[strcspn(node, "[,")])
		return fault_errno(why, EINVAL,
			"\"%.63s\" names several nodes, and each is drained by itself, since each is empty at a time of its own: "
			"for n in $(scontrol show hostnames '%.63s'); do budgetctl drain $n --reason TEXT; done", node, node);
	if (!n.asked)
		return fault_errno(why, EAGAIN,
			"the nodes of the cluster are not known yet: try again in a few seconds");
	return n.known ? 0 : fault_errno(why, ENOENT, "Slurm has no node %.63s: sinfo -N lists them", node);
}

static int add_drain(struct request *rq, struct fault *why)
{
	struct journal_entry e;
	struct drain d = { .at = rq->now };
	const char *node = NULL;

	if (body_need_text(rq, "node", &node, why) < 0 || body_flag(rq, "critical", &d.critical, why) < 0 ||
		money_entry(rq, "", true, &e, why) < 0 || node_is_known(rq, node, why) < 0)
		return -1;
	if (strlen(e.reason) >= sizeof(d.reason))
		return fault_errno(why, EINVAL,
			"the reason has %zu bytes, %zu fit: Slurm shows it in a column", strlen(e.reason),
			sizeof(d.reason) - 1);
	snprintf(d.node, sizeof(d.node), "%s", node);
	snprintf(d.actor, sizeof(d.actor), "%s", e.actor);
	snprintf(d.reason, sizeof(d.reason), "%.*s", (int)sizeof(d.reason) - 1, e.reason);
	if (rq->said ? drain_of(rq->b->ledger, d.node, &d, why) < 0 : drain_add(rq->b->ledger, &d, why) < 0)
		return -1;
	return drain_json(rq, rq->b->ledger, d.node, &d, &rq->reply, why);
}

int drain_post(struct request *rq, struct fault *why)
{
	return money_write(rq, add_drain, why);
}

static int end_drain(struct request *rq, struct fault *why)
{
	struct journal_entry e;
	struct drain d;
	int rc = drain_of(rq->b->ledger, rq->name, &d, why);

	if (rc < 0 || money_entry(rq, "", false, &e, why) < 0)
		return -1;
	if (rc == 0 || (d.ended_at && !rq->said))
		return fault_errno(why, ENOENT,
			"node %.63s is not drained by budgetctl: scontrol update nodename=%.63s state=resume ends other drains",
			rq->name, rq->name);
	if (!rq->said && drain_end(rq->b->ledger, d.id, e.actor, rq->now, why) < 0)
		return -1;
	rq->reply = json_object_new_object();
	put_text(rq->reply, "node", d.node);
	put_text(rq->reply, "reason", d.reason);
	put_text(rq->reply, "state", "ended");
	return 0;
}

int drain_delete(struct request *rq, struct fault *why)
{
	money_body_of_query(rq);
	if (money_write(rq, end_drain, why) < 0)
		return -1;
	rq->status = MHD_HTTP_OK;
	return 0;
}
