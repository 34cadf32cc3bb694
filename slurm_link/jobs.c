/* SPDX-License-Identifier: GPL-2.0-or-later
 * jobs.c - Slurm's records of jobs, read into job_view.h
 *
 * Slurm marks "not given" in many ways (NULL, 0, NO_VAL, NO_VAL16, INFINITE16); here they become one. A
 * record's times mean different things in different states (start_time of a pending job is a guess, end_time
 * of a running one its limit); here each has its own name. */
#include "slurm_link/compat.h"
#include "slurm_link/internal.h"
#include <errno.h>
#include <stdlib.h>
#include "lib/duration.h"
#include "lib/gpu_places.h"
#include "lib/tres.h"

/* By number: enum job_states, the same in all versions. */
static const char *const base_state_names[] = {
	[JOB_PENDING] = "PENDING",	[JOB_RUNNING] = "RUNNING",	[JOB_SUSPENDED] = "SUSPENDED",
	[JOB_COMPLETE] = "COMPLETED",	[JOB_CANCELLED] = "CANCELLED",	[JOB_FAILED] = "FAILED",
	[JOB_TIMEOUT] = "TIMEOUT",	[JOB_NODE_FAIL] = "NODE_FAIL",	[JOB_PREEMPTED] = "PREEMPTED",
	[JOB_BOOT_FAIL] = "BOOT_FAIL",	[JOB_DEADLINE] = "DEADLINE",	[JOB_OOM] = "OUT_OF_MEMORY",
};

const char *slurm_link_state_name(uint32_t state)
{
	uint32_t base = state & JOB_STATE_BASE;

	return base < JOB_END ? base_state_names[base] : "UNKNOWN";
}

int64_t slurm_link_minutes(uint32_t minutes)
{
	if (minutes == NO_VAL)
		return JOB_TIME_LIMIT_UNSET;
	return minutes == INFINITE ? DURATION_UNLIMITED : (int64_t)minutes * 60;
}

/* --- jobs ------------------------------------------------------------------------------------------ */

static uint32_t given32(uint32_t n)
{
	return n == 0 || n == NO_VAL || n == INFINITE ? GPU_REQUEST_UNSET : n;
}

static uint32_t given16(uint16_t n)
{
	return n == 0 || n == NO_VAL16 || n == INFINITE16 ? GPU_REQUEST_UNSET : n;
}

static enum job_stage stage_of(uint32_t state)
{
	if (state & JOB_COMPLETING)
		return STAGE_COMPLETING;
	switch (state & JOB_STATE_BASE) {
	case JOB_PENDING:
		return STAGE_PENDING;
	case JOB_RUNNING:
		return STAGE_RUNNING;
	case JOB_SUSPENDED:
		return STAGE_SUSPENDED;
	default:
		return STAGE_ENDED;
	}
}

static enum job_held held_by(const slurm_job_info_t *j, enum job_stage stage)
{
	if (stage != STAGE_PENDING || j->priority != 0)
		return HELD_NOT;
	if (j->state_reason == WAIT_HELD_USER)
		return HELD_BY_USER;
	return j->state_reason == WAIT_HELD ? HELD_BY_ADMIN : HELD_BY_OTHER;
}

/* Slurm keeps the time that was run before the last suspend or resume and when that was; what is missing is
 * the sum of the pauses. */
static int64_t suspended_seconds(const slurm_job_info_t *j, int64_t now)
{
	bool paused = (j->job_state & JOB_STATE_BASE) == JOB_SUSPENDED;
	int64_t s;

	if (!j->suspend_time || !j->start_time)
		return 0;
	s = (paused ? now : (int64_t)j->suspend_time) - j->start_time - j->pre_sus_time;
	return s > 0 ? s : 0;
}

