/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_turn.c - whose turn it is before a job, and which run may give way to it (http_job_turn.h). */
#include "budgetd/http_job_turn.h"
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_lane.h"
#include "lib/duration.h"
#include "lib/lane.h"
#include "lib/placement.h"
#include "lib/zone.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(struct json_object *lines, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct json_object *lines, const char *fmt, ...)
{
	char line[640];
	va_list ap;

	if (!lines)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	json_object_array_add(lines, json_object_new_string(line));
}

/* --- its place in the order --------------------------------------------------------------------- */

static const struct front_words {
	enum order_front front;
	const char *name, *because;
} fronts[] = {
	{ ORDER_LANE, "lane", ": it is in the debug lane, which goes first" },
	{ ORDER_SLOT, "slot", ": its project is inside a weekly slot of its own" },
	{ ORDER_BY_SHARE, "share", "" },
	{ ORDER_FREE, "free", ": those projects first that had least of it for their share" },
};

static const struct front_words *words_of(enum order_front front)
{
	size_t i = 0;

	while (i + 1 < sizeof(fronts) / sizeof(fronts[0]) && fronts[i].front != front)
		i++;
	return &fronts[i];
}

/* The nodes that are cleared for it, or that it is kept off for the sake of another one. */
static void tell_guard(const struct turn_question *x, const struct job_turn *t)
{
	struct gang_guard g = cluster_state_guard(x->rq->b->cluster);
	bool its = g.job == x->job;
	struct json_object *o = NULL;
	char left[DURATION_TEXT_MAX];

	duration_text(g.at > x->rq->now ? g.at - x->rq->now : 0, left);
	if (g.job && (its || t->kept_off)) {
		o = json_object_new_object();
		put_int(o, "job", g.job);
		put_text(o, "nodes", g.nodes);
		put_int(o, "planned_start", g.at);
	}
	json_object_object_add(x->o, "guard", o);
	if (o && its)
		say(x->lines,
			"Nodes are cleared for it: %s. As minimum runtimes end there it can start in %s.",
			g.nodes, left);
	else if (o && t->front == ORDER_FREE)
		say(x->lines,
			"It may not start on %s: these nodes are cleared for job %u, planned to start in %s, and until then no free job begins there.",
			g.nodes, g.job, left);
	else if (o)
		say(x->lines,
			"It may not start on %s: these nodes are cleared for job %u, planned to start in %s, and its minimum runtime would end later, "
			"or it could not be displaced then. A shorter minimum runtime may use them (budgetctl job set).",
			g.nodes, g.job, left);
}

static void tell_turn(const struct turn_question *x, const struct job_turn *t)
{
	const struct front_words *w = words_of(t->front);
	struct json_object *o = json_object_new_object();

	json_object_object_add(x->o, "turn", o);
	put_text(o, "front", w->name);
	put_int(o, "position", (int64_t)t->position);
	put_int(o, "of", (int64_t)t->of);
	put_bool(o, "cleared", t->cleared);
	say(x->lines, "It is number %zu of %zu %s jobs in the order%s.", t->position, t->of,
		t->front == ORDER_FREE ? "free" : "funded", w->because);
	if (t->cleared)
		say(x->lines,
			"It needs several nodes and has waited long: those of its own project that are past their minimum runtime give way to it, too.");
	tell_guard(x, t);
}

/* --- the debug lane ----------------------------------------------------------------------------- */

struct lane_look {
	int64_t uid;
	struct lane_user found;
};

static int look_at_user(const struct lane_user *u, void *arg)
{
	struct lane_look *x = arg;

	if (u->uid == x->uid)
		x->found = *u;
	return 0;
}

/* Of a job of its shape: what its user had of the allowance, and why it is not in it. */
static int tell_lane(const struct turn_question *x, bool in_lane, struct fault *why)
{
	const struct settings *s = x->rq->b->settings;
	const struct lane_limits *limits = &s->lane;
	const struct admission_row *a = x->admission;
	struct lane_look look = { .uid = a->uid };
	struct json_object *o;

	if (a->tier != TIER_FUNDED || a->tasks != 1 ||
		!lane_takes(limits, a->gpus, a->min_runtime_s, x->time_limit_s))
		return 0;
	if (lane_use(x->l, zone_day(x->rq->b->zone, x->rq->now), x->rq->now, look_at_user, &look, why) < 0)
		return -1;
	o = json_object_new_object();
	json_object_object_add(x->o, "lane", o);
	put_int(o, "used_gpu_s", look.found.used_gpu_s);
	put_int(o, "allowance_gpu_s", limits->allowance_gpu_s);
	put_int(o, "running", look.found.running);
	say(x->lines, "Of the debug lane its user has had %.2f of %.2f GPU-h today%s.",
		(double)look.found.used_gpu_s / 3600, (double)limits->allowance_gpu_s / 3600,
		in_lane ? "" : look.found.running ? ", and has a job in it: this one is not"
		: ", and has another job that waits in it, or not enough left: this one is not in it");
	return 0;
}

