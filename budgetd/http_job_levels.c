/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_levels.c - level by level, what was used of whose share, and who goes first: a part of `why`. */
#include "budgetd/cluster_state.h"
#include "budgetd/http_job_inside.h"
#include "budgetd/http_job_turn.h"
#include "budgetd/people.h"
#include "budgetd/ranking.h"
#include "budgetd/ranking_users.h"
#include "lib/duration.h"
#include <stdio.h>

struct waiting_look {
	int64_t uid;			/* RANKING_NO_USER: anybody's */
	bool waits;
};

static int note_waiting(const struct hold_row *h, void *arg)
{
	struct waiting_look *x = arg;

	x->waits = x->waits || (!h->run && (x->uid == RANKING_NO_USER || x->uid == h->uid));
	return 0;
}

/* In the debug lane, or inside a slot of its project, it goes before those that have used less; in the free
 * tier the order is by what was used without being paid for. */
static bool goes_by_share(const struct explanation *x)
{
	struct job_turn t;

	return !cluster_state_turn(x->rq->b->cluster, (uint32_t)x->name.job, x->seen.record, &t) ||
		t.front == ORDER_BY_SHARE;
}

/* The sibling in front holds the job up only while something below the sibling waits. */
static int tell_ahead(struct explanation *x, const struct ranking_level *level)
{
	char window[DURATION_TEXT_MAX], ratio[FAIRSHARE_TEXT_MAX];
	struct project sibling;
	struct waiting_look look = { .uid = RANKING_NO_USER };

	if (!x->seen.waiting_tasks || !level->ahead[0] || !goes_by_share(x))
		return 0;
	if (project_find(x->l, level->ahead, &sibling, x->why) != 1 ||
		hold_walk(x->l, sibling.id, false, 0, INT64_MAX, note_waiting, &look, x->why) < 0)
		return -1;
	if (look.waits && level->ratio_ppm == FAIRSHARE_NO_RATIO)
		job_tell(x, "%s has share 0, and comes behind all that have one; %s goes first.", level->name,
			level->ahead);
	else if (look.waits)
		job_tell(x, "%s has used %s of its share of the last %s; %s has used less and goes first.",
			level->name, fairshare_text(level->ratio_ppm, ratio),
			duration_text(x->rq->b->settings->window_s, window), level->ahead);
	return 0;
}

/* The same of its user among those of the project. Who does not see the project is not told who they are. */
static int tell_user_ahead(struct explanation *x, const struct ranking_level *level,
	const struct json_object *o)
{
	struct waiting_look look = { .uid = level->ahead_uid };
	struct json_object *ahead = json_object_object_get(o, "ahead");
	char window[DURATION_TEXT_MAX], ratio[FAIRSHARE_TEXT_MAX];

	if (!x->seen.waiting_tasks || level->ahead_uid == RANKING_NO_USER || !goes_by_share(x))
		return 0;
	if (hold_walk(x->l, x->project.id, false, 0, INT64_MAX, note_waiting, &look, x->why) < 0)
		return -1;
	if (look.waits && level->ratio_ppm == FAIRSHARE_NO_RATIO)
		job_tell(x, "Its user has share 0 of %s, and comes behind all that have one; %s goes first.",
			level->name, ahead ? json_object_get_string(ahead) : "another user");
	else if (look.waits)
		job_tell(x,
			"Of the share of %s its user has used %s of their part in the last %s; %s has used less of theirs and goes first.",
			level->name, fairshare_text(level->ratio_ppm, ratio),
			duration_text(x->rq->b->settings->window_s, window),
			ahead ? json_object_get_string(ahead) : "another user");
	return 0;
}

static void put_names(struct explanation *x, const struct ranking_level *level, struct json_object *o)
{
	char name[PERSON_NAME_MAX];
	bool user = level->uid != RANKING_NO_USER,
		sees = request_may_see(x->rq, x->l, x->project.id, NULL) == 0;

	if (user)
		people_name(x->rq->b->people, (uid_t)level->uid, x->rq->now, name);
	put_text(o, "user", user ? name : NULL);
	put_text(o, "name", user ? name : level->name);
	if (user)
		put_text(o, "ahead", level->ahead_uid == RANKING_NO_USER || !sees ? NULL :
			people_name(x->rq->b->people, (uid_t)level->ahead_uid, x->rq->now, name));
	else
		put_text(o, "ahead", level->ahead[0] ? level->ahead : NULL);
}

/* As the loop has it, with a node for the user of a job that is in no book yet. */
static int rank(struct explanation *x, struct ranking **out)
{
	const struct project_user its = { x->project.id, x->admission.uid };
	const struct budgetd *b = x->rq->b;
	struct cluster_health health;

	cluster_state_health(b->cluster, &health);
	if (ranking_empty(out, x->why) < 0)
		return -1;
	if (ranking_expect(*out, &its, 1, x->why) == 0 &&
		ranking_renew(*out, x->l, b->settings->window_s, b->rates, &health.healthy, x->rq->now,
			x->why) == 0)
		return 0;
	ranking_free(*out);
	return -1;
}

static int tell_its_turn(struct explanation *x, const struct ranking *ranking)
{
	struct turn_question q = { .rq = x->rq, .l = x->l, .job = x->name.job, .record = x->seen.record,
		.label = x->label, .admission = &x->admission, .ranking = ranking,
		.partition = x->seen.partition, .time_limit_s = x->seen.time_limit_s,
		.waits = x->seen.waiting_tasks > 0, .runs = x->seen.running + x->seen.suspended > 0,
		.held = x->seen.waiting_tasks > 0 && x->seen.held_tasks == x->seen.waiting_tasks,
		.requeueable = x->seen.requeueable, .o = x->o, .lines = x->lines };

	if (q.time_limit_s == JOB_TIME_LIMIT_UNSET)
		q.time_limit_s = cluster_state_partitions(x->rq->b->cluster, x->seen.partition).time_limit_s;
	return job_turn_tell(&q, x->why);
}

int job_tell_levels(struct explanation *x)
{
	struct ranking_level levels[RANKING_LEVELS_MAX];
	struct ranking *ranking;
	int n, rc = 0;

	if (rank(x, &ranking) < 0)
		return -1;
	n = ranking_levels(ranking, x->project.id, x->admission.uid, levels, RANKING_LEVELS_MAX);
	for (int i = 0; i < n && rc == 0; i++) {
		struct json_object *o = json_object_new_object();

		json_object_array_add(x->levels, o);
		put_text(o, "project", levels[i].name);
		put_int(o, "share_ppm", levels[i].share_ppm);
		put_int_or_null(o, "ratio_ppm", levels[i].ratio_ppm, levels[i].ratio_ppm < 0);
		put_names(x, &levels[i], o);
		rc = levels[i].uid == RANKING_NO_USER ? tell_ahead(x, &levels[i])
			: tell_user_ahead(x, &levels[i], o);
	}
	if (rc == 0)
		rc = tell_its_turn(x, ranking);
	ranking_free(ranking);
	return rc;
}
