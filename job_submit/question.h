/* SPDX-License-Identifier: GPL-2.0-or-later
 * question.h - a job description as budgetd's question (doc/api.md, "The question and the verdict")
 *
 * Raw fields only: nothing is counted or decided here. What was not given is absent.
 *
 * Threads  pure functions of their arguments: any thread */
#ifndef JOB_SUBMIT_QUESTION_H
#define JOB_SUBMIT_QUESTION_H
#include <json-c/json.h>
#include <stdbool.h>
#include "job_submit/slurm_compat.h"
#include "lib/job_options.h"
#include "settings/settings.h"

/* Does this submission ask for anything a GPU budget pays for? No allocation, no parsing. */
bool question_concerns(const job_desc_msg_t *job_desc);

/* Does this modification change what a budget was asked for? `token` is that of the job or NULL. Jobs that
 * budgetd has never answered for (CPU-only ones) do not matter unless the change itself names GPUs or one
 * of our QOS. */
bool question_modify_concerns(
	const job_desc_msg_t *job_desc, const char *token, const struct settings *settings);

/* A hold (priority 0). On a job that runs it would give its GPUs away: budgetd is asked, and nothing else of
 * it matters. */
bool question_holds(const job_desc_msg_t *job_desc);
/* Other excluded nodes. Those that are cleared for a gang may be among them: budgetd is asked. */
bool question_excludes(const job_desc_msg_t *job_desc);
/* Does it set the place of the job by hand, by a nice value or a priority? */
bool question_moves_by_hand(const job_desc_msg_t *job_desc);

/* The text that the user gave with an option of sbatch, srun or salloc, or NULL. Borrowed from job_desc.
 * It is the user's: not checked. */
const char *question_option(const job_desc_msg_t *job_desc, enum job_option which);

/* To be put by the caller (json_object_put); NULL and errno ENOMEM. `token` may be NULL. `waits`: the record
 * has the mark of one that budgetd holds for lack of money. */
struct json_object *question_submit(const job_desc_msg_t *job_desc, uint32_t submit_uid);
struct json_object *question_modify(const job_desc_msg_t *job_desc, uint32_t submit_uid, const char *token,
	bool waits);
struct json_object *question_hold(const job_desc_msg_t *job_desc, uint32_t submit_uid, const char *token);
struct json_object *question_exclude(const job_desc_msg_t *job_desc, uint32_t submit_uid, const char *token);

#endif
