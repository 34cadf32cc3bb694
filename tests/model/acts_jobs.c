/* SPDX-License-Identifier: GPL-2.0-or-later
 * acts_jobs.c - what users and Slurm do with jobs in a history. */
#include "tests/model/history.h"
#include "lib/token.h"
#include <stdlib.h>
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

/* --- submissions -------------------------------------------------------------------------------- */

static void invent(struct history *h, int number, struct w_job *j)
{
	static const int64_t minimum[] = {60, 90, 300, 600, 3600, 7200};

	*j = (struct w_job){.state = W_PENDING,
		.first = number,
		.node = (int)below(h, h->o.nnodes),
		.user = (int)below(h, O_USERS),
		.gpus = (int)between(h, 1, chance(h, 80) ? 4 : 16),
		.type = (int)below(h, O_TYPES + 1) - 1,
		.submit = h->now,
		.limit = 60 * between(h, 1, chance(h, 50) ? 30 : 240),
		.insists = chance(h, 15),
		.free_tier = chance(h, 5),
		.dependency = chance(h, 7),
		.held = chance(h, 7) ? HELD_BY_USER : HELD_NOT};
	j->minimum = minimum[below(h, 6)] + (chance(h, 30) ? between(h, 0, 59) : 0);
	if (chance(h, 2))
		j->minimum = 8 * 3600 + 1;
	if (chance(h, 7))
		j->begin = h->now + between(h, 1, 7200);
	if (j->free_tier)
		j->insists = false;
}

static void write_minimum(const struct w_job *j, char text[32])
{
	snprintf(text, 32, "0-%02jd:%02jd:%02jd", (intmax_t)(j->minimum / 3600),
		(intmax_t)(j->minimum / 60 % 60), (intmax_t)(j->minimum % 60));
}

static struct question question_of(const struct w_job *j, char minimum[32])
{
	struct question q = {.uid = W_UID + j->user,
		.account = world_account(j->node),
		.partition = "gpu",
		.time_limit_s = j->limit,
		.begin = j->begin,
		.has_dependency = j->dependency,
		.held = j->held != HELD_NOT,
		.requeueable = true};

	write_minimum(j, minimum);
	gpu_request_input_init(&q.gpus);
	q.gpus.tres_per_job = world_request(j->gpus, j->type);
	q.gpus.min_nodes = q.gpus.max_nodes = 1;
	q.gpus.array = j->all ? world_array(j->tasks) : NULL;
	q.text[OPT_MIN_RUNTIME] = minimum;
	q.text[OPT_TIER] = j->insists ? "funded" : j->free_tier ? "free" : NULL;
	return q;
}

/* As a job that is asked about is told to the oracle. */
static struct o_seen want_of(const struct history *h, const struct w_job *j, int number)
{
	return (struct o_seen){.job = number,
		.answer = j->first,
		.tasks = world_tasks(j),
		.stage = O_PENDING,
		.node = j->node,
		.user = j->user,
		.minimum = j->minimum,
		.limit = j->limit,
		.insists = j->insists,
		.free_tier = j->free_tier,
		.held_by_user = j->held == HELD_BY_USER,
		.eligible = !j->dependency && j->begin <= h->now,
		.submit = j->submit,
		.gpus = j->gpus,
		.type = j->type,
		.asked_gpus = j->gpus,
		.asked_type = j->type};
}

static void tell_job(struct history *h, const char *what, int number, const struct w_job *j)
{
	tell(h, "%s job %d%s%s of p%d and user %d: %d GPUs of t%d, minimum %jd s, limit %jd s%s%s%s%s, begin %+jd", what,
		number, j->all ? " with tasks " : "", world_array(j->tasks), j->node, j->user, j->gpus, j->type, (intmax_t)j->minimum, (intmax_t)j->limit,
		j->insists ? ", insists" : "", j->free_tier ? ", free tier" : "",
		j->dependency ? ", depends" : "", j->held == HELD_BY_USER ? ", held" : "",
		(intmax_t)(j->begin ? j->begin - h->now : 0));
}

/* The plugin can hold only as the user does, and says in the record whose hold it is. */
static void wait_for_money(struct w_job *j)
{
	char *comment = token_set_waits(j->admin_comment, true);

	snprintf(j->admin_comment, sizeof(j->admin_comment), "%s", comment ? comment : "");
	free(comment);
	j->held = HELD_BY_USER;
}

/* Through the plugin. Now and then Slurm refuses it afterwards, or budgetd is killed before the answer is
 * written. */
