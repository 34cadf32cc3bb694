/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_table.c - series of Prometheus, and how long GPUs have been idle. */
#include "budgetd/gpu_table.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A GPU in one piece of time: what each query says at each of its times, NAN where it says nothing. */
struct samples {
	struct gpu_row row;		/* what names it */
	double value[QUERIES][GPU_POINTS_MAX];
};

struct piece {
	struct samples *gpus;
	size_t count, room;
	int64_t from, step_s;
	int points;
};

static int by_name(const void *a, const void *b)
{
	const struct gpu_row *x = a, *y = b;
	int c = strcmp(x->node, y->node);

	if (c == 0)
		c = (x->index > y->index) - (x->index < y->index);
	if (c == 0)
		c = (x->job > y->job) - (x->job < y->job);
	return c ? c : strcmp(x->id, y->id);
}

/* --- one series -------------------------------------------------------------------------------------- */

static const char *label_of(struct json_object *metric, const char *name)
{
	struct json_object *value;

	if (!*name || !json_object_object_get_ex(metric, name, &value) ||
		!json_object_is_type(value, json_type_string))
		return "";
	return json_object_get_string(value);
}

/* false: its labels tell neither a job nor a device. */
static bool name_read(struct json_object *series, const struct gpu_labels *labels, struct gpu_row *out)
{
	struct json_object *metric;
	const char *id;

	*out = (struct gpu_row){ .index = -1 };
	if (!json_object_object_get_ex(series, "metric", &metric))
		return false;
	out->index = gpu_label_index(label_of(metric, labels->name[LABEL_INDEX]));
	out->job = gpu_label_job(label_of(metric, labels->name[LABEL_JOB]));
	id = label_of(metric, labels->name[LABEL_ID]);
	if (strlen(id) >= sizeof(out->id))
		return false;
	strcpy(out->id, id);
	if (gpu_label_node(label_of(metric, labels->name[LABEL_NODE]), out->node, sizeof(out->node)) < 0)
		out->node[0] = '\0';
	return out->job || (out->node[0] && out->index >= 0);
}

/* [[time, "value"], ...] into their places; what is no number stays NAN. */
static void values_read(struct json_object *series, const struct piece *piece, double to[GPU_POINTS_MAX])
{
	struct json_object *values = NULL;
	size_t n = json_object_object_get_ex(series, "values", &values) &&
		json_object_is_type(values, json_type_array)
		? json_object_array_length(values) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *pair = json_object_array_get_idx(values, i), *value;
		double point;

		if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2)
			continue;
		value = json_object_array_get_idx(pair, 1);
		point = (json_object_get_double(json_object_array_get_idx(pair, 0)) - (double)piece->from) /
			(double)piece->step_s;
		/* what is no number is neither */
		if (point >= 0 && point < piece->points && json_object_is_type(value, json_type_string))
			to[(int)point] = strtod(json_object_get_string(value), NULL);
	}
}

/* --- all series of a piece --------------------------------------------------------------------------- */

static struct samples *piece_find(const struct piece *p, const struct gpu_row *name)
{
	return p->count ? bsearch(name, p->gpus, p->count, sizeof(*p->gpus), by_name) : NULL;
}

/* Room for a GPU, with nothing known of it. */
static struct samples *piece_more(struct piece *p, const struct gpu_row *name)
{
	struct samples *s = &p->gpus[p->count++];

	s->row = *name;
	for (int q = 0; q < QUERIES; q++)
		for (int i = 0; i < GPU_POINTS_MAX; i++)
			s->value[q][i] = NAN;
	return s;
}

/* Two series of one name are one GPU to us: what is in use in one of them is. */
static void piece_merge(struct piece *p)
{
	size_t kept = 0;

	if (p->count)
		qsort(p->gpus, p->count, sizeof(*p->gpus), by_name);
	for (size_t i = 0; i < p->count; i++) {
		struct samples *to = kept ? &p->gpus[kept - 1] : NULL;

		if (!to || by_name(&to->row, &p->gpus[i].row) != 0) {
			p->gpus[kept++] = p->gpus[i];
			continue;
		}
		for (int x = 0; x < GPU_POINTS_MAX; x++) {
			double one = to->value[QUERY_UTILIZATION][x],
				other = p->gpus[i].value[QUERY_UTILIZATION][x];

			to->value[QUERY_UTILIZATION][x] = isnan(one) || other > one ? other : one;
		}
	}
	p->count = kept;
}

/* Of the first query: these are the GPUs. */
static int piece_begin(struct piece *p, struct json_object *series, const struct gpu_labels *labels,
	struct fault *why)
{
	size_t n = json_object_array_length(series);
	struct gpu_row name;

	if (n > GPU_ROWS_MAX)
		return fault_errno(why, E2BIG, "the query for utilisation has %zu series, %d are the most", n,
			GPU_ROWS_MAX);
	p->gpus = calloc(n + 1, sizeof(*p->gpus));
	if (!p->gpus)
		return fault_errno(why, ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(series, i);

		if (name_read(one, labels, &name))
			values_read(one, p, piece_more(p, &name)->value[QUERY_UTILIZATION]);
	}
	piece_merge(p);
	if (n && !p->count)
		return fault_errno(why, EINVAL,
			"the query for utilisation has %zu series, and none says whose GPU it is: neither %s nor %s and %s "
			"are labels of them", n, *labels->name[LABEL_JOB] ? labels->name[LABEL_JOB] : "a job",
			labels->name[LABEL_NODE], labels->name[LABEL_INDEX]);
	return 0;
}

