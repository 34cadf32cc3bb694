/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_places.c - the one order of pending funded jobs, published as SiteFactor (doc/model.md, 5 and 6).
 *
 * Raises before drops, and runs before what waits: after each single update no running funded job is below a pending one. */
#include "budgetd/cluster_state.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/ranking.h"
#include "lib/place.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UPDATES_A_SECOND 200		/* each costs slurmctld 0.6 ms */

struct publication {
	const struct job_view *job;
	int32_t place;
};

static int publish(struct pass *p, const struct publication *x)
{
	size_t most = (size_t)(UPDATES_A_SECOND * p->b->settings->pass_interval_s);
	struct fault why = {0};
	char record[RECORD_MAX];

	if (x->job->cron || pass_mode(p, x->job) != ENFORCE_ON || x->job->site_factor == x->place || p->updates >= most)
		return 0;
	p->updates++;
	if (slurm_link_set_site_factor(p->b->slurm, pass_record(x->job, record), x->place, &why) < 0 && errno != EAGAIN && errno != ENOENT)
		log_warning("job %u: its place could not be published: %s", x->job->job_id, why.text);
	return 0;
}

struct raising {
	struct pass *p;
	int32_t place;
};

static int raise_run(const struct run *r, void *arg)
{
	struct raising *x = arg;
	struct publication pub = { job_table_find(x->p->jobs, (uint32_t)r->job), x->place };

	if (r->tier != TIER_FUNDED || !r->admission || pass_has_lost_place(x->p, r->id) || !pub.job || pub.job->start != r->start || pub.job->stage != STAGE_RUNNING)
		return 0;
	return publish(x->p, &pub);
}

struct order_job pass_order_job(struct waiting *w, const struct ranking *ranking)
{
	return (struct order_job){ .front = w->front, .project = (uint32_t)w->admission.project,
		.project_rank = ranking_rank(ranking, w->admission.project), .team_rank = (int)w->admission.team_rank,
		.submit = w->admission.at, .job_id = w->job->job_id, .data = w };
}

/* Pending funded jobs in their order. Their number, or -1 and ENOMEM. */
static ssize_t order_waiting(struct pass *p, const struct ranking *ranking, struct order_job *out)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nwaiting; i++) {
		struct waiting *w = &p->waiting[i];

		if (w->admission.tier == TIER_FUNDED)
			out[n++] = pass_order_job(w, ranking);
	}
	return order_sort(out, n) < 0 ? -1 : (ssize_t)n;
}

static void publish_pending(struct pass *p, const struct order_job *jobs, const int32_t *places, size_t n, bool raises)
{
	for (size_t i = 0; i < n; i++) {
		const struct waiting *w = jobs[i].data;

		for (size_t k = 0; k < w->nrecords; k++) {
			struct publication pub = { w->records[k], places[i] };

			if ((pub.place > pub.job->site_factor) == raises)
				publish(p, &pub);
		}
	}
}

/* As many as possible keep the place that they have; who is submitted meanwhile goes behind the last. */
static int place_waiting(struct pass *p, const struct order_job *jobs, size_t n, int32_t gap)
{
	int32_t *now = calloc(2 * n + 1, sizeof(*now)), *places = now + n;
	int rc = now ? 0 : -1;

	for (size_t i = 0; i < n && rc == 0; i++)
		now[i] = ((const struct waiting *)jobs[i].data)->job->site_factor;
	if (rc == 0)
		rc = place_assign(now, n, gap, places);
	for (size_t i = 0; i < n && rc == 0; i++)
		((struct waiting *)jobs[i].data)->place = places[i];
	if (rc == 0) {
		publish_pending(p, jobs, places, n, true);
		publish_pending(p, jobs, places, n, false);
		cluster_state_set_last_place(p->b->cluster, n ? places[n - 1] : PLACE_TOP - (PLACE_TOP - PLACE_FLOOR) / 4, gap);
	}
	free(now);
	return rc;
}

int pass_publish_places(struct pass *p, struct fault *why)
{
	int32_t gap = place_gap(p->facts.priority_weights);
	struct raising raising = { p, place_running(gap) };
	const struct ranking *ranking = pass_ranking(p, why);
	struct order_job *jobs = NULL;
	ssize_t n = -1;

	if (!ranking || run_walk_open(p->books, p->facts.cluster, raise_run, &raising, why) < 0)
		return -1;
	jobs = calloc(p->nwaiting + 1, sizeof(*jobs));
	if (!jobs)
		fault_errno(why, ENOMEM, "out of memory");
	else
		n = order_waiting(p, ranking, jobs);
	if (n >= 0 && place_waiting(p, jobs, (size_t)n, gap) < 0)
		n = -1;
	free(jobs);
	return n < 0 ? fault_set(why, "places: %s", strerror(errno)) : 0;
}
