/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_jobs.c - why a job is where it is: tier, path, funding, what it waits for. */
#include "budgetd/cluster_state.h"
#include "budgetd/http_job_drain.h"
#include "budgetd/http_job_inside.h"
#include "budgetd/http_job_turn.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "lib/duration.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_SHOWN 50			/* of an array the newest; its tasks are asked about one by one */

void job_tell(struct explanation *x, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	json_object_array_add(x->lines, json_object_new_string(line));
}

/* --- its runs ----------------------------------------------------------------------------------- */

struct run_sums {
	struct explanation *x;
	amount_t charged;
	int64_t free_s, uncovered_s;
	int64_t run;
};

static int add_charge(const struct charge *c, void *arg)
{
	struct run_sums *s = arg;
	int64_t seconds = c->part_end - c->part_start;

	if (c->run != s->run)
		return 0;
	s->charged += c->units;
	if (strcmp(c->kind, "free") == 0)
		s->free_s += seconds;
	if (strcmp(c->kind, "uncovered") == 0)
		s->uncovered_s += seconds;
	return 0;
}

static int add_run(const struct run *r, void *arg)
{
	struct explanation *x = arg;
	struct run_sums sums = { .x = x, .run = r->id };
	struct json_object *o = json_object_new_object();

	json_object_array_add(x->runs, o);
	if (charge_walk(x->l, 0, r->job, 0, INT64_MAX, add_charge, &sums, x->why) < 0)
		return -1;
	put_text(o, "job", r->label);
	put_int(o, "start", r->start);
	put_int_or_null(o, "end", r->ended, r->ended == 0);
	put_text(o, "state", r->ended ? r->state : r->lost_at ? "LOST" : "RUNNING");
	if (!r->ended && r->lost_at)
		x->lost = *r;
	put_text(o, "tier", job_tier_name(r->tier));
	put_int(o, "gpus", r->gpus);
	put_int_or_null(o, "covered_until", r->covered_until, r->tier == TIER_FREE);
	put_int(o, "charged_units", sums.charged);
	put_int(o, "free_s", sums.free_s);
	put_int(o, "uncovered_s", sums.uncovered_s);
	if (job_run_tell(x->rq, x->l, r, o, x->tasks.all ? NULL : x->lines, x->why) < 0)
		return -1;
	return job_drain_tell(x->rq, x->l, r, o, x->tasks.all ? NULL : x->lines, x->why);
}

/* --- the sentences ------------------------------------------------------------------------------ */

static void tell_tier(struct explanation *x)
{
	char time[DURATION_TEXT_MAX];

	if (!x->admitted)
		job_tell(x, "The budget was not asked about this job: no answer of ours is known.");
	else if (x->admission.tier == TIER_FREE)
		job_tell(x,
			"It is in the free tier: not charged, not protected, and may be displaced at any time.");
	else
		job_tell(x, "It is %s by %s and protected for %s in each run.",
			x->admission.parked_at && !x->held ? "to be funded" : "funded", x->project.name,
			duration_text(x->admission.min_runtime_s, time));
}

/* As far as Prometheus tells. */
static void tell_idle(struct explanation *x)
{
	char time[DURATION_TEXT_MAX];
	int64_t until, since = cluster_state_idle_since(x->rq->b->cluster, x->seen.record, &until);

	if (since)
		job_tell(x, "Its GPUs were not used for %s.", duration_text(until - since, time));
}

static void tell_funding(struct explanation *x)
{
	char a[AMOUNT_TEXT_MAX], b[AMOUNT_TEXT_MAX], c[AMOUNT_TEXT_MAX], d[AMOUNT_TEXT_MAX];

	if (x->held)
		job_tell(x, "%s GPU-h are set aside for it.", amount_text(x->held, a));
	if (x->charged)
		job_tell(x, "%s GPU-h were charged for its runs.", amount_text(x->charged, a));
	for (int i = 0; i < x->path.depth; i++) {
		const struct budget_node *n = &x->path.nodes[i].budget;

		if (n->metered)
			job_tell(x, "%s has %s of %s GPU-h available (%s held, %s charged).", n->name,
				amount_text(budget_available(n), a), amount_text(n->amount + n->credit, b),
				amount_text(n->held, c), amount_text(n->charged, d));
		if (n->metered && n->capped)
			job_tell(x,
				"Of that its user may take %s GPU-h (the cap in %s): %s are left (%s held, %s charged).",
				amount_text(n->cap, a), n->name, amount_text(budget_cap_left(n), b),
				amount_text(n->cap_held, c), amount_text(n->cap_charged, d));
	}
}

