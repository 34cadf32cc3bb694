/* SPDX-License-Identifier: GPL-2.0-or-later
 * report.c - what a replay says: delivered over owed, waits, what was lost. */
#include "simulate/report.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	int32_t from, to;
} class_gpus[REPORT_CLASSES] = {{1, 1}, {2, 4}, {5, 8}, {9, 32}, {33, INT32_MAX}};

const char *const report_class[REPORT_CLASSES] = {"1", "2-4", "5-8", "9-32", "33+"};

/* --- waits ------------------------------------------------------------------------------------------ */

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Nearest rank. */
static int64_t percentile(const int64_t *sorted, size_t n, int percent)
{
	return n ? sorted[(n * (size_t)percent + 99) / 100 - 1] : 0;
}

enum wait_of { WAIT_CLASS, WAIT_ALL, WAIT_LANE };

static bool counts(const struct report *r, size_t i, enum wait_of of, int class)
{
	const struct trace_job *t = &r->setup->trace->jobs[i];

	if (r->result->jobs[i].too_large || t->submit_s >= r->result->until)
		return false;
	if (of == WAIT_LANE)
		return t->min_runtime_s && lane_takes(&r->setup->lane, t->gpus, t->min_runtime_s, t->limit_s);
	return of == WAIT_ALL || (t->gpus >= class_gpus[class].from && t->gpus <= class_gpus[class].to);
}

static struct report_wait wait_of(const struct report *r, enum wait_of of, int class, int64_t *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < r->setup->trace->count; i++) {
		int64_t start = r->result->jobs[i].first_start;

		if (counts(r, i, of, class))
			scratch[n++] =
				(start < 0 ? r->result->until : start) - r->setup->trace->jobs[i].submit_s;
	}
	qsort(scratch, n, sizeof(*scratch), by_length);
	return (struct report_wait){(int64_t)n, percentile(scratch, n, 50), percentile(scratch, n, 90)};
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int report_make(struct report *r, const struct sim_setup *setup, const struct sim_result *result,
	const int64_t *owed, double wall_s)
{
	int64_t *scratch = calloc(setup->trace->count + 1, sizeof(*scratch));

	if (!scratch)
		return -1;
	*r = (struct report){.setup = setup, .result = result, .owed = owed, .wall_s = wall_s};
	for (int c = 0; c < REPORT_CLASSES; c++)
		r->wait[c] = wait_of(r, WAIT_CLASS, c, scratch);
	r->wait_all = wait_of(r, WAIT_ALL, 0, scratch);
	r->wait_lane = wait_of(r, WAIT_LANE, 0, scratch);
	free(scratch);
	for (size_t i = 0; i < setup->trace->projects.count; i++) {
		const struct sim_project *p = &result->projects[i];

		r->owed_gpu_s += owed[i];
		r->served_gpu_s += smaller(p->delivered_gpu_s, owed[i]);
		r->useful_gpu_s += smaller(p->delivered_gpu_s - p->lost_gpu_s, owed[i]);
		r->delivered_gpu_s += p->delivered_gpu_s;
		r->free_gpu_s += p->free_gpu_s;
		r->lost_gpu_s += p->lost_gpu_s;
		r->displaced += p->displaced;
		r->reclaimed += p->reclaimed;
	}
	for (size_t i = 0; i < setup->trace->count; i++)
		r->finished += result->jobs[i].end >= 0;
	return 0;
}

/* --- figures ---------------------------------------------------------------------------------------- */

double report_ratio(int64_t delivered, int64_t owed)
{
	return owed ? (double)delivered / (double)owed : 1;
}

double report_worst(const struct report *r)
{
	double worst = 1;

	for (size_t i = 0; i < r->setup->trace->projects.count; i++) {
		double ratio = report_ratio(r->result->projects[i].delivered_gpu_s, r->owed[i]);

		if (r->owed[i] * 100 >= r->owed_gpu_s && ratio < worst)
			worst = ratio;
	}
	return worst;
}

double report_occupancy(const struct report *r)
{
	return report_ratio(r->result->used_gpu_s, r->result->usable_gpu_s);
}

double report_occupancy_of_all(const struct report *r)
{
	int64_t gpus = (int64_t)r->setup->nodes * r->setup->gpus_per_node;

	return report_ratio(r->result->used_gpu_s, gpus * (r->result->until - r->result->from));
}

double report_free_share(const struct report *r)
{
	int64_t all = r->delivered_gpu_s + r->free_gpu_s;

	return all ? (double)r->free_gpu_s / (double)all : 0;
}

/* --- JSON ------------------------------------------------------------------------------------------- */

/* Adds `value`, which may be NULL for out of memory; *rv is -1 once something failed. */
static void put(struct json_object *o, const char *key, struct json_object *value, int *rv)
{
	if (value && json_object_object_add(o, key, value) == 0)
		return;
	json_object_put(value);
	*rv = -1;
}

