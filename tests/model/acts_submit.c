/* SPDX-License-Identifier: GPL-2.0-or-later
 * acts_submit.c - submissions in a history: jobs, arrays, het jobs, through the plugin and past it. */
#include "tests/model/history.h"
#include "lib/token.h"
#include <stdlib.h>
#include <string.h>

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

struct question job_question(const struct w_job *j, char minimum[32])
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
	q.het = j->het != 0;
	q.gpus.array = j->all ? world_array(j->tasks) : NULL;
	q.text[OPT_MIN_RUNTIME] = minimum;
	q.text[OPT_TIER] = j->insists ? "funded" : j->free_tier ? "free" : NULL;
	return q;
}

/* As a job that is asked about is told to the oracle. */
struct o_seen job_wanted(const struct history *h, const struct w_job *j, int number)
{
	return (struct o_seen){.job = number,
		.answer = j->first,
		.het = j->het,
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
	tell(h,
		"%s job %d%s%s of p%d and user %d: %d GPUs of t%d, minimum %jd s, limit %jd s%s%s%s%s%s, begin %+jd",
		what, number, j->all ? " with tasks " : "", world_array(j->tasks), j->node, j->user, j->gpus,
		j->type, (intmax_t)j->minimum, (intmax_t)j->limit, j->het ? ", of a het job" : "",
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

/* Both are asked, and must give the same answer, which is in its record then. */
static bool is_accepted(struct history *h, struct w_job *j, int number)
{
	char minimum[32];
	struct question q = job_question(j, minimum);
	struct o_seen want = job_wanted(h, j, number);
	enum o_tier tier;
	struct verdict v;

	h->saved = h->o;
	tier = oracle_ask(&h->o, h->now, &want);
	v = bench_ask(h->b, h->now, &q);
	tell_job(h, "submitted:", number, j);
	tell(h, "answer: %s", v.text);
	if ((v.accepted ? v.tier == TIER_FUNDED ? O_FUNDED_TIER : O_FREE_TIER : O_REFUSED) != tier)
		differ(h, "the oracle answers job %d with %s", number,
			tier == O_REFUSED       ? "no"
			: tier == O_FUNDED_TIER ? "funded"
						: "free");
	if (!v.accepted)
		return false;
	snprintf(j->qos, sizeof(j->qos), "%s", v.qos);
	snprintf(j->admin_comment, sizeof(j->admin_comment), "%s", v.token);
	if (v.waits)
		wait_for_money(j);
	return true;
}

/* Through the plugin. Now and then Slurm refuses it afterwards, or budgetd is killed before the answer is
 * written. */
bool job_submitted(struct history *h)
{
	int number = h->w.njobs;
	struct w_job *j = &h->w.jobs[number];
	char minimum[32];
	bool lost, accepted;

	if (number >= H_JOBS)
		return false;
	invent(h, number, j);
	if (chance(h, 25) && number + H_TASKS <= H_JOBS) {
		j->all = (int)between(h, 2, H_TASKS);
		j->tasks = (1u << j->all) - 1;
	}
	lost = !j->all && chance(h, 2);
	accepted = is_accepted(h, j, number);
	if (lost) {
		tell(h, "and budgetd is killed before it writes that");
		bench_kill(h->b);
		h->o = h->saved;
		oracle_trouble(&h->o, true);
		h->w.slurmctld_away = false;
		h->must_look = true;
	} else {
		bench_write(h->b);
	}
	h->w.njobs += j->all ? j->all : 1; /* a number for each task */
	if (!accepted || chance(h, 5)) {
		j->state = W_NONE; /* its number is not used again */
		return true;
	}
	write_minimum(j, minimum);
	if (lost)
		snprintf(j->comment, sizeof(j->comment), "gpu-min-runtime=%s%s", minimum,
			j->insists     ? " gpu-tier=funded"
			: j->free_tier ? " gpu-tier=free"
				       : "");
	return true;
}

/* One component after the other; Slurm refuses all when one is refused. */
bool het_job_submitted(struct history *h)
{
	int first = h->w.njobs, n = (int)between(h, 2, 3);
	enum job_held held = chance(h, 7) ? HELD_BY_USER : HELD_NOT;
	bool accepted = true;

	if (first + n > H_JOBS)
		return false;
	for (int i = first; i < first + n && accepted; i++) {
		struct w_job *j = &h->w.jobs[i], *leader = &h->w.jobs[first];

		invent(h, i, j);
		j->het = first + 1;
		j->user = leader->user;
		j->begin = leader->begin;
		j->dependency = leader->dependency;
		j->held = held;
		if (chance(h, 70))
			j->node = leader->node;
		accepted = is_accepted(h, j, i);
		bench_write(h->b);
	}
	h->w.njobs += n;
	for (int i = first; i < first + n && !accepted; i++)
		h->w.jobs[i].state = W_NONE;
	return true;
}

/* Past the plugin: its words are in its comment. It is in the QOS free, or somebody put it in funded. */
bool job_met(struct history *h)
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