/* --- who may give way to it --------------------------------------------------------------------- */

struct victim_look {
	const struct turn_question *x;
	struct placement_rules rules;
	struct placement_job job;
	struct run run;			/* id 0 = none */
	int64_t at;			/* from when on it may give way */
	/* what was told to go for it already, and when the last of that goes */
	int64_t told_gpus, due;
	struct fault *why;
};

/* Is the partition among those that the job asked for? */
static bool in_list(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && strncmp(at, name, n) == 0)
			return true;
	return false;
}

/* Free runs are Slurm's to displace, at once. */
static bool could_be(const struct victim_look *v, const struct run *r)
{
	return r->tier == TIER_FUNDED && !r->lost_at && r->job != v->x->job &&
		in_list(v->x->partition, r->partition);
}

/* A run that goes already goes for one job: for this one, or it is not there for it. 1 = it leaves, 0, -1. */
static int look_at_leaving(struct victim_look *v, const struct run *r)
{
	struct leaving leaving;
	int rc = leaving_of(v->x->l, r->id, &leaving, v->why);

	if (rc != 1 || leaving.for_job != v->x->job)
		return rc;
	v->told_gpus += r->gpus;
	if (leaving.due > v->due)
		v->due = leaving.due;
	return 1;
}

static int look_at_run(const struct run *r, void *arg)
{
	struct victim_look *v = arg;
	int64_t now = v->x->rq->now, at = r->start + r->min_runtime_s;
	bool lost = r->unprotected_at || (r->free_since && r->free_since <= now);
	ssize_t project = ranking_node(v->x->ranking, r->project);
	struct placement_run run = { .project = (uint32_t)project,
		.user = ranking_user_of(v->x->ranking, r->project, r->uid) };
	int leaves = could_be(v, r) ? look_at_leaving(v, r) : 1;

	if (leaves)
		return leaves < 0 ? -1 : 0;
	if (project < 0 || (!lost && !placement_may_displace(&v->rules, &v->job, &run)))
		return 0;
	if (lost || at < now)
		at = now;
	if (v->run.id && at >= v->at)
		return 0;
	v->run = *r;
	v->at = at;
	return 0;
}

static void say_told(const struct victim_look *v)
{
	int64_t now = v->x->rq->now;
	struct json_object *o = json_object_new_object();
	char left[DURATION_TEXT_MAX];

	json_object_object_add(v->x->o, "being_freed", o);
	put_int(o, "gpus", v->told_gpus);
	put_int(o, "due", v->due);
	say(v->x->lines,
		"%jd GPUs are being made free for it: what runs on them was told to go, and goes in %s at the latest.",
		(intmax_t)v->told_gpus, duration_text(v->due > now ? v->due - now : 0, left));
}

static int say_victim(const struct victim_look *v, struct fault *why)
{
	const struct turn_question *x = v->x;
	char left[DURATION_TEXT_MAX], name[160];
	struct json_object *o;
	struct project p;

	if (!v->run.id) {
		say(x->lines,
			"No funded run may give way to it now: those that go on are of its own project, or of projects that are not over their share "
			"by enough.");
		return 0;
	}
	if (project_by_id(x->l, v->run.project, &p, why) != 1)
		return -1;
	snprintf(name, sizeof(name), "a run of %s", p.name);
	if (request_may_see(x->rq, x->l, p.id, NULL) == 0)
		snprintf(name, sizeof(name), "job %.30s of %s", v->run.label, p.name);
	o = json_object_new_object();
	json_object_object_add(x->o, "victim", o);
	put_text(o, "project", p.name);
	put_int(o, "gpus", v->run.gpus);
	put_int(o, "from", v->at);
	if (v->at > x->rq->now)
		say(x->lines,
			"The first that may give way to it is %s (%jd GPUs), whose minimum runtime ends in %s.",
			name, (intmax_t)v->run.gpus, duration_text(v->at - x->rq->now, left));
	else
		say(x->lines, "%c%s (%jd GPUs) may give way to it, when there is room for it then.",
			name[0] == 'j' ? 'J' : 'A', name + 1, (intmax_t)v->run.gpus);
	return 0;
}

