/* SPDX-License-Identifier: GPL-2.0-or-later
 * gather.c - settings and Slurm; the order of the questions (gather.h) */
#include "doctor/gathering.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "doctor/rights.h"
#include "doctor/trial.h"
#include "lib/tres.h"

int gather_settings(struct gathering *g, const char *path)
{
	g->facts.settings_path = path;
	if (settings_load(path, &g->settings, &g->settings_why) < 0) {
		g->settings = settings_defaults();
		if (!g->settings)
			return -1;
		g->facts.settings_error = g->settings_why.text;
	}
	g->facts.settings = g->settings;
	return 0;
}

int gather_rights(struct gathering *g)
{
	uid_t slurm = g->conf ? g->conf->slurm_uid : 0;

	g->facts.settings_barred = g->settings_barred = rights_barred(g->facts.settings_path, slurm, true);
	g->facts.people.barred = g->people_barred = rights_barred(g->settings->socket, RIGHTS_NOBODY, false);
	g->facts.slurm.barred = g->slurm_barred = rights_barred(g->settings->slurm_socket, slurm, false);
	return 0;
}

/* --- Slurm ------------------------------------------------------------------------------------------ */

static bool has_gpus(const struct job_view *j)
{
	const char *tres = j->tres_alloc ? j->tres_alloc : j->tres_req;
	struct gpu_count count;

	return tres && tres_read(tres, &count, NULL) == 0 && (count.total || count.shards || count.mps);
}

static int keep_jobs(struct gathering *g)
{
	g->jobs = calloc(g->table->count + 1, sizeof(*g->jobs));
	if (!g->jobs)
		return -1;
	for (size_t i = 0; i < g->table->count; i++) {
		const struct job_view *j = &g->table->jobs[i];

		if (j->stage != STAGE_ENDED && has_gpus(j))
			g->jobs[g->facts.job_count++] = (struct fact_job){ .id = j->job_id,
				.running = j->stage == STAGE_RUNNING || j->stage == STAGE_SUSPENDED,
				.account = j->account, .qos = j->qos };
	}
	g->facts.jobs = g->jobs;
	return 0;
}

static void accounts_load(struct gathering *g)
{
	g->accounts_why.text[0] = '\0';
	if (slurm_link_site_accounts(g->link, &g->accounts, &g->accounts_why) < 0)
		g->facts.accounts_error = g->accounts_why.text;
	g->facts.accounts = g->accounts;
}

static int slurm_ask(struct gathering *g)
{
	if (slurm_link_open(NULL, &g->link, &g->conf_why) < 0 ||
		slurm_link_site_conf(g->link, &g->conf, &g->conf_why) < 0 ||
		slurm_link_cluster(g->link, &g->cluster, &g->conf_why) < 0 ||
		slurm_link_jobs(g->link, 0, &g->table, &g->conf_why) < 0) {
		site_conf_free(g->conf);
		g->conf = NULL;
		g->facts.conf_error = g->conf_why.text;
		return 0;
	}
	g->facts.now = time(NULL);
	g->facts.conf = g->conf;
	g->facts.partitions = g->cluster->partitions;
	g->facts.partition_count = g->cluster->partition_count;
	if (g->conf->accounting_type && strstr(g->conf->accounting_type, "slurmdbd"))
		accounts_load(g);
	return keep_jobs(g);
}

int gather_slurm(struct gathering *g)
{
	int stderr_saved, rv;

	if (g->facts.munge_error || trial_slurm(&g->conf_why) < 0) {
		g->facts.conf_error = g->conf_why.text;
		return 0;
	}
	stderr_saved = trial_quiet();
	rv = slurm_ask(g);
	trial_quiet_end(stderr_saved);
	return rv;
}

/* --- all -------------------------------------------------------------------------------------------- */

struct gathering *gather(const char *settings_path, const char *socket, const char *version)
{
	struct gathering *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->facts.version = version;
	g->facts.now = time(NULL);
	if (gather_settings(g, settings_path) < 0 || gather_munge(g) < 0 || gather_slurm(g) < 0 ||
		gather_rights(g) < 0 || gather_plugins(g) < 0 || gather_sockets(g) < 0 ||
		gather_budgetd(g, socket) < 0) {
		gathering_free(g);
		errno = ENOMEM;
		return NULL;
	}
	return g;
}

void gathering_free(struct gathering *g)
{
	int saved = errno;

	if (!g)
		return;
	json_object_put(g->health);
	json_object_put(g->project_reply);
	free(g->projects);
	free(g->settings_barred);
	free(g->people_barred);
	free(g->slurm_barred);
	free(g->submit);
	free(g->spank);
	plugstack_line_free(&g->plugstack);
	free(g->jobs);
	job_table_free(g->table);
	cluster_view_free(g->cluster);
	site_accounts_free(g->accounts);
	site_conf_free(g->conf);
	slurm_link_close(g->link);
	settings_free(g->settings);
	free(g);
	errno = saved;
}

const struct facts *gathering_facts(const struct gathering *g)
{
	return &g->facts;
}

void gathering_renew_accounts(struct gathering *g)
{
	int stderr_saved;

	if (!g->link || !g->conf)
		return;
	site_accounts_free(g->accounts);
	g->accounts = NULL;
	g->facts.accounts_error = NULL;
	stderr_saved = trial_quiet();
	accounts_load(g);
	trial_quiet_end(stderr_saved);
}
