/* SPDX-License-Identifier: GPL-2.0-or-later
 * dbd.c - the runs that slurmdbd recorded
 *
 * slurmctld forgets an ended run after MinJobAge and a requeued one at once; only slurmdbd's rows tell of
 * each run of a job, of its parts when it was resized, and of ends that came while the daemon was away. Its
 * rows name TRES and QOS by number; the names are asked for once and again when a number is met that is not
 * among them. */
#include "slurm_link/compat.h"
#include "slurm_link/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TRES_NAME_MAX 96

struct tres_name {
	uint32_t id;
	char name[TRES_NAME_MAX];	/* "cpu", "gres/gpu:h100" */
};

struct qos_name {
	uint32_t id;
	char name[TRES_NAME_MAX];
};

struct dbd {
	void *connection;		/* slurmdbd's */
	struct tres_name *tres;
	size_t tres_count;
	struct qos_name *qos;
	size_t qos_count;
};

void dbd_close(struct dbd *d)
{
	if (!d)
		return;
	if (d->connection)
		slurmdb_connection_close(&d->connection);
	free(d->tres);
	free(d->qos);
	free(d);
}

/* Errors are told after the lists are gone. */
static void drop_list(list_t *list)
{
	int saved = errno;

	slurm_list_destroy(list);
	errno = saved;
}

/* --- names ----------------------------------------------------------------------------------------- */

static void name_tres(struct tres_name *to, const slurmdb_tres_rec_t *r)
{
	bool named = r->name && *r->name;

	to->id = r->id;
	snprintf(to->name, sizeof(to->name), "%s%s%s", r->type ? r->type : "", named ? "/" : "",
		named ? r->name : "");
}

static int load_tres(struct dbd *d, struct fault *why)
{
	slurmdb_tres_cond_t cond = { .count = NO_VAL64, .with_deleted = 1 };
	slurmdb_tres_rec_t *r;
	list_itr_t *it;
	list_t *rows;

	errno = 0;
	rows = slurmdb_tres_get(d->connection, &cond);
	if (!rows)
		return slurm_link_fail(why, "cannot read the names of TRES from slurmdbd");
	free(d->tres);
	d->tres_count = 0;
	d->tres = calloc((size_t)slurm_list_count(rows) + 1, sizeof(*d->tres));
	it = d->tres ? slurm_list_iterator_create(rows) : NULL;
	while (it && (r = slurm_list_next(it)))
		name_tres(&d->tres[d->tres_count++], r);
	if (it)
		slurm_list_iterator_destroy(it);
	drop_list(rows);
	return d->tres ? 0 : fault_errno(why, ENOMEM, "out of memory for the names of TRES");
}

static int load_qos(struct dbd *d, struct fault *why)
{
	slurmdb_qos_cond_t cond;
	slurmdb_qos_rec_t *r;
	list_itr_t *it;
	list_t *rows;

	memset(&cond, 0, sizeof(cond));
	errno = 0;
	rows = slurmdb_qos_get(d->connection, &cond);
	if (!rows)
		return slurm_link_fail(why, "cannot read the names of QOS from slurmdbd");
	free(d->qos);
	d->qos_count = 0;
	d->qos = calloc((size_t)slurm_list_count(rows) + 1, sizeof(*d->qos));
	it = d->qos ? slurm_list_iterator_create(rows) : NULL;
	while (it && (r = slurm_list_next(it))) {
		struct qos_name *to = &d->qos[d->qos_count++];

		to->id = r->id;
		snprintf(to->name, sizeof(to->name), "%s", r->name ? r->name : "");
	}
	if (it)
		slurm_list_iterator_destroy(it);
	drop_list(rows);
	return d->qos ? 0 : fault_errno(why, ENOMEM, "out of memory for the names of QOS");
}

static const char *tres_name(const struct dbd *d, uint64_t id)
{
	for (size_t i = 0; i < d->tres_count; i++)
		if (d->tres[i].id == id)
			return d->tres[i].name;
	return NULL;
}

static const char *qos_name(const struct dbd *d, uint32_t id)
{
	for (size_t i = 0; i < d->qos_count; i++)
		if (d->qos[i].id == id)
			return d->qos[i].name;
	return NULL;
}

/* One "id=count" of a list; *p moves behind it and its comma. False at the end and at what is not a pair. */
static bool next_pair(const char **p, uint64_t *id, uint64_t *count)
{
	char *end;

	if (!*p || !**p)
		return false;
	*id = strtoull(*p, &end, 10);
	if (end == *p || *end != '=')
		return false;
	*count = strtoull(end + 1, &end, 10);
	*p = *end == ',' ? end + 1 : end;
	return true;
}

static bool names_all(const struct dbd *d, const char *tres)
{
	uint64_t id, count;

	while (next_pair(&tres, &id, &count))
		if (!tres_name(d, id))
			return false;
	return true;
}

