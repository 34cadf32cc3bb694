/* SPDX-License-Identifier: GPL-2.0-or-later
 * site.h - how a site has set up its Slurm: what slurmctld runs with, and the QOS and associations of
 * slurmdbd
 *
 * For those who check it or print what is missing (doctor/); budgetd itself needs slurm_link_facts only.
 * Words are those that a person writes in slurm.conf and to sacctmgr.
 *
 * Ownership  every string belongs to the struct it came in and dies with it; NULL = not set
 * Errors     as in link.h
 * Threads    one at a time per link; what is returned is constant: any number of readers */
#ifndef SLURM_LINK_SITE_H
#define SLURM_LINK_SITE_H
#include "slurm_link/link.h"

struct site_conf {
	int64_t taken_at;		/* by slurmctld's clock, epoch seconds */
	const char *cluster, *version;	/* "22.05.8" */
	uid_t slurm_uid;
	const char *slurm_user;
	const char *conf_path;		/* of slurm.conf, as slurmctld has it */
	const char *plugin_dir;		/* folders with colons between */
	const char *job_submit_plugins, *plugstack;
	const char *preempt_type, *preempt_mode;	/* "REQUEUE", "SUSPEND,GANG" */
	const char *priority_type, *select_type, *scheduler_parameters;
	const char *accounting_type, *accounting_tres, *accounting_enforce;
	const char *auth_type, *auth_info;
	bool job_requeue;
	int64_t min_job_age_s;		/* 0 = ended jobs stay for ever */
	char *strings;
};
int slurm_link_site_conf(struct slurm_link *l, struct site_conf **out, struct fault *why);
void site_conf_free(struct site_conf *c);	/* NULL is fine; errno is kept */

#define SITE_UNSET (-1)

struct site_qos {
	const char *name;
	int64_t priority;
	const char *preempt_mode; /* as sacctmgr takes it, in lower case: "requeue,within"; "cluster" when
				   * the QOS has none of its own */
	const char *preempt;      /* names of the QOS it may displace, with commas between; NULL = none */
	int64_t exempt_s;		/* PreemptExemptTime or SITE_UNSET */
	int64_t grace_s;
};

/* One row of `sacctmgr list associations`, with what it inherits. */
struct site_association {
	const char *account, *user;	/* user NULL: the account's own row */
	const char *parent;		/* account above it; NULL for root and for users */
	const char *partition;		/* NULL = any */
	const char *qos;		/* names with commas between; NULL = none */
	const char *default_qos;	/* NULL = none */
};

/* Of this cluster only: a slurmdbd may serve several. */
struct site_accounts {
	struct site_qos *qos;
	size_t qos_count;
	struct site_association *rows;
	size_t count;
	char *strings;
};
int slurm_link_site_accounts(struct slurm_link *l, struct site_accounts **out, struct fault *why);
void site_accounts_free(struct site_accounts *a);	/* NULL is fine; errno is kept */

#endif