/* Tasks of it wait for money. */
static int tell_parked(struct explanation *x)
{
	char each[AMOUNT_TEXT_MAX];
	struct project at;

	if (project_by_id(x->l, x->admission.waits_at, &at, x->why) != 1)
		return -1;
	amount_text(x->admission.per_task, each);
	if (x->tasks.all)
		job_tell(x,
			"%jd of its %jd tasks in the queue wait for budget, held, until money returns to %s: each needs %s GPU-h.",
			(intmax_t)x->seen.held_tasks, (intmax_t)x->seen.waiting_tasks, at.name, each);
	else
		job_tell(x,
			"It waits for budget, held: it is released when %s can pay the %s GPU-h that it needs.",
			at.name, each);
	if (x->label[0])
		return 0;		/* which of its tasks comes first the array says */
	if (x->admission.waits_behind)
		job_tell(x, "Job %jd waits in front of it and is not overtaken.",
			(intmax_t)x->admission.waits_behind);
	else
		job_tell(x, "It is the first of those that wait there.");
	return 0;
}

static int tell_waiting(struct explanation *x)
{
	if (x->lost.id)
		job_tell(x,
			"Run %s is gone from Slurm and nobody knows when it ended: its hold stays and nothing more is charged until an administrator "
			"says so (budgetctl run end %s --at TIME --reason TEXT).", x->lost.label,
				x->lost.label);
	else if (!x->seen.found)
		job_tell(x, "It is not in the queue any more.");
	else if (x->admitted && x->admission.parked_at && (!x->label[0] || x->seen.held_tasks))
		return tell_parked(x);
	else if (x->seen.waiting_tasks)
		job_tell(x, "It waits: %s.", x->seen.reason[0] ? x->seen.reason
			: "the scheduler has not looked at it yet");
	else if (x->seen.suspended)
		job_tell(x,
			"It is suspended, and not protected: Slurm gives the GPUs of a suspended run to any job that may displace it, and then "
			"holds it in the queue until an administrator releases it (scontrol release).");
	else if (x->seen.running)
		job_tell(x, "It runs.");
	return 0;
}

/* --- putting it together ------------------------------------------------------------------------ */

/* Of a task: what its run has, or its share of what waits with the array. */
static int add_hold(const struct hold_row *h, void *arg)
{
	struct explanation *x = arg;
	bool waits = x->seen.waiting_tasks && !x->seen.held_tasks;

	if (h->admission != x->admission.id)
		return 0;
	if (!x->label[0])
		x->held += h->units;
	else if (h->run ? strcmp(h->label, x->label) == 0 : waits)
		x->held += h->run || h->units < x->admission.per_task ? h->units : x->admission.per_task;
	return 0;
}

static int owner_or_member(struct explanation *x)
{
	return (int64_t)x->rq->uid == x->admission.uid ? 0
		: request_may_see(x->rq, x->l, x->project.id, x->why);
}

static void put_job(struct explanation *x)
{
	char text[1024], user[PERSON_NAME_MAX];

	snprintf(text, sizeof(text), "%jd", (intmax_t)x->name.job);
	put_text(x->o, "job", x->label[0] ? x->label : text);
	put_text(x->o, "user", people_name(x->rq->b->people, (uid_t)x->admission.uid, x->rq->now, user));
	put_text(x->o, "project", x->project.name);
	if (project_path_text(x->l, x->project.id, text, sizeof(text), NULL) == 0)
		put_text(x->o, "path", text);
	put_text(x->o, "state", x->seen.found ? x->seen.state : "GONE");
	put_text(x->o, "tier", job_tier_name(x->admission.tier));
	put_int(x->o, "min_runtime_s", x->admission.min_runtime_s);
	put_int(x->o, "asked_at", x->admission.at);
	put_int(x->o, "team_rank", x->admission.team_rank);
	put_int(x->o, "gpus", x->admission.gpus);
	put_int(x->o, "held_units", x->held);
	put_int(x->o, "charged_units", x->charged);
	put_int_or_null(x->o, "place", x->seen.place, x->seen.waiting_tasks == 0);
	put_text(x->o, "reason", x->seen.reason);
}

/* What the budget has nothing of. */
static int not_admitted(struct explanation *x)
{
	int64_t job = x->name.job;

	if (!x->seen.found)
		return job_unknown(x->rq->b, job, x->rq->now, x->why);
	return fault_errno(x->why, ENOENT, !x->seen.waiting_tasks && !x->seen.running && !x->seen.suspended ?
		"job %jd has ended, and the books have nothing of it: it asked for no GPU, or ended as it began" :
		"job %jd is in the queue, but the budget was not asked about it: it asks for no GPU, or came from elsewhere",
			(intmax_t)job);
}

/* A task that has left Slurm and is asked for by its own id: its run says of which array it is. */
static int rename_to_task(const struct run *r, void *arg)
{
	struct explanation *x = arg;
	struct job_name n;

	if (job_id_parse(r->label, &n, NULL) == 0 && n.part == JOB_TASK)
		x->name = n;
	return 0;
}

