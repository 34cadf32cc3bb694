/* SPDX-License-Identifier: GPL-2.0-or-later
 * compat.h - what differs between libslurm 22.05 and 26.05, in one place
 *
 * One source for all: the names of lists (23.02), of the function that names a reason (24.05) and of the one
 * that frees a configuration (26.05), texts that libslurm forgets to free
 * (22.05, 24.05), flags for fields (of associations), an error that is gone (24.11), step ids for job ids
 * (25.11, 26.05) and whole nodes (26.05).
 * Only slurm*.c include it, and never a Slurm header by themselves. */
#ifndef SLURM_LINK_COMPAT_H
#define SLURM_LINK_COMPAT_H
#include "config.h"

/* 26.05 wants a step id where a job id was; with this it takes both. Older versions ignore it. */
#define SLURM_BACKWARD_COMPAT 1
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <slurm/slurm_version.h>
#include <stdbool.h>

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(22, 5, 0)
#error "Slurm 22.05 or later is needed"
#endif

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
typedef struct xlist list_t;
typedef struct listIterator list_itr_t;
#endif

/* Exported by every libslurm, declared in no public header. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 5, 0)
extern char *slurm_job_reason_string(enum job_state_reason reason);
#define compat_reason_text(r) slurm_job_reason_string(r)
#else
extern const char *slurm_job_state_reason_string(enum job_state_reason reason);
#define compat_reason_text(r) slurm_job_state_reason_string(r)
#endif

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
#define compat_free_conf(c) slurm_free_conf(c)
#else
#define compat_free_conf(c) slurm_free_ctl_conf(c)
#endif

/* Exported by every libslurm, declared in no public header; sets the pointer to NULL, so that freeing twice
 * does no harm. */
extern void slurm_xfree(void **text);

/* Before slurm_free_job_info_msg. 22.05 never frees a record's AdminComment and four more, 24.05 to 25.11 not
 * its ports. Every job has our words in its AdminComment, so a daemon that reads the table all day would grow
 * by gigabytes. */
static inline void compat_free_forgotten(job_info_msg_t *m)
{
	for (uint32_t i = 0; i < m->record_count; i++) {
		slurm_job_info_t *j = &m->job_array[i];

		(void)j;
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 2, 0)
		slurm_xfree((void **)&j->admin_comment);
		slurm_xfree((void **)&j->cluster_features);
		slurm_xfree((void **)&j->cronspec);
		slurm_xfree((void **)&j->prefer);
		slurm_xfree((void **)&j->system_comment);
#elif SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 5, 0) && \
	SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(26, 5, 0)
		slurm_xfree((void **)&j->resv_ports);
#endif
	}
}

/* Up to 24.05 a job is closed to updates while slurmdbd gives it a number; later versions queue the update
 * themselves. */
#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(24, 11, 0)
#define COMPAT_ERR_DB_INDEX ESLURM_JOB_SETTING_DB_INX
#else
#define COMPAT_ERR_DB_INDEX (-1000)		/* no error has this number */
#endif

/* From 23.11 on hostlist_t is the struct, before it was a pointer to it. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
typedef hostlist_t *compat_hostlist_t;
#else
typedef hostlist_t compat_hostlist_t;
#endif

/* The number of the job that a description is of, as an lvalue. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
#define compat_desc_job_id(d) ((d)->step_id.job_id)
#else
#define compat_desc_job_id(d) ((d)->job_id)
#endif

/* Of associations their own limits and nothing of those above: flags took the place of fields. */
static inline void compat_without_parents(slurmdb_assoc_cond_t *c)
{
#ifdef ASSOC_COND_FLAG_WOPI
	c->flags |= ASSOC_COND_FLAG_WOPI | ASSOC_COND_FLAG_WOPL;
#else
	c->without_parent_info = c->without_parent_limits = 1;
#endif
}

/* Exported by every libslurm, declared in no public header. */
extern int slurm_bit_test(bitstr_t *bits, int64_t bit);
extern int64_t slurm_bit_size(bitstr_t *bits);

/* May jobs of the QOS displace those of the QOS with this id? */
static inline bool compat_qos_displaces(const slurmdb_qos_rec_t *q, uint32_t id)
{
	return q->preempt_bitstr && (int64_t)id < slurm_bit_size(q->preempt_bitstr) &&
		slurm_bit_test(q->preempt_bitstr, id);
}

/* CPUs of a node that jobs have: a field of its own since Slurm did without select_nodeinfo. */
static inline uint16_t compat_used_cpus(const node_info_t *n)
{
#ifdef HAVE_NODE_INFO_T_ALLOC_CPUS
	return n->alloc_cpus;
#else
	uint16_t used = 0;

	if (slurm_get_select_nodeinfo(n->select_nodeinfo, SELECT_NODEDATA_SUBCNT, NODE_STATE_ALLOCATED,
		&used) != SLURM_SUCCESS)
		used = 0;
	return used;
#endif
}

/* Were whole nodes asked for, or does the partition give nothing else? Shared with one user's jobs only is
 * not that. */
static inline bool compat_takes_whole_nodes(const slurm_job_info_t *j)
{
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(26, 5, 0)
	return j->exclusive == JOB_EXCLUSIVE_NODE;
#else
	return j->shared == JOB_SHARED_NONE;
#endif
}

#endif
