/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_places.c - the one order of pending jobs, published as SiteFactor (doc/model.md, 5 and 6):
 * funded ones, and below all of them free ones, by who had least of the free tier for its share.
 *
 * Raises before drops, and runs before what waits: after each single update no running funded job is below a
 * pending one. */
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

	if (x->job->cron || pass_mode(p, x->job) != ENFORCE_ON || x->job->site_factor == x->place ||
		p->updates >= most)
		return 0;
	p->updates++;
	if (slurm_link_set_site_factor(p->b->slurm, pass_record(x->job, record), x->place, &why) < 0 &&
		errno != EAGAIN && errno != ENOENT)
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

	if (r->tier != TIER_FUNDED || !r->admission || pass_has_lost_place(x->p, r->id) || !pub.job ||
		pub.job->start != r->start || pub.job->stage != STAGE_RUNNING)
		return 0;
	return publish(x->p, &pub);
}

struct order_job pass_order_job(struct waiting *w, const struct ranking *ranking)
{
	const struct fairshare *f = w->admission.tier == TIER_FUNDED ? ranking_funded(ranking)
		: ranking_free_tier(ranking);
	ssize_t node = ranking_node_of(ranking, w->admission.project, w->admission.uid);

	/* Its node is the team: the project, or its user. One that is in no tree is last, and of its own
	 * project. */
	return (struct order_job){ .front = w->front,
		.project = node < 0 ? INT32_MAX + (uint32_t)w->admission.project : (uint32_t)node,
		.project_rank = node < 0 ? UINT32_MAX : fairshare_rank(f, (size_t)node),
		.team_rank = (int)w->admission.team_rank, .submit = w->admission.at, .job_id = w->job->job_id,
		.data = w };
}

/* What waits, in its order: funded ones first, *funded of them. Their number, or -1 and ENOMEM. */
static ssize_t order_waiting(struct pass *p, const struct ranking *ranking, struct order_job *out,
	size_t *funded)
{
	*funded = 0;
	for (size_t i = 0; i < p->nwaiting; i++) {
		out[i] = pass_order_job(&p->waiting[i], ranking);
		*funded += out[i].front != ORDER_FREE;
	}
	return order_sort(out, p->nwaiting) < 0 ? -1 : (ssize_t)p->nwaiting;
}

static void publish_pending(struct pass *p, const struct order_job *jobs, const int32_t *places, size_t n,
	bool raises)
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

typedef int (*assign_fn)(const int32_t *now, size_t count, int32_t gap, int32_t *out);

/* As many as possible keep the place that they have. *last is that of the last one, when there is any. */
static int place_some(struct pass *p, const struct order_job *jobs, size_t n, int32_t gap, assign_fn assign,
	int32_t *last)
{
	int32_t *now = calloc(2 * n + 1, sizeof(*now)), *places = now + n;
	int rc = now ? 0 : -1;

	for (size_t i = 0; i < n && rc == 0; i++)
		now[i] = ((const struct waiting *)jobs[i].data)->job->site_factor;
	if (rc == 0)
		rc = assign(now, n, gap, places);
	if (rc == 0) {
		publish_pending(p, jobs, places, n, true);
		publish_pending(p, jobs, places, n, false);
	}
	if (rc == 0 && n)
		*last = places[n - 1];
	free(now);
	return rc;
}

/* Funded ones first: where updates are short, those matter more. Who is submitted meanwhile goes behind the
 * last of them. */
static int place_waiting(struct pass *p, const struct order_job *jobs, size_t funded, size_t n, int32_t gap)
{
	int32_t last = PLACE_TOP - (PLACE_TOP - PLACE_FLOOR) / 4, last_free;

	if (place_some(p, jobs, funded, gap, place_assign, &last) < 0)
		return -1;
	cluster_state_set_last_place(p->b->cluster, last, gap);
	return place_some(p, jobs + funded, n - funded, gap, place_assign_free, &last_free);
}

/* --- for people who ask why a job is where it is ------------------------------------------------ */

