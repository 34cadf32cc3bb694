/* SPDX-License-Identifier: GPL-2.0-or-later
 * acts_jobs.c - what users and Slurm do with jobs that are submitted, in a history. */
#include "tests/model/history.h"
#include <string.h>

static bool is_pending(const struct w_job *j)
{
	return j->state == W_PENDING;
}

static bool is_running(const struct w_job *j)
{
	return j->state == W_RUNNING || j->state == W_SUSPENDED;
}

/* A job of that kind, any of them; NULL when there is none. */
static struct w_job *some_job(struct history *h, bool (*kind)(const struct w_job *))
{
	int n = 0, k;

	for (int i = 0; i < h->w.njobs; i++)
		n += kind(&h->w.jobs[i]);
	if (!n)
		return NULL;
	k = (int)below(h, n);
	for (int i = 0; i < h->w.njobs; i++)
		if (kind(&h->w.jobs[i]) && k-- == 0)
			return &h->w.jobs[i];
	return NULL;
}

/* Another component of the same job? */
static bool is_of_het(const struct w_job *a, const struct w_job *b)
{
	return a->het && a->het == b->het && a != b && a->state != W_NONE && a->state != W_ENDED;
}

static int number_of(const struct history *h, const struct w_job *j)
{
	return (int)(j - h->w.jobs);
}

/* When a thing that nobody saw happened: since the last look or step, but not before `least`. */
static int64_t meanwhile(struct history *h, int64_t least)
{
	int64_t from = h->looked > h->before ? h->looked : h->before;

	if (from < least)
		from = least;

	return from >= h->now ? h->now : between(h, from, h->now);
}

/* --- in the queue ------------------------------------------------------------------------------- */

static void start_one(struct history *h, struct w_job *j, int64_t at)
{
	j->start = at;
	j->state = W_RUNNING;
	j->given = j->first_given = j->gpus + (chance(h, 8) ? (int)between(h, 1, 4) : 0);
	j->given_type = j->type == O_ANY_TYPE ? (int)below(h, O_TYPES) : j->type;
	tell(h, "job %d starts at %+jd with %d GPUs of t%d in %s", number_of(h, j),
		(intmax_t)(j->start - h->now), j->given, j->given_type, j->qos);
}

/* Of a het job all components. */
static bool start(struct history *h)
{
	struct w_job *j = some_job(h, is_pending);
	int64_t at;

	if (!j || !world_startable(&h->w, j))
		return false;
	j = &h->w.jobs[world_split(&h->w, number_of(h, j), world_first_task(j))];
	at = meanwhile(h, j->submit > j->begin ? j->submit : j->begin);
	for (int i = 0; j->het && i < h->w.njobs; i++)
		if (h->w.jobs[i].het == j->het && &h->w.jobs[i] != j)
			start_one(h, &h->w.jobs[i], at);
	start_one(h, j, at);
	return true;
}

static bool cancel(struct history *h)
{
	struct w_job *j = some_job(h, is_pending);

	if (!j)
		return false;
	if (world_tasks(j) > 1 && chance(h, 60)) {
		tell(h, "the first of %d tasks of job %d is cancelled", world_tasks(j), number_of(h, j));
		j->tasks &= j->tasks - 1;
		return true;
	}
	tell(h, "job %d is cancelled in the queue", number_of(h, j));
	for (int i = 0; i < h->w.njobs; i++)
		if (&h->w.jobs[i] == j || is_of_het(&h->w.jobs[i], j)) {
			h->w.jobs[i].state = W_ENDED;
			h->w.jobs[i].end = h->now;
		}
	return true;
}

static bool hold_or_release(struct history *h)
{
	struct w_job *j = some_job(h, is_pending);

	if (!j)
		return false;
	if (j->dependency && chance(h, 70)) {
		tell(h, "what job %d depended on is done", number_of(h, j));
		for (int i = 0; i < h->w.njobs; i++)
			if (is_of_het(&h->w.jobs[i], j))
				h->w.jobs[i].dependency = false;
		j->dependency = false;
		return true;
	}
	if (j->held == HELD_BY_ADMIN || j->held == HELD_BY_OTHER || world_held_by_us(j))
		return false;
	if (world_tasks(j) > 1 && chance(h, 50)) /* one of its tasks */
		j = &h->w.jobs[world_split(&h->w, number_of(h, j), world_first_task(j))];
	j->held = j->held == HELD_NOT ? HELD_BY_USER : HELD_NOT;
	for (int i = 0; i < h->w.njobs; i++)
		if (is_of_het(&h->w.jobs[i], j) && !world_held_by_us(&h->w.jobs[i]))
			h->w.jobs[i].held = j->held;
	tell(h, "job %d is %s by its user", number_of(h, j), j->held == HELD_NOT ? "released" : "held");
	return true;
}

/* Through the plugin: both must give the same answer. */
static bool is_let_through(struct history *h, const struct w_job *then, int number)
{
	char minimum[32];
	struct question q = job_question(then, minimum);
	struct o_seen want = job_wanted(h, then, number);
	bool ours = oracle_change_job(&h->o, h->now, &want);

	if (bench_change_job(h->b, h->now, &q, number) != ours)
		differ(h, "the oracle %s the change; %s", ours ? "allows" : "refuses",
			ours ? h->b->why.text : "");
	tell(h, "the change is %s", ours ? "let through" : "refused");
	return ours;
}

