/* SPDX-License-Identifier: GPL-2.0-or-later
 * metrics_jobs.c - the jobs of the last pass, counted by tier and state. */
#include "budgetd/held.h"
#include "budgetd/metrics.h"
#include "lib/tres.h"
#include <string.h>

struct counting {
	const struct settings *s;
	int64_t now;
	struct metrics_jobs *out;
};

static enum metrics_tier tier_of(const struct settings *s, const char *qos)
{
	if (qos && (!strcmp(qos, s->qos_funded) || !strcmp(qos, s->qos_funded_still)))
		return METRICS_FUNDED;
	return qos && !strcmp(qos, s->qos_free) ? METRICS_FREE : METRICS_NO_TIER;
}

static void count_pending(struct counting *x, const struct job_view *j, enum metrics_tier tier)
{
	int64_t since = j->eligible ? j->eligible : j->submit, waited = x->now - since;

	if (job_held_by_us(j)) {
		x->out->jobs[tier][METRICS_WAITING] += j->array_count;
		return;
	}
	x->out->jobs[tier][METRICS_PENDING] += j->array_count;
	if (job_is_eligible(j, x->now) && waited > x->out->longest_wait_s[tier])
		x->out->longest_wait_s[tier] = waited;
}

/* Under the lock of the state: a few comparisons and one short string. */
static void count(const struct job_view *j, void *arg)
{
	struct counting *x = arg;
	enum metrics_tier tier = tier_of(x->s, j->qos);
	struct gpu_count gpus;

	if (j->stage != STAGE_PENDING && j->stage != STAGE_RUNNING && j->stage != STAGE_SUSPENDED)
		return;
	if (tres_read(j->tres_alloc ? j->tres_alloc : j->tres_req, &gpus, NULL) < 0)
		gpus.total = 0;
	if (tier == METRICS_NO_TIER && gpus.total == 0)
		return;			/* no job of GPUs */
	if (j->stage == STAGE_PENDING) {
		count_pending(x, j, tier);
		return;
	}
	x->out->jobs[tier][METRICS_RUNNING]++;
	x->out->gpus[tier] += gpus.total;
}

void metrics_jobs_count(const struct budgetd *b, int64_t now, struct metrics_jobs *out)
{
	struct counting x = { .s = b->settings, .now = now, .out = out };

	*out = (struct metrics_jobs){ 0 };
	cluster_state_each_job(b->cluster, count, &x);
}