/* Of another query, for the GPUs that are there. */
static int piece_fill(struct piece *p, enum gpu_query query, struct json_object *series,
	const struct gpu_labels *labels, struct fault *why)
{
	static const char *const name_of[QUERIES] = { "utilisation", "memory", "processes" };
	size_t n = json_object_array_length(series), found = 0;
	struct gpu_row name;

	for (size_t i = 0; i < n; i++) {
		struct json_object *one = json_object_array_get_idx(series, i);
		struct samples *gpu = name_read(one, labels, &name) ? piece_find(p, &name) : NULL;

		if (!gpu)
			continue;
		values_read(one, p, gpu->value[query]);
		found++;
	}
	if (p->count && !found)
		return fault_errno(why, EINVAL,
			"the query for %s has %zu series, none with the labels of one for utilisation",
			name_of[query], n);
	return 0;
}

/* --- the table --------------------------------------------------------------------------------------- */

/* What is not asked for is NAN in all samples; what is asked for and not told makes the sample a missing
 * one. */
static void row_add(struct gpu_row *row, const struct samples *s, const struct piece *p,
	struct json_object *const series[QUERIES])
{
	for (int i = 0; i < p->points; i++) {
		struct idle_sample sample = { p->from + i * p->step_s, s->value[QUERY_UTILIZATION][i],
			s->value[QUERY_MEMORY][i], s->value[QUERY_PROCESSES][i] };

		if ((series[QUERY_MEMORY] && isnan(sample.memory)) ||
			(series[QUERY_PROCESSES] && isnan(sample.processes)))
			continue;
		idle_add(&row->idle, &sample, p->step_s);
	}
}

static int table_take(struct gpu_table *t, const struct piece *p, struct json_object *const series[QUERIES],
	struct fault *why)
{
	size_t count = t->count;
	struct gpu_row *rows = reallocarray(t->rows, t->count + p->count + 1, sizeof(*rows)), *row;

	if (!rows)
		return fault_errno(why, ENOMEM, "out of memory");
	t->rows = rows;
	for (size_t i = 0; i < p->count; i++) {
		row = count ? bsearch(&p->gpus[i].row, rows, count, sizeof(*rows), by_name) : NULL;
		if (!row && t->count == GPU_ROWS_MAX)
			continue;
		if (!row) {
			row = &rows[t->count++];
			*row = p->gpus[i].row;
		}
		row_add(row, &p->gpus[i], p, series);
	}
	if (t->count)
		qsort(rows, t->count, sizeof(*rows), by_name);
	return 0;
}

int gpu_table_add(struct gpu_table *t, const struct gpu_labels *labels,
	struct json_object *const series[QUERIES], int64_t from, int64_t to, int64_t step_s,
	struct fault *why)
{
	struct piece p = { .from = from, .step_s = step_s, .points = (int)((to - from) / step_s) + 1 };
	int rc;

	assert(from > t->until && p.points >= 1 && p.points <= GPU_POINTS_MAX);
	rc = piece_begin(&p, series[QUERY_UTILIZATION], labels, why);
	for (enum gpu_query q = QUERY_MEMORY; rc == 0 && q < QUERIES; q++)
		if (series[q])
			rc = piece_fill(&p, q, series[q], labels, why);
	if (rc == 0)
		rc = table_take(t, &p, series, why);
	if (rc == 0)
		t->until = to;
	free(p.gpus);
	return rc;
}

void gpu_table_forget(struct gpu_table *t, int64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].idle.last >= before)
			t->rows[kept++] = t->rows[i];
	t->count = kept;
}

/* Of the rows at a place: the one with the newest sample, unless that is another job's. */
static const struct gpu_row *row_at(const struct gpu_table *t, const struct gpu_places *place)
{
	size_t low = 0, high = t->count;
	const struct gpu_row *best = NULL;
	struct gpu_row first = { .index = place->index };

	memcpy(first.node, place->node, sizeof(first.node));
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (by_name(&t->rows[middle], &first) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < t->count && t->rows[low].index == place->index &&
		!strcmp(t->rows[low].node, place->node); low++)
		if (!best || t->rows[low].idle.last > best->idle.last)
			best = &t->rows[low];
	return best && !best->job ? best : NULL;
}

size_t gpu_table_of_job(const struct gpu_table *t, int64_t job, const char *places,
	const struct idle_gpu *found[GPU_FOUND_MAX])
{
	struct gpu_places place = { .text = places };
	const struct gpu_row *row;
	size_t n = 0;

	for (size_t i = 0; i < t->count && n < GPU_FOUND_MAX; i++)
		if (t->rows[i].job == job && t->rows[i].idle.last == t->until)
			found[n++] = &t->rows[i].idle;
	if (n)
		return n;
	while (n < GPU_FOUND_MAX && gpu_places_next(&place)) {
		row = row_at(t, &place);
		if (row)
			found[n++] = &row->idle;
	}
	return n;
}

int gpu_table_copy(const struct gpu_table *from, struct gpu_table *to)
{
	struct gpu_row *rows = calloc(from->count + 1, sizeof(*rows));

	if (!rows)
		return -1;
	memcpy(rows, from->rows, from->count * sizeof(*rows));
	*to = (struct gpu_table){ .rows = rows, .count = from->count, .until = from->until };
	return 0;
}

void gpu_table_clear(struct gpu_table *t)
{
	free(t->rows);
	*t = (struct gpu_table){0};
}
