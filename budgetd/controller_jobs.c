/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_jobs.c - jobs in the queue: tie each to its answer, answer those that came without one, collect
 * those that wait.
 *
 * A token proves what the plugin was told: only slurmctld and administrators can write AdminComment. Still
 * the job must be of the user and the project that the answer was given to. */
#include "budgetd/admit.h"
#include "budgetd/held.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/tally.h"
#include "lib/token.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool job_concerns_us(const struct job_view *j)
{
	struct gpu_count given;

	if (gpu_request_concerns(&j->request))
		return true;
	return tres_read(j->tres_alloc ? j->tres_alloc : j->tres_req, &given, NULL) == 0 && given.total > 0;
}

/* --- job <-> answer ----------------------------------------------------------------------------- */

bool pass_same_project(struct pass *p, const struct job_view *j, int64_t project)
{
	struct project pr;

	return project_by_id(p->books, project, &pr, NULL) == 1 && j->account &&
		strcasecmp(j->account, pr.name) == 0;
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
		log_warning("job %u carries the token of another job or user: it is treated as a job without an answer",
			j->job_id);
	return rc < 0 ? -1 : admission_by_job(p->books, job, out, why);
}

struct binding {
	struct admission_row *admission;
	uint32_t job;
};

static int bind_to_job(struct pass *p, void *arg, struct fault *why)
{
	struct binding *x = arg;
	/* the snapshot may be older than a change of it */
	int rc = admission_by_id(p->b->ledger, x->admission->id, x->admission, why);

	x->admission->job = x->job;
	return rc == 1 ? admission_update(p->b->ledger, x->admission, why) : rc;
}

/* The answer to a job that is met, with its question kept for later modifications. */
int pass_admit(struct pass *p, const struct question *q, const struct job_view *j, admit_fn how,
	struct verdict *v, struct fault *why)
{
	struct json_object *request = question_to_json(q);
	int rc;

	if (!request)
		return fault_errno(why, ENOMEM, "out of memory");
	rc = how(p->b, q, json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN),
		pass_array_or_job_id(j), p->now, v, why);
	json_object_put(request);
	return rc < 0 ? -1 : ledger_write(p->b->ledger, why);
}

/* --- a job without an answer -------------------------------------------------------------------- */

static int tell_slurm(struct pass *p, const struct job_view *j, const struct verdict *v, struct fault *why)
{
	const char *qos = v->qos && j->qos && strcmp(v->qos, j->qos) == 0 ? NULL : v->qos;

	if (j->cron)
		return 0;	/* it refuses every update: its runs are free */
	return pass_mark(p, j, v->token, qos, v->waits, why);
}

/* Refused by the budget but in the queue already, past the plugin: it waits, held, until its project can pay
 * or somebody decides. */
static int park_refused(struct pass *p, const struct job_view *j, const struct verdict *v, struct fault *why)
{
	if (j->held != HELD_NOT || j->cron)
		return 0;
	log_info("job %u was not asked about at submission and is held: %s", j->job_id, v->text);
	return pass_mark(p, j, NULL, NULL, true, why);
}

static int answer_met_job(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct question q;
	struct verdict v;

	question_from_job(j, &q);
	q.held = q.held && !job_held_by_us(j);
	if (pass_admit(p, &q, j, admit, &v, why) < 0)
		return -1;
	if (!v.accepted)
		return park_refused(p, j, &v, why);
	if (v.tier == TIER_UNSET)
		return 0;
	tally_met(p->b->tally);
	log_info("job %u came without an answer: %s", j->job_id, v.text);
	return tell_slurm(p, j, &v, why);
}

/* --- collecting what waits ---------------------------------------------------------------------- */

static int remember_waiting(struct pass *p, const struct job_view *j, const struct admission_row *a,
	struct fault *why)
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
	if (pass_is_eligible(p, j)) {
		w->tasks = j->array_count;
		w->loose = j->held == HELD_NOT ? j->array_count : 0;
	} else if (j->held == HELD_BY_USER) {
		w->held_by_user = j->array_count;
	}
	return 0;
}

int pass_meet_pending(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct admission_row a;
	struct binding x = { .admission = &a, .job = pass_array_or_job_id(j) };
	enum enforcement mode = pass_mode(p, j);
	int rc;

	if (mode == ENFORCE_OFF)
		pass_let_go(p, j);
	if (mode == ENFORCE_OFF || !job_concerns_us(j))
		return 0;
	rc = pass_admission(p, j, &a, why);
	if (rc < 0)
		return -1;
	if (rc == 0 && mode == ENFORCE_WARN)
		return pass_meet_shadow(p, j, why);
	if (rc == 0)
		/* its hold is there; the next pass finds it among those that wait */
		return answer_met_job(p, j, why);
	if (a.job == 0 && pass_write(p, LEDGER_HOLDS, bind_to_job, &x, why) < 0)
		return -1;
	if (pass_release_displaced(p, j, why) < 0)
		return -1;
	return remember_waiting(p, j, &a, why);
}
