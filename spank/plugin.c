/* SPDX-License-Identifier: GPL-2.0-or-later
 * plugin.c - gpubudget.so: the options of sbatch, srun, salloc and #SBATCH, and their variables in the job
 *
 * On the client a wrong value ends the command before anything is sent. On a node nothing ever fails, but in
 * task_init a task far from its GPUs (--gpu-numa=strict) or one whose GPUs do not work (--gpu-check): an
 * error of a SPANK plugin in any other hook there drains the node, and budgetd has judged the texts long ago.
 * A callback may come twice (srun up to 23.11). */
#include "config.h"
#include <slurm/slurm_version.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "lib/duration.h"
#include "lib/job_options.h"
#include "lib/number.h"
#include "settings/settings.h"
#include "spank/check_hooks.h"
#include "spank/facts.h"
#include "spank/numa_hooks.h"
#include "spank/options.h"

extern const char plugin_name[], plugin_type[];
extern const unsigned int plugin_version, spank_plugin_version;
SPANK_PLUGIN(gpubudget, 1)

int slurm_spank_init(spank_t sp, int argc, char *argv[]);
int slurm_spank_init_post_opt(spank_t sp, int argc, char *argv[]);
int slurm_spank_user_init(spank_t sp, int argc, char *argv[]);
int slurm_spank_local_user_init(spank_t sp, int argc, char *argv[]);
int slurm_spank_task_post_fork(spank_t sp, int argc, char *argv[]);
int slurm_spank_task_init(spank_t sp, int argc, char *argv[]);
int slurm_spank_exit(spank_t sp, int argc, char *argv[]);

/* The one context of this plugin: SPANK hands none to its callbacks. */
static struct declared declared;
static struct settings *site;	/* NULL before slurm_spank_init, and when memory was short there */
static struct spank_option
	registered[JOB_OPTIONS]; /* Slurm may keep the pointers; filled once from the table */

static bool on_client(void)
{
	spank_context_t context = spank_context();

	return context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR;
}

/* 0, or -1 on the client, where the user can do something about it. */
static int complain(const struct fault *why, bool client)
{
	if (!client) {
		slurm_debug("gpubudget: %s", why->text);
		return 0;
	}
	slurm_error("gpubudget: %s", why->text);
	return -1;
}

/* Judged here, with what was given before it: Slurm then ends the command with the option's name, whether
 * plugstack.conf says "required" or "optional". */
static int option_given(int which, const char *text, int remote)
{
	struct fault why = { "" };

	if (which < 0 || which >= JOB_OPTIONS || !text)
		return 0;
	if (declared_keep(&declared, which, text, &why) < 0)
		return complain(&why, !remote);
	if (!remote && declared_check(&declared, which, &why) < 0)
		return complain(&why, true);
	return 0;
}

static void options_register(spank_t sp)
{
	for (int i = 0; i < JOB_OPTIONS; i++) {
		const struct job_option_row *row = &job_option_table[i];

		registered[i] = (struct spank_option){.name = (char *)row->name,
			.arginfo = (char *)row->argument,
			.usage = (char *)row->help,
			.has_arg = 1,
			.val = i,
			.cb = option_given};
		if (spank_option_register(sp, &registered[i]) != ESPANK_SUCCESS)
			slurm_error("gpubudget: --%s cannot be registered", row->name);
	}
}

/* What the site has set, where its budgetd.conf is on this host and can be read; else what holds without one.
 * It is the daemon's to complain of a file that is wrong. Read as root on a node: a job's user may not be
 * allowed to. */
static void site_read(void)
{
	struct fault why = { "" };

	settings_free(site);
	site = NULL;
	if (settings_load(settings_default_path(), &site, &why) < 0) {
		slurm_debug("gpubudget: %s", why.text);
		site = settings_defaults();
	}
}

/* A mistake in plugstack.conf is told and skipped: it must not stop every sbatch of the site. */
int slurm_spank_init(spank_t sp, int argc, char *argv[])
{
	struct fault why = { "" };

	if (spank_context() == S_CTX_SLURMD)
		return 0;
	site_read();
	numa_hooks_init();
	check_hooks_init();
	declared_init(&declared, site ? site->max_min_runtime_s : DURATION_UNLIMITED);
	for (int i = 0; i < argc; i++) {
		int numa, check;

		why.text[0] = '\0';
		numa = numa_hooks_argument(argv[i], &why);
		check = check_hooks_argument(argv[i], &why);	/* some are of both */
		if (numa < 0 || check < 0 ||
			(numa == 0 && check == 0 && declared_argument(&declared, argv[i], &why) < 0))
			complain(&why, on_client());
	}
	options_register(sp);
	numa_hooks_register(sp);
	check_hooks_register(sp);
	return 0;
}

int slurm_spank_exit(spank_t sp, int argc, char *argv[])
{
	(void)sp;
	(void)argc;
	(void)argv;
	numa_hooks_end();
	check_hooks_end();
	settings_free(site);
	site = NULL;
	return 0;
}

