/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_jobs.c - jobs in the queue: tie each to its answer, answer those that came without one, keep their holds as they are now.
 *
 * A token proves what the plugin was told: only slurmctld and administrators can write AdminComment. Still the job must be of the
 * user and the project that the answer was given to. */
#include "budgetd/admit.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "lib/token.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define USER_HOLD_GRACE_S 600		/* a job that its user holds keeps its money for that long (doc/model.md, 4.1) */

bool job_concerns_us(const struct job_view *j)
{
	struct gpu_count given;

	if (gpu_request_concerns(&j->request))
		return true;
	return tres_read(j->tres_alloc ? j->tres_alloc : j->tres_req, &given, NULL) == 0 && given.total > 0;
}

/* --- job <-> answer ----------------------------------------------------------------------------- */

static bool same_project(struct pass *p, const struct job_view *j, int64_t project)
{
	struct project pr;

	return project_by_id(p->books, project, &pr, NULL) == 1 && j->account && strcasecmp(j->account, pr.name) == 0;
}

int pass_admission(struct pass *p, const struct job_view *j, struct admission_row *out, struct fault *why)
{
	uint32_t job = pass_array_or_job_id(j);
	char token[TOKEN_MAX];
	int rc = 0;

	if (token_find(j->admin_comment, token))
		rc = admission_by_token(p->books, token, out, why);
	if (rc == 1 && out->uid == (int64_t)j->uid && (out->job == 0 || out->job == job))
		return 1;
	if (rc == 1)
		log_warning("job %u carries the token of another job or user: it is treated as a job without an answer", j->job_id);
	return rc < 0 ? -1 : admission_by_job(p->books, job, out, why);
}

struct binding {
	struct admission_row *admission;
	uint32_t job;
};

static int bind_to_job(struct pass *p, void *arg, struct fault *why)
{
	struct binding *x = arg;

	x->admission->job = x->job;
	return admission_update(p->b->ledger, x->admission, why);
}

/* The answer to a job that is met, with its question kept for later modifications. */
int pass_admit(struct pass *p, const struct question *q, const struct job_view *j, admit_fn how, struct verdict *v, struct fault *why)
{
	struct json_object *request = question_to_json(q);
	int rc;

	if (!request)
		return fault_errno(why, ENOMEM, "out of memory");
	rc = how(p->b, q, json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN), pass_array_or_job_id(j), p->now, v, why);
	json_object_put(request);
	return rc < 0 ? -1 : ledger_write(p->b->ledger, why);
}

/* --- a job without an answer -------------------------------------------------------------------- */

/* In AdminComment of a job that we hold for lack of an answer: an administrator's own hold is never released by us. */
#define WAITS_WORD "gpubudget-waits"

static bool waits_for_us(const struct job_view *j)
{
	return j->held == HELD_BY_ADMIN && j->admin_comment && strstr(j->admin_comment, WAITS_WORD);
}

/* AdminComment with one more word, and without the mark of a job that waits. */
static void comment_with(const struct job_view *j, const char *word, char *buf, size_t size)
{
	const char *old = j->admin_comment ? j->admin_comment : "", *mark = strstr(old, WAITS_WORD);
	int front = mark ? (int)(mark - old) : (int)strlen(old);

	snprintf(buf, size, "%.*s%s%s%s", front, old, mark ? mark + strlen(WAITS_WORD) : "", *old ? " " : "", word);
}

static int tell_slurm(struct pass *p, const struct job_view *j, const struct verdict *v, struct fault *why)
{
	struct job_update u = { .qos = v->qos && j->qos && strcmp(v->qos, j->qos) == 0 ? NULL : v->qos };
	char record[RECORD_MAX], comment[1024];

	if (j->cron)
		return 0;	/* it refuses every update: its runs are free */
	comment_with(j, v->token, comment, sizeof(comment));
	u.admin_comment = v->token[0] ? comment : NULL;
	u.hold = waits_for_us(j) ? HOLD_RELEASE : HOLD_KEEP;
	return slurm_link_update(p->b->slurm, pass_record(j, record), &u, why);
}

/* Refused by the budget but in the queue already, past the plugin: it waits, held, until its project can pay or somebody decides. */
static int park_refused(struct pass *p, const struct job_view *j, const struct verdict *v, struct fault *why)
{
	char record[RECORD_MAX], comment[1024];
	struct job_update u = { .admin_comment = comment, .hold = HOLD_AS_ADMIN };

	if (j->held != HELD_NOT || j->cron)
		return 0;
	comment_with(j, WAITS_WORD, comment, sizeof(comment));
	log_info("job %u was not asked about at submission and is held: %s", j->job_id, v->text);
	return slurm_link_update(p->b->slurm, pass_record(j, record), &u, why);
}