/* scontrol update, through the plugin or past it. Now and then Slurm refuses it afterwards. */
static bool modify(struct history *h)
{
	struct w_job *j = some_job(h, is_pending), then;
	bool asked;

	if (!j || j->all || j->het || j->held == HELD_BY_ADMIN || !h->o.jobs[number_of(h, j)].known ||
		h->o.jobs[number_of(h, j)].looks < 2)
		return false;
	then = *j;
	if (chance(h, 50))
		then.gpus = (int)between(h, 1, 6);
	else
		then.limit = 60 * between(h, 1, 120);
	asked = chance(h, 80);
	tell(h, "job %d is to have %d GPUs and limit %jd s%s", number_of(h, j), then.gpus,
		(intmax_t)then.limit, asked ? "" : ", past the plugin");
	if (asked && !is_let_through(h, &then, number_of(h, j)))
		return true;
	if (!asked || !chance(h, 10))
		*j = then;
	else
		tell(h, "Slurm does not make the change");
	return true;
}

/* --- running ------------------------------------------------------------------------------------ */

/* What happened to a run happened in that order. */
static int64_t last_change(const struct w_job *j)
{
	int64_t at = j->resized > j->start ? j->resized : j->start;

	return at > j->paused_at ? at : j->paused_at;
}

static bool end_or_requeue(struct history *h, bool requeue)
{
	struct w_job *j = some_job(h, is_running);
	int64_t at, late;
	bool slow;

	if (!j)
		return false;
	at = meanwhile(h, last_change(j));
	slow = chance(h, 3) && at - 30 > last_change(j);
	if (slow)
		at -= between(h, 1, 30);
	if (j->state == W_SUSPENDED) { /* for Slurm it ended when it was suspended */
		at = j->paused_at;
		slow = at < h->looked;
	}
	if (requeue && at == j->start)
		return false;
	late = !j->resized && chance(h, 20) ? between(h, 1, 400) : 0;
	tell(h, "job %d %s at %+jd, slurmdbd tells %jd s later", number_of(h, j),
		requeue ? "is requeued" : "ends", (intmax_t)(at - h->now), (intmax_t)late);
	for (int i = 0; i < h->w.njobs; i++)
		if (is_of_het(&h->w.jobs[i], j) && is_running(&h->w.jobs[i])) {
			world_end(&h->w, i, at, requeue, late, chance(h, 10));
			h->w.rows[h->w.nrows - 1].slow_clock = slow;
		}
	world_end(&h->w, number_of(h, j), at, requeue, late, chance(h, 10));
	h->w.rows[h->w.nrows - 1].slow_clock = slow;
	return true;
}

static bool end(struct history *h)
{
	return end_or_requeue(h, false);
}

static bool requeue(struct history *h)
{
	return end_or_requeue(h, true);
}

static bool resize(struct history *h)
{
	struct w_job *j = some_job(h, is_running);
	int64_t at;

	if (!j || j->het || j->resized || j->state == W_SUSPENDED)
		return false;
	at = meanwhile(h, last_change(j) + 1);
	if (at <= j->start)
		return false;
	j->resized = at;
	j->paused_first = j->paused;
	j->given = (int)between(h, 1, 6);
	tell(h, "job %d goes from %d to %d GPUs at %+jd", number_of(h, j), j->first_given, j->given,
		(intmax_t)(at - h->now));
	return true;
}

static bool change_running(struct history *h)
{
	struct w_job *j = some_job(h, is_running);

	if (!j || j->all || j->het)
		return false;
	j->limit = 60 * between(h, 1, 240);
	tell(h, "the limit of running job %d becomes %jd s", number_of(h, j), (intmax_t)j->limit);
	return true;
}

static bool is_suspended(const struct w_job *j)
{
	return j->state == W_SUSPENDED;
}

/* What is suspended goes on rather than that more is suspended. */
static bool suspend_or_resume(struct history *h)
{
	struct w_job *j = some_job(h, chance(h, 60) ? is_suspended : is_running);
	int64_t at;

	if (!j || j->het)
		return false;
	at = meanwhile(h, last_change(j));
	world_suspend(j, at);
	j->pauses_blurred |= j->state == W_SUSPENDED && j->paused && j->resized > j->start &&
		j->resized >= h->looked;
	tell(h, "job %d is %s at %+jd", number_of(h, j), j->state == W_RUNNING ? "resumed" : "suspended",
		(intmax_t)(at - h->now));
	return true;
}

bool job_act(struct history *h)
{
	static bool (*const acts[])(struct history *) = {job_submitted, job_submitted, job_submitted,
		job_submitted, het_job_submitted, job_met,
		start, start, start, start, start, start, end, end, end, requeue, requeue, cancel,
		hold_or_release, modify, resize, change_running, suspend_or_resume,
		suspend_or_resume};

	return acts[below(h, sizeof(acts) / sizeof(acts[0]))](h);
}

void jobs_end(struct history *h)
{
	for (int i = 0; i < h->w.njobs; i++) {
		struct w_job *j = &h->w.jobs[i];

		if (is_running(j)) {
			bool suspended = j->state == W_SUSPENDED;

			world_end(&h->w, i, suspended ? j->paused_at : h->now, false, 0, false);
			h->w.rows[h->w.nrows - 1].slow_clock = suspended && j->paused_at < h->looked;
		} else if (j->state == W_PENDING) {
			j->state = W_ENDED;
			j->end = h->now;
		}
	}
	tell(h, "everything ends");
}
