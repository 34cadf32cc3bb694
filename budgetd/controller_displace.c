/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_displace.c - runs that give way: told together, gone after their grace (doc/model.md, 6).
 *
 * What is decided stands in the books first (`leaving`), then Slurm is told: whatever is killed in between,
 * the next pass goes on. A run that goes for the sake of a job loses its place above that one: Slurm
 * displaces it when the job fits then, and all of them in one cycle. One that has to go anyhow, or that Slurm
 * protects for longer than we do, is requeued; who cannot be is cancelled. */
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/question.h"
#include "lib/place.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Slurm looks at all that waits well within that: then it cannot use what it would get */
#define SPARED_AFTER_S 120

/* --- told --------------------------------------------------------------------------------------- */

static struct leaving_run *remember(struct pass *p, const struct leaving *x, const struct run *r)
{
	const struct job_view *j = job_table_find(p->jobs, (uint32_t)r->job);

	if (p->nleaving == p->leaving_room) {
		size_t room = p->leaving_room ? 2 * p->leaving_room : 16;
		struct leaving_run *more = reallocarray(p->leaving, room, sizeof(*more));

		if (!more)
			return NULL;
		p->leaving = more;
		p->leaving_room = room;
	}
	p->leaving[p->nleaving] = (struct leaving_run){ .x = *x, .run = *r,
		.job = j && j->start == r->start ? j : NULL };
	return &p->leaving[p->nleaving++];
}

static int know(const struct leaving *x, const struct run *r, void *arg)
{
	return remember(arg, x, r) ? 0 : -1;
}

int pass_know_leaving(struct pass *p, struct fault *why)
{
	p->nleaving = 0;
	if (leaving_walk(p->books, p->facts.cluster, know, p, why) == 0)
		return 0;
	return why->text[0] ? -1 : fault_errno(why, ENOMEM, "out of memory");
}

struct telling {
	const struct going *g;
	int said;			/* 1 = before */
};

static struct leaving_run *known(struct pass *p, int64_t run)
{
	for (size_t i = 0; i < p->nleaving; i++)
		if (p->leaving[i].x.run == run)
			return &p->leaving[i];
	return NULL;
}

static int tell(struct pass *p, void *arg, struct fault *why)
{
	struct telling *t = arg;
	struct leaving x = { .run = t->g->run, .told_at = p->now, .due = p->now + t->g->grace_s,
		.reason = t->g->reason, .for_job = t->g->for_job };
	struct leaving_run *l = known(p, x.run);
	struct run r;
	int rc = run_by_id(p->b->ledger, x.run, &r, why);

	if (rc != 1 || r.ended)
		return rc < 0 ? -1 : 0;		/* it is gone already */
	t->said = leaving_add(p->b->ledger, &r, &x, t->g->detail, why);
	if (t->said < 0 || leaving_of(p->b->ledger, x.run, &x, why) != 1)
		return -1;
	if (l)
		l->x = x;
	else if (!(l = remember(p, &x, &r)))
		return fault_errno(why, ENOMEM, "out of memory");
	snprintf(l->detail, sizeof(l->detail), "%s", t->g->detail);
	return 0;
}

int pass_tell(struct pass *p, const struct going *g, struct fault *why)
{
	struct telling t = { .g = g };

	return pass_write(p, LEDGER_HOLDS, tell, &t, why) < 0 ? -1 : t.said;
}

int pass_tell_to_go(struct pass *p, int64_t run, enum event_reason reason, const char *detail, bool critical,
	struct fault *why)
{
	const struct going g = { .run = run, .reason = reason, .detail = detail,
		.grace_s = critical ? 0 : p->b->settings->grace_s };

	return pass_tell(p, &g, why);
}

/* --- in the books ------------------------------------------------------------------------------- */

static int update(struct pass *p, void *arg, struct fault *why)
{
	return leaving_update(p->b->ledger, arg, why);
}

static int forget(struct pass *p, void *arg, struct fault *why)
{
	return leaving_remove(p->b->ledger, *(int64_t *)arg, why);
}

struct note {
	const struct leaving_run *l;
	enum event_what what;
	const char *detail;
};

/* An event, and it does not leave any more. */
static int note_and_forget(struct pass *p, void *arg, struct fault *why)
{
	struct note *n = arg;

	if (event_of_run(p->b->ledger, &n->l->run, n->what, n->l->x.reason, n->l->x.for_job, n->detail,
		p->now, why) < 0)
		return -1;
	return leaving_remove(p->b->ledger, n->l->x.run, why);
}