static int answer_met_job(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct question q;
	struct verdict v;

	question_from_job(j, &q);
	if (pass_admit(p, &q, j, admit, &v, why) < 0)
		return -1;
	if (!v.accepted)
		return park_refused(p, j, &v, why);
	if (v.tier == TIER_UNSET)
		return 0;
	log_info("job %u came without an answer: %s", j->job_id, v.text);
	return tell_slurm(p, j, &v, why);
}

/* --- collecting what waits ---------------------------------------------------------------------- */

static bool is_eligible(const struct pass *p, const struct job_view *j, const struct admission_row *a)
{
	bool parked_by_us = a->parked_at && j->held == HELD_BY_ADMIN;

	return (j->held == HELD_NOT || parked_by_us) && !j->dependency && j->eligible <= p->now;
}

static int remember_waiting(struct pass *p, const struct job_view *j, const struct admission_row *a, struct fault *why)
{
	struct waiting *w;

	if (p->nwaiting == p->waiting_room) {
		size_t room = p->waiting_room ? p->waiting_room * 2 : 256;

		w = reallocarray(p->waiting, room, sizeof(*w));
		if (!w)
			return fault_errno(why, ENOMEM, "out of memory");
		p->waiting = w;
		p->waiting_room = room;
	}
	w = &p->waiting[p->nwaiting++];
	*w = (struct waiting){ .admission = *a, .job = j };
	if (is_eligible(p, j, a))
		w->tasks = j->array_count;
	if (j->held == HELD_BY_USER)
		w->held_by_user = j->array_count;
	return 0;
}

int pass_meet_pending(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct admission_row a;
	struct binding x = { .admission = &a, .job = pass_array_or_job_id(j) };
	enum enforcement mode = pass_mode(p, j);
	int rc;

	if (mode == ENFORCE_OFF || !job_concerns_us(j))
		return 0;
	rc = pass_admission(p, j, &a, why);
	if (rc < 0)
		return -1;
	if (rc == 0 && mode == ENFORCE_WARN)
		return pass_meet_shadow(p, j, why);
	if (rc == 0)
		return answer_met_job(p, j, why);	/* its hold is there; the next pass finds it among those that wait */
	if (a.job == 0 && pass_write(p, LEDGER_HOLDS, bind_to_job, &x, why) < 0)
		return -1;
	return remember_waiting(p, j, &a, why);
}

/* --- holds of what waits ------------------------------------------------------------------------ */

static int by_admission(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	return (x->admission.id > y->admission.id) - (x->admission.id < y->admission.id);
}

/* Records of one array (its pending record, and tasks that were requeued) are one admission. */
static void merge_waiting(struct pass *p)
{
	size_t n = 0;

	if (p->nwaiting)		/* qsort() wants no null pointer, not even for nothing */
		qsort(p->waiting, p->nwaiting, sizeof(*p->waiting), by_admission);
	for (size_t i = 0; i < p->nwaiting; i++) {
		if (n && p->waiting[n - 1].admission.id == p->waiting[i].admission.id) {
			p->waiting[n - 1].tasks += p->waiting[i].tasks;
			p->waiting[n - 1].held_by_user += p->waiting[i].held_by_user;
		} else {
			p->waiting[n++] = p->waiting[i];
		}
	}
	p->nwaiting = n;
}

/* The job as it is priced: when this changes the job was modified, and the difference is checked anew. */
static void signature(const struct job_view *j, char out[160])
{
	snprintf(out, 160, "%.40s|%.40s|%jd|%.40s|%u-%u", j->account ? j->account : "", j->partition ? j->partition : "",
		(intmax_t)j->time_limit_s, j->tres_req && strstr(j->tres_req, "gres/") ? strstr(j->tres_req, "gres/") : "",
		j->request.min_nodes, j->request.max_nodes);
}

/* Price the job as it is now, with the minimum runtime that was declared at submission. */
static int reprice(struct pass *p, struct waiting *w, struct admission *out, struct fault *why)
{
	struct question q;
	struct priced priced;
	struct admission_question aq;
	struct gpu_count asked;

	question_from_job(w->job, &q);
	q.comment = q.admin_comment = NULL;
	if (admit_price(p->b, &q, p->now, &priced, why) < 0)
		return -1;
	/* Slurm's own count, once it has one, is what it will give. */
	if (tres_read(w->job->tres_req, &asked, NULL) == 0 && asked.total > 0 && admit_price_count(p->b, &q, &asked, p->now, &priced, why) < 0)
		return -1;
	priced.request.array_tasks = 1;
	priced.options.min_runtime_s = w->admission.min_runtime_s;
	aq = (struct admission_question){ .request = &priced.request, .options = &priced.options, .time_limit_s = priced.time_limit_s,
		.price = priced.price };
	return admission_price(&aq, &priced.rules, out, why);
}

