/* SPDX-License-Identifier: GPL-2.0-or-later
 * world.c - a cluster that exists only in this test (world.h). */
#include "tests/model/world.h"
#include "lib/token.h"
#include <stdio.h>
#include <string.h>

#define TEXTS 16

static char *next_text(void)
{
	static char texts[TEXTS][64];
	static unsigned int next;

	return texts[next++ % TEXTS];
}

const char *world_account(int node)
{
	static const char *const names[O_NODES] = {"p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"};

	return names[node];
}

const char *world_request(int gpus, int type)
{
	char *s = next_text();

	if (type == O_ANY_TYPE)
		snprintf(s, 64, "gres:gpu:%d", gpus);
	else
		snprintf(s, 64, "gres:gpu:t%d:%d", type, gpus);
	return s;
}

const char *world_tres(int gpus, int type)
{
	char *s = next_text();

	if (type == O_ANY_TYPE)
		snprintf(s, 64, "cpu=1,node=1,gres/gpu=%d", gpus);
	else
		snprintf(s, 64, "cpu=1,node=1,gres/gpu=%d,gres/gpu:t%d=%d", gpus, type, gpus);
	return s;
}

int world_tasks(const struct w_job *j)
{
	return j->all ? __builtin_popcount(j->tasks) : 1;
}

int world_first_task(const struct w_job *j)
{
	return j->tasks ? __builtin_ctz(j->tasks) : 0;
}

const char *world_array(uint32_t tasks)
{
	char *s = next_text(), *at = s;

	*s = '\0';
	for (int i = 0; i < 32; i++)
		if (tasks >> i & 1)
			at += sprintf(at, "%s%d", at == s ? "" : ",", i);
	return s;
}

int world_split(struct slurm_link *w, int job, int task)
{
	struct w_job *j = &w->jobs[job];
	int to = j->first + 1;

	if (world_tasks(j) == 1)
		return job;
	while (w->jobs[to].state != W_NONE)
		to++;
	w->jobs[to] = *j;
	w->jobs[to].tasks = 1u << task;
	j->tasks &= ~(1u << task);
	return to;
}

bool world_held_by_us(const struct w_job *j)
{
	return (j->held == HELD_BY_ADMIN || j->held == HELD_BY_USER) && token_waits(j->admin_comment);
}

bool world_in_table(const struct slurm_link *w, const struct w_job *j)
{
	return j->state != W_NONE && (j->state != W_ENDED || w->now - j->end < MIN_JOB_AGE_S);
}

bool world_startable(const struct slurm_link *w, const struct w_job *j)
{
	if (j->state != W_PENDING || j->held != HELD_NOT || j->dependency || j->begin > w->now)
		return false;
	for (int i = 0; j->het && i < w->njobs; i++) /* all of it start */
		if (w->jobs[i].het == j->het && (w->jobs[i].state != W_PENDING || w->jobs[i].held != HELD_NOT))
			return false;
	return true;
}

void world_end(struct slurm_link *w, int job, int64_t at, bool requeue, int64_t late, bool twice)
{
	struct w_job *j = &w->jobs[job];
	struct w_row *r = &w->rows[w->nrows++];

	*r = (struct w_row){.job = job,
		.node = j->node,
		.user = j->user,
		.array = j->first,
		.task = j->all ? world_first_task(j) : O_NONE,
		.het = j->het,
		.given = j->given,
		.first_given = j->first_given,
		.type = j->given_type,
		.submit = j->submit,
		.start = j->start,
		.end = at,
		.resized = j->resized,
		.paused = j->paused,
		.paused_first = j->paused_first,
		.pauses_blurred = j->pauses_blurred,
		.alloc = j->alloc,
		.first_alloc = j->first_alloc,
		.limit = j->limit,
		.visible = w->now + late,
		.twice = twice};
	memcpy(r->qos, j->qos, sizeof(r->qos));
	memcpy(r->admin_comment, j->admin_comment, sizeof(r->admin_comment));
	j->state = requeue ? W_PENDING : W_ENDED;
	j->end = requeue ? 0 : at;
	if (!requeue)
		return;
	j->restarts++;
	j->submit = at;
	j->start = j->resized = j->paused = j->paused_first = j->paused_at = 0;
	j->pauses_blurred = false;
}

