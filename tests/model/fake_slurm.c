/* SPDX-License-Identifier: GPL-2.0-or-later
 * fake_slurm.c - the functions of slurm_link/link.h that the loop calls, over a world that the history moves
 * (world.h).
 *
 * budgetd's own objects are linked with this instead of slurm_link/: what they decide is what they would
 * decide on a cluster. */
#include "tests/model/world.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_OF_A_TYPE (WORLD_GPUS / O_TYPES)
#define FIRST_SIZE     (-1) /* a row of a resized run: its first part */

/* --- the cluster -------------------------------------------------------------------------------- */

int slurm_link_ping(struct slurm_link *l, struct fault *why)
{
	return l->slurmctld_away ? fault_errno(why, ENOTCONN, "slurmctld is away") : 0;
}

int slurm_link_facts(struct slurm_link *l, struct slurm_facts *out, struct fault *why)
{
	if (l->slurmctld_away)
		return fault_errno(why, ENOTCONN, "slurmctld is away");
	*out = (struct slurm_facts){.cluster = "model",
		.version = "0",
		.priority_weights = 100,
		.multifactor = true,
		.min_job_age_s = MIN_JOB_AGE_S,
		.job_requeue = true,
		.slurmdbd = true,
		.gpu_tres = true};
	return 0;
}