static void fill_times(struct job_view *v, const slurm_job_info_t *j, int64_t now)
{
	/* a requeued job that is still cleaning up already shows guesses about its next run */
	bool has_run = (j->job_state & JOB_STATE_BASE) != JOB_PENDING;
	bool is_over = has_run && (v->stage == STAGE_COMPLETING || v->stage == STAGE_ENDED);

	v->submit = j->submit_time;
	v->eligible = j->eligible_time;
	v->start = has_run ? j->start_time : 0;
	v->end = is_over ? j->end_time : 0;
	v->planned_start = has_run ? 0 : j->start_time;
	v->resized = j->resize_time;
	v->suspend_time = has_run ? j->suspend_time : 0;
	v->suspended_s = has_run ? suspended_seconds(j, now) : 0;
	v->time_limit_s = slurm_link_minutes(j->time_limit);
}

/* num_nodes is what the run got, and of a pending job what the scheduler last thought of giving
 * ("--nodes=1-3" shows 3); the least that was asked for is only in TRES. */
static uint32_t least_nodes(const slurm_job_info_t *j)
{
	const char *node = j->tres_req_str ? strstr(j->tres_req_str, "node=") : NULL;
	unsigned long n = node ? strtoul(node + strlen("node="), NULL, 10) : 0;

	return n > 0 && n < NO_VAL ? (uint32_t)n : j->num_nodes;
}

static void fill_request(struct gpu_request_input *in, const slurm_job_info_t *j, struct strings *s)
{
	gpu_request_input_init(in);
	in->tres_per_job = strings_keep(s, j->tres_per_job);
	in->tres_per_node = strings_keep(s, j->tres_per_node);
	in->tres_per_socket = strings_keep(s, j->tres_per_socket);
	in->tres_per_task = strings_keep(s, j->tres_per_task);
	in->num_tasks = given32(j->num_tasks);
	in->min_nodes = given32(least_nodes(j));
	in->max_nodes = given32(j->max_nodes);
	in->ntasks_per_node = given16(j->ntasks_per_node);
	in->ntasks_per_socket = given16(j->ntasks_per_socket);
	in->sockets_per_node = given16(j->sockets_per_node);
	in->cpus_per_task = given16(j->cpus_per_task);
	in->ntasks_per_tres = given16(j->ntasks_per_tres);
	in->exclusive = compat_takes_whole_nodes(j);
}

static void fill_array(struct job_view *v, const slurm_job_info_t *j, struct strings *s)
{
	bool pending_record = j->array_task_str && *j->array_task_str && j->array_task_id == NO_VAL;

	v->array_job_id = j->array_job_id;
	v->array_task_id = j->array_task_id == NO_VAL ? JOB_NOT_A_TASK : j->array_task_id;
	v->array_tasks = pending_record ? strings_keep(s, j->array_task_str) : NULL;
	v->request.array = v->array_tasks;
	v->array_count = 1;
	if (v->array_tasks && gpu_request_array_tasks(v->array_tasks, &v->array_count, NULL, NULL) < 0)
		v->array_count = 0;
}

static const char *keep_gres_detail(struct strings *s, const slurm_job_info_t *j)
{
	size_t begin = s->used;

	for (uint32_t i = 0; i < j->gres_detail_cnt; i++) {
		if (!j->gres_detail_str[i] || !*j->gres_detail_str[i])
			continue;
		if (s->used > begin && s->at)
			s->at[s->used - 1] = ',';	/* over the NUL of the node before */
		strings_keep(s, j->gres_detail_str[i]);
	}
	return s->at && s->used > begin ? s->at + begin : NULL;
}

#define PLACES_MAX 16384		/* of 1,000 nodes with short names */

