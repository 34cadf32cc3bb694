/* SPDX-License-Identifier: GPL-2.0-or-later
 * quote.h - what a submission would get and cost, summed over the components of a het job
 *
 * The figures of `budgetctl quote`, the same with and without a daemon: what is asked comes from
 * gpu_request.h, the price from admission.h. Whether it would be accepted is not a figure: that is the
 * verdict's.
 *
 * Unit     amounts in units, times in seconds
 * Threads  pure functions: any thread */
#ifndef LIB_QUOTE_H
#define LIB_QUOTE_H
#include <stdbool.h>
#include "lib/admission.h"

#define QUOTE_NOT_KNOWN (-1) /* a time limit that was not given, and what depends on it */

struct quote {
	bool clear; /* gpus.total is the one right answer, or the least where whole nodes may bring more */
	struct gpu_count gpus; /* of one array task; the upper bound when not clear */
	int64_t gpus_min, gpus_max;
	int64_t array_tasks;
	int64_t time_limit_s;     /* the longest; or QUOTE_NOT_KNOWN, or DURATION_UNLIMITED */
	int64_t min_runtime_s;    /* the longest; 0 when free is asked for */
	int64_t hold_gpu_seconds; /* of all tasks, whatever a GPU-hour costs */
	amount_t hold;            /* what the funded tier sets aside at once; 0 when free is asked for */
	amount_t whole;   /* what all tasks cost when they run into their time limit; or QUOTE_NOT_KNOWN */
	const char *rule; /* static: how the number of GPUs came about */
};

/* What is asked by one component. */
struct quote_part {
	const struct gpu_request *request;
	const struct job_options *options;
	int64_t time_limit_s; /* QUOTE_NOT_KNOWN, DURATION_UNLIMITED or seconds */
	amount_t price;       /* of one array task, units a second; 0 = it asks for nothing that costs */
};

void quote_init(struct quote *q);

/* 0; or -1, q untouched, with a text for the user: EINVAL (a minimum runtime over the maximum), EOVERFLOW,
 * E2BIG (types). */
int quote_add(struct quote *q, const struct quote_part *part, const struct admission_rules *rules,
	struct fault *why);

#endif