int slurm_link_cluster(struct slurm_link *l, struct cluster_view **out, struct fault *why)
{
	struct cluster_view *c = calloc(1, sizeof(*c));
	struct partition_view *p = calloc(1, sizeof(*p));
	char type[16];

	(void)l;
	if (!c || !p) {
		free(c);
		free(p);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	*p = (struct partition_view){.name = "gpu",
		.is_default = true,
		.up = true,
		.default_time_s = 3600,
		.max_time_s = 30 * 86400,
		.gpus_per_node = 64};
	for (int i = 0; i < O_TYPES; i++) {
		snprintf(type, sizeof(type), "t%d", i);
		gpu_count_add(&p->gpus, type, GPUS_OF_A_TYPE);
	}
	*c = (struct cluster_view){
		.partitions = p, .partition_count = 1, .gpus = p->gpus, .healthy = p->gpus};
	*out = c;
	return 0;
}

int slurm_link_accounts(struct slurm_link *l, struct account_table **out, struct fault *why)
{
	(void)l;
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : fault_errno(why, ENOMEM, "out of memory");
}

/* --- jobs --------------------------------------------------------------------------------------- */

/* Text of this file that a table keeps: freed with it. */
struct texts {
	char *at;
};

static const char *keep(struct texts *t, const char *text)
{
	char *copy = t->at;

	if (!*text)
		return NULL;
	t->at = stpcpy(t->at, text) + 1;
	return copy;
}

#define TEXTS_OF_ONE 512

static enum job_stage stage_of(enum w_state s)
{
	static const enum job_stage stages[] = {[W_PENDING] = STAGE_PENDING,
		[W_RUNNING] = STAGE_RUNNING,
		[W_SUSPENDED] = STAGE_SUSPENDED,
		[W_ENDED] = STAGE_ENDED};

	return stages[s];
}

static void view(const struct slurm_link *l, const struct w_job *j, int number, struct texts *t,
	struct job_view *v)
{
	bool runs = j->start != 0;

	*v = (struct job_view){.job_id = (uint32_t)(W_FIRST_JOB + number),
		.array_task_id = JOB_NOT_A_TASK,
		.array_count = 1,
		.uid = (uint32_t)(W_UID + j->user),
		.name = "job",
		.account = world_account(j->node),
		.partition = "gpu",
		.stage = stage_of(j->state),
		.base_state = j->state == W_PENDING ? "PENDING"
			      : j->state == W_ENDED ? "COMPLETED"
						    : "RUNNING",
		.held = j->held,
		.priority = j->held == HELD_NOT ? 1000 : 0,
		.submit = j->submit,
		.eligible = j->begin,
		.start = j->start,
		.end = j->end,
		.resized = j->resized,
		.suspended_s = world_paused(l, j),
		.suspend_time = j->paused_at,
		.time_limit_s = j->limit,
		.batch = true,
		.requeueable = true,
		.restarts = (uint32_t)j->restarts,
		.node_count = 1};
	if (j->het) {
		v->het_job_id = (uint32_t)(W_FIRST_JOB + j->het - 1);
		v->het_offset = (uint32_t)(number + 1 - j->het);
	}
	if (j->all) {
		bool many = j->state == W_PENDING && number == j->first;

		v->array_job_id = (uint32_t)(W_FIRST_JOB + j->first);
		v->array_task_id = many ? JOB_NOT_A_TASK : (uint32_t)world_first_task(j);
		v->array_count = world_tasks(j);
		v->array_tasks = many ? keep(t, world_array(j->tasks)) : NULL;
	}
	v->qos = keep(t, j->qos);
	v->comment = keep(t, j->comment);
	v->admin_comment = keep(t, j->admin_comment);
	v->dependency = j->dependency ? "afterany:1" : NULL;
	v->tres_req = keep(t, world_tres(j->gpus, j->type));
	v->tres_alloc = runs ? keep(t, j->alloc ? j->alloc : world_tres(j->given, j->given_type)) : NULL;
	v->gres_detail = runs && j->detail && j->state != W_ENDED ? keep(t, j->detail) : NULL;
	gpu_request_input_init(&v->request);
	v->request.tres_per_job = keep(t, world_request(j->gpus, j->type));
	v->request.array = v->array_tasks;
	v->request.min_nodes = v->request.max_nodes = 1;
}

int slurm_link_jobs(struct slurm_link *l, int64_t since, struct job_table **out, struct fault *why)
{
	struct job_table *t = calloc(1, sizeof(*t));
	struct texts texts;

	(void)since;
	if (t) {
		t->jobs = calloc((size_t)l->njobs + 1, sizeof(*t->jobs));
		t->strings = malloc((size_t)(l->njobs + 1) * TEXTS_OF_ONE);
	}
	if (!t || !t->jobs || !t->strings) {
		job_table_free(t);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	texts.at = t->strings;
	t->taken_at = l->now;
	for (int i = 0; i < l->njobs; i++) {
		if (!world_in_table(l, &l->jobs[i]))
			continue;
		view(l, &l->jobs[i], i, &texts, &t->jobs[t->count++]);
	}
	*out = t;
	return 0;
}

/* --- updates ------------------------------------------------------------------------------------ */

static struct w_job *job_for_update(struct slurm_link *l, const char *job, struct fault *why)
{
	int i = atoi(job) - W_FIRST_JOB;

	if (l->updates_fail) {
		fault_errno(why, EAGAIN, "the job is being written");
		return NULL;
	}
	if (i < 0 || i >= l->njobs || l->jobs[i].state == W_NONE || l->jobs[i].state == W_ENDED) {
		fault_errno(why, ENOENT, "no such job");
		return NULL;
	}
	return &l->jobs[i];
}

static int update(struct w_job *j, const struct job_update *u, struct fault *why)
{
	if (u->qos && j->state != W_PENDING)
		return fault_errno(why, EBUSY, "the QOS of a running job cannot be changed");
	if (u->qos)
		snprintf(j->qos, sizeof(j->qos), "%s", u->qos);
	if (u->admin_comment)
		snprintf(j->admin_comment, sizeof(j->admin_comment), "%s", u->admin_comment);
	if (u->hold == HOLD_AS_ADMIN)
		j->held = HELD_BY_ADMIN;
	if (u->hold == HOLD_RELEASE)
		j->held = HELD_NOT;
	return 0;
}

/* "100", or of the array 100 "100_[0,2]": each of these tasks becomes a record of its own. */
int slurm_link_update(struct slurm_link *l, const char *job, const struct job_update *u, struct fault *why)
{
	struct w_job *j = job_for_update(l, job, why);
	const char *tasks = strchr(job, '[');

	if (!j || !tasks)
		return j ? update(j, u, why) : -1;
	for (int i = 0; i < 32; i++)
		if (j->tasks >> i & 1 && gpu_request_array_names(tasks, i) &&
			update(&l->jobs[world_split(l, (int)(j - l->jobs), i)], u, why) < 0)
			return -1;
	return 0;
}

int64_t slurm_link_updates_us(struct slurm_link *l)
{
	(void)l;
	return 0;
}

int slurm_link_set_qos(struct slurm_link *l, const char *job, const char *qos, struct fault *why)
{
	return slurm_link_update(l, job, &(struct job_update){.qos = qos}, why);
}

int slurm_link_set_site_factor(struct slurm_link *l, const char *job, int32_t site_factor, struct fault *why)
{
	(void)site_factor;
	return job_for_update(l, job, why) ? 0 : -1;
}

/* --- slurmdbd ----------------------------------------------------------------------------------- */

static void row(const struct w_row *r, int part, struct texts *t, struct run_row *out)
{
	bool first = part == FIRST_SIZE;

	*out = (struct run_row){.job_id = (uint32_t)(W_FIRST_JOB + r->job),
		.array_job_id = r->task == O_NONE ? 0 : (uint32_t)(W_FIRST_JOB + r->array),
		.array_task_id = r->task == O_NONE ? JOB_NOT_A_TASK : (uint32_t)r->task,
		.uid = (uint32_t)(W_UID + r->user),
		.account = world_account(r->node),
		.partition = "gpu",
		.state = first ? "RESIZING" : "COMPLETED",
		.resized = first,
		.submit = r->resized && !first ? r->resized : r->submit,
		.eligible = r->submit,
		.start = r->start,
		.end = first ? r->resized : r->end,
		.suspended_s = first ? r->paused_first : r->paused - r->paused_first,
		.time_limit_s = r->limit};
	if (r->het) {
		out->het_job_id = (uint32_t)(W_FIRST_JOB + r->het - 1);
		out->het_offset = (uint32_t)(r->job + 1 - r->het);
	}
	out->effective_start = out->start > out->submit ? out->start : out->submit;
	out->elapsed_s = out->end - out->start;
	out->qos = keep(t, r->qos);
	out->admin_comment = keep(t, r->admin_comment);
	if (r->alloc)
		out->tres_alloc = keep(t, first ? r->first_alloc : r->alloc);
	else
		out->tres_alloc = keep(t, world_tres(first ? r->first_given : r->given, r->type));
}

/* In the order of the contract: job id, submit, start. */
static int by_time(const void *a, const void *b)
{
	const struct run_row *x = a, *y = b;

	if (x->job_id != y->job_id)
		return x->job_id < y->job_id ? -1 : 1;
	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static void rows_add(struct run_table *t, const struct w_row *r, struct texts *texts, int64_t now)
{
	int times = r->twice ? 2 : 1;

	for (int k = 0; k < times; k++) {
		if (r->resized)
			row(r, FIRST_SIZE, texts, &t->rows[t->count++]);
		if (r->visible <= now)
			row(r, 0, texts, &t->rows[t->count++]);
	}
}

/* The first part of a run that goes on is known as soon as it changed its size. */
static void rows_of_running(struct slurm_link *l, int job, struct run_table *t, struct texts *texts)
{
	const struct w_job *j = &l->jobs[job];
	struct w_row r = {.job = job,
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
		.resized = j->resized,
		.alloc = j->alloc,
		.first_alloc = j->first_alloc,
		.limit = j->limit,
		.visible = l->now};

	memcpy(r.qos, j->qos, sizeof(r.qos));
	memcpy(r.admin_comment, j->admin_comment, sizeof(r.admin_comment));
	if (j->start && j->state != W_ENDED)
		rows_add(t, &r, texts, l->now);
}

static int table_of(struct slurm_link *l, int job, struct run_table **out, struct fault *why)
{
	struct run_table *t = calloc(1, sizeof(*t));
	struct texts texts;

	size_t room = (size_t)(4 * l->nrows + 2 * l->njobs) + 1; /* twice told, in two parts */

	if (t) {
		t->rows = calloc(room, sizeof(*t->rows));
		t->strings = malloc(room * TEXTS_OF_ONE);
	}
	if (!t || !t->rows || !t->strings) {
		run_table_free(t);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	texts.at = t->strings;
	for (int i = 0; i < l->nrows; i++)
		if (job == O_NONE || l->rows[i].job == job)
			rows_add(t, &l->rows[i], &texts, l->now);
	for (int i = 0; i < l->njobs; i++)
		if (job == O_NONE || i == job)
			rows_of_running(l, i, t, &texts);
	qsort(t->rows, t->count, sizeof(*t->rows), by_time);
	*out = t;
	return 0;
}

int slurm_link_runs_of(
	struct slurm_link *l, uint32_t job_id, int64_t since, struct run_table **out, struct fault *why)
{
	(void)since;
	if (l->slurmdbd_away)
		return fault_errno(why, ENOTCONN, "slurmdbd is away");
	return table_of(l, (int)job_id - W_FIRST_JOB, out, why);
}

static void keep_between(struct run_table *t, int64_t from, int64_t to)
{
	size_t n = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].submit <= to && (!t->rows[i].end || t->rows[i].end >= from))
			t->rows[n++] = t->rows[i];
	t->count = n;
}

int slurm_link_runs_between(
	struct slurm_link *l, int64_t from, int64_t to, struct run_table **out, struct fault *why)
{
	if (l->slurmdbd_away)
		return fault_errno(why, ENOTCONN, "slurmdbd is away");
	if (table_of(l, O_NONE, out, why) < 0)
		return -1;
	keep_between(*out, from, to);
	return 0;
}

/* --- runs that give way: this world has none yet ------------------------------------------------ */

int slurm_link_signal(struct slurm_link *l, const char *job, int signal, bool script_only, struct fault *why)
{
	(void)l, (void)signal, (void)script_only;
	return fault_errno(why, ENOENT, "there is no job %s", job);
}

/* Its one node never drains. */
int slurm_link_drain(struct slurm_link *l, const char *node, const char *reason, struct fault *why)
{
	(void)l, (void)reason;
	return fault_errno(why, ENOENT, "there is no node %s", node);
}

int slurm_link_undrain(struct slurm_link *l, const char *node, struct fault *why)
{
	return slurm_link_drain(l, node, "", why);
}

bool slurm_link_has_node(const char *nodes, const char *node)
{
	(void)nodes, (void)node;
	return false;
}

int slurm_link_requeue(struct slurm_link *l, const char *job, struct fault *why)
{
	(void)l;
	return fault_errno(why, ENOENT, "there is no job %s", job);
}

int slurm_link_cancel(struct slurm_link *l, const char *job, struct fault *why)
{
	(void)l;
	return fault_errno(why, ENOENT, "there is no job %s", job);
}

int slurm_link_notify(struct slurm_link *l, uint32_t job_id, const char *text, struct fault *why)
{
	(void)l, (void)job_id, (void)text, (void)why;
	return 0;
}