static bool submit(struct history *h)
{
	int number = h->w.njobs;
	struct w_job *j = &h->w.jobs[number];
	char minimum[32];
	struct question q;
	struct o_seen want;
	enum o_tier tier;
	struct verdict v;
	bool lost;

	if (number >= H_JOBS)
		return false;
	invent(h, number, j);
	if (chance(h, 25) && number + H_TASKS <= H_JOBS) {
		j->all = (int)between(h, 2, H_TASKS);
		j->tasks = (1u << j->all) - 1;
	}
	q = question_of(j, minimum);
	want = want_of(h, j, number);
	lost = !j->all && chance(h, 2);
	h->saved = h->o;
	tier = oracle_ask(&h->o, h->now, &want);
	v = bench_ask(h->b, h->now, &q);
	tell_job(h, "submitted:", number, j);
	tell(h, "answer: %s%s", v.text, lost ? " (and budgetd is killed)" : "");
	if ((v.accepted ? v.tier == TIER_FUNDED ? O_FUNDED_TIER : O_FREE_TIER : O_REFUSED) != tier)
		differ(h, "the oracle answers job %d with %s", number,
			tier == O_REFUSED       ? "no"
			: tier == O_FUNDED_TIER ? "funded"
						: "free");
	if (lost) {
		bench_kill(h->b);
		h->o = h->saved;
		oracle_trouble(&h->o, true);
		h->w.slurmctld_away = false;
		h->must_look = true;
	} else {
		bench_write(h->b);
	}
	h->w.njobs += j->all ? j->all : 1; /* a number for each task */
	if (!v.accepted || chance(h, 5)) {
		j->state = W_NONE; /* its number is not used again */
		return true;
	}
	snprintf(j->qos, sizeof(j->qos), "%s", v.qos);
	snprintf(j->admin_comment, sizeof(j->admin_comment), "%s", v.token);
	if (v.waits)
		wait_for_money(j);
	if (lost)
		snprintf(j->comment, sizeof(j->comment), "gpu-min-runtime=%s%s", minimum,
			j->insists     ? " gpu-tier=funded"
			: j->free_tier ? " gpu-tier=free"
				       : "");
	return true;
}

/* Past the plugin: its words are in its comment. It is in the QOS free, or somebody put it in funded. */
static bool submit_past_plugin(struct history *h)
{
	int number = h->w.njobs;
	struct w_job *j = &h->w.jobs[number];
	char minimum[32];

	if (number >= H_JOBS)
		return false;
	invent(h, number, j);
	if (j->minimum > 8 * 3600)
		j->minimum = 600;
	h->w.njobs++;
	write_minimum(j, minimum);
	snprintf(j->comment, sizeof(j->comment), "gpu-min-runtime=%s%s", minimum,
		j->insists     ? " gpu-tier=funded"
		: j->free_tier ? " gpu-tier=free"
			       : "");
	snprintf(j->qos, sizeof(j->qos), "%s", j->free_tier || chance(h, 60) ? "free" : "funded");
	tell_job(h, "submitted past the plugin:", number, j);
	return true;
}

/* --- in the queue ------------------------------------------------------------------------------- */

static bool start(struct history *h)
{
	struct w_job *j = some_job(h, is_pending);

	if (!j || !world_startable(&h->w, j))
		return false;
	j = &h->w.jobs[world_split(&h->w, number_of(h, j), world_first_task(j))];
	j->start = meanwhile(h, j->submit > j->begin ? j->submit : j->begin);
	j->state = W_RUNNING;
	j->given = j->first_given = j->gpus + (chance(h, 8) ? (int)between(h, 1, 4) : 0);
	j->given_type = j->type == O_ANY_TYPE ? (int)below(h, O_TYPES) : j->type;
	tell(h, "job %d starts at %+jd with %d GPUs of t%d in %s", number_of(h, j),
		(intmax_t)(j->start - h->now), j->given, j->given_type, j->qos);
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
	j->state = W_ENDED;
	j->end = h->now;
	return true;
}

static bool hold_or_release(struct history *h)
{
	struct w_job *j = some_job(h, is_pending);

	if (!j)
		return false;
	if (j->dependency && chance(h, 70)) {
		tell(h, "what job %d depended on is done", number_of(h, j));
		j->dependency = false;
		return true;
	}
	if (j->held == HELD_BY_ADMIN || j->held == HELD_BY_OTHER || world_held_by_us(j))
		return false;
	if (world_tasks(j) > 1 && chance(h, 50)) /* one of its tasks */
		j = &h->w.jobs[world_split(&h->w, number_of(h, j), world_first_task(j))];
	j->held = j->held == HELD_NOT ? HELD_BY_USER : HELD_NOT;
	tell(h, "job %d is %s by its user", number_of(h, j), j->held == HELD_NOT ? "released" : "held");
	return true;
}

/* Through the plugin: both must give the same answer. */
static bool is_let_through(struct history *h, const struct w_job *then, int number)
{
	char minimum[32];
	struct question q = question_of(then, minimum);
	struct o_seen want = want_of(h, then, number);
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

	if (!j || j->all || j->held == HELD_BY_ADMIN || !h->o.jobs[number_of(h, j)].known ||
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

	if (!j || j->resized || j->state == W_SUSPENDED)
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

	if (!j || j->all)
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

	if (!j)
		return false;
	at = meanwhile(h, last_change(j));
	world_suspend(j, at);
	tell(h, "job %d is %s at %+jd", number_of(h, j), j->state == W_RUNNING ? "resumed" : "suspended",
		(intmax_t)(at - h->now));
	return true;
}

bool job_act(struct history *h)
{
	static bool (*const acts[])(struct history *) = {submit, submit, submit, submit, submit_past_plugin,
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
