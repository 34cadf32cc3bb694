/* SPDX-License-Identifier: GPL-2.0-or-later
 * slurm_compat.h - the only place in this plugin that knows versions of Slurm (22.05 to 26.05)
 *
 * slurmctld loads a job_submit plugin only when major, minor and micro are those it was built with, so
 * every difference is one of compile time. What slurmctld exports but no public header declares is
 * declared here too. All slurm_* stay undefined in the plugin: slurmctld brings them, and a second
 * libslurm would bring a second configuration. */
#ifndef JOB_SUBMIT_SLURM_COMPAT_H
#define JOB_SUBMIT_SLURM_COMPAT_H
#include <slurm/slurm_version.h>
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define SLURM_BACKWARD_COMPAT	/* 26.05 renames the calls that take a plain job id */
#endif
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <slurm/spank.h>	/* slurm_error() and the other log calls */
#include <stdbool.h>
#include <stdint.h>

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22, 5, 0)
#error "Slurm 22.05 or newer is needed"
#endif

/* --- Slurm's memory: what slurmctld frees must come from here (malloc would corrupt its heap) ------ */
extern char *slurm_xstrdup(const char *text);
extern void slurm_xfree(void **pointer);
extern void slurm_xstrfmtcat(char **text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* --- the default account of a user, as job_submit/lua finds it ------------------------------------- */
/* Weak: they live in slurmctld itself, and a test that loads the plugin elsewhere has none. */
extern void *acct_db_conn __attribute__((weak));
extern uint16_t accounting_enforce __attribute__((weak));
extern int assoc_mgr_fill_in_user(void *db_conn, slurmdb_user_rec_t *user, int enforce,
	slurmdb_user_rec_t **found, bool locked) __attribute__((weak));

/* --- job_modify: 22.05 has no way to give a text to the user, and asks before it knows whose job it is */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
#define JOB_MODIFY_PARAMETERS job_desc_msg_t *job_desc, void *job_record, uint32_t submit_uid, char **err_msg
#define JOB_MODIFY_ERR_MSG err_msg
#define JOB_MODIFY_COMES_BEFORE_OWNERSHIP 0
#else
#define JOB_MODIFY_PARAMETERS job_desc_msg_t *job_desc, void *job_record, uint32_t submit_uid
#define JOB_MODIFY_ERR_MSG NULL
#define JOB_MODIFY_COMES_BEFORE_OWNERSHIP 1
#endif

/* --- the first fields of slurmctld's job record ---------------------------------------------------- */
/* Not public, but the same in every release of a row below; the magic is checked before anything is
 * believed. A release that nobody has looked at is not interpreted: its modifications go out without a
 * token. */
#define SLURMCTLD_JOB_MAGIC 0xf0b7392cu
struct job_record_prefix {
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
	slurm_step_id_t step_id;
#endif
	uint32_t magic;
	char *account;
	char *admin_comment;
};
#define JOB_RECORD_PREFIX_KNOWN (SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 6, 0))

#endif