/* Nothing is forgotten between the components of a het job: Slurm too gives a later one what an earlier
 * one declared. */
int slurm_spank_init_post_opt(spank_t sp, int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	if (spank_remote(sp) == 1) {
		numa_hooks_begin(sp);
		check_hooks_begin(sp);
	}
	if (!on_client())
		return 0;
	/* the shell of salloc is started right here, without a node's plugin */
	for (int i = 0; i < JOB_OPTIONS; i++)
		if (declared.text[i][0] && spank_context() == S_CTX_ALLOCATOR)
			setenv(job_option_table[i].variable, declared.text[i], 1);
	return 0;
}

/* The text of an option in this step: from Slurm, or from what sbatch left for inner steps (22.05 does not
 * give options to the batch step after --export=NONE). false: not given. */
static bool option_text(spank_t sp, int which, char buf[OPTION_TEXT_MAX])
{
	char variable[OPTION_VARIABLE_MAX];

	if (declared.text[which][0]) {
		memcpy(buf, declared.text[which], OPTION_TEXT_MAX);
		return true;
	}
	return spank_getenv(sp, declared_inherited_variable(which, variable), buf, OPTION_TEXT_MAX) ==
	       ESPANK_SUCCESS;
}

/* --- what the job is now ------------------------------------------------------------------------ */

#define FACT_MAX 64

static const char *read_fact(spank_t sp, const char *name, char buf[FACT_MAX])
{
	return spank_getenv(sp, name, buf, FACT_MAX) == ESPANK_SUCCESS ? buf : NULL;
}

static void set_fact(spank_t sp, const char *name, const char *value)
{
	if (value)
		spank_setenv(sp, name, value, 1);
	else
		spank_unsetenv(sp, name);
}

/* How long the run may take; 0 = this Slurm does not say (those before 23.02). */
static int64_t time_limit(spank_t sp)
{
	char begins[FACT_MAX], ends[FACT_MAX];
	int64_t from, to;

	if (!read_fact(sp, "SLURM_JOB_START_TIME", begins) || number_parse(begins, INT64_MAX, &from) < 0 ||
		!read_fact(sp, "SLURM_JOB_END_TIME", ends) || number_parse(ends, INT64_MAX, &to) < 0)
		return 0;
	return to > from ? to - from : 0;
}

/* From what slurmctld says of this very run, not from what was answered at submission: the tier can change
 * while a job waits, and from one run to the next. What `budgetctl job set` declared since is not in reach of
 * a node. */
static void set_facts(spank_t sp)
{
	char gpus[FACT_MAX], qos[FACT_MAX], account[FACT_MAX], restarts[FACT_MAX], seconds[FACT_MAX],
		grace[FACT_MAX], run[FACT_MAX];
	char text[OPTION_TEXT_MAX];
	bool ours = site && (read_fact(sp, "SLURM_JOB_GPUS", gpus) || read_fact(sp, "SLURM_STEP_GPUS", gpus));
	const char *tier = ours && read_fact(sp, "SLURM_JOB_QOS", qos) ? fact_tier(qos, site) : NULL;
	const char *min_runtime = option_text(sp, OPT_MIN_RUNTIME, text) ? text : NULL;

	set_fact(sp, FACT_TIER, tier);
	set_fact(sp, FACT_PROJECT, tier ? read_fact(sp, "SLURM_JOB_ACCOUNT", account) : NULL);
	set_fact(sp, FACT_RUN,
		tier ? fact_run(read_fact(sp, "SLURM_RESTART_COUNT", restarts), run, sizeof(run)) : NULL);
	set_fact(sp, FACT_MIN_RUNTIME, tier
		? fact_min_runtime(tier, min_runtime, time_limit(sp), site, seconds, sizeof(seconds)) : NULL);
	set_fact(sp, FACT_GRACE, tier ? fact_grace(tier, site, grace, sizeof(grace)) : NULL);
}

/* A variable left over from the shell of the user would be a lie about this job: it goes. */
int slurm_spank_user_init(spank_t sp, int argc, char *argv[])
{
	char text[OPTION_TEXT_MAX];

	(void)argc;
	(void)argv;
	for (int i = 0; i < JOB_OPTIONS; i++) {
		if (option_text(sp, i, text))
			spank_setenv(sp, job_option_table[i].variable, text, 1);
		else
			spank_unsetenv(sp, job_option_table[i].variable);
	}
	return 0;
}

int slurm_spank_local_user_init(spank_t sp, int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	numa_hooks_launch(sp);
	return 0;
}

int slurm_spank_task_post_fork(spank_t sp, int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	numa_hooks_forked(sp);
	return 0;
}

/* Later than the options: Slurm counts the restarts only when it sets up the task. */
int slurm_spank_task_init(spank_t sp, int argc, char *argv[])
{
	(void)argc;
	(void)argv;
	set_facts(sp);
	/* the proof runs where the task will */
	return numa_hooks_task(sp) < 0 || check_hooks_task(sp) < 0 ? -1 : 0;
}
