/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_fronts.c - what of the queue goes before the path of ratios: the debug lane; and for whom nodes
 * are cleared (doc/model.md, 6)
 *
 * A job stands in the lane by its shape, without being asked for it; of each user the first one, by team rank
 * and age, while none of theirs runs in it and their allowance of the day lasts. It is written down before
 * its place is published, so that the run that begins then is known as one of the lane's after any kill. */
#include "budgetd/cluster_state.h"
#include "budgetd/ledger_lane.h"
#include "budgetd/pass.h"
#include "lib/lane.h"
#include "lib/zone.h"
#include <errno.h>
#include <stdlib.h>

/* --- who may go into the lane ------------------------------------------------------------------- */

static int64_t time_limit(const struct pass *p, const struct job_view *j)
{
	if (j->time_limit_s != JOB_TIME_LIMIT_UNSET)
		return j->time_limit_s;
	/* of no partition: Slurm starts it nowhere */
	return cluster_state_partitions(p->b->cluster, j->partition).time_limit_s;
}

/* Tasks of an array and components of a het job are many: the lane is for one job of a user. */
static bool is_lane_job(const struct pass *p, const struct lane_limits *limits, const struct waiting *w,
	bool paid)
{
	const struct admission_row *a = &w->admission;

	return a->tier == TIER_FUNDED && a->tasks == 1 && !w->job->het_job_id && w->tasks == 1 &&
		(w->paid > 0 || !paid) && pass_mode(p, w->job) == ENFORCE_ON &&
		lane_takes(limits, a->gpus, a->min_runtime_s, time_limit(p, w->job));
}

static int cmp(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int by_user(const void *a, const void *b)
{
	const struct order_job *x = a, *y = b;

	return cmp(((const struct waiting *)x->data)->admission.uid,
		((const struct waiting *)y->data)->admission.uid);
}

/* Those of one user: whatever their projects' ratios, so that all tie; within a project by team rank. */
static struct order_job of_its_user(struct waiting *w)
{
	return (struct order_job){ .front = ORDER_LANE, .project = (uint32_t)w->admission.project,
		.team_rank = (int)w->admission.team_rank, .submit = w->admission.at, .job_id = w->job->job_id,
		.data = w };
}

/* Where the jobs of the next user begin. */
static size_t next_user(const struct order_job *jobs, size_t n, size_t at)
{
	size_t next = at;

	while (next < n && !by_user(&jobs[at], &jobs[next]))
		next++;
	return next;
}

/* Those whose shape is the lane's, by user, in the order of each. NULL and ENOMEM; *n is 0 where nobody
 * is. */
static struct order_job *lane_candidates(struct pass *p, const struct lane_limits *limits, bool paid,
	size_t *n)
{
	struct order_job *found = calloc(p->nwaiting + 1, sizeof(*found));
	int rc = 0;

	*n = 0;
	for (size_t i = 0; found && i < p->nwaiting; i++)
		if (is_lane_job(p, limits, &p->waiting[i], paid))
			found[(*n)++] = of_its_user(&p->waiting[i]);
	if (*n)
		qsort(found, *n, sizeof(*found), by_user);
	for (size_t i = 0, next; found && rc == 0 && i < *n; i = next) {
		next = next_user(found, *n, i);
		rc = order_sort(&found[i], next - i);
	}
	if (rc == 0)
		return found;
	free(found);
	return NULL;
}

/* --- what each had of it ------------------------------------------------------------------------ */

static int add_user(const struct lane_user *u, void *arg)
{
	struct pass *p = arg;
	struct lane_user *grown = reallocarray(p->lane_users, p->nlane_users + 1, sizeof(*grown));

	if (!grown)
		return -1;
	p->lane_users = grown;
	grown[p->nlane_users++] = *u;
	return 0;
}

/* before the day: a clock that is put back by less than that forgets nothing */
#define KEPT_S 172800

/* In the writer: runs that this very pass opened are not in its snapshot. */
static int read_use(struct pass *p, void *arg, struct fault *why)
{
	int64_t day = zone_day(p->b->zone, p->now);

	(void)arg;
	errno = 0;
	if (lane_forget(p->b->ledger, day - KEPT_S, why) == 0 &&
		lane_use(p->b->ledger, day, p->now, add_user, p, why) == 0)
		return 0;
	return errno == ENOMEM ? fault_errno(why, ENOMEM, "out of memory") : -1;
}

static int know_use(struct pass *p, struct fault *why)
{
	if (p->lane_known)
		return 0;
	if (pass_write(p, LEDGER_HOLDS, read_use, NULL, why) < 0)
		return -1;
	p->lane_known = true;
	return 0;
}

static int by_uid(const void *a, const void *b)
{
	return cmp(((const struct lane_user *)a)->uid, ((const struct lane_user *)b)->uid);
}

static struct lane_user use_of(const struct pass *p, int64_t uid)
{
	struct lane_user key = { .uid = uid };
	const struct lane_user *u = p->nlane_users
		? bsearch(&key, p->lane_users, p->nlane_users, sizeof(key), by_uid) : NULL;

	return u ? *u : key;
}

static void give_lane(const struct pass *p, const struct lane_limits *limits, const struct order_job *jobs,
	size_t n)
{
	struct lane_user u = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct waiting *w = jobs[i].data;
		const struct admission_row *a = &w->admission;

		if (i == 0 || u.uid != a->uid)
			u = use_of(p, a->uid);
		if (!lane_is_open(limits, u.running, u.used_gpu_s, a->gpus, a->min_runtime_s))
			continue;
		w->front = ORDER_LANE;
		u.running++;
	}
}

