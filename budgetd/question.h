/* SPDX-License-Identifier: GPL-2.0-or-later
 * question.h - what a submission asks: the fields of doc/api.md, from the plugin's JSON or from a job that
 * the loop met
 *
 * Ownership  strings are borrowed from the JSON or the job table; the question must not outlive them
 * Threads    pure functions */
#ifndef BUDGETD_QUESTION_H
#define BUDGETD_QUESTION_H
#include <json-c/json.h>
#include "slurm_link/job_view.h"
#include "lib/fault.h"
#include "lib/gpu_request.h"
#include "lib/job_options.h"

struct question {
	int64_t uid;			/* whose job it is */
	const char *account, *partition, *qos;
	struct gpu_request_input gpus;
	const char *text[JOB_OPTIONS];	/* the options as the user wrote them, NULL = not given */
	const char *comment;
	/* of a job that was met: the plugin's words there win over those of `comment` */
	const char *admin_comment;
	int64_t time_limit_s;		/* JOB_TIME_LIMIT_UNSET, DURATION_UNLIMITED or seconds */
	int64_t begin;			/* 0 = at once */
	bool has_dependency, held, het, requeueable;
	/* --signal: by which it is told to go, see question_signal; 0 = none was given */
	int64_t signal;
	bool signal_script;		/* to its script alone */
	/* Slurm may refuse the user this account: nothing is set aside and no number told before it has
	 * not */
	bool stranger;
};

/* From the body of POST /v1/verdicts. -1, EINVAL and a text that names the key. */
int question_from_json(struct json_object *body, struct question *out, struct fault *why);
/* From a job that came without an answer of ours; its options are the words of its comments. */
void question_from_job(const struct job_view *j, struct question *out);
/* By which signal a run of it is told to go, and whether its script alone gets it: the one of its --signal;
 * else SIGTERM, to what srun started in it. Its script is left alone then: one that does not expect a signal
 * would end at once, and all that it has begun with it. */
int question_signal(const struct question *q, bool *script_only);
/* The question as JSON, the inverse of question_from_json. To be put by the caller; NULL and ENOMEM. */
struct json_object *question_to_json(const struct question *q);
/* The question that `body` (a modification) makes of `before` (the question as it was asked). To be put by
 * the caller; NULL and ENOMEM. */
struct json_object *question_overlay(const char *before, struct json_object *body);

#endif