void world_suspend(struct w_job *j, int64_t at)
{
	if (j->state == W_SUSPENDED)
		j->paused += at - j->paused_at;
	j->state = j->state == W_RUNNING ? W_SUSPENDED : W_RUNNING;
	j->paused_at = at;
}

int64_t world_paused(const struct slurm_link *w, const struct w_job *j)
{
	return j->paused + (j->state == W_SUSPENDED ? w->now - j->paused_at : 0);
}

static void funding_of(const char *qos, struct o_seen *s)
{
	s->in_funded_qos = strcmp(qos, "funded") == 0 || strcmp(qos, "funded-still") == 0;
	s->in_free_qos = strcmp(qos, "free") == 0;
}

/* What a job declared, whatever it is now. */
static struct o_seen declared(const struct slurm_link *w, int job)
{
	const struct w_job *j = &w->jobs[job];

	return (struct o_seen){.job = job,
		.answer = j->first,
		.het = j->het,
		.tasks = world_tasks(j),
		.node = j->node,
		.user = j->user,
		.minimum = j->minimum,
		.limit = j->limit,
		.insists = j->insists,
		.free_tier = j->free_tier,
		.restarts = j->restarts,
		.asked_gpus = j->gpus,
		.asked_type = j->type};
}

static void show_job(const struct slurm_link *w, int job, struct o_seen *s)
{
	const struct w_job *j = &w->jobs[job];

	*s = declared(w, job);
	s->stage = j->state == W_PENDING ? O_PENDING : j->state == W_ENDED ? O_ENDED : O_RUNNING;
	s->suspended = j->state == W_SUSPENDED;
	s->held_by_user = j->held == HELD_BY_USER && !world_held_by_us(j);
	s->eligible = !j->dependency && j->begin <= w->now;
	s->loose = s->stage == O_PENDING && s->eligible && j->held == HELD_NOT;
	s->submit = j->submit;
	s->start = j->start;
	s->end = j->end;
	s->resized = j->resized;
	s->paused = world_paused(w, j);
	s->paused_at = j->paused_at;
	s->first_gpus = j->first_given;
	s->gpus = s->stage == O_PENDING ? j->gpus : j->given;
	s->type = s->stage == O_PENDING ? j->type : j->given_type;
	funding_of(j->qos, s);
}

int world_table(const struct slurm_link *w, struct o_seen out[O_JOBS])
{
	int n = 0;

	for (int i = 0; i < w->njobs; i++)
		if (world_in_table(w, &w->jobs[i]))
			show_job(w, i, &out[n++]);
	return n;
}

/* In the order in which slurmdbd's rows are looked at: by job, of a job as they ended. */
static void sort_last(struct o_seen *rows, int n)
{
	struct o_seen last = rows[n];

	for (; n > 0 && rows[n - 1].job > last.job; n--)
		rows[n] = rows[n - 1];
	rows[n] = last;
}

int world_rows(const struct slurm_link *w, struct o_seen out[W_ROWS])
{
	int n = 0;

	for (int i = 0; i < w->nrows; i++) {
		const struct w_row *r = &w->rows[i];

		if (r->visible > w->now)
			continue;
		out[n] = declared(w, r->job);
		out[n].stage = O_ENDED;
		out[n].submit = r->submit;
		out[n].start = r->start;
		out[n].end = r->end;
		out[n].resized = r->resized;
		out[n].paused = r->paused;
		out[n].paused_first = r->paused_first;
		out[n].first_gpus = r->first_given;
		out[n].gpus = r->given;
		out[n].type = r->type;
		out[n].limit = r->limit;
		funding_of(r->qos, &out[n]);
		sort_last(out, n++);
	}
	return n;
}
