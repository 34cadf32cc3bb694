/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_seen.c - what the last pass saw of the job, the task or the component that somebody asks about
 * (http_job_seen.h). */
#include "budgetd/http_job_seen.h"
#include "budgetd/cluster_state.h"
#include "budgetd/held.h"
#include "lib/duration.h"
#include "lib/gpu_request.h"
#include <errno.h>
#include <stdio.h>

struct looking {
	const struct job_name *name;
	struct job_seen *seen;
	struct job_name resolved;
};

/* A task that waits with others has no record of its own. */
static bool is_meant(const struct job_view *j, const struct job_name *n)
{
	if (n->part == JOB_TASK)
		return j->array_tasks ? gpu_request_array_names(j->array_tasks, n->within)
			: j->array_job_id == n->job && j->array_task_id == n->within;
	if (n->part == JOB_COMPONENT)
		return j->het_job_id == n->job && j->het_offset == n->within;
	return true;
}

static void count(struct job_seen *s, const struct job_view *j, int64_t tasks)
{
	if (j->stage == STAGE_PENDING)
		s->waiting_tasks += tasks;
	if (job_held_by_us(j))
		s->held_tasks += tasks;
	if (j->stage == STAGE_RUNNING)
		s->running++;
	if (j->stage == STAGE_SUSPENDED)
		s->suspended++;
}

static void look_at(const struct job_view *j, void *arg)
{
	const struct looking *l = arg;
	struct job_seen *s = l->seen;
	bool first = !s->found;

	if (!is_meant(j, l->name))
		return;
	s->found = true;
	count(s, j, l->name->part == JOB_TASK ? 1 : j->array_count);
	if (!first && j->stage != STAGE_PENDING)
		return;
	s->record = j->job_id;
	snprintf(s->state, sizeof(s->state), "%s", j->base_state);
	snprintf(s->reason, sizeof(s->reason), "%s", j->reason ? j->reason : "");
	snprintf(s->partition, sizeof(s->partition), "%s", j->partition ? j->partition : "");
	s->time_limit_s = j->time_limit_s;
	s->requeueable = j->requeueable;
	s->planned_start = j->planned_start;
	s->place = j->stage == STAGE_PENDING ? j->site_factor : 0;
}

static void resolve(const struct job_view *j, void *arg)
{
	struct looking *l = arg;
	struct job_name *to = &l->resolved;
	const struct job_name *n = l->name;

	if (n->part == JOB_WHOLE && j->job_id == n->job && j->array_job_id &&
		j->array_task_id != JOB_NOT_A_TASK && j->array_job_id != j->job_id)
		*to = (struct job_name){ j->array_job_id, JOB_TASK, j->array_task_id };
	else if (n->part == JOB_COMPONENT && is_meant(j, n))
		*to = (struct job_name){ j->job_id, JOB_WHOLE, 0 };
}

void job_name_resolve(struct cluster_state *s, struct job_name *name)
{
	struct looking l = { .name = name, .resolved = *name };

	cluster_state_job(s, (uint32_t)name->job, resolve, &l);
	*name = l.resolved;
}

void job_seen_look(struct cluster_state *s, const struct job_name *name, struct job_seen *out)
{
	*out = (struct job_seen){ .found = false };
	cluster_state_job(s, (uint32_t)name->job, look_at, &(struct looking){ .name = name, .seen = out });
}

int job_unknown(const struct budgetd *b, int64_t job, int64_t now, struct fault *why)
{
	char ago[DURATION_TEXT_MAX], every[DURATION_TEXT_MAX];
	struct cluster_health h;

	if (job <= cluster_state_newest_job(b->cluster))
		return fault_errno(why, ENOENT, "there is no job %jd that the budget knows of",
			(intmax_t)job);
	cluster_state_health(b->cluster, &h);
	if (!h.last_pass_at)
		return fault_errno(why, EAGAIN,
			"job %jd is not known yet: budgetd has just begun to look at Slurm; ask again in a few seconds",
			(intmax_t)job);
	return fault_errno(why, EAGAIN,
		"job %jd is newer than all that budgetd has seen in Slurm, where it looked %s ago and looks every %s: if it was submitted "
		"since, ask again then", (intmax_t)job,
		duration_text(now > h.last_pass_at ? now - h.last_pass_at : 0, ago),
		duration_text(b->settings->pass_interval_s, every));
}
