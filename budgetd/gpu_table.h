/* SPDX-License-Identifier: GPL-2.0-or-later
 * gpu_table.h - how long each GPU has been idle, out of samples that came from Prometheus
 *
 * A row is a GPU in the hands of one job, as far as the labels of its series tell: node and index, an id, a
 * job. What another job does with the GPU is another row where the exporter knows jobs; where it knows none,
 * the start of the run is the border (idle_since of lib/idle.h).
 *
 * Memory   200 bytes a row, at most 65,536 of them; those without news for as long as one looks back are
 *          forgotten
 * Threads  one at a time */
#ifndef BUDGETD_GPU_TABLE_H
#define BUDGETD_GPU_TABLE_H
#include <json-c/json.h>
#include "lib/gpu_metric.h"
#include "lib/gpu_places.h"
#include "lib/idle.h"

#define GPU_ID_MAX 96

struct gpu_row {
	char node[GPU_NODE_MAX];	/* "" = not told */
	int64_t index;			/* on the node; -1 = not told */
	int64_t job;			/* 0 = not told */
	char id[GPU_ID_MAX];
	struct idle_gpu idle;
};

struct gpu_table {
	struct gpu_row *rows;		/* by node, index, job, id */
	size_t count;
	int64_t until;			/* the time of the newest samples that were asked for; 0 = none */
};

#define GPU_ROWS_MAX   65536
/* samples of a series in one piece: what Prometheus' answer needs as JSON is bounded by it */
#define GPU_POINTS_MAX 16

/* The samples of from, from + step, ..., to: at most GPU_POINTS_MAX, after t->until. series[i] is an array of
 * series (prometheus.h); NULL = that query is not asked. A sample that one of them lacks is missing. 0; or -1
 * with `t` as it was: EINVAL (series that cannot be used; the text says why), E2BIG, ENOMEM. */
int gpu_table_add(struct gpu_table *t, const struct gpu_labels *labels,
	struct json_object *const series[QUERIES], int64_t from, int64_t to, int64_t step_s,
	struct fault *why);

/* Forget rows whose last sample is older than `before`. */
void gpu_table_forget(struct gpu_table *t, int64_t before);

/* Rows of a job. With `job` told by the exporter they are its; else those at the job's places that no other
 * job is told of. */
#define GPU_FOUND_MAX 4096
size_t gpu_table_of_job(const struct gpu_table *t, int64_t job, const char *places,
	const struct idle_gpu *found[GPU_FOUND_MAX]);

/* 0, or -1 and ENOMEM with `to` untouched */
int gpu_table_copy(const struct gpu_table *from, struct gpu_table *to);
void gpu_table_clear(struct gpu_table *t);	/* frees its rows */

#endif
