/* SPDX-License-Identifier: GPL-2.0-or-later
 * admit_change.c - what a job that is in the queue may become: by a modification in Slurm, and by what its
 * owner declares anew.
 *
 * What is accepted has its hours from that moment on, or two changes would be accepted for the same ones. */
#include "budgetd/admit.h"
#include "budgetd/admit_parts.h"
#include "budgetd/ledger_run.h"
#include "lib/duration.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- a modification ----------------------------------------------------------------------------- */

/* Tasks that still have to be paid for: those of the pool; all while nothing is set aside; none once they
 * run. */
static int tasks_to_pay(struct budgetd *b, const struct admission_row *a, const struct hold_row *pool,
	struct fault *why)
{
	int runs;

	if (pool)
		return (int)pool->tasks;
	runs = admission_runs(b->ledger, a->id, why);
	return runs < 0 ? -1 : runs ? 0 : (int)a->tasks;
}

/* A change is a check of the difference: what costs no more in its project needs none, however little there
 * is. */
static bool costs_no_more(const struct admission_question *aq, const struct priced *p,
	const struct admission_row *a, const struct path *path)
{
	struct admission price;

	return a->project == path->nodes[0].id && aq->time_limit_s != DURATION_UNLIMITED &&
	       admission_price(aq, &p->rules, &price, NULL) == 0 && price.per_task <= a->per_task;
}

/* The hours of a change that was accepted, set aside with the answer: `credited` is the path as if the pool
 * were given back, `path` as it is. */
static int take_difference(struct budgetd *b, struct admission_row *a, struct hold_row *pool,
	amount_t per_task, const struct path *path, const struct path *credited, int64_t now,
	struct fault *why)
{
	amount_t units = per_task * pool->tasks;
	int64_t tasks = pool->tasks;

	if (a->project != path->nodes[0].id) {
		if (hold_close(b->ledger, pool, now, "moved to another project", why) < 0)
			return -1;
		a->project = path->nodes[0].id;
		*pool = (struct hold_row){ .admission = a->id, .project = a->project, .tasks = tasks,
			.units = units, .opened_at = now };
		if (hold_open(b->ledger, credited, pool, why) < 0)
			return -1;
	} else if (units > pool->units && hold_grow(b->ledger, path, pool, units - pool->units, why) < 0) {
		return -1;
	}
	a->per_task = per_task;
	a->changing_at = now;
	return admission_update(b->ledger, a, why);
}

/* Would it fit, as it is to become, if what it holds now were given back? Then it has its hours from now
 * on. */
static int check_more(struct budgetd *b, const struct question *q, struct admission_row *a, struct priced *p,
	const struct path *path, int64_t now, struct verdict *v, struct fault *why)
{
	struct admission_question aq = admit_ask(b, q, p, path, now);
	struct path credited = *path;
	struct hold_row pool;
	struct admission d;
	int have = hold_pool(b->ledger, a->id, &pool, why), tasks;

	if (have < 0 || (have && hold_credit(b->ledger, &pool, &credited, why) < 0))
		return -1;
	if (a->parked_at && !have)
		/* it waits, and is priced anew: the loop gives it what it then needs, when there is money */
		return 0;
	tasks = tasks_to_pay(b, a, have ? &pool : NULL, why);
	if (tasks < 0)
		return -1;
	p->request.array_tasks = tasks;
	p->options.min_runtime_s = a->min_runtime_s > 0 ? a->min_runtime_s : MIN_RUNTIME_UNSET;
	p->options.tier = TIER_UNSET;
	aq.on_exhausted = ADMIT_KEEP;
	/* what has its hours set aside was eligible, whatever it was submitted with */
	aq.deferred = aq.deferred && !have;
	if (tasks == 0 || costs_no_more(&aq, p, a, path))
		return 0;
	admit_decide(&aq, p, &credited, &d);
	if (!d.accepted) {
		admit_refuse(v, "");
		snprintf(v->text, sizeof(v->text), "the change is %s", d.text);
		return 0;
	}
	return have ? take_difference(b, a, &pool, d.per_task, path, &credited, now, why) : 0;
}

/* --- a longer time limit for what runs, where all of it is set aside ------------------------------ */