static int spare(struct pass *p, struct leaving_run *l, const char *because, struct fault *why)
{
	struct note n = { .l = l, .what = EVENT_SPARED, .detail = because };

	log_info("job %s may stay: %s", l->run.label, because);
	return pass_write(p, LEDGER_HOLDS, note_and_forget, &n, why);
}

struct wish {
	int64_t admission;
	int signal;
	bool script_only;
};

/* --- Slurm is told ------------------------------------------------------------------------------ */

static void notify(struct pass *p, const struct leaving_run *l)
{
	char text[640];

	snprintf(text, sizeof(text), "gpubudget: this job gives way (%s)%s%s", event_reason_name(l->x.reason),
		l->detail[0] ? ": " : "", l->detail);
	/* a courtesy: the signal is what counts */
	slurm_link_notify(p->b->slurm, l->job->job_id, text, NULL);
}

static int signal_of(struct pass *p, void *arg, struct fault *why)
{
	struct wish *x = arg;
	struct json_object *body;
	struct question q;
	char *request = NULL;

	*x = (struct wish){ .admission = x->admission, .signal = SIGTERM };
	if (!x->admission || admission_request(p->b->ledger, x->admission, &request, why) < 0)
		return x->admission ? -1 : 0;
	body = json_tokener_parse(request);
	if (body && question_from_json(body, &q, NULL) == 0)
		x->signal = question_signal(&q, &x->script_only);
	json_object_put(body);
	free(request);
	return 0;
}

static int signal_once(struct pass *p, struct leaving_run *l, struct fault *why)
{
	struct wish wish = { .admission = l->run.admission };
	struct fault problem = {0};
	char record[RECORD_MAX];

	if (pass_write(p, LEDGER_HOLDS, signal_of, &wish, why) < 0)
		return -1;
	if (slurm_link_signal(p->b->slurm, pass_record(l->job, record), wish.signal, wish.script_only,
		&problem) < 0 && errno != ENOENT) {
		log_warning("job %s gives way and could not be told: %s", l->run.label, problem.text);
		return 0;		/* again in the next pass */
	}
	log_info("job %s gives way (%s): it was told", l->run.label, event_reason_name(l->x.reason));
	l->x.signalled_at = p->now;
	return pass_write(p, LEDGER_HOLDS, update, &l->x, why);
}

static bool leader_leaves(const struct pass *p, const struct job_view *j)
{
	for (size_t i = 0; i < p->nleaving; i++)
		if (p->leaving[i].job && p->leaving[i].job->job_id == j->het_job_id)
			return true;
	return false;
}

/* Back into the queue, or cancelled: its user was told so at submission. true: Slurm does it. */
static bool send_off(struct pass *p, const struct leaving_run *l)
{
	bool component = l->job->het_job_id && l->job->het_offset > 0;
	struct fault problem = {0};
	char record[RECORD_MAX];
	int rc = -1;

	if (component && leader_leaves(p, l->job))
		return true;
	pass_record(l->job, record);
	/* Slurm takes no other than the first, which may have no GPUs and so no run of ours */
	if (component)
		snprintf(record, sizeof(record), "%u", l->job->het_job_id);
	errno = ENOTSUP;
	if (l->job->requeueable)
		rc = slurm_link_requeue(p->b->slurm, record, &problem);
	if (rc < 0 && errno == ENOTSUP)
		rc = slurm_link_cancel(p->b->slurm, record, &problem);
	if (rc < 0 && errno != ENOENT)
		log_warning("job %s was to give way and is still there: %s", l->run.label, problem.text);
	return rc == 0 || errno == ENOENT;
}

/* Below the job that it goes for; Slurm does the rest. */
static bool lower(struct pass *p, const struct leaving_run *l, const struct waiting *w)
{
	int32_t place = w->place - place_gap(p->facts.priority_weights);
	struct fault problem = {0};
	char record[RECORD_MAX];

	if (l->job->site_factor == place)
		return true;
	if (slurm_link_set_site_factor(p->b->slurm, pass_record(l->job, record), place, &problem) == 0 ||
		errno == ENOENT)
		return true;
	log_warning("job %s was to give way and keeps its place: %s", l->run.label, problem.text);
	return false;
}

/* --- followed ----------------------------------------------------------------------------------- */

static const struct waiting *find_waiting(const struct pass *p, int64_t job)
{
	for (size_t i = 0; i < p->nwaiting; i++)
		if (pass_array_or_job_id(p->waiting[i].job) == job &&
			p->waiting[i].admission.tier == TIER_FUNDED && p->waiting[i].tasks)
			return &p->waiting[i];
	return NULL;
}