/* --- written down ------------------------------------------------------------------------------- */

struct lane_list {
	struct pass *p;
	int64_t *admissions;
	size_t count, stay, left;	/* of those that the books have */
};

static int compare_known(int64_t admission, void *arg)
{
	struct lane_list *x = arg;
	struct waiting *w = pass_find_waiting(x->p, admission);

	x->stay += w && w->front == ORDER_LANE;
	x->left += !w || w->front != ORDER_LANE;
	return 0;
}

static int write_lane(struct pass *p, void *arg, struct fault *why)
{
	const struct lane_list *x = arg;

	return lane_set(p->b->ledger, x->admissions, x->count, why);
}

/* Nearly always it is as it was. Nobody else writes it, so that the snapshot knows. */
static int note_lane(struct pass *p, struct fault *why)
{
	struct lane_list now = { .p = p, .admissions = calloc(p->nwaiting + 1, sizeof(*now.admissions)) };
	int rc = now.admissions ? 0 : fault_errno(why, ENOMEM, "out of memory");

	if (rc == 0)
		rc = lane_walk(p->books, compare_known, &now, why);
	for (size_t i = 0; i < p->nwaiting && rc == 0; i++)
		if (p->waiting[i].front == ORDER_LANE)
			now.admissions[now.count++] = p->waiting[i].admission.id;
	if (rc == 0 && (now.left || now.stay != now.count))
		rc = pass_write(p, LEDGER_HOLDS, write_lane, &now, why);
	free(now.admissions);
	return rc;
}

/* --- the gang guard ----------------------------------------------------------------------------- */

/* It needs several nodes, and has waited so long that they are cleared for it (lib/placement.h). */
static bool is_cleared(const struct pass *p, const struct waiting *w)
{
	int64_t since = w->job->eligible > w->admission.at ? w->job->eligible : w->admission.at;
	int64_t node = cluster_state_partitions(p->b->cluster, w->job->partition).gpus_per_node;
	bool gang = w->job->node_count > 1 || (node > 0 && w->admission.gpus > node);

	return w->admission.tier == TIER_FUNDED && w->tasks > 0 && gang &&
		p->now - since >= p->b->settings->clear_after_s;
}

/* --- together ----------------------------------------------------------------------------------- */

int pass_choose_fronts(struct pass *p, bool paid, struct fault *why)
{
	const struct lane_limits *limits = &p->b->settings->lane;
	struct order_job *jobs;
	size_t n;

	for (size_t i = 0; i < p->nwaiting; i++) {
		struct waiting *w = &p->waiting[i];

		w->front = w->admission.tier == TIER_FREE ? ORDER_FREE : ORDER_BY_SHARE;
		w->first_tasks = 0;
		w->cleared = is_cleared(p, w);
	}
	jobs = lane_candidates(p, limits, paid, &n);
	if (!jobs)
		return fault_errno(why, ENOMEM, "out of memory");
	if (n && know_use(p, why) < 0) {
		free(jobs);
		return -1;
	}
	give_lane(p, limits, jobs, n);
	free(jobs);
	if (pass_choose_slots(p, paid, why) < 0)
		return -1;
	return paid ? note_lane(p, why) : 0;
}
