/* SPDX-License-Identifier: GPL-2.0-or-later
 * job_view.c - looking things up in the tables, and freeing them; knows nothing of Slurm. */
#include "slurm_link/job_view.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int by_job_id(const void *key, const void *element)
{
	uint32_t id = *(const uint32_t *)key;
	const struct job_view *j = element;

	return (id > j->job_id) - (id < j->job_id);
}

const struct job_view *job_table_find(const struct job_table *t, uint32_t job_id)
{
	if (!t || !t->count)
		return NULL;
	return bsearch(&job_id, t->jobs, t->count, sizeof(*t->jobs), by_job_id);
}

void job_table_free(struct job_table *t)
{
	int saved = errno;

	if (t) {
		free(t->jobs);
		free(t->strings);
		free(t->parts);
		free(t);
	}
	errno = saved;
}

const char *job_view_text(const struct job_view *j, char buf[JOB_NAME_TEXT_MAX])
{
	if (j->array_tasks)
		snprintf(buf, JOB_NAME_TEXT_MAX, "%u_[%s]", j->array_job_id, j->array_tasks);
	else if (j->array_job_id && j->array_task_id != JOB_NOT_A_TASK)
		snprintf(buf, JOB_NAME_TEXT_MAX, "%u_%u", j->array_job_id, j->array_task_id);
	else if (j->het_job_id)
		snprintf(buf, JOB_NAME_TEXT_MAX, "%u+%u", j->het_job_id, j->het_offset);
	else
		snprintf(buf, JOB_NAME_TEXT_MAX, "%u", j->job_id);
	return buf;
}

void run_table_free(struct run_table *t)
{
	int saved = errno;

	if (t) {
		free(t->rows);
		free(t->strings);
		free(t);
	}
	errno = saved;
}

/* The first row of the user, or the end. */
static size_t first_of_user(const struct account_table *t, const char *user)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(t->rows[middle].user, user) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct account_row *account_table_find(const struct account_table *t, const char *user,
	const char *account)
{
	for (size_t i = first_of_user(t, user); i < t->count && !strcmp(t->rows[i].user, user); i++)
		if (account ? !strcasecmp(t->rows[i].account, account) : t->rows[i].is_default)
			return &t->rows[i];
	return NULL;
}

void account_table_free(struct account_table *t)
{
	int saved = errno;

	if (t) {
		free(t->rows);
		free(t->strings);
		free(t);
	}
	errno = saved;
}

const struct partition_view *cluster_view_partition(const struct cluster_view *c, const char *name)
{
	for (size_t i = 0; i < c->partition_count; i++)
		if (name ? !strcmp(c->partitions[i].name, name) : c->partitions[i].is_default)
			return &c->partitions[i];
	return NULL;
}

void cluster_view_free(struct cluster_view *c)
{
	int saved = errno;

	if (c) {
		free(c->partitions);
		free(c->nodes);
		free(c->strings);
		free(c->partition_bits);
		free(c);
	}
	errno = saved;
}