bool pass_has_lost_place(const struct pass *p, int64_t run)
{
	for (size_t i = 0; i < p->nleaving; i++) {
		const struct leaving *x = &p->leaving[i].x;

		if (x->run == run)
			return x->for_job && x->due <= p->now && find_waiting(p, x->for_job);
	}
	return false;
}

/* Slurm keeps a run for the PreemptExemptTime of its QOS, whatever it declared itself. That is the default
 * minimum runtime: the doctor checks that they agree (qos-exempt-time). Where they do not, a run is lowered
 * too early, and is spared when it is still there after a while. */
static bool slurm_protects(const struct pass *p, const struct leaving_run *l)
{
	return p->now - l->run.start <= p->b->settings->default_min_runtime_s;
}

static int make_go(struct pass *p, struct leaving_run *l, const struct waiting *w, struct fault *why)
{
	bool first = !l->x.made_to_go_at, done = false;

	if (!first && p->now - l->x.made_to_go_at > SPARED_AFTER_S && w)
		return spare(p, l, "the job that it was to go for cannot use its GPUs", why);
	/* Slurm displaces no het job, and nobody for one */
	if (w && !slurm_protects(p, l) && !l->job->het_job_id && !w->job->het_job_id)
		done = lower(p, l, w);
	else if (first)
		done = send_off(p, l);
	if (!first || !done)
		return 0;
	l->x.made_to_go_at = p->now;
	return pass_write(p, LEDGER_HOLDS, update, &l->x, why);
}

/* It took its leave within the grace. Whatever its script returned, it ended because it was told to: it comes
 * again (researchers.md). */
static bool comes_again(const struct leaving_run *l)
{
	return l->job && l->job->requeueable && l->x.signalled_at && !l->x.made_to_go_at &&
		l->run.ended >= l->x.signalled_at &&
		(!strcmp(l->run.state, "COMPLETED") || !strcmp(l->run.state, "FAILED"));
}

static int follow_ended(struct pass *p, struct leaving_run *l, struct fault *why)
{
	struct note n = { .l = l, .what = EVENT_DISPLACED,
		.detail = "it ended within its grace and is in the queue again" };

	if (!comes_again(l))
		return pass_write(p, LEDGER_HOLDS, forget, &l->x.run, why);
	if (!send_off(p, l))
		return 0;
	log_info("job %s ended as it was told to go: it is in the queue again", l->run.label);
	/* That one that failed gave way is in the books already, with its end. */
	if (strcmp(l->run.state, "COMPLETED"))
		return pass_write(p, LEDGER_HOLDS, forget, &l->x.run, why);
	return pass_write(p, LEDGER_HOLDS, note_and_forget, &n, why);
}

static int follow_one(struct pass *p, struct leaving_run *l, struct fault *why)
{
	const struct waiting *w = find_waiting(p, l->x.for_job);

	if (l->run.ended)
		return follow_ended(p, l, why);
	if (!l->job || (l->job->stage != STAGE_RUNNING && l->job->stage != STAGE_SUSPENDED))
		return 0;
	if (pass_mode(p, l->job) != ENFORCE_ON)
		return spare(p, l, "nothing is displaced any more where it runs (enforce)", why);
	if (l->may_stay && !l->x.made_to_go_at)
		return spare(p, l, "its node need not be empty any more", why);
	if (l->x.for_job && !w)
		return spare(p, l, "the job that it was to go for does not wait any more", why);
	if (l->x.for_job && p->b->settings->displace == DISPLACE_OFF)
		return spare(p, l, "funded runs do not give way any more (displace = off)", why);
	if (p->now >= l->x.due)
		return make_go(p, l, w, why);
	/* Processes that are suspended hear no signal, and Slurm takes none for them. */
	return l->x.signalled_at || l->job->stage == STAGE_SUSPENDED ? 0 : signal_once(p, l, why);
}

/* All signals first: who leaves takes its time, and they leave together. */
int pass_follow_leaving(struct pass *p, struct fault *why)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->nleaving; i++)
		rc = follow_one(p, &p->leaving[i], why);
	for (size_t i = 0; rc == 0 && i < p->nleaving; i++)
		if (p->leaving[i].detail[0] && p->leaving[i].job)
			notify(p, &p->leaving[i]);
	return rc;
}

int64_t pass_next_due(const struct pass *p)
{
	int64_t next = 0;

	for (size_t i = 0; i < p->nleaving; i++)
		if (!p->leaving[i].run.ended && p->leaving[i].x.due > p->now &&
			(!next || p->leaving[i].x.due < next))
			next = p->leaving[i].x.due;
	return next;
}