/* Slurm's details are in the order of the nodes. */
static const char *keep_gpu_places(struct strings *s, const slurm_job_info_t *j)
{
	char places[PLACES_MAX] = "", *node;
	compat_hostlist_t nodes = j->gres_detail_cnt ? slurm_hostlist_create(j->nodes) : NULL;
	int rc = nodes ? 0 : -1;

	for (uint32_t i = 0; rc == 0 && i < j->gres_detail_cnt && (node = slurm_hostlist_shift(nodes)); i++) {
		if (j->gres_detail_str[i])
			rc = gpu_places_add(places, sizeof(places), node, j->gres_detail_str[i]);
		free(node);
	}
	if (nodes)
		slurm_hostlist_destroy(nodes);
	return rc == 0 ? strings_keep(s, places) : NULL;
}

static void fill_texts(struct job_view *v, const slurm_job_info_t *j, struct strings *s)
{
	v->name = strings_keep(s, j->name);
	v->account = strings_keep(s, j->account);
	v->partition = strings_keep(s, j->partition);
	v->qos = strings_keep(s, j->qos);
	v->admin_comment = strings_keep(s, j->admin_comment);
	v->comment = strings_keep(s, j->comment);
	v->dependency = strings_keep(s, j->dependency);
	if (j->state_reason != WAIT_NO_REASON)
		v->reason = strings_keep(s, compat_reason_text(j->state_reason));
	v->tres_req = strings_keep(s, j->tres_req_str);
	if (v->stage == STAGE_PENDING) {
		v->excluded = strings_keep(s, j->exc_nodes);
		v->required = strings_keep(s, j->req_nodes);
		v->features = strings_keep(s, j->features);
		v->reservation = strings_keep(s, j->resv_name);
		return;		/* what these below say of a requeued job is of the run before */
	}
	v->tres_alloc = strings_keep(s, j->tres_alloc_str);
	v->gres_detail = keep_gres_detail(s, j);
	v->nodes = strings_keep(s, j->nodes);
	v->gpu_places = v->stage == STAGE_RUNNING ? keep_gpu_places(s, j) : NULL;
}

/* By CPU it is what the fewest CPUs that a node has to give bring with them. */
static int64_t least_memory(const slurm_job_info_t *j)
{
	uint64_t mb = j->pn_min_memory;

	if (mb == NO_VAL64 || mb == INFINITE64)
		return 0;
	if (mb & MEM_PER_CPU)
		mb = (mb & ~MEM_PER_CPU) * (j->pn_min_cpus &&
			j->pn_min_cpus != NO_VAL16 ? j->pn_min_cpus : 1);
	return mb < INT64_MAX ? (int64_t)mb : 0;
}

/* Called twice for each record, see internal.h: must add the same strings both times. */
static void fill_job(struct job_view *v, const slurm_job_info_t *j, int64_t now, struct strings *s)
{
	memset(v, 0, sizeof(*v));
	v->job_id = j->job_id;
	v->het_job_id = j->het_job_id;
	v->het_offset = j->het_job_id && j->het_job_offset != NO_VAL ? j->het_job_offset : 0;
	v->uid = j->user_id;
	v->stage = stage_of(j->job_state);
	v->base_state = slurm_link_state_name(j->job_state);
	v->held = held_by(j, v->stage);
	v->priority = j->priority;
	v->site_factor = j->site_factor == NO_VAL ? 0 : (int32_t)((int64_t)j->site_factor - NICE_OFFSET);
	v->batch = j->batch_flag;
	v->requeueable = j->batch_flag && j->requeue;
	v->cron = j->bitflags & CRON_JOB;
	v->restarts = j->restart_cnt;
	v->node_count = v->stage == STAGE_PENDING ? least_nodes(j) : j->num_nodes;
	v->memory_mb = v->stage == STAGE_PENDING ? least_memory(j) : 0;
	fill_times(v, j, now);
	fill_request(&v->request, j, s);
	fill_array(v, j, s);
	fill_texts(v, j, s);
}

/* --- where its GPUs are --------------------------------------------------------------------------- */

/* Pairs of first and last index in the node table, ended by -1. */
static size_t nodes_of(const slurm_job_info_t *j)
{
	size_t n = 0;

	for (const int32_t *x = j->node_inx; x && x[0] >= 0 && x[1] >= x[0]; x += 2)
		n += (size_t)(x[1] - x[0] + 1);
	return n;
}