struct longer {
	struct ledger *l;
	const char *limit_of;
	int64_t time_limit_s, now;
	amount_t units;			/* for all runs of it together */
	int64_t project;
	bool take;			/* else they are only added up */
	struct fault *why;
};

/* What it needs more, in seconds. A run that is free goes on by the quantum, as money returns. */
static int64_t longer_by(const struct longer *x, const struct run *r)
{
	int64_t more = r->start + x->time_limit_s + r->suspended_s - r->covered_until;

	return r->ended || r->tier != TIER_FUNDED || r->free_since || more < 0 ? 0 : more;
}

static int lengthen(const struct longer *x, struct run *r, int64_t more_s)
{
	struct hold_row h;
	struct path path;
	int have = hold_of_run(x->l, r->id, &h, x->why);

	if (have <= 0)
		return have;
	if (path_load_for(x->l, r->project, r->uid, x->now, &path, x->why) < 0 ||
		hold_grow(x->l, &path, &h, more_s * r->price, x->why) < 0)
		return -1;
	r->covered_until += more_s;
	return run_update(x->l, r, x->why);
}

static int look_at_run(const struct run *run, void *arg)
{
	struct longer *x = arg;
	struct run r = *run;
	int64_t more_s = longer_by(x, run);
	amount_t units;

	/* An array named whole is all of its tasks: "12_3" is of "12". */
	if (more_s == 0 || (strcmp(r.label, x->limit_of) != 0 &&
		(strncmp(r.label, x->limit_of, strlen(x->limit_of)) != 0 ||
			r.label[strlen(x->limit_of)] != '_')))
		return 0;
	if (x->take)
		return lengthen(x, &r, more_s);
	x->project = r.project;
	if (amount_price(1, more_s, r.price, &units) < 0 || amount_add(x->units, units, &x->units) < 0)
		return fault_errno(x->why, EOVERFLOW, "the job costs more GPU-hours than can be counted");
	return 0;
}

static void refuse_longer(const struct longer *x, const struct budget_node *n, struct verdict *v)
{
	char needs[AMOUNT_TEXT_MAX], has[AMOUNT_TEXT_MAX];

	*v = (struct verdict){0};
	snprintf(v->text, sizeof(v->text),
		"the change is refused: the whole time limit is set aside here, the longer one takes %s GPU-h more, "
		"and %s has %s. Choose a shorter one, or ask an owner of %s for more.",
		amount_text(x->units, needs), n->name, amount_text(budget_available(n), has), n->name);
}

/* The difference fits and is taken by every run that the change is for, or *v is a refusal. */
static int check_longer(struct budgetd *b, const char *limit_of, struct admission_row *a,
	const struct priced *p, int64_t now, struct verdict *v, struct fault *why)
{
	struct longer x = { .l = b->ledger, .limit_of = limit_of, .time_limit_s = p->time_limit_s, .now = now,
		.why = why };
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	struct path path;
	int at;

	if (!limit_of || b->settings->hold != HOLD_TIME_LIMIT || p->time_limit_s == DURATION_UNLIMITED)
		return 0;
	if (run_walk_admission(b->ledger, a->id, look_at_run, &x, why) < 0)
		return -1;
	if (x.units == 0)
		return 0;
	if (path_load_for(b->ledger, x.project, a->uid, now, &path, why) < 0)
		return -1;
	path_budgets(&path, nodes);
	at = budget_tightest(nodes, path.depth);
	if (at >= 0 && budget_available(&nodes[at]) < x.units) {
		refuse_longer(&x, &nodes[at], v);
		return 0;
	}
	x.take = true;
	a->changing_at = now;
	return run_walk_admission(b->ledger, a->id, look_at_run, &x, why) < 0 ? -1
		: admission_update(b->ledger, a, why);
}