/* The tasks that wait need `units`; the pool has what it has. More is drawn if it fits, what is too much goes back. 1 = it does not fit. */
static int fit_pool(struct pass *p, struct waiting *w, amount_t units, struct fault *why)
{
	struct ledger *l = p->b->ledger;
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	struct hold_row pool = { .admission = w->admission.id, .project = w->admission.project, .tasks = w->tasks, .opened_at = p->now };
	struct path path;
	int have = hold_pool(l, w->admission.id, &pool, why), tightest;

	if (have < 0 || path_load_for(l, w->admission.project, w->admission.uid, p->now, &path, why) < 0)
		return -1;
	if (units == 0)
		return have ? hold_close(l, &pool, p->now, w->held_by_user ? "held by its user" : "not eligible", why) : 0;
	if (have && units == pool.units && pool.tasks == w->tasks)
		return 0;	/* nearly always: a queue of thousands is looked at in every pass */
	if (have && units <= pool.units) {
		pool.tasks = w->tasks;
		return hold_shrink(l, &pool, pool.units - units, why);
	}
	path_budgets(&path, nodes);
	tightest = budget_tightest(nodes, path.depth);
	if (tightest >= 0 && budget_available(&nodes[tightest]) < units - pool.units)
		return 1;
	if (have) {
		amount_t more = units - pool.units;

		pool.tasks = w->tasks;
		return hold_grow(l, &path, &pool, more, why);
	}
	pool.units = units;
	return units > 0 ? hold_open(l, &path, &pool, why) : 0;
}

static bool refuses_free_tier(const struct pass *p, const struct path *path)
{
	enum on_exhausted site = p->b->settings->on_exhausted == EXHAUSTED_REJECT ? ON_EXHAUSTED_REJECT : ON_EXHAUSTED_FREE;

	return path_on_exhausted(path, site) == ON_EXHAUSTED_REJECT;
}

/* Not affordable any more: the free tier, or held in the queue where the project refuses the free tier. */
static int give_up_funding(struct pass *p, struct waiting *w, struct fault *why)
{
	struct ledger *l = p->b->ledger;
	struct hold_row pool;
	struct path path;

	if (hold_pool(l, w->admission.id, &pool, why) == 1 && hold_close(l, &pool, p->now, "not affordable", why) < 0)
		return -1;
	if (path_load_for(l, w->admission.project, w->admission.uid, p->now, &path, why) < 0)
		return -1;
	if (w->admission.insists || refuses_free_tier(p, &path)) {
		w->admission.parked_at = p->now;
	} else {
		w->admission.tier = TIER_FREE;
		w->admission.per_task = 0;
	}
	return admission_update(l, &w->admission, why);
}

struct settling {
	struct waiting *w;
	bool released, gave_up;
};

static int move_project(struct pass *p, struct waiting *w, struct fault *why)
{
	struct project project;
	struct hold_row pool;
	int have;

	if (!w->job->account || same_project(p, w->job, w->admission.project) ||
		project_find(p->b->ledger, w->job->account, &project, NULL) != 1)
		return 0;
	have = hold_pool(p->b->ledger, w->admission.id, &pool, why);
	if (have < 0 || (have && hold_close(p->b->ledger, &pool, p->now, "moved to another project", why) < 0))
		return -1;
	w->admission.project = project.id;
	return 0;
}

/* The first look only remembers: the price was made a moment ago from the question itself. */
static int follow_change(struct pass *p, struct waiting *w, struct fault *why)
{
	struct fault problem = {0};
	struct admission priced;
	char now[160];

	signature(w->job, now);
	if (strcmp(now, w->admission.seen) == 0)
		return 0;
	if (w->admission.seen[0]) {
		if (reprice(p, w, &priced, &problem) < 0) {
			log_warning("job %u was changed to something that cannot be priced: %s", w->job->job_id, problem.text);
		} else {
			w->admission.per_task = priced.per_task;
			w->admission.min_runtime_s = priced.min_runtime_s;
		}
	}
	if (move_project(p, w, why) < 0)	/* at the first look too: it may have been changed before we saw it */
		return -1;
	memcpy(w->admission.seen, now, sizeof(now));
	return admission_update(p->b->ledger, &w->admission, why);
}

/* It waited for money and is declared free now. It is released once Slurm has it in the free QOS, or it would start as a funded one. */
static int unpark_free(struct pass *p, struct settling *s, struct fault *why)
{
	struct waiting *w = s->w;

	if (!w->admission.parked_at || !w->job->qos || strcmp(w->job->qos, admit_qos(p->b, TIER_FREE, false)) != 0)
		return 0;
	s->released = true;
	w->admission.parked_at = 0;
	return admission_update(p->b->ledger, &w->admission, why);
}

