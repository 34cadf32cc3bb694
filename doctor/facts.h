/* SPDX-License-Identifier: GPL-2.0-or-later
 * facts.h - what a site's installation looks like, as plain values
 *
 * gather.c fills it from slurmctld, slurmdbd, budgetd and the file system; checks judge it and ask nobody.
 * What could not be found out is NULL with an error text beside it, so a check can tell "wrong" from "not
 * known".
 *
 * Ownership  strings and tables are borrowed; gather.h says for how long
 * Unit       times are epoch seconds, lengths seconds
 * Threads    constant once filled */
#ifndef DOCTOR_FACTS_H
#define DOCTOR_FACTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "settings/settings.h"
#include "slurm_link/site.h"

/* A job that has or wants GPUs. */
struct fact_job {
	uint32_t id;
	bool running;
	const char *account, *qos;	/* NULL = none */
};

/* In the order of the tree: a parent comes before what is below it. */
struct fact_project {
	const char *name, *parent;	/* parent NULL = at the root */
	bool leaf;
};

/* A plugin of ours, or of the name of ours. */
struct fact_plugin {
	const char *path;		/* NULL: there is no such file */
	uint32_t version; /* of Slurm, that it was built for, as SLURM_VERSION_NUM; 0 = it does not
			   * say: not a plugin of Slurm */
};

struct fact_socket {
	bool there;			/* a socket is at the path */
	mode_t mode;			/* permission bits */
	uid_t owner;
	pid_t listener;			/* 0 = nobody */
	const char *barred;		/* the folder that keeps those out who are to come in; NULL = none */
};

struct facts {
	int64_t now;			/* by the clock of this host */
	const char *version;		/* of this program */

	const char *settings_path;
	const char *settings_error;	/* NULL = budgetd.conf was read */
	const struct settings *settings;	/* never NULL: the defaults after an error */
	const char *settings_barred;	/* file or folder that keeps SlurmUser from reading budgetd.conf */

	const char *munge_error;	/* NULL = a credential went there and back, or the site uses none */
	const struct site_conf *conf;
	const char *conf_error;		/* why conf is NULL */
	const struct site_accounts *accounts;
	const char *accounts_error;
	const struct fact_job *jobs;
	size_t job_count;
	const struct partition_view *partitions;	/* of slurmctld; as known as conf is */
	size_t partition_count;

	struct fact_plugin submit, spank;
	const char *plugstack_error;	/* plugstack.conf or a file it includes cannot be read */
	const char *plugstack_line;	/* the one that names our plugin, NULL = there is none */
	int64_t plugstack_limit_s;	/* max_min_runtime= of that line, or what the plugin takes without */

	bool budgetd_asked;		/* false: it is not known where it listens */
	const char *budgetd_error;	/* NULL = it answered */
	const char *budgetd_version, *budgetd_slurm;	/* "ok" or its last trouble with Slurm */
	int64_t last_pass_at;		/* 0 = none yet */
	/* NULL = budgetd asks none; "ok", "not asked yet" or its trouble with it */
	const char *prometheus;
	const char *notices;		/* likewise; NULL = they are off */
	int64_t notices_waiting, notices_failed;
	int64_t gpus_used, gpus_unseen;	/* by running jobs; and of those, what Prometheus does not tell of */
	const char *socket_path;	/* where budgetd was asked */
	struct fact_socket people, slurm;	/* socket and slurm_socket of budgetd.conf */
	pid_t second;			/* another budgetd that has the same books open, 0 = none */
	bool projects_known;
	const struct fact_project *projects;
	size_t project_count;
};

#endif