/* 1 = the answer is found, 0, -1. */
static int find_answer(struct explanation *x)
{
	int rc = admission_by_job(x->l, x->name.job, &x->admission, x->why);

	if (rc != 0 || x->name.part != JOB_WHOLE)
		return rc;
	if (run_walk_job(x->l, x->name.job, rename_to_task, x, x->why) < 0)
		return -1;
	return x->name.part == JOB_TASK ? admission_by_job(x->l, x->name.job, &x->admission, x->why) : 0;
}

/* As it was submitted: tasks that are over may be anywhere by now. */
static int count_tasks(struct explanation *x)
{
	struct json_object *body, *array;
	char *request = NULL;
	int rc = 0;

	if (admission_request(x->l, x->admission.id, &request, x->why) < 0)
		return -1;
	body = json_tokener_parse(request);
	free(request);
	if (!json_object_object_get_ex(body, "array", &array))
		array = NULL;
	if (x->label[0] && array && !gpu_request_array_names(json_object_get_string(array), x->name.within))
		rc = fault_errno(x->why, ENOENT, "job %jd has no task %jd: its array is %s",
			(intmax_t)x->name.job, (intmax_t)x->name.within, json_object_get_string(array));
	else if (!x->label[0] && array)
		/* Slurm took it */
		(void)gpu_request_array_tasks(json_object_get_string(array), &x->tasks.all, NULL, NULL);
	json_object_put(body);
	x->tasks.over = x->tasks.all - x->seen.waiting_tasks - x->seen.running - x->seen.suspended;
	return rc;
}

static void tell_tasks(struct explanation *x)
{
	const struct job_seen *s = &x->seen;
	struct json_object *o = json_object_new_object();

	json_object_object_add(x->o, "tasks", x->tasks.all ? o : NULL);
	if (!x->tasks.all) {
		json_object_put(o);
		return;
	}
	put_int(o, "all", x->tasks.all);
	put_int(o, "waiting", s->waiting_tasks);
	put_int(o, "held", s->held_tasks);
	put_int(o, "running", s->running + s->suspended);
	put_int(o, "over", x->tasks.over > 0 ? x->tasks.over : 0);
	job_tell(x,
		"Of its %jd tasks %jd wait, %jd run and %jd are over. `budgetctl why %jd_N` tells of one of them.",
		(intmax_t)x->tasks.all, (intmax_t)s->waiting_tasks, (intmax_t)(s->running + s->suspended),
		(intmax_t)(x->tasks.over > 0 ? x->tasks.over : 0), (intmax_t)x->name.job);
}

static int tell_runs(struct explanation *x)
{
	if (run_sum_tasks(x->l, x->name.job, x->label, &x->run_count, &x->charged, x->why) < 0 ||
		run_walk_tasks(x->l, x->name.job, x->label, RUNS_SHOWN, add_run, x, x->why) < 0)
		return -1;
	if (x->run_count > RUNS_SHOWN)
		job_tell(x, "Below are the last %d of its %jd runs.", RUNS_SHOWN, (intmax_t)x->run_count);
	return 0;
}

static int explain(struct explanation *x)
{
	int rc = find_answer(x);

	if (rc < 0)
		return -1;
	x->admitted = rc == 1;
	if (!x->admitted)
		return not_admitted(x);
	if (x->name.part == JOB_TASK)
		snprintf(x->label, sizeof(x->label), "%jd_%jd", (intmax_t)x->name.job,
			(intmax_t)x->name.within);
	if (project_by_id(x->l, x->admission.project, &x->project, x->why) != 1 || owner_or_member(x) < 0 ||
		count_tasks(x) < 0 ||
		path_load_for(x->l, x->project.id, x->admission.uid, x->rq->now, &x->path, x->why) < 0 ||
		hold_walk(x->l, x->project.id, false, 0, INT64_MAX, add_hold, x, x->why) < 0)
		return -1;
	tell_tier(x);
	tell_tasks(x);
	tell_idle(x);
	if (tell_runs(x) < 0 || tell_waiting(x) < 0)
		return -1;
	tell_funding(x);
	put_job(x);
	return job_tell_levels(x);
}

int job_get(struct request *rq, struct fault *why)
{
	struct explanation x = { .rq = rq, .l = rq->b->reader, .why = why };
	int rc;

	if (job_id_parse(rq->name, &x.name, why) < 0)
		return -1;
	job_name_resolve(rq->b->cluster, &x.name);
	job_seen_look(rq->b->cluster, &x.name, &x.seen);
	if (ledger_begin(x.l, LEDGER_READ, why) < 0)
		return -1;
	x.o = json_object_new_object();
	x.lines = json_object_new_array();
	x.levels = json_object_new_array();
	x.runs = json_object_new_array();
	json_object_object_add(x.o, "lines", x.lines);
	json_object_object_add(x.o, "levels", x.levels);
	json_object_object_add(x.o, "runs", x.runs);
	rc = explain(&x);
	ledger_rollback(x.l);
	rq->reply = x.o;
	return rc;
}
