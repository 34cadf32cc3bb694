/* SPDX-License-Identifier: GPL-2.0-or-later
 * gathering.h - what the files that gather share; nobody else includes it
 *
 * `facts` points into the rest. Each gather_* fills its part; -1 is ENOMEM and nothing else.
 *
 * Threads  one */
#ifndef DOCTOR_GATHERING_H
#define DOCTOR_GATHERING_H
#include <json-c/json.h>
#include "doctor/gather.h"
#include "doctor/plugstack.h"

struct gathering {
	struct facts facts;
	struct settings *settings;
	struct slurm_link *link;
	struct site_conf *conf;
	struct site_accounts *accounts;
	struct fact_job *jobs;
	struct job_table *table;	/* what jobs point into */
	struct cluster_view *cluster;
	struct plugstack_line plugstack;
	char *submit, *spank;		/* paths */
	char *settings_barred, *people_barred, *slurm_barred;
	struct json_object *health, *project_reply;
	struct fact_project *projects;
	struct fault settings_why, munge_why, conf_why, accounts_why, plugstack_why, budgetd_why;
};

int gather_settings(struct gathering *g, const char *path);
int gather_munge(struct gathering *g);
int gather_slurm(struct gathering *g);
int gather_rights(struct gathering *g);
int gather_plugins(struct gathering *g);
int gather_sockets(struct gathering *g);
int gather_budgetd(struct gathering *g, const char *socket);

#endif
