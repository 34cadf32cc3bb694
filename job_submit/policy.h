/* SPDX-License-Identifier: GPL-2.0-or-later
 * policy.h - the local file: where budgetd is, how long to wait for it, and what happens when it does not
 * answer
 *
 * slurmctld tells no plugin of a reconfigure, so the file is looked at again before each question. A changed
 * file that is wrong, or gone, keeps what was in force and is logged once.
 *
 * Threads  policy_new/free: one thread, before and after all others. The rest: any number at once; no
 *          thread ever waits for another's I/O. */
#ifndef JOB_SUBMIT_POLICY_H
#define JOB_SUBMIT_POLICY_H
#include <json-c/json.h>
#include <stdbool.h>
#include "job_submit/slurm_compat.h"
#include "job_submit/verdict.h"
#include "settings/settings.h"

struct policy;			/* the file, watched */
struct terms;			/* what one moment's file says, with the connections made from it */

/* `path` is copied. A missing or broken file gives the defaults and a line in the log; with a broken one
 * nothing is changed without budgetd's answer. NULL and errno ENOMEM. */
struct policy *policy_new(const char *path);
void policy_free(struct policy *p);	/* NULL is fine; terms still taken stay good until they are put */

/* What is in force now; never NULL. Give it back with policy_put. */
struct terms *policy_take(struct policy *p);
void policy_put(struct terms *t);
const struct settings *policy_settings(const struct terms *t);	/* borrowed until policy_put */

/* enforce is off where the job goes (NULL: no partition was given): nobody is asked, nothing is changed. */
bool policy_is_off(const struct terms *t, const char *partition);

/* Ask budgetd. 0 and *v set, to be cleared by verdict_clear; or -1: it cannot be asked, or its answer is
 * none; that is logged here, once in a while and counted. Takes at most the deadline, and no time at all
 * after a missed one (client/breaker.h). */
int policy_ask(struct terms *t, struct json_object *question, struct verdict *v);

/* A nice value or a priority in a modification of a job of ours: the error for Slurm, with a text in
 * err_msg. */
int policy_refuse_by_hand(char **err_msg);

/* What the file says for a submission that was not answered. SLURM_SUCCESS, or the error for Slurm with a
 * text in err_msg. */
int policy_fallback_submit(const struct terms *t, job_desc_msg_t *job_desc, char **err_msg);
/* The same for a modification, in which no field is ever written. One that would release what waits for
 * money is refused in any case. */
int policy_fallback_modify(const struct terms *t, bool releases_what_waits, char **err_msg);

#endif
