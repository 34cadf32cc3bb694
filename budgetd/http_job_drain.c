/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_drain.c - of a run on a node that is to be empty: by when it has left (http_job_drain.h). */
#include "budgetd/http_job_drain.h"
#include "budgetd/cluster_state.h"
#include "budgetd/leaves.h"
#include "budgetd/ledger_drain.h"
#include "budgetd/ledger_event.h"
#include "lib/duration.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The record of the run, copied from under the lock. */
struct place {
	int64_t job;
	const char *draining;		/* names with commas between */
	char node[64];			/* the first of them that it runs on; "" = none */
	bool het, requeueable;
	int64_t start, time_limit_s;
};

/* The next of the names, "" behind the last one. Returns what is behind it. */
static const char *next_name(const char *list, char name[64])
{
	size_t n = strcspn(list, ",");

	snprintf(name, 64, "%.*s", (int)n, list);
	return list + n + (list[n] == ',');
}

static void look_at(const struct job_view *j, void *arg)
{
	struct place *x = arg;
	char name[64];

	if (j->job_id != x->job || (j->stage != STAGE_RUNNING && j->stage != STAGE_SUSPENDED))
		return;
	for (const char *at = x->draining; *at && !x->node[0];) {
		at = next_name(at, name);
		if (slurm_link_has_node(j->nodes, name))
			snprintf(x->node, sizeof(x->node), "%s", name);
	}
	x->het = j->het_job_id != 0;
	x->requeueable = j->requeueable;
	x->start = j->start;
	x->time_limit_s = j->time_limit_s;
}

/* Does budgetd empty it? *critical is set. 1, 0, -1. */
static int is_emptied(struct request *rq, struct ledger *l, const char *node, bool *critical,
	struct fault *why)
{
	struct drain d;
	int rc = drain_of(l, node, &d, why);
	bool ours = rc == 1 && !d.ended_at;

	*critical = ours && d.critical;
	return rc < 0 ? -1 : ours || rq->b->settings->drain == DRAIN_ALL;
}

static void say(struct request *rq, const struct place *x, const struct run *r, const char *reason,
	int64_t tells_at, struct json_object *lines)
{
	char left[DURATION_TEXT_MAX], grace[DURATION_TEXT_MAX], line[768];
	const char *then = x->requeueable ? "goes on elsewhere" : "is cancelled, since it cannot be requeued";

	duration_text(tells_at - rq->now, left);
	duration_text(rq->b->settings->grace_s, grace);
	if (tells_at > rq->now)
		snprintf(line, sizeof(line),
			"Its node %s is to be empty (%s). The run of job %s is protected there for %s more; then it is told "
			"to go%s, %s later it has left, and it %s.", x->node, reason, r->label, left,
			x->het ? ", with the other components of its het job as soon as all of them may" : "",
			grace, then);
	else
		snprintf(line, sizeof(line),
			"Its node %s is to be empty (%s), and the run of job %s is not protected: the next pass tells it to "
			"go, and it %s.", x->node, reason, r->label, then);
	json_object_array_add(lines, json_object_new_string(line));
}

static void put(struct request *rq, const struct place *x, const struct run *r, bool critical,
	struct json_object *run, struct json_object *lines)
{
	const struct job_view j = { .start = x->start, .time_limit_s = x->time_limit_s };
	struct node_answer n = cluster_state_node(rq->b->cluster, x->node);
	const char *reason = n.reason[0] ? n.reason : "no reason was given";
	struct drain_run d = drain_run_of(&j, r);
	struct json_object *o = json_object_new_object();
	int64_t tells_at = drain_tells_at(&d, critical);

	json_object_object_add(run, "draining", o);
	put_text(o, "node", x->node);
	put_text(o, "reason", reason);
	put_int(o, "tells_at", tells_at > rq->now ? tells_at : rq->now);
	put_int(o, "gone_at", drain_gone_at(&d, critical, rq->b->settings->grace_s, rq->now));
	if (lines)
		say(rq, x, r, reason, tells_at, lines);
}

int job_drain_tell(struct request *rq, struct ledger *l, const struct run *r, struct json_object *run,
	struct json_object *lines, struct fault *why)
{
	struct place x = { .job = r->job };
	struct leaving leaving;
	bool critical = false;
	char *names;
	int rc = r->ended || r->lost_at ? 1 : leaving_of(l, r->id, &leaving, why);

	json_object_object_add(run, "draining", NULL);
	if (rc != 0)
		return rc < 0 ? -1 : 0;
	names = cluster_state_draining(rq->b->cluster);
	if (!names)
		return fault_errno(why, ENOMEM, "out of memory");
	x.draining = names;
	cluster_state_job(rq->b->cluster, (uint32_t)x.job, look_at, &x);
	rc = x.node[0] ? is_emptied(rq, l, x.node, &critical, why) : 0;
	if (rc == 1)
		put(rq, &x, r, critical, run, lines);
	free(names);
	return rc < 0 ? -1 : 0;
}
