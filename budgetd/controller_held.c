/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_held.c - in Slurm, what the books decided: of what waits as many tasks are loose as have their
 * hours, the rest is held.
 *
 * Level-triggered: what is loose is counted in the job table, what is paid for in the books, and only the
 * difference is acted on. So nothing is released twice, and a pass that was cut off between the two is made
 * good by the next. The lowest tasks go first. The throttle of an array (%N) is its user's and never
 * touched. */
#include "budgetd/admit.h"
#include "budgetd/held.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "lib/token.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* each task becomes a record of its own, under slurmctld's lock; the next pass goes on */
#define RELEASED_AT_ONCE 500
#define TASKS_TEXT_MAX 4096

/* `record` names what of j is meant. */
static int mark(struct pass *p, const struct job_view *j, const char *record, const char *token,
	struct job_update *u, bool held, struct fault *why)
{
	const char *old = j->admin_comment ? j->admin_comment : "";
	char *with = NULL, *comment = NULL;
	int rc = -1;

	if (asprintf(&with, "%s%s%s", old, *old && token && *token ? " " : "", token ? token : "") < 0)
		return fault_errno(why, ENOMEM, "out of memory");
	comment = token_set_waits(with, held);
	if (!comment)
		fault_errno(why, ENOMEM, "out of memory");
	/* always: what the table has may be older than what this pass wrote a moment ago */
	u->admin_comment = comment;
	if (comment)
		rc = slurm_link_update(p->b->slurm, record, u, why);
	free(with);
	free(comment);
	return rc;
}

int pass_mark(struct pass *p, const struct job_view *j, const char *token, const char *qos, bool held,
	struct fault *why)
{
	struct job_update u = { .qos = qos };
	char record[RECORD_MAX];

	if (held)
		u.hold = HOLD_AS_ADMIN;
	else if (job_held_by_us(j))
		u.hold = HOLD_RELEASE;
	return mark(p, j, pass_record(j, record), token, &u, held, why);
}

/* Slurm displaces a run whose priority is 0: by our own hold, which met it as it started, or by somebody
 * else's. */
void pass_mend_running(struct pass *p, const struct job_view *j)
{
	struct job_update u = { .hold = HOLD_RELEASE };
	bool ours = token_waits(j->admin_comment);
	struct fault why = {0};
	char record[RECORD_MAX];

	if (j->priority != 0 || j->cron || (!ours && (!job_concerns_us(j) || pass_mode(p, j) != ENFORCE_ON)))
		return;
	if (!ours)
		log_info("job %u runs and was held: Slurm would give its GPUs away, so the hold is taken back",
			j->job_id);
	if (mark(p, j, pass_record(j, record), NULL, &u, false, &why) < 0)
		log_warning("job %u: %s", j->job_id, why.text);
}

/* --- displaced by a hold ------------------------------------------------------------------------ */

/* after the run: a hold that is met later is one of a job in the queue */
#define GIVEN_AWAY_S 60

static int last_run(const struct run *r, void *arg)
{
	*(struct run *)arg = *r;
	return 0;
}

/* Its user held it while it ran, budgetd could not refuse that, and Slurm was faster than the loop: it is in
 * the queue, held, which nobody asked for. */
int pass_release_displaced(struct pass *p, const struct job_view *j, struct fault *why)
{
	struct job_update u = { .hold = HOLD_RELEASE };
	char record[RECORD_MAX];
	struct run r = {0};

	if (j->held != HELD_BY_USER || !j->restarts || j->cron || token_waits(j->admin_comment) ||
		pass_mode(p, j) != ENFORCE_ON)
		return 0;
	if (run_walk_job(p->books, j->job_id, last_run, &r, why) < 0)
		return -1;
	if (strcmp(r.state, "PREEMPTED") != 0 || p->now - r.ended > GIVEN_AWAY_S)
		return 0;
	log_info("job %u was held while it ran and displaced by that: it is released", j->job_id);
	return mark(p, j, pass_record(j, record), NULL, &u, false, why);
}

/* --- as many as are paid for -------------------------------------------------------------------- */

/* The first `n` tasks of a record that we hold. How many were released, or -1. */
static int64_t release_first(struct pass *p, const struct job_view *j, int64_t n, struct fault *why)
{
	struct job_update u = { .hold = HOLD_RELEASE };
	char tasks[TASKS_TEXT_MAX], record[TASKS_TEXT_MAX + 32];

	if (n >= j->array_count)
		return pass_mark(p, j, NULL, NULL, false, why) < 0 ? -1 : j->array_count;
	n = gpu_request_array_first(j->array_tasks, n < RELEASED_AT_ONCE ? n : RELEASED_AT_ONCE, tasks,
		sizeof(tasks));
	if (n == 0)
		return 0;
	snprintf(record, sizeof(record), "%u_[%s]", j->array_job_id, tasks);
	return mark(p, j, record, NULL, &u, false, why) < 0 ? -1 : n;
}

