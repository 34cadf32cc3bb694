/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugin.c - what slurmctld calls: init, fini, job_submit, job_modify
 *
 * Thin: a job description becomes a question, a verdict becomes a job description, and nothing is decided
 * here. slurmctld holds locks around these calls, so nothing waits past the deadline, starts a thread,
 * forks or calls libslurm back. A job that asks for no GPU is let through before anything is allocated.
 * From 23.02 on calls come concurrently. */
#include "config.h"
#include "job_submit/slurm_compat.h"
#include <curl/curl.h>
#include <unistd.h>
#include "job_submit/account.h"
#include "job_submit/policy.h"
#include "job_submit/question.h"
#include "job_submit/remember.h"
#include "job_submit/verdict.h"
#include "lib/token.h"

/* Slurm's plugin loader wants these names, and its entry points have no argument that could carry a
 * context. */
extern const char plugin_name[], plugin_type[];
extern const uint32_t plugin_version;
const char plugin_name[] = "GPU-hour budgets";
const char plugin_type[] = "job_submit/gpubudget";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

static struct policy *policy;

extern int init(void);
extern void fini(void);
extern int job_submit(job_desc_msg_t *job_desc, uint32_t submit_uid, char **err_msg);
extern int job_modify(JOB_MODIFY_PARAMETERS);

int init(void)
{
	if (curl_global_init(CURL_GLOBAL_NOTHING) != CURLE_OK) {
		slurm_error("gpubudget: libcurl cannot be initialised");
		return SLURM_ERROR;
	}
	policy = policy_new(settings_default_path());
	if (!policy) {
		slurm_error("gpubudget: out of memory");
		curl_global_cleanup();
		return SLURM_ERROR;
	}
	return SLURM_SUCCESS;
}

void fini(void)
{
	policy_free(policy);
	policy = NULL;
	curl_global_cleanup();
}

/* 0 with a verdict, or -1. `question` is consumed and may be NULL (out of memory: as if nobody had
 * answered). */
static int ask(struct terms *t, struct json_object *question, struct verdict *v)
{
	int rv = question ? policy_ask(t, question, v) : -1;

	json_object_put(question);
	return rv;
}

static int rejected(const struct verdict *v, char **err_msg)
{
	verdict_tell(v->text ? v->text : "budgetd refused this and gave no reason", err_msg);
	return ESLURM_ACCOUNTING_POLICY;
}

int job_submit(job_desc_msg_t *job_desc, uint32_t submit_uid, char **err_msg)
{
	struct verdict v;
	struct terms *t;
	int rc = SLURM_SUCCESS;

	if (!question_concerns(job_desc))
		return SLURM_SUCCESS;
	t = policy_take(policy);
	if (policy_is_off(t, job_desc->partition))
		goto out;
	account_resolve(job_desc);
	if (ask(t, question_submit(job_desc, submit_uid), &v) < 0) {
		rc = policy_fallback_submit(t, job_desc, err_msg);
		if (rc == SLURM_SUCCESS)
			remember_options(job_desc);
		goto out;
	}
	verdict_apply(&v, job_desc);
	if (v.accepted) {
		verdict_tell(v.text, err_msg);
		/* else nothing of it is changed: it asks for no GPU, or the partition is watched only */
		if (v.token && v.qos)
			verdict_clear_nice(job_desc, err_msg);
	} else {
		rc = rejected(&v, err_msg);
	}
	verdict_clear(&v);
out:
	policy_put(t);
	return rc;
}

/* AdminComment out of slurmctld's record of the job; NULL when there is none or the record is not
 * understood. */
static const char *record_comment(const void *job_record)
{
	const struct job_record_prefix *record = job_record;

	if (!JOB_RECORD_PREFIX_KNOWN || !record || record->magic != SLURMCTLD_JOB_MAGIC)
		return NULL;
	return record->admin_comment;
}

/* Administrators and budgetd itself are not questioned: budgetd may be waiting for this very call. On
 * 22.05 a stranger's attempt comes by here before Slurm refuses it, and must not move anybody's money. */
static bool modify_is_settled(const job_desc_msg_t *job_desc, uint32_t submit_uid)
{
	if (submit_uid == 0 || submit_uid == geteuid())
		return true;
	return JOB_MODIFY_COMES_BEFORE_OWNERSHIP && submit_uid != job_desc->user_id;
}

/* Nothing is refused because nobody answers. */
static int ask_about(struct terms *t, struct json_object *question, char **err_msg)
{
	int rc = SLURM_SUCCESS;
	struct verdict v;

	if (ask(t, question, &v) < 0)
		return SLURM_SUCCESS;
	if (!v.accepted)
		rc = rejected(&v, err_msg);
	verdict_clear(&v);
	return rc;
}

/* Of a job that budgetd has answered: where it stands is not its user's, what runs is not held, and what is
 * kept off the nodes of a gang stays off them. */
static int keep_place(struct terms *t, const job_desc_msg_t *job_desc, uint32_t submit_uid, const char *token,
	char **err_msg)
{
	int rc = SLURM_SUCCESS;

	if (question_moves_by_hand(job_desc))
		return policy_refuse_by_hand(err_msg);
	if (question_holds(job_desc))
		rc = ask_about(t, question_hold(job_desc, submit_uid, token), err_msg);
	if (rc == SLURM_SUCCESS && question_excludes(job_desc))
		rc = ask_about(t, question_exclude(job_desc, submit_uid, token), err_msg);
	return rc;
}

int job_modify(JOB_MODIFY_PARAMETERS)
{
	const char *comment, *token;
	char buf[TOKEN_MAX];
	struct verdict v;
	struct terms *t;
	int rc = SLURM_SUCCESS;

	if (modify_is_settled(job_desc, submit_uid))
		return SLURM_SUCCESS;
	comment = record_comment(job_record);
	token = token_find(comment, buf) ? buf : NULL;
	t = policy_take(policy);
	if (token)
		rc = keep_place(t, job_desc, submit_uid, token, JOB_MODIFY_ERR_MSG);
	if (rc != SLURM_SUCCESS || !question_modify_concerns(job_desc, token, policy_settings(t)))
		goto out;
	if (ask(t, question_modify(job_desc, submit_uid, token, token_waits(comment)), &v) < 0) {
		rc = policy_fallback_modify(
			t, job_desc->priority == INFINITE && token_waits(comment), JOB_MODIFY_ERR_MSG);
		goto out;
	}
	if (v.accepted)
		verdict_tell(v.text, JOB_MODIFY_ERR_MSG);
	else
		rc = rejected(&v, JOB_MODIFY_ERR_MSG);
	verdict_clear(&v);
out:
	policy_put(t);
	return rc;
}
