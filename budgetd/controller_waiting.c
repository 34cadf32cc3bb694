/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_waiting.c - the holds of what waits in the queue, kept as the jobs are now: what is too much
 * goes back, and who needs more gets it in the order of the places (lib/wait_line.h). Nothing here talks to
 * Slurm but by controller_held.c. */
#include "budgetd/admit.h"
#include "budgetd/held.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/ranking.h"
#include "lib/wait_line.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* what its user holds keeps its hours for that long (doc/model.md, 4) */
#define USER_HOLD_GRACE_S 600

/* --- the records of a job together -------------------------------------------------------------- */

static int cmp(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_admission(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return cmp(x->admission.id, y->admission.id);
}

static int by_admission_and_task(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	int c = by_admission(a, b);

	c = c ? c : cmp(job_first_task(x->job), job_first_task(y->job));
	return c ? c : cmp(x->job->job_id, y->job->job_id);
}

/* Records of one array (its pending record, tasks that were released, held or requeued) are one admission. */
static int merge_waiting(struct pass *p, struct fault *why)
{
	size_t n = 0;

	p->records = calloc(p->nwaiting + 1, sizeof(struct job_view *));
	if (!p->records)
		return fault_errno(why, ENOMEM, "out of memory");
	if (p->nwaiting)		/* qsort() wants no null pointer, not even for nothing */
		qsort(p->waiting, p->nwaiting, sizeof(*p->waiting), by_admission_and_task);
	for (size_t i = 0; i < p->nwaiting; i++) {
		struct waiting one = p->waiting[i], *last = n ? &p->waiting[n - 1] : NULL;

		p->records[i] = one.job;
		if (last && last->admission.id == one.admission.id) {
			last->tasks += one.tasks;
			last->loose += one.loose;
			last->held_by_user += one.held_by_user;
			last->nrecords++;
		} else {
			one.records = &p->records[i];
			one.nrecords = 1;
			p->waiting[n++] = one;
		}
	}
	p->nwaiting = n;
	return 0;
}

/* --- its hold ----------------------------------------------------------------------------------- */

/* An array that came without an answer can be of more tasks than the record that was answered: another had
 * split from it just then. */
static int note_tasks(struct pass *p, struct waiting *w, int64_t tasks, struct fault *why)
{
	if (tasks <= w->admission.tasks)
		return 0;
	w->admission.tasks = tasks;
	return admission_update(p->b->ledger, &w->admission, why);
}

/* The pool of `tasks` tasks, of which there may be none yet. */
int pass_set_pool(struct pass *p, struct waiting *w, struct hold_row *pool, bool have, int64_t tasks,
	const struct path *path, struct fault *why)
{
	struct ledger *l = p->b->ledger;
	amount_t units = w->admission.per_task * tasks, before = pool->units;

	if (note_tasks(p, w, tasks, why) < 0)
		return -1;
	w->paid = tasks;
	pool->tasks = tasks;
	if (!have) {
		*pool = (struct hold_row){ .admission = w->admission.id, .project = w->admission.project,
			.tasks = tasks, .units = units, .opened_at = p->now };
		return units > 0 ? hold_open(l, path, pool, why) : 0;
	}
	if (units == 0)
		return hold_close(l, pool, p->now,
			w->held_by_user ? "held by its user" : w->tasks ? "waits for money" : "not eligible",
			why);
	return units > before ? hold_grow(l, path, pool, units - before, why)
		: hold_shrink(l, pool, before - units, why);
}

/* Since when its user holds tasks of it: counted from the hold, whatever is restarted meanwhile. */
static int note_user_hold(struct pass *p, struct waiting *w, struct fault *why)
{
	struct admission_row *a = &w->admission;

	if (!w->held_by_user == !a->user_held_at)
		return 0;
	a->user_held_at = w->held_by_user ? p->now : 0;
	return admission_update(p->b->ledger, a, why);
}

int pass_unpark(struct pass *p, struct waiting *w, struct fault *why)
{
	if (!w->admission.parked_at)
		return 0;
	w->admission.parked_at = w->admission.waits_at = w->admission.waits_behind = 0;
	return admission_update(p->b->ledger, &w->admission, why);
}

/* What it has suffices, or is too much; else it asks for more when its turn comes. What its user holds keeps
 * hours that it has, for a while, and gets no others. */
static int fit_pool(struct pass *p, struct waiting *w, struct fault *why)
{
	bool grace = w->admission.user_held_at && p->now - w->admission.user_held_at < USER_HOLD_GRACE_S;
	struct hold_row pool = {0};
	int have = hold_pool(p->b->ledger, w->admission.id, &pool, why);
	int64_t spare = pool.tasks > w->loose ? pool.tasks - w->loose : 0, wants;

	if (have < 0)
		return -1;
	w->kept_for_user = !grace ? 0 : w->held_by_user < spare ? w->held_by_user : spare;
	w->paid = pool.tasks;
	wants = w->tasks + w->kept_for_user;
	w->asks = w->admission.per_task * wants > pool.units;
	if (w->asks)
		return 0;
	if (have && pool.tasks == wants && w->admission.per_task * wants == pool.units)
		/* nearly always: a queue of thousands is looked at in every pass */
		return pass_unpark(p, w, why);
	return pass_set_pool(p, w, &pool, have, wants, NULL, why) < 0 ? -1 : pass_unpark(p, w, why);
}

static int settle(struct pass *p, void *arg, struct fault *why)
{
	struct waiting *w = arg;
	int rc = admission_by_id(p->b->ledger, w->admission.id, &w->admission, why);

	/* The snapshot may be older than what the job's owner has declared since. */
	if (rc != 1 || w->admission.tier == TIER_FREE)
		return rc < 0 ? -1 : 0;
	if (pass_follow_change(p, w, why) < 0 || note_user_hold(p, w, why) < 0)
		return -1;
	return fit_pool(p, w, why);
}

/* --- those of whom nothing is new --------------------------------------------------------------- */

/* Both are in the order of admissions. */
struct unchanged {
	struct pass *p;
	size_t at;
};

/* By the snapshot alone: nearly all of a queue of tens of thousands, for whom a transaction each would take
 * seconds. What its owner has declared since the snapshot was taken is met by the next pass. */
static bool is_settled(const struct pass *p, const struct waiting *w, const struct pool_row *pool)
{
	const struct admission_row *a = &w->admission;

	if (a->tier != TIER_FUNDED || a->parked_at || a->changing_at || a->user_held_at || w->held_by_user ||
		pool->tasks != w->tasks || pool->units != a->per_task * w->tasks)
		return false;
	if (w->job->qos && strcmp(w->job->qos, admit_qos(p->b, a->tier, w->job->het_job_id != 0)) != 0)
		return false;
	if (p->pool_taken && (w->job->restarts || w->job->array_job_id))
		return false;	/* perhaps of this very job, which waits again */
	return pass_is_as_seen(w);
}

static int mark_settled(const struct pool_row *pool, void *arg)
{
	struct unchanged *x = arg;
	struct waiting *w;

	while (x->at < x->p->nwaiting && x->p->waiting[x->at].admission.id < pool->admission)
		x->at++;
	if (x->at == x->p->nwaiting)
		return 0;
	w = &x->p->waiting[x->at];
	if (w->admission.id == pool->admission && is_settled(x->p, w, pool)) {
		w->settled = true;
		w->paid = pool->tasks;
	}
	return 0;
}

static int settle_all(struct pass *p, struct fault *why)
{
	struct unchanged x = { .p = p };

	if (pool_walk(p->books, mark_settled, &x, why) < 0)
		return -1;
	for (size_t i = 0; i < p->nwaiting; i++) {
		struct waiting *w = &p->waiting[i];

		if (w->admission.tier == TIER_FUNDED && !w->settled &&
			pass_write(p, LEDGER_HOLDS, settle, w, why) < 0)
			return -1;
	}
	return 0;
}

/* --- who gets more ------------------------------------------------------------------------------ */

bool pass_never_goes_free(const struct pass *p, const struct admission_row *a, const struct hold_row *pool,
	const struct path *path)
{
	return pool->units > 0 || a->parked_at || a->insists ||
		path_on_exhausted(path, admit_site_policy(p->b)) != ON_EXHAUSTED_FREE;
}

/* It does not fit as a whole. Where not one task does, it goes to the free tier, unless it waits already or
 * its project has it otherwise. */
int pass_fall_short(struct pass *p, struct waiting *w, bool stays, const struct wait_answer *got,
	const struct path *path, struct fault *why)
{
	struct admission_row *a = &w->admission;
	struct admission_row before = *a;

	if (got->tasks == 0 && !stays) {
		a->tier = TIER_FREE;
		a->per_task = 0;
		log_info("job %u: its project cannot pay for it now, it goes to the free tier",
			w->job->job_id);
		return admission_update(p->b->ledger, a, why);
	}
	a->parked_at = a->parked_at ? a->parked_at : p->now;
	a->waits_at = path->nodes[got->refused_at].id;
	a->waits_user = got->user;
	a->waits_behind = got->behind;
	if (before.parked_at && before.waits_at == a->waits_at && before.waits_user == a->waits_user &&
		before.waits_behind == a->waits_behind)
		return 0;
	if (!before.parked_at)
		log_info("job %u: %s can pay for %jd of its %jd tasks now, the rest waits", w->job->job_id,
			path->nodes[got->refused_at].budget.name, (intmax_t)got->tasks,
			(intmax_t)(w->tasks + w->kept_for_user));
	return admission_update(p->b->ledger, a, why);
}

int pass_ask_line(struct wait_line *line, const struct waiting *w, const struct hold_row *pool, bool stands,
	const struct path *credited, struct wait_answer *got, struct fault *why)
{
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	int64_t projects[BUDGET_DEPTH_MAX];
	struct wait_job j = { .job = pass_array_or_job_id(w->job), .user = w->admission.uid,
		.tasks = w->tasks + w->kept_for_user, .paid = pool->tasks, .per_task = w->admission.per_task,
		.has = pool->units, .stands = stands };

	path_budgets(credited, nodes);
	for (int i = 0; i < credited->depth; i++)
		projects[i] = credited->nodes[i].id;
	return wait_line_ask(line, &j, nodes, projects, credited->depth, got, why);
}

static int take_turn(struct pass *p, void *arg, struct fault *why)
{
	const struct turn *t = arg;
	struct waiting *w = t->w;
	struct ledger *l = p->b->ledger;
	struct path path, credited;
	struct hold_row pool = {0};
	struct wait_answer got;
	int have = hold_pool(l, w->admission.id, &pool, why);
	int rc = have < 0 ? -1 : admission_by_id(l, w->admission.id, &w->admission, why);
	bool stays;

	if (rc != 1 || w->admission.tier == TIER_FREE)	/* declared free a moment ago */
		return rc < 0 ? -1 : 0;
	if (path_load_for(l, w->admission.project, w->admission.uid, p->now, &path, why) < 0)
		return -1;
	credited = path;
	stays = pass_never_goes_free(p, &w->admission, &pool, &path);
	if ((have && hold_credit(l, &pool, &credited, why) < 0) ||
		pass_ask_line(t->line, w, &pool, stays, &credited, &got, why) < 0)
		return -1;
	if (got.tasks == 0)
		w->paid = 0;	/* and it keeps what it has, which pays for no task of it now */
	else if (pass_set_pool(p, w, &pool, have, got.tasks, &path, why) < 0)
		return -1;
	return got.refused_at < 0 ? pass_unpark(p, w, why) : pass_fall_short(p, w, stays, &got, &path, why);
}

/* Those who ask, in the order of their places. Their number, or -1. */
static ssize_t order_those_who_ask(struct pass *p, struct order_job *out, struct fault *why)
{
	const struct ranking *ranking = NULL;
	size_t n = 0;

	for (size_t i = 0; i < p->nwaiting; i++) {
		struct waiting *w = &p->waiting[i];

		if (!w->asks)
			continue;
		ranking = ranking ? ranking : pass_ranking(p, why);
		if (!ranking)
			return -1;
		out[n++] = pass_order_job(w, ranking);
	}
	return order_sort(out, n) < 0 ? fault_errno(why, ENOMEM, "out of memory") : (ssize_t)n;
}

static bool is_het(const struct waiting *w)
{
	return w->job->het_job_id != 0;
}

static int give_more(struct pass *p, struct fault *why)
{
	struct order_job *jobs = calloc(p->nwaiting + 1, sizeof(*jobs));
	struct wait_line line = {0};
	ssize_t n = jobs ? order_those_who_ask(p, jobs, why) : fault_errno(why, ENOMEM, "out of memory");
	int rc = n < 0 ? -1 : 0;

	for (ssize_t i = 0; i < n && rc == 0; i++)
		rc = pass_write(p, LEDGER_HOLDS, is_het(jobs[i].data) ? pass_het_take_turn : take_turn,
			&(struct turn){ jobs[i].data, &line }, why);
	wait_line_clear(&line);
	free(jobs);
	return rc;
}

/* --- what nobody claims ------------------------------------------------------------------------- */

/* Pool holds whose job waits no more (cancelled, or all tasks started), or never came (refused by Slurm,
 * --test-only): given back. */
struct stale {
	struct pass *p;
	struct fault *why;
	int64_t unclaimed;
};

struct closing {
	const struct pool_row *seen;
	bool closed;			/* set */
};

/* The snapshot may be older than a binding that this very pass wrote. */
static int close_hold(struct pass *p, void *arg, struct fault *why)
{
	struct closing *x = arg;
	struct hold_row now;
	int rc = hold_pool(p->b->ledger, x->seen->admission, &now, why);

	if (rc != 1 || now.id != x->seen->id || now.job != x->seen->job)
		return rc < 0 ? -1 : 0;
	x->closed = true;
	return hold_close(p->b->ledger, &now, p->now, now.job ? "no job waits for it" : "no job came of it",
		why);
}

struct waiting *pass_find_waiting(struct pass *p, int64_t admission)
{
	struct waiting key = { .admission.id = admission };

	return p->nwaiting ? bsearch(&key, p->waiting, p->nwaiting, sizeof(key), by_admission) : NULL;
}

static int close_if_stale(const struct pool_row *pool, void *arg)
{
	struct stale *x = arg;
	struct closing c = { .seen = pool };

	if ((!pool->job && pool->opened_at > x->p->now - x->p->b->settings->unbound_hold_s) ||
		pass_find_waiting(x->p, pool->admission))
		return 0;
	if (!x->p->all_seen)
		return 0;	/* its job may have run while nobody looked: that run is paid from here */
	if (pass_write(x->p, LEDGER_HOLDS, close_hold, &c, x->why) < 0)
		return -1;
	x->unclaimed += c.closed && !pool->job;
	return 0;
}

/* An answer that waits, whose job has left the queue or never came. */
struct gone {
	struct pass *p;
	struct fault *why;
};

static int forget(struct pass *p, void *arg, struct fault *why)
{
	struct waiting w = {0};
	int rc = admission_by_id(p->b->ledger, *(const int64_t *)arg, &w.admission, why);

	return rc == 1 ? pass_unpark(p, &w, why) : rc;
}

static bool is_in_queue(const struct pass *p, int64_t job)
{
	for (size_t i = 0; job && i < p->jobs->count; i++)
		if (p->jobs->jobs[i].stage == STAGE_PENDING && pass_array_or_job_id(&p->jobs->jobs[i]) == job)
			return true;
	return false;
}

static int forget_if_gone(const struct admission_row *a, void *arg)
{
	struct gone *x = arg;
	int64_t id = a->id;

	if (pass_find_waiting(x->p, id) || is_in_queue(x->p, a->job) ||
		(!a->job && a->at > x->p->now - x->p->b->settings->unbound_hold_s))
		return 0;
	return pass_write(x->p, LEDGER_HOLDS, forget, &id, x->why);
}

/* --- together ----------------------------------------------------------------------------------- */

static int give_back_unclaimed(struct pass *p, struct fault *why)
{
	struct stale stale = { .p = p, .why = why };
	struct gone gone = { .p = p, .why = why };

	if (pool_walk(p->books, close_if_stale, &stale, why) < 0)
		return -1;
	if (stale.unclaimed)
		log_info("%jd %s", (intmax_t)stale.unclaimed,
			stale.unclaimed == 1 ? "hold given back: no job came of its submission"
			: "holds given back: no job came of their submissions");
	return admission_walk_parked(p->books, forget_if_gone, &gone, why);
}

int pass_settle_waiting(struct pass *p, struct fault *why)
{
	if (merge_waiting(p, why) < 0 || settle_all(p, why) < 0)
		return -1;
	/* What is given back is there for those who ask. */
	if (give_back_unclaimed(p, why) < 0 || pass_het_in_one_tier(p, why) < 0 ||
		pass_choose_fronts(p, false, why) < 0 || give_more(p, why) < 0 ||
		pass_choose_fronts(p, true, why) < 0)
		return -1;
	if (pass_keep_off(p, why) < 0)
		return -1;
	for (size_t i = 0; i < p->nwaiting; i++)
		pass_follow_held(p, &p->waiting[i]);
	return 0;
}