static int tell_victim(const struct turn_question *x, const struct job_turn *t, struct fault *why)
{
	ssize_t project = ranking_node(x->ranking, x->admission->project);
	struct victim_look v = { .x = x, .why = why,
		.rules = { ranking_funded(x->ranking), NULL, x->rq->b->settings->hysteresis_percent * 10000 },
		.job = { .project = (uint32_t)project,
		.user = ranking_user_of(x->ranking, x->admission->project, x->admission->uid),
		.front = t->front, .cleared = t->cleared } };

	if (project < 0 || t->front == ORDER_FREE || x->held)
		return 0;
	if (run_walk_open(x->l, "", look_at_run, &v, why) < 0)
		return -1;
	if (v.told_gpus) {
		say_told(&v);
		return 0;
	}
	return say_victim(&v, why);
}

/* --- what became of its last run ---------------------------------------------------------------- */

static int look_at_event(const struct event *e, void *arg)
{
	*(struct event *)arg = *e;
	return 0;
}

static int tell_displaced(const struct turn_question *x, struct fault *why)
{
	struct event last = {0};
	char ago[DURATION_TEXT_MAX];

	if (event_walk_tasks(x->l, x->job, x->label, 0, 1, look_at_event, &last, why) < 0)
		return -1;
	if (last.id && last.what == EVENT_DISPLACED)
		say(x->lines, "Its last run gave way %s ago (%s); see budgetctl events %s.",
			duration_text(x->rq->now - last.at, ago), event_reason_name(last.reason),
			x->rq->name);
	return 0;
}

/* --- together ----------------------------------------------------------------------------------- */

int job_turn_tell(const struct turn_question *x, struct fault *why)
{
	struct job_turn t;
	bool known = x->waits && cluster_state_turn(x->rq->b->cluster, (uint32_t)x->job, x->record, &t);

	json_object_object_add(x->o, "turn", NULL);
	json_object_object_add(x->o, "lane", NULL);
	json_object_object_add(x->o, "guard", NULL);
	json_object_object_add(x->o, "victim", NULL);
	json_object_object_add(x->o, "being_freed", NULL);
	put_bool(x->o, "requeueable", x->requeueable);
	if ((x->waits || !x->runs) && tell_displaced(x, why) < 0)
		return -1;
	if (!known)
		return 0;
	tell_turn(x, &t);
	if (tell_lane(x, t.front == ORDER_LANE, why) < 0 || tell_victim(x, &t, why) < 0)
		return -1;
	if (!x->requeueable)
		say(x->lines, "It cannot be requeued: when it is displaced it is cancelled.");
	return 0;
}

int job_run_tell(struct request *rq, struct ledger *l, const struct run *r, struct json_object *run,
	struct json_object *lines, struct fault *why)
{
	int64_t until = r->start + r->min_runtime_s;
	bool protected_now = r->tier == TIER_FUNDED && !r->ended && !r->unprotected_at && !r->free_since &&
		until > rq->now;
	char left[DURATION_TEXT_MAX];
	struct json_object *o;
	struct leaving leaving;
	int rc = r->ended ? 0 : leaving_of(l, r->id, &leaving, why);

	put_int_or_null(run, "protected_until", until, !protected_now);
	json_object_object_add(run, "leaving", NULL);
	if (protected_now)
		say(lines, "The run of job %s is protected for %s more.", r->label,
			duration_text(until - rq->now, left));
	if (rc != 1)
		return rc;
	o = json_object_new_object();
	json_object_object_add(run, "leaving", o);
	put_int(o, "told_at", leaving.told_at);
	put_int(o, "due", leaving.due);
	put_text(o, "reason", event_reason_name(leaving.reason));
	say(lines,
		"The run of job %s was told to go (%s) and goes in %s at the latest; see budgetctl events %s.",
		r->label, event_reason_name(leaving.reason),
		duration_text(leaving.due > rq->now ? leaving.due - rq->now : 0, left), r->label);
	return 0;
}