static int settle(struct pass *p, void *arg, struct fault *why)
{
	struct settling *s = arg;
	struct waiting *w = s->w;
	int64_t held_for = p->now - w->admission.at;
	int rc = admission_by_id(p->b->ledger, w->admission.id, &w->admission, why);

	/* The snapshot may be older than what the job's owner has declared since. */
	if (rc != 1)
		return rc;
	if (w->admission.tier == TIER_FREE)
		return unpark_free(p, s, why);
	if (follow_change(p, w, why) < 0)
		return -1;
	if (w->tasks == 0 && w->held_by_user && held_for < USER_HOLD_GRACE_S)
		return 0;
	rc = fit_pool(p, w, w->admission.per_task * w->tasks, why);
	if (rc < 0)
		return -1;
	if (rc == 1 && !w->admission.parked_at) {
		s->gave_up = true;
		return give_up_funding(p, w, why);
	}
	if (rc == 0 && w->admission.parked_at && w->tasks) {
		s->released = true;
		w->admission.parked_at = 0;
		return admission_update(p->b->ledger, &w->admission, why);
	}
	return 0;
}

/* What the books decided, in Slurm: the QOS of a job that became free, the hold of one that waits for money, its release. */
static int enforce(struct pass *p, const struct settling *s, struct fault *why)
{
	const struct job_view *j = s->w->job;
	const struct admission_row *a = &s->w->admission;
	const char *qos = admit_qos(p->b, a->tier, j->het_job_id != 0);
	char record[RECORD_MAX];

	pass_record(j, record);
	if (s->gave_up)
		log_info("job %u: its project cannot pay for it now, it %s", j->job_id, a->parked_at ? "waits" : "goes to the free tier");
	if (j->cron || pass_mode(p, j) != ENFORCE_ON)
		return 0;
	if (a->parked_at && j->held == HELD_NOT)
		return slurm_link_hold(p->b->slurm, record, why);
	if (s->released && j->held == HELD_BY_ADMIN)
		return slurm_link_release(p->b->slurm, record, why);
	if (j->qos && strcmp(j->qos, qos) != 0)
		return slurm_link_set_qos(p->b->slurm, record, qos, why);
	return 0;
}

/* Pool holds whose job waits no more (cancelled, or all tasks started), or never came (refused by Slurm, --test-only): given back. */
struct stale {
	struct pass *p;
	struct fault *why;
	int64_t unclaimed;
};

/* The snapshot may be older than a binding that this very pass wrote. */
static int close_hold(struct pass *p, void *arg, struct fault *why)
{
	struct hold_row *h = arg, now;
	int rc = hold_pool(p->b->ledger, h->admission, &now, why);

	if (rc != 1 || now.id != h->id || now.job != h->job)
		return rc < 0 ? -1 : 0;
	return hold_close(p->b->ledger, &now, p->now, now.job ? "no job waits for it" : "no job came of it", why);
}

static bool waits(const struct pass *p, int64_t admission)
{
	struct waiting key = { .admission.id = admission };

	return p->nwaiting && bsearch(&key, p->waiting, p->nwaiting, sizeof(key), by_admission);
}

static int close_if_stale(const struct hold_row *h, void *arg)
{
	struct stale *x = arg;
	struct hold_row copy = *h;

	if (h->run || waits(x->p, h->admission) || (!h->job && h->opened_at > x->p->now - x->p->b->settings->unbound_hold_s))
		return 0;
	x->unclaimed += !h->job;
	return pass_write(x->p, LEDGER_HOLDS, close_hold, &copy, x->why);
}

int pass_settle_waiting(struct pass *p, struct fault *why)
{
	struct stale stale = { .p = p, .why = why };

	merge_waiting(p);
	for (size_t i = 0; i < p->nwaiting; i++) {
		struct settling s = { .w = &p->waiting[i] };
		struct fault problem = {0};

		if ((p->waiting[i].admission.tier == TIER_FUNDED || p->waiting[i].admission.parked_at) &&
			pass_write(p, LEDGER_HOLDS, settle, &s, why) < 0)
			return -1;
		if (enforce(p, &s, &problem) < 0 && errno != EAGAIN)
			log_warning("job %u: %s", p->waiting[i].job->job_id, problem.text);
	}
	if (hold_walk(p->books, 0, false, 0, INT64_MAX, close_if_stale, &stale, why) < 0)
		return -1;
	if (stale.unclaimed)
		log_info("%jd %s", (intmax_t)stale.unclaimed, stale.unclaimed == 1 ?
			"hold given back: no job came of its submission" : "holds given back: no job came of their submissions");
	return 0;
}