static void note_nodes(const struct ranking *r, struct turn_table *t)
{
	for (size_t i = 0; i < t->nnodes; i++) {
		struct ranking_node n = ranking_node_at(r, i);

		t->nodes[i] = (struct turn_node){ .parent = n.parent, .project = n.project, .uid = n.uid,
			.funded_ppm = fairshare_ratio_ppm(ranking_funded(r), i),
			.free_ppm = fairshare_ratio_ppm(ranking_free_tier(r), i) };
	}
}

/* Why `ahead` is right in front of it; NULL: it is the first of its tier. */
static void note_because(const struct ranking *r, const struct order_job *ahead, const struct order_job *job,
	const struct job_turn *its, struct job_turn *t)
{
	size_t own_at, ahead_at;

	t->own_at = t->ahead_at = -1;
	if (!ahead)
		return;
	t->because = order_because(ahead, job);
	if (t->because != ORDER_BECAUSE_RATIO || t->node < 0 || its->node < 0 ||
		!fairshare_part(job->front == ORDER_FREE ? ranking_free_tier(r) : ranking_funded(r),
			(size_t)t->node, (size_t)its->node, &own_at, &ahead_at))
		return;
	t->own_at = (int)own_at;
	t->ahead_at = (int)ahead_at;
}

static struct job_turn turn_of(const struct ranking *r, const struct waiting *w)
{
	return (struct job_turn){ .job = pass_array_or_job_id(w->job), .record = w->job->job_id, .front = w->front,
		.cleared = w->cleared, .kept_off = w->kept_off, .project = w->admission.project,
		.uid = w->admission.uid, .gpus = w->admission.gpus, .tasks = w->tasks,
		.asked_at = w->admission.at, .team_rank = (int)w->admission.team_rank,
		.node = (int)ranking_node_of(r, w->admission.project, w->admission.uid) };
}

static int tell_turns(struct pass *p, const struct ranking *r, const struct order_job *jobs, size_t funded,
	size_t n)
{
	struct turn_table t = { .nturns = n, .nnodes = ranking_count(r), .at = p->now };

	t.turns = calloc(n + 1, sizeof(*t.turns));
	t.nodes = calloc(t.nnodes + 1, sizeof(*t.nodes));
	if (!t.turns || !t.nodes) {
		turn_table_free(&t);
		errno = ENOMEM;
		return -1;
	}
	note_nodes(r, &t);
	for (size_t i = 0; i < n; i++) {
		bool first = i == 0 || i == funded;

		t.turns[i] = turn_of(r, jobs[i].data);
		t.turns[i].position = i < funded ? i + 1 : i - funded + 1;
		t.turns[i].of = i < funded ? funded : n - funded;
		note_because(r, first ? NULL : &jobs[i - 1], &jobs[i], first ? NULL : &t.turns[i - 1], &t.turns[i]);
	}
	cluster_state_publish_turns(p->b->cluster, &t);
	return 0;
}

int pass_publish_places(struct pass *p, struct fault *why)
{
	int32_t gap = place_gap(p->facts.priority_weights);
	struct raising raising = { p, place_running(gap) };
	const struct ranking *ranking = pass_ranking(p, why);
	struct order_job *jobs = NULL;
	size_t funded = 0;
	ssize_t n = -1;

	if (!ranking || run_walk_open(p->books, p->facts.cluster, raise_run, &raising, why) < 0)
		return -1;
	jobs = calloc(p->nwaiting + 1, sizeof(*jobs));
	if (!jobs)
		fault_errno(why, ENOMEM, "out of memory");
	else
		n = order_waiting(p, ranking, jobs, &funded);
	if (n >= 0 && (place_waiting(p, jobs, funded, (size_t)n, gap) < 0 ||
		tell_turns(p, ranking, jobs, funded, (size_t)n) < 0))
		n = -1;
	free(jobs);
	return n < 0 ? fault_set(why, "places: %s", strerror(errno)) : 0;
}