int admit_change(struct budgetd *b, const struct question *q, const char *limit_of, struct admission_row *a,
	int64_t now, struct verdict *out, struct fault *why)
{
	struct fault problem = {0};
	struct project project;
	struct priced p;
	struct path path;
	int rc;

	*out = (struct verdict){ .accepted = true };
	if (admit_price(b, q, now, &p, &problem) < 0) {
		admit_refuse(out, problem.text);
		return 0;
	}
	rc = project_find(b->ledger, q->account ? q->account : "", &project, &problem);
	if (rc != 1) {
		admit_refuse(out, problem.text);
		return rc < 0 && errno != EINVAL ? fault_set(why, "%s", problem.text) : 0;
	}
	/* Slurm will refuse a stranger the account: until it has not, nothing there is set aside or told. */
	if (a->tier == TIER_FREE || (q->stranger && project.id != a->project))
		return 0;
	if (check_longer(b, limit_of, a, &p, now, out, why) < 0)
		return -1;
	if (!out->accepted)
		return 0;
	return path_load_for(b->ledger, project.id, a->uid, now, &path, why) < 0 ? -1
		: check_more(b, q, a, &p, &path, now, out, why);
}

/* --- what is declared anew ---------------------------------------------------------------------- */

/* The pool as it is to be: `units` for each of its `tasks`. `path` has what there is now. */
static int pool_set(struct ledger *l, const struct admission_row *a, struct hold_row *pool, bool have,
	int64_t tasks, const struct path *path, int64_t now, struct fault *why)
{
	amount_t units = a->tier == TIER_FUNDED ? a->per_task * tasks : 0;

	if (!have) {
		*pool = (struct hold_row){ .admission = a->id, .project = a->project, .tasks = tasks,
			.units = units, .opened_at = now };
		return units > 0 ? hold_open(l, path, pool, why) : 0;
	}
	if (units == 0)
		return hold_close(l, pool, now, a->tier == TIER_FREE ? "declared free" : "waits for money",
			why);
	pool->tasks = tasks;
	if (units >= pool->units)
		return hold_grow(l, path, pool, units - pool->units, why);
	return hold_shrink(l, pool, pool->units - units, why);
}

/* Decided: what becomes of the admission and its hold. */
static int declare(struct budgetd *b, const struct declaration *d, const struct priced *p,
	struct admission_row *a, int64_t now, struct verdict *out, struct fault *why)
{
	struct admission_question aq;
	struct admission decided;
	struct path path, credited;
	struct hold_row pool = {0};
	int have = hold_pool(b->ledger, a->id, &pool, why);
	struct priced whole = *p;

	if (have < 0 || path_load_for(b->ledger, a->project, a->uid, now, &path, why) < 0)
		return -1;
	credited = path;
	if (have && hold_credit(b->ledger, &pool, &credited, why) < 0)
		return -1;
	whole.request.array_tasks = have ? pool.tasks : d->tasks ? d->tasks : 1;
	aq = admit_ask(b, d->question, &whole, &credited, now);
	aq.deferred = !have && !d->tasks;
	/* What waits already, with nothing set aside, goes on waiting when what it declares does not fit
	 * either. */
	aq.on_exhausted = a->parked_at && !have ? ADMIT_WAIT : ADMIT_DECLARE;
	if (admit_look_in_front(b->ledger, &path, a->uid, a->id, &aq, why) < 0)
		return -1;
	admit_decide(&aq, &whole, &credited, &decided);
	memcpy(out->text, decided.text, sizeof(decided.text));
	out->accepted = decided.accepted;
	out->tier = decided.tier;
	if (!decided.accepted)
		return 0;
	a->tier = decided.tier;
	a->min_runtime_s = decided.min_runtime_s;
	a->per_task = decided.per_task;
	if (a->tier == TIER_FREE)
		a->parked_at = a->waits_at = a->waits_behind = 0;
	return pool_set(b->ledger, a, &pool, have, decided.tasks, &path, now, why);
}

int admit_declaration(struct budgetd *b, const struct declaration *d, struct admission_row *a, int64_t now,
	struct verdict *out, struct fault *why)
{
	struct fault problem = {0};
	struct priced p;

	*out = (struct verdict){ .accepted = true, .tier = a->tier };
	if (admit_price(b, d->question, now, &p, &problem) < 0) {
		admit_refuse(out, problem.text);
		return 0;
	}
	if (d->gpus.total > 0 && admit_price_count(b, d->question, &d->gpus, now, &p, why) < 0)
		return -1;
	if (d->priced && declare(b, d, &p, a, now, out, why) < 0)
		return -1;
	a->team_rank = p.options.team_rank;
	return out->accepted ? admission_update(b->ledger, a, why) : 0;
}
