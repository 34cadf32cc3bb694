/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_idle.c - jobs whose GPUs nobody uses (doc/model.md, 6).
 *
 * Looked at when there are new samples, not in every pass: nothing changes in between. What is not known is never idle. */
#include "budgetd/cluster_state.h"
#include "budgetd/gpu_watch.h"
#include "budgetd/pass.h"
#include "lib/tres.h"
#include <errno.h>
#include <stdlib.h>

/* Whole GPUs of a running job. Shards and MPS have none: several jobs use the same device. */
static int64_t whole_gpus(const struct job_view *j)
{
	struct gpu_count count;
	const char *tres = j->tres_alloc ? j->tres_alloc : j->gres_detail;

	if (j->stage != STAGE_RUNNING || !tres || tres_read(tres, &count, NULL) < 0)
		return 0;
	return count.total;
}

/* Since when, or 0. */
static int64_t look_at(const struct job_view *j, const struct gpu_table *t, struct idle_jobs *out)
{
	const struct idle_gpu *found[GPU_FOUND_MAX];
	int64_t gpus = whole_gpus(j);
	size_t known = gpus ? gpu_table_of_job(t, j->job_id, j->gpu_places, found) : 0;

	out->used += gpus;
	if ((int64_t)known < gpus)
		out->unseen += gpus - (int64_t)known;
	return gpus ? idle_since(found, known, gpus, j->start, t->until) : 0;
}

static int look_at_all(struct pass *p, const struct gpu_table *t, struct fault *why)
{
	struct idle_jobs idle = { .until = t->until, .jobs = calloc(p->jobs->count + 1, sizeof(*idle.jobs)) };

	if (!idle.jobs)
		return fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; i < p->jobs->count; i++) {
		const struct job_view *j = &p->jobs->jobs[i];
		int64_t since = look_at(j, t, &idle);

		if (since)
			idle.jobs[idle.count++] = (struct idle_job){ j->job_id, since };
	}
	cluster_state_publish_idle(p->b->cluster, &idle);
	return 0;
}

int pass_look_at_idle(struct pass *p, struct fault *why)
{
	struct gpu_table t;
	int rc = p->b->gpus ? gpu_watch_view(p->b->gpus, cluster_state_idle_until(p->b->cluster), &t) : 0;

	if (rc < 0)
		return fault_errno(why, ENOMEM, "out of memory");
	if (rc > 0) {
		rc = look_at_all(p, &t, why);
		gpu_table_clear(&t);
	}
	return rc;
}