/* --- rows ------------------------------------------------------------------------------------------ */

/* "1=4,2=8192,1001=2" -> "cpu=4,mem=8192M,gres/gpu=2". A number without a name stays one: lib/tres.h calls it
 * an error, nobody takes it for 0 GPUs. Counts that Slurm does not know (energy without a meter) are left
 * out. */
static const char *keep_tres(struct strings *s, const struct dbd *d, const char *tres)
{
	size_t begin = s->used;
	uint64_t id, count;

	while (next_pair(&tres, &id, &count)) {
		char pair[TRES_NAME_MAX + 32], number[24];
		const char *name = tres_name(d, id);

		if (count >= NO_VAL64)
			continue;
		snprintf(number, sizeof(number), "%ju", (uintmax_t)id);
		name = name ? name : number;
		snprintf(pair, sizeof(pair), "%s=%ju%s", name, (uintmax_t)count,
			strcmp(name, "mem") ? "" : "M");
		if (s->used > begin && s->at)
			s->at[s->used - 1] = ',';	/* over the NUL of the pair before */
		strings_keep(s, pair);
	}
	return s->at && s->used > begin ? s->at + begin : NULL;
}

static const char *row_state(uint32_t state)
{
	if (state & JOB_RESIZING)
		return "RESIZING";
	if (state & JOB_REQUEUE)
		return "REQUEUED";
	return slurm_link_state_name(state);
}

/* slurmdbd keeps Slurm's NO_VAL and INFINITE for a time that never came: cancelled before it was eligible, or
 * before it started. */
static int64_t time_or_none(time_t t)
{
	return t >= NO_VAL ? 0 : t;
}

/* Called twice for each record, see internal.h. */
static void fill_row(struct run_row *v, const slurmdb_job_rec_t *r, const struct dbd *d, struct strings *s)
{
	memset(v, 0, sizeof(*v));
	v->job_id = r->jobid;
	v->array_job_id = r->array_job_id;
	v->array_task_id = r->array_task_id == NO_VAL ? JOB_NOT_A_TASK : r->array_task_id;
	v->het_job_id = r->het_job_id == NO_VAL ? 0 : r->het_job_id;
	v->het_offset = v->het_job_id && r->het_job_offset != NO_VAL ? r->het_job_offset : 0;
	v->uid = r->uid;
	v->account = strings_keep(s, r->account);
	v->partition = strings_keep(s, r->partition);
	v->qos = strings_keep(s, qos_name(d, r->qosid));
	v->admin_comment = strings_keep(s, r->admin_comment);
	v->state = row_state(r->state);
	v->resized = r->state & JOB_RESIZING;
	v->submit = r->submit;
	v->eligible = time_or_none(r->eligible);
	v->start = time_or_none(r->start);
	v->end = time_or_none(r->end);
	v->effective_start = v->start && v->submit > v->start ? v->submit : v->start;
	v->elapsed_s = r->elapsed;
	v->suspended_s = r->suspended;
	v->time_limit_s = slurm_link_minutes(r->timelimit);
	v->tres_alloc = keep_tres(s, d, r->tres_alloc_str);
	v->nodes = v->start ? strings_keep(s, r->nodes) : NULL;	/* else "None assigned" */
}

