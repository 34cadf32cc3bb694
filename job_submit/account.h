/* SPDX-License-Identifier: GPL-2.0-or-later
 * account.h - the account that Slurm will charge when the user names none
 *
 * Threads  any, inside slurmctld's submit or modify call */
#ifndef JOB_SUBMIT_ACCOUNT_H
#define JOB_SUBMIT_ACCOUNT_H
#include "job_submit/slurm_compat.h"

/* Write the default account of job_desc->user_id into job_desc->account when that is empty, so that what
 * is asked about and what Slurm uses cannot differ. Left alone when Slurm knows no default: budgetd and
 * Slurm then say so themselves. */
void account_resolve(job_desc_msg_t *job_desc);

#endif
