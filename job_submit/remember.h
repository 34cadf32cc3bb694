/* SPDX-License-Identifier: GPL-2.0-or-later
 * remember.h - what the user declared, for a budgetd that could not be asked
 *
 * The options of sbatch, srun and salloc reach slurmctld with the submission and are gone afterwards: in the
 * queue a job shows its comments only. A job that was let in unasked carries them in AdminComment, as the
 * words that --comment may have too.
 *
 * Threads  any, inside slurmctld's submit call */
#ifndef JOB_SUBMIT_REMEMBER_H
#define JOB_SUBMIT_REMEMBER_H
#include "job_submit/slurm_compat.h"

/* Append the options that make sense to job_desc->admin_comment. */
void remember_options(job_desc_msg_t *job_desc);

#endif