static void put_count(struct json_object *o, const char *key, int64_t n, int *rv)
{
	put(o, key, json_object_new_int64(n), rv);
}

static void put_ratio(struct json_object *o, const char *key, double x, int *rv)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6f", x);
	put(o, key, json_object_new_double_s(x, text), rv);
}

static struct json_object *wait_json(const struct report_wait *w, int *rv)
{
	struct json_object *o = json_object_new_object();

	if (!o)
		return NULL;
	put_count(o, "jobs", w->jobs, rv);
	put_count(o, "p50", w->p50, rv);
	put_count(o, "p90", w->p90, rv);
	return o;
}

static struct json_object *waits_json(const struct report *r, int *rv)
{
	struct json_object *o = json_object_new_object();

	for (int c = 0; o && c < REPORT_CLASSES; c++)
		put(o, report_class[c], wait_json(&r->wait[c], rv), rv);
	return o;
}

static struct json_object *project_json(const struct report *r, size_t i, int *rv)
{
	const struct sim_project *p = &r->result->projects[i];
	struct json_object *o = json_object_new_object();

	if (!o)
		return NULL;
	put(o, "name", json_object_new_string(r->setup->trace->projects.name[i]), rv);
	put_count(o, "owed_gpu_s", r->owed[i], rv);
	put_count(o, "delivered_gpu_s", p->delivered_gpu_s, rv);
	put_count(o, "free_gpu_s", p->free_gpu_s, rv);
	put_count(o, "lost_gpu_s", p->lost_gpu_s, rv);
	put_count(o, "displacements", p->displaced, rv);
	put_count(o, "free_reclaimed", p->reclaimed, rv);
	put_ratio(o, "ratio", report_ratio(p->delivered_gpu_s, r->owed[i]), rv);
	return o;
}

static struct json_object *projects_json(const struct report *r, int *rv)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; array && i < r->setup->trace->projects.count; i++) {
		struct json_object *o = project_json(r, i, rv);

		if (o && json_object_array_add(array, o) == 0)
			continue;
		json_object_put(o);
		*rv = -1;
	}
	return array;
}

static void put_totals(const struct report *r, struct json_object *o, int *rv)
{
	const struct sim_result *x = r->result;

	put_count(o, "displacements", r->displaced, rv);
	put_count(o, "most_displacements_of_a_job", x->most_displaced, rv);
	put_count(o, "free_reclaimed", r->reclaimed, rv);
	put_count(o, "cancelled", x->cancelled, rv);
	put_count(o, "lost_gpu_s", r->lost_gpu_s, rv);
	put_count(o, "owed_gpu_s", r->owed_gpu_s, rv);
	put_count(o, "delivered_gpu_s", r->delivered_gpu_s, rv);
	put_count(o, "free_gpu_s", r->free_gpu_s, rv);
	put_count(o, "jobs", (int64_t)r->setup->trace->count, rv);
	put_count(o, "finished", r->finished, rv);
	put_count(o, "too_large", x->too_large, rv);
	put_count(o, "gpus", (int64_t)r->setup->nodes * r->setup->gpus_per_node, rv);
	put_count(o, "from_s", x->from, rv);
	put_count(o, "until_s", x->until, rv);
	put_count(o, "passes", x->passes, rv);
}

struct json_object *report_json(const struct report *r)
{
	struct json_object *o = json_object_new_object();
	int rv = 0;

	if (!o)
		return NULL;
	put(o, "scheduler", json_object_new_string(sim_scheduler_name[r->setup->scheduler]), &rv);
	put_ratio(o, "delivered_over_owed", report_ratio(r->served_gpu_s, r->owed_gpu_s), &rv);
	put_ratio(o, "useful_over_owed", report_ratio(r->useful_gpu_s, r->owed_gpu_s), &rv);
	put_ratio(o, "worst_project", report_worst(r), &rv);
	put_ratio(o, "occupancy", report_occupancy(r), &rv);
	put_ratio(o, "occupancy_of_all", report_occupancy_of_all(r), &rv);
	put_ratio(o, "free_share", report_free_share(r), &rv);
	put_totals(r, o, &rv);
	put(o, "wait_s", waits_json(r, &rv), &rv);
	put(o, "wait_all_s", wait_json(&r->wait_all, &rv), &rv);
	put(o, "wait_lane_s", wait_json(&r->wait_lane, &rv), &rv);
	put(o, "projects", projects_json(r, &rv), &rv);
	put_ratio(o, "wall_s", r->wall_s, &rv);
	if (rv == 0)
		return o;
	json_object_put(o);
	errno = ENOMEM;
	return NULL;
}
