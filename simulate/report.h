/* SPDX-License-Identifier: GPL-2.0-or-later
 * report.h - the figures of a replay, for people and as JSON
 *
 * Unit     GPU-seconds, seconds
 * Threads  one */
#ifndef SIMULATE_REPORT_H
#define SIMULATE_REPORT_H
#include <json-c/json.h>
#include "simulate/engine.h"

#define REPORT_CLASSES 5

extern const char *const report_class[REPORT_CLASSES]; /* "1", "2-4", ...: GPUs of a job */

struct report_wait {
	int64_t jobs, p50, p90; /* of jobs that still wait: what they waited so far */
};

struct report {
	const struct sim_setup *setup;
	const struct sim_result *result;
	const int64_t *owed; /* by project */
	double wall_s;
	struct report_wait wait[REPORT_CLASSES], wait_all,
		wait_lane; /* lane: of a shape for it, whoever scheduled it */
	/* served, useful: of each project no more than it was owed; useful is without what displacements lost
	 */
	int64_t owed_gpu_s, served_gpu_s, useful_gpu_s;
	int64_t delivered_gpu_s, free_gpu_s, lost_gpu_s, displaced, reclaimed, finished;
};

/* `setup`, `result` and `owed` must outlive it. 0, or -1 and ENOMEM. */
int report_make(struct report *r, const struct sim_setup *setup, const struct sim_result *result,
	const int64_t *owed, double wall_s);

double report_ratio(int64_t delivered, int64_t owed); /* 1 where nothing is owed */
double report_worst(const struct report *r);          /* of the projects with at least 1 % of what is owed */
double report_occupancy(const struct report *r);      /* used / usable */
double report_occupancy_of_all(const struct report *r); /* used / GPUs x time */
double report_free_share(const struct report *r);       /* of what was used */

struct json_object *report_json(const struct report *r); /* NULL and ENOMEM */

#endif
