/* SPDX-License-Identifier: GPL-2.0-or-later
 * job_id.h - a job as people and squeue write it: 1234, 1234_5, 1234_[5-9%2], 1234+1
 *
 * Threads  pure functions: any thread */
#ifndef LIB_JOB_ID_H
#define LIB_JOB_ID_H
#include <stdint.h>
#include "lib/fault.h"

enum job_part {
	JOB_WHOLE,
	JOB_TASK,	/* of an array: "_5" */
	JOB_TASKS,	/* "_[5-9]" */
	JOB_COMPONENT,	/* of a het job: "+1" */
};

struct job_name {
	int64_t job;		/* the number in front, 1 to UINT32_MAX */
	enum job_part part;	/* what is named of it */
	int64_t within;		/* the number of the task or the component; else 0 */
};

/* The whole of `text` is a job id. 0; or -1, *out untouched, EINVAL and a text that says what a job id looks
 * like. */
int job_id_parse(const char *text, struct job_name *out, struct fault *why);

#endif