static int release(struct pass *p, const struct waiting *w, int64_t n, struct fault *why)
{
	int64_t left = n;

	for (size_t i = 0; i < w->nrecords && left > 0; i++) {
		int64_t done = job_held_by_us(w->records[i]) ? release_first(p, w->records[i], left, why) : 0;

		if (done < 0)
			return -1;
		left -= done;
	}
	if (w->admission.tasks > 1 && n > left)
		log_info("job %u: %jd tasks of the array that waited are paid for and released",
			pass_array_or_job_id(w->job), (intmax_t)(n - left));
	else if (n > left)
		log_info("job %u: it was held, has its hours and is released", w->job->job_id);
	return 0;
}

/* The last tasks that are loose; of a record that stands for many all, and then its first ones are let go
 * again. */
static int hold_last(struct pass *p, const struct waiting *w, int64_t n, struct fault *why)
{
	for (size_t i = w->nrecords; i-- > 0 && n > 0;) {
		const struct job_view *j = w->records[i];

		if (j->held != HELD_NOT || !pass_is_eligible(p, j))
			continue;
		if (pass_mark(p, j, NULL, NULL, true, why) < 0 ||
			(n < j->array_count && release_first(p, j, j->array_count - n, why) < 0))
			return -1;
		n -= j->array_count;
	}
	return 0;
}

static int follow_paid(struct pass *p, const struct waiting *w, struct fault *why)
{
	int64_t may = w->nowhere ? 0 : w->paid - w->kept_for_user;

	if (w->loose < may && !w->not_yet)
		return release(p, w, may - w->loose, why);
	return w->loose > may ? hold_last(p, w, w->loose - may, why) : 0;
}

/* --- one record --------------------------------------------------------------------------------- */

static int follow_record(struct pass *p, const struct waiting *w, const struct job_view *j, struct fault *why)
{
	enum job_tier tier = w->admission.tier;
	const char *qos = admit_qos(p->b, tier, j->het_job_id != 0);
	char record[RECORD_MAX];

	if (j->qos && strcmp(j->qos, qos) != 0)
		return slurm_link_set_qos(p->b->slurm, pass_record(j, record), qos, why);
	/* Declared free; only now that Slurm has it in the free QOS, or it would start as a funded one. What
	 * depends on another job cannot start, and a hold would keep Slurm from looking at the other job; when
	 * that one ends it starts at once. */
	if (job_held_by_us(j) && !w->not_yet && ((tier == TIER_FREE && !w->nowhere) || j->dependency))
		return pass_mark(p, j, NULL, NULL, false, why);
	if (job_held_by_us(j) && j->held == HELD_BY_USER)
		return pass_mark(p, j, NULL, NULL, true, why);
	if (j->held == HELD_NOT && token_waits(j->admin_comment))
		return pass_mark(p, j, NULL, NULL, false, why);
	return 0;
}

/* EAGAIN: slurmctld has not written the job to its database yet, the next pass comes soon enough. */
static void complain(const struct job_view *j, const struct fault *why)
{
	if (errno != EAGAIN)
		log_warning("job %u: %s", j->job_id, why->text);
}

void pass_let_go(struct pass *p, const struct job_view *j)
{
	struct fault why = {0};

	if (j->cron || !job_held_by_us(j))
		return;
	log_info("job %u was held by budgetd and is released: nothing is enforced where it is to run",
		j->job_id);
	if (pass_mark(p, j, NULL, NULL, false, &why) < 0)
		complain(j, &why);
}

void pass_follow_held(struct pass *p, const struct waiting *w)
{
	struct fault problem = {0};

	for (size_t i = 0; pass_mode(p, w->job) != ENFORCE_ON && i < w->nrecords; i++)
		pass_let_go(p, w->records[i]);
	if (w->job->cron || pass_mode(p, w->job) != ENFORCE_ON)
		return;
	for (size_t i = 0; i < w->nrecords; i++) {
		struct fault why = {0};

		if (follow_record(p, w, w->records[i], &why) < 0)
			complain(w->records[i], &why);
	}
	if (w->admission.tier == TIER_FUNDED ? follow_paid(p, w, &problem) < 0 : w->nowhere &&
		hold_last(p, w, w->loose, &problem) < 0)
		complain(w->job, &problem);
}
