/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_displace.c - runs that give way: told together, gone after their grace (doc/model.md, 6).
 *
 * What is decided stands in the books first (`leaving`), then Slurm is told: whatever is killed in between, the next pass goes on. A run is
 * told once; what did not reach Slurm is said again. */
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* --- told --------------------------------------------------------------------------------------- */

struct telling {
	int64_t run;
	struct leaving leaving;
	const char *detail;
	bool said;			/* before */
};

static int tell(struct pass *p, void *arg, struct fault *why)
{
	struct telling *t = arg;
	struct run r;
	int rc = run_by_id(p->b->ledger, t->run, &r, why);

	if (rc != 1 || r.ended)
		return rc < 0 ? -1 : 0;		/* it is gone already */
	rc = leaving_add(p->b->ledger, &r, &t->leaving, t->detail, why);
	t->said = rc == 1;
	return rc < 0 ? -1 : 0;
}

int pass_tell_to_go(struct pass *p, int64_t run, enum event_reason reason, const char *detail, bool critical, struct fault *why)
{
	struct telling t = { .run = run, .detail = detail, .leaving = { .run = run, .told_at = p->now, .reason = reason,
		.due = p->now + (critical ? 0 : p->b->settings->grace_s) } };

	if (pass_write(p, LEDGER_HOLDS, tell, &t, why) < 0)
		return -1;
	return t.said;
}

/* --- followed ----------------------------------------------------------------------------------- */

struct follow {
	struct pass *p;
	struct leaving_run {
		struct leaving x;
		struct run run;
		const struct job_view *job;	/* NULL: it is gone */
	} *runs;
	size_t count, room;
};

static int collect(const struct leaving *x, const struct run *r, void *arg)
{
	struct follow *f = arg;
	const struct job_view *j = job_table_find(f->p->jobs, (uint32_t)r->job);

	if (f->count == f->room) {
		size_t room = f->room ? 2 * f->room : 16;
		struct leaving_run *more = reallocarray(f->runs, room, sizeof(*more));

		if (!more)
			return -1;
		f->runs = more;
		f->room = room;
	}
	f->runs[f->count++] = (struct leaving_run){ .x = *x, .run = *r, .job = j && j->start == r->start ? j : NULL };
	return 0;
}

/* In the writer: what this pass has told is not in its snapshot. */
static int collect_all(struct pass *p, void *arg, struct fault *why)
{
	return leaving_walk(p->b->ledger, p->facts.cluster, collect, arg, why);
}

static int update(struct pass *p, void *arg, struct fault *why)
{
	return leaving_update(p->b->ledger, arg, why);
}

static int forget(struct pass *p, void *arg, struct fault *why)
{
	return leaving_remove(p->b->ledger, *(int64_t *)arg, why);
}

static bool runs(const struct leaving_run *l)
{
	return l->job && !l->run.ended && (l->job->stage == STAGE_RUNNING || l->job->stage == STAGE_SUSPENDED);
}

static int signal_once(struct pass *p, struct leaving_run *l, struct fault *why)
{
	char record[RECORD_MAX];
	struct fault problem = {0};

	if (slurm_link_signal(p->b->slurm, pass_record(l->job, record), SIGTERM, false, &problem) < 0 && errno != ENOENT) {
		log_warning("job %s gives way and could not be told: %s", l->run.label, problem.text);
		return 0;		/* again in the next pass */
	}
	log_info("job %s gives way (%s): it was told", l->run.label, event_reason_name(l->x.reason));
	l->x.signalled_at = p->now;
	return pass_write(p, LEDGER_HOLDS, update, &l->x, why);
}

/* Back into the queue, or cancelled: its user was told so at submission. */
static int make_go(struct pass *p, struct leaving_run *l, struct fault *why)
{
	char record[RECORD_MAX];
	struct fault problem = {0};
	int rc = -1;

	pass_record(l->job, record);
	errno = ENOTSUP;
	if (l->job->requeueable)
		rc = slurm_link_requeue(p->b->slurm, record, &problem);
	if (rc < 0 && errno == ENOTSUP)
		rc = slurm_link_cancel(p->b->slurm, record, &problem);
	if (rc < 0 && errno != ENOENT) {
		log_warning("job %s was to give way and is still there: %s", l->run.label, problem.text);
		return 0;
	}
	l->x.made_to_go_at = p->now;
	return pass_write(p, LEDGER_HOLDS, update, &l->x, why);
}

static int follow_one(struct pass *p, struct leaving_run *l, struct fault *why)
{
	if (l->run.ended)
		return pass_write(p, LEDGER_HOLDS, forget, &l->x.run, why);
	if (!runs(l) || pass_mode(p, l->job) != ENFORCE_ON)
		return 0;
	if (p->now >= l->x.due)
		return l->x.made_to_go_at ? 0 : make_go(p, l, why);
	return l->x.signalled_at ? 0 : signal_once(p, l, why);
}

int pass_follow_leaving(struct pass *p, struct fault *why)
{
	struct follow f = { .p = p };
	int rc = pass_write(p, LEDGER_HOLDS, collect_all, &f, why);

	for (size_t i = 0; rc == 0 && i < f.count; i++)
		rc = follow_one(p, &f.runs[i], why);
	free(f.runs);
	return rc;
}