/* Slurm's details are one text a node, in the order of the nodes. */
static uint32_t fill_parts(const slurm_job_info_t *j, struct job_gpus *out)
{
	struct gpu_count given;
	uint32_t n = 0, at = 0;

	for (const int32_t *x = j->node_inx; x && x[0] >= 0 && x[1] >= x[0]; x += 2)
		for (int32_t node = x[0]; node <= x[1] && at < j->gres_detail_cnt; node++, at++)
			if (tres_read(j->gres_detail_str[at], &given, NULL) == 0 && given.total > 0)
				out[n++] = (struct job_gpus){ (uint32_t)node, (int32_t)given.total };
	return n;
}

static int table_fill_parts(struct job_table *t, slurm_job_info_t *const *records)
{
	size_t room = 0, used = 0;

	for (size_t i = 0; i < t->count; i++)
		room += t->jobs[i].stage == STAGE_PENDING ? 0 : nodes_of(records[i]);
	t->parts = calloc(room + 1, sizeof(*t->parts));
	for (size_t i = 0; t->parts && i < t->count; i++) {
		struct job_view *v = &t->jobs[i];

		if (v->stage == STAGE_PENDING || v->stage == STAGE_ENDED)
			continue;
		v->parts = t->parts + used;
		v->part_count = fill_parts(records[i], t->parts + used);
		used += v->part_count;
	}
	return t->parts ? 0 : -1;
}

static int by_id(const void *a, const void *b)
{
	const slurm_job_info_t *x = *(slurm_job_info_t *const *)a, *y = *(slurm_job_info_t *const *)b;

	return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

/* Pointers to the records in order of job id; NULL when out of memory. The caller frees. */
static slurm_job_info_t **records_sorted(const job_info_msg_t *m)
{
	slurm_job_info_t **p = calloc(m->record_count + 1, sizeof(*p));

	for (uint32_t i = 0; p && i < m->record_count; i++)
		p[i] = &m->job_array[i];
	if (p)
		qsort(p, m->record_count, sizeof(*p), by_id);
	return p;
}

static struct job_table *table_from(const job_info_msg_t *m)
{
	slurm_job_info_t **records = records_sorted(m);
	struct job_table *t = calloc(1, sizeof(*t));
	struct strings s = { 0 };

	if (!t || !records)
		goto fail;
	t->count = m->record_count;
	t->taken_at = m->last_update;
	t->jobs = calloc(t->count + 1, sizeof(*t->jobs));
	if (!t->jobs)
		goto fail;
	for (size_t i = 0; i < t->count; i++)
		fill_job(&t->jobs[i], records[i], t->taken_at, &s);
	t->strings = s.at = malloc(s.used + 1);
	if (!s.at)
		goto fail;
	s.used = 0;
	for (size_t i = 0; i < t->count; i++)
		fill_job(&t->jobs[i], records[i], t->taken_at, &s);
	if (table_fill_parts(t, records) < 0)
		goto fail;
	free(records);
	return t;
fail:
	free(records);
	job_table_free(t);
	return NULL;
}

int slurm_link_jobs(struct slurm_link *l, int64_t since, struct job_table **out, struct fault *why)
{
	job_info_msg_t *m = NULL;
	struct job_table *t;

	(void)l;
	errno = 0;
	if (slurm_load_jobs(since, &m, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) {
		if (errno != SLURM_NO_CHANGE_IN_DATA)
			return slurm_link_fail(why, "cannot read the job table");
		*out = NULL;
		return 0;
	}
	t = table_from(m);
	compat_free_forgotten(m);
	slurm_free_job_info_msg(m);
	if (!t)
		return fault_errno(why, ENOMEM, "out of memory for the job table");
	*out = t;
	return 0;
}
