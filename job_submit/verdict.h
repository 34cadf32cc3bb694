/* SPDX-License-Identifier: GPL-2.0-or-later
 * verdict.h - budgetd's answer, and what becomes of the job description
 *
 * An answer is read and checked as a whole before a single field of the job is touched: garbage is no
 * verdict.
 *
 * Threads  pure functions of their arguments: any thread */
#ifndef JOB_SUBMIT_VERDICT_H
#define JOB_SUBMIT_VERDICT_H
#include <json-c/json.h>
#include <stdbool.h>
#include "job_submit/slurm_compat.h"
#include "lib/fault.h"

struct verdict {
	bool accepted;
	const char *qos, *account, *token, *text;	/* NULL = leave it; borrowed from reply */
	bool held;			/* tasks of it wait for money: nobody but budgetd releases it */
	bool has_site_factor;
	int32_t site_factor;
	struct json_object *reply;			/* owned; freed by verdict_clear */
};

/* Read `reply`, which becomes the verdict's on success and stays the caller's on failure.
 * 0; or -1 and EPROTO, *v untouched, `why` names the key that is missing or makes no sense. */
int verdict_read(struct json_object *reply, struct verdict *v, struct fault *why);
void verdict_clear(struct verdict *v);

/* Write an accepting verdict into a submission: account, QOS, SiteFactor, the token behind what
 * AdminComment has, and the hold of a job that waits for money, which its mark there tells from its user's
 * own. A refusing one changes nothing. */
void verdict_apply(const struct verdict *v, job_desc_msg_t *job_desc);

/* A job of ours has its place from budgetd: `--nice` of its submission is taken out, and its user is told. */
void verdict_clear_nice(job_desc_msg_t *job_desc, char **err_msg);

/* Append `text` to Slurm's message for the user, "gpubudget: " before each line; what an earlier plugin
 * said stays. Control characters become '?'. With err_msg NULL (22.05 cannot tell the user of a
 * modification) it goes to the log. */
void verdict_tell(const char *text, char **err_msg);

/* Replace a string of Slurm's by a copy of `text`. */
void verdict_set(char **field, const char *text);

#endif