static int by_run(const void *a, const void *b)
{
	const struct run_row *x = a, *y = b;

	if (x->job_id != y->job_id)
		return x->job_id < y->job_id ? -1 : 1;
	if (x->submit != y->submit)
		return x->submit < y->submit ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static void fill_rows(struct run_table *t, list_t *rows, const struct dbd *d, struct strings *s)
{
	list_itr_t *it = slurm_list_iterator_create(rows);
	slurmdb_job_rec_t *r;

	s->used = 0;
	t->count = 0;
	while ((r = slurm_list_next(it)))
		fill_row(&t->rows[t->count++], r, d, s);
	slurm_list_iterator_destroy(it);
}

static struct run_table *table_from(list_t *rows, const struct dbd *d)
{
	struct run_table *t = calloc(1, sizeof(*t));
	struct strings s = { 0 };

	if (!t)
		return NULL;
	t->rows = calloc((size_t)slurm_list_count(rows) + 1, sizeof(*t->rows));
	if (!t->rows)
		goto fail;
	fill_rows(t, rows, d, &s);
	t->strings = s.at = malloc(s.used + 1);
	if (!s.at)
		goto fail;
	fill_rows(t, rows, d, &s);
	qsort(t->rows, t->count, sizeof(*t->rows), by_run);
	return t;
fail:
	run_table_free(t);
	return NULL;
}

/* --- questions ------------------------------------------------------------------------------------- */

static struct dbd *dbd_open(struct fault *why)
{
	struct dbd *d = calloc(1, sizeof(*d));
	uint16_t flags = 0;

	if (!d) {
		fault_errno(why, ENOMEM, "out of memory");
		return NULL;
	}
	errno = 0;
	d->connection = slurmdb_connection_get(&flags);
	if (!d->connection) {
		slurm_link_fail(why, "cannot connect to slurmdbd");
		goto fail;
	}
	if (load_tres(d, why) < 0 || load_qos(d, why) < 0)
		goto fail;
	return d;
fail:
	dbd_close(d);
	return NULL;
}

static bool rows_need_new_names(const struct dbd *d, list_t *rows)
{
	list_itr_t *it = slurm_list_iterator_create(rows);
	const slurmdb_job_rec_t *r;
	bool unknown = false;

	while (!unknown && (r = slurm_list_next(it)))
		unknown = !names_all(d, r->tres_alloc_str) || !qos_name(d, r->qosid);
	slurm_list_iterator_destroy(it);
	return unknown;
}

/* A QOS that was deleted stays without a name however often it is asked for, so a second miss is not an
 * error. */
static int refresh_names(struct dbd *d, list_t *rows, struct fault *why)
{
	if (!rows_need_new_names(d, rows))
		return 0;
	return load_tres(d, why) < 0 || load_qos(d, why) < 0 ? -1 : 0;
}

static int ask(struct dbd *d, slurmdb_job_cond_t *cond, struct run_table **out, struct fault *why)
{
	list_t *rows;
	int rv = -1;

	errno = 0;
	rows = slurmdb_jobs_get(d->connection, cond);
	if (!rows)
		return slurm_link_fail(why, "cannot read runs from slurmdbd");
	if (refresh_names(d, rows, why) == 0) {
		struct run_table *t = table_from(rows, d);

		if (t) {
			*out = t;
			rv = 0;
		} else {
			fault_errno(why, ENOMEM, "out of memory for the rows of slurmdbd");
		}
	}
	drop_list(rows);
	return rv;
}

int dbd_own_cluster(struct slurm_link *l, struct fault *why)
{
	struct slurm_facts facts;

	return l->cluster[0] ? 0 : slurm_link_facts(l, &facts, why);
}

void dbd_drop(struct slurm_link *l)
{
	int saved = errno;

	dbd_close(l->dbd);
	l->dbd = NULL;
	errno = saved;
}

/* slurmdbd reads within a transaction that MariaDB keeps at the state of its first question: an old
 * connection would never see a newer row. Ending the transaction costs a round trip and shows the present. */
int dbd_connection(struct slurm_link *l, void **out, struct fault *why)
{
	if (l->dbd && slurmdb_connection_commit(l->dbd->connection, false) != SLURM_SUCCESS)
		dbd_drop(l);
	if (!l->dbd)
		l->dbd = dbd_open(why);
	if (!l->dbd)
		return -1;
	*out = l->dbd->connection;
	return 0;
}

static int ask_over_link(struct slurm_link *l, slurmdb_job_cond_t *cond, struct run_table **out,
	struct fault *why)
{
	void *connection;
	int rv;

	if (dbd_connection(l, &connection, why) < 0)
		return -1;
	cond->cluster_list = slurm_list_create(NULL);
	slurm_list_append(cond->cluster_list, l->cluster);
	cond->db_flags = SLURMDB_JOB_FLAG_NOTSET;
	cond->flags |= JOBCOND_FLAG_DUP | JOBCOND_FLAG_NO_STEP | JOBCOND_FLAG_NO_TRUNC;
	rv = ask(l->dbd, cond, out, why);
	drop_list(cond->cluster_list);
	if (rv < 0)
		dbd_drop(l);
	return rv;
}

int slurm_link_runs_of(struct slurm_link *l, uint32_t job_id, int64_t since, struct run_table **out,
	struct fault *why)
{
	slurm_selected_step_t step;
	slurmdb_job_cond_t cond;
	int rv;

	if (dbd_own_cluster(l, why) < 0)
		return -1;
	memset(&step, 0, sizeof(step));
	memset(&cond, 0, sizeof(cond));
	step.array_task_id = step.het_job_offset = NO_VAL;
	step.step_id.job_id = job_id;
	step.step_id.step_id = step.step_id.step_het_comp = NO_VAL;
	cond.usage_start = since;
	cond.flags = JOBCOND_FLAG_NO_DEFAULT_USAGE;
	cond.step_list = slurm_list_create(NULL);
	slurm_list_append(cond.step_list, &step);
	rv = ask_over_link(l, &cond, out, why);
	drop_list(cond.step_list);
	return rv;
}

int slurm_link_runs_between(struct slurm_link *l, int64_t from, int64_t to, struct run_table **out,
	struct fault *why)
{
	slurmdb_job_cond_t cond;

	if (dbd_own_cluster(l, why) < 0)
		return -1;
	memset(&cond, 0, sizeof(cond));
	cond.usage_start = from;
	cond.usage_end = to;
	return ask_over_link(l, &cond, out, why);
}
