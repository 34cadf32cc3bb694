/* SPDX-License-Identifier: GPL-2.0-or-later
 * checks.c - the table of checks (checks.h), from what everything stands on to what is rarely wrong
 *
 * A check that cannot be made because an earlier one is bad says UNKNOWN: one fault is one finding. */
#include "doctor/looks.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

const char *const health_name[HEALTHS] = {
	[HEALTH_OK] = "ok",
	[HEALTH_UNKNOWN] = "not asked",
	[HEALTH_WARNING] = "warning",
	[HEALTH_ERROR] = "error",
};

const char *const place_name[PLACES] = {
	[PLACE_SLURM_CONF] = "slurm.conf",
	[PLACE_PLUGSTACK] = "plugstack.conf",
	[PLACE_SACCTMGR] = "sacctmgr",
	[PLACE_BUDGETD_CONF] = "budgetd.conf",
	[PLACE_SHELL] = "shell",
};

const struct check check_table[] = {
	/* what everything stands on */
	{ "settings", HEALTH_ERROR, PLACE_BUDGETD_CONF,
		"budgetd.conf can be read and every line of it is valid",
		"budgetd does not start or reload with it, and the plugin does not use it", look_settings },
	{ "settings-readable", HEALTH_ERROR, PLACE_SHELL, "SlurmUser can read budgetd.conf",
		"the plugin in slurmctld goes by built-in values and may ask at the wrong socket",
		look_settings_readable },
	{ "munge", HEALTH_ERROR, PLACE_SHELL, "munged makes credentials and reads them",
		"nobody can talk to slurmctld", look_munge },
	{ "slurmctld-answers", HEALTH_ERROR, PLACE_SHELL, "slurmctld answers",
		"nothing of Slurm's configuration can be checked", look_slurmctld },
	{ "accounting-type", HEALTH_ERROR, PLACE_SLURM_CONF, "AccountingStorageType",
		"there are no QOS and no record of what a run was given", look_accounting_type },
	{ "slurmdbd-answers", HEALTH_ERROR, PLACE_SHELL, "slurmdbd answers",
		"runs that end while it is away are charged late, and QOS and associations cannot be checked",
		look_slurmdbd },
	{ "clock", HEALTH_WARNING, PLACE_SHELL, "the clocks of this host and of slurmctld",
		"minimum runtimes begin and end at other times than Slurm's", look_clock },
	{ "enforce", HEALTH_WARNING, PLACE_BUDGETD_CONF,
		"how seriously the partitions take the budget: enforce and enforce_partitions",
		"what is said of a partition that is none holds nowhere", look_enforce },
	/* budgetd */
	{ "budgetd-answers", HEALTH_ERROR, PLACE_SHELL, "budgetd answers",
		"GPU jobs get what when_unreachable says, nobody is charged, no run is protected for longer "
		"than its hold",
		look_budgetd },
	{ "budgetd-alone", HEALTH_ERROR, PLACE_SHELL, "one budgetd, not two",
		"two that follow the same jobs charge twice, or undo each other's places",
		look_budgetd_alone },
	{ "budgetd-version", HEALTH_WARNING, PLACE_SHELL, "budgetd is of the version of budgetctl",
		"a daemon of before an update is still running", look_budgetd_version },
	{ "budgetd-slurm", HEALTH_ERROR, PLACE_SHELL, "budgetd and Slurm understand each other",
		"no run is followed and none is charged until that works", look_budgetd_slurm },
	{ "budgetd-pass", HEALTH_ERROR, PLACE_SHELL, "budgetd's last pass is recent",
		"holds are not extended and places are old", look_budgetd_pass },
	{ "prometheus", HEALTH_WARNING, PLACE_SHELL, "Prometheus tells how busy the GPUs of jobs are",
		"nobody is told of idle GPUs, and no protection is lost by them", look_prometheus },
	{ "notices", HEALTH_WARNING, PLACE_SHELL, "notices are told",
		"people do not hear of budgets that are used up, nor of runs that were displaced", look_notices },
	{ "socket-users", HEALTH_ERROR, PLACE_SHELL, "every user can connect to `socket`",
		"budgetctl works for some users only", look_socket_people },
	{ "socket-slurm", HEALTH_ERROR, PLACE_SHELL,
		"SlurmUser, and no other user, can connect to `slurm_socket`",
		"the plugin cannot ask, or others can keep it waiting", look_socket_slurm },
	/* the plugins */
	{ "job-submit", HEALTH_ERROR, PLACE_SLURM_CONF, "JobSubmitPlugins names gpubudget",
		"jobs get their tier only after they are in the queue, and users are told nothing",
		look_job_submit },
	{ "plugin-file", HEALTH_ERROR, PLACE_SHELL, "job_submit_gpubudget.so is in PluginDir",
		"slurmctld does not start with it", look_plugin_file },
	{ "plugin-version", HEALTH_ERROR, PLACE_SHELL,
		"the job_submit plugin is built for exactly this slurmctld",
		"slurmctld refuses it at its next start and does not come up", look_plugin_version },
	{ "plugstack", HEALTH_ERROR, PLACE_PLUGSTACK, "plugstack.conf names gpubudget.so",
		"sbatch, srun and salloc do not know --gpu-min-runtime", look_plugstack },
	{ "spank-file", HEALTH_ERROR, PLACE_SHELL, "the gpubudget.so that plugstack.conf names is there",
		"sbatch, srun and salloc complain or fail", look_spank_file },
	{ "spank-version", HEALTH_ERROR, PLACE_SHELL,
		"the SPANK plugin is built for this major and minor version",
		"sbatch, srun and salloc refuse to load it", look_spank_version },
	{ "spank-limit", HEALTH_WARNING, PLACE_PLUGSTACK,
		"max_min_runtime in plugstack.conf and in budgetd.conf",
		"sbatch refuses what budgetd would take, or lets through what it refuses", look_spank_limit },
	/* slurm.conf */
	{ "accounting-tres", HEALTH_ERROR, PLACE_SLURM_CONF, "AccountingStorageTRES has gres/gpu",
		"Slurm does not record the GPUs of a run", look_accounting_tres },
	{ "accounting-enforce", HEALTH_ERROR, PLACE_SLURM_CONF, "AccountingStorageEnforce has qos",
		"users may take any QOS, that of the funded tier too", look_accounting_enforce },
	{ "preempt-type", HEALTH_ERROR, PLACE_SLURM_CONF, "PreemptType",
		"free runs do not make way for funded jobs", look_preempt_type },
	{ "preempt-mode", HEALTH_WARNING, PLACE_SLURM_CONF, "PreemptMode",
		"QOS without a mode of their own are displaced another way", look_preempt_mode },
	{ "priority-type", HEALTH_ERROR, PLACE_SLURM_CONF, "PriorityType",
		"the order of projects has no effect", look_priority_type },
	{ "select-type", HEALTH_ERROR, PLACE_SLURM_CONF, "SelectType", "jobs cannot ask with --gpus",
		look_select_type },
	{ "job-requeue", HEALTH_ERROR, PLACE_SLURM_CONF, "JobRequeue", "every displaced job is cancelled",
		look_job_requeue },
	{ "backfill-age", HEALTH_WARNING, PLACE_SLURM_CONF, "bf_min_age_reserve in SchedulerParameters",
		"a job that is not the first blocked one displaces only in backfill cycles",
		look_backfill_age },
	{ "cred-expire", HEALTH_WARNING, PLACE_SLURM_CONF, "cred_expire in AuthInfo",
		"a displaced job is kept out for that long", look_cred_expire },
	{ "min-job-age", HEALTH_WARNING, PLACE_SLURM_CONF, "MinJobAge beside pass_interval",
		"a run may be forgotten before budgetd has seen its end", look_min_job_age },
	/* QOS and associations */
	{ "qos-exist", HEALTH_ERROR, PLACE_SACCTMGR, "the QOS of the tiers",
		"jobs end with \"Invalid qos specification\"", look_qos_exist },
	{ "qos-priority", HEALTH_ERROR, PLACE_SACCTMGR,
		"Priority of the QOS: the funded ones above the free one",
		"equal priorities displace a funded run past its minimum while free runs stay",
		look_qos_priority },
	{ "qos-preempt-mode", HEALTH_ERROR, PLACE_SACCTMGR, "PreemptMode of the QOS",
		"who is displaced is cancelled or not displaced at all", look_qos_mode },
	{ "qos-preempt", HEALTH_ERROR, PLACE_SACCTMGR, "who displaces whom: Preempt of all QOS",
		"free runs stay, or protected runs go", look_qos_preempt },
	{ "qos-exempt-time", HEALTH_ERROR, PLACE_SACCTMGR,
		"PreemptExemptTime of the funded QOS: default_min_runtime",
		"Slurm and budgetd protect a run for different lengths of time", look_qos_exempt },
	{ "qos-grace", HEALTH_WARNING, PLACE_SACCTMGR, "GraceTime of the QOS",
		"a displaced run keeps its GPUs for that long", look_qos_grace },
	{ "root-qos", HEALTH_ERROR, PLACE_SACCTMGR, "the root account may use the QOS",
		"jobs end with \"Invalid qos specification\"", look_root_qos },
	{ "root-default-qos", HEALTH_ERROR, PLACE_SACCTMGR, "DefaultQOS of the root account",
		"a job that came past the plugin runs where nobody may displace it", look_root_default },
	{ "account-qos", HEALTH_ERROR, PLACE_SACCTMGR, "all accounts and users below may use the QOS",
		"their jobs end with \"Invalid qos specification\"", look_account_qos },
	{ "account-default-qos", HEALTH_WARNING, PLACE_SACCTMGR, "DefaultQOS of all accounts and users below",
		"their jobs that came past the plugin run where nobody may displace them",
		look_account_default },
	{ "project-accounts", HEALTH_WARNING, PLACE_SACCTMGR,
		"every project without projects below is a Slurm account", "nobody can submit for it",
		look_project_accounts },
	/* jobs */
	{ "job-accounts", HEALTH_WARNING, PLACE_SHELL, "accounts of jobs with GPUs are projects",
		"their runs are not charged", look_job_accounts },
	{ "job-qos", HEALTH_ERROR, PLACE_SHELL, "running jobs with GPUs are in the QOS of a tier",
		"their runs are uncovered, and nobody may displace them", look_job_qos },
};
const size_t check_count = ROWS(check_table);

/* --- making one ------------------------------------------------------------------------------------- */

static void drop_last_newline(char *text)
{
	size_t n = strlen(text);

	if (n && text[n - 1] == '\n')
		text[n - 1] = '\0';
}

static enum look look_into(const struct check *c, const struct facts *f, FILE *found, FILE *mend)
{
	enum look result = c->look(f, found, mend);

	if (result == LOOK_BAD)
		fprintf(found, ": %s", c->without);
	return result;
}

int check_make(const struct check *c, const struct facts *f, struct finding *out)
{
	static const enum health of_look[] = { [LOOK_FINE] = HEALTH_OK, [LOOK_UNKNOWN] = HEALTH_UNKNOWN };
	char *text = NULL, *lines = NULL;
	size_t text_size, lines_size;
	FILE *found = open_memstream(&text, &text_size), *mend = open_memstream(&lines, &lines_size);
	enum look result = LOOK_UNKNOWN;
	bool good = found && mend;

	if (good)
		result = look_into(c, f, found, mend);
	if (found)
		good &= fclose(found) == 0;
	if (mend)
		good &= fclose(mend) == 0;
	if (!good) {
		free(text);
		free(lines);
		errno = ENOMEM;
		return -1;
	}
	drop_last_newline(lines);
	*out = (struct finding){ .check = c, .health = result == LOOK_BAD ? c->if_bad : of_look[result],
		.text = text, .mend = lines };
	return 0;
}

void finding_free(struct finding *f)
{
	int saved = errno;

	free(f->text);
	free(f->mend);
	errno = saved;
}

/* --- what looks share ------------------------------------------------------------------------------- */

/* The next word of a list, its length in *n; NULL at the end. */
static const char *next_word(const char **list, size_t *n)
{
	const char *word;

	if (!*list)
		return NULL;
	word = *list + strspn(*list, ", ");
	if (!*word)
		return NULL;
	*n = strcspn(word, ",");
	*list = word + *n;
	return word;
}

bool list_has(const char *list, const char *word)
{
	const char *w;
	size_t n;

	while ((w = next_word(&list, &n)))
		if (n == strlen(word) && !strncasecmp(w, word, n))
			return true;
	return false;
}

/* Is the word "key" or "key=..."? */
static bool has_key(const char *word, size_t n, const char *key)
{
	size_t k = strlen(key);

	return n >= k && !strncasecmp(word, key, k) && (n == k || word[k] == '=');
}

int64_t list_number(const char *list, const char *key, int64_t none)
{
	const char *w;
	size_t n;

	while ((w = next_word(&list, &n))) {
		char *end;
		int64_t v;

		if (!has_key(w, n, key) || n <= strlen(key) + 1)
			continue;
		v = strtoll(w + strlen(key) + 1, &end, 10);
		return end == w + n ? v : none;
	}
	return none;
}

void list_print(FILE *to, const char *list, const char *key, const char *more)
{
	const char *w, *comma = "";
	size_t n;

	while ((w = next_word(&list, &n))) {
		if (has_key(w, n, key))
			continue;
		fprintf(to, "%s%.*s", comma, (int)n, w);
		comma = ",";
	}
	if (more)
		fprintf(to, "%s%s", comma, more);
}

void names_add(FILE *to, size_t nth, const char *name)
{
	if (nth < NAMES_SHOWN)
		fprintf(to, "%s%s", nth ? ", " : "", name);
}

void names_end(FILE *to, size_t count)
{
	if (count > NAMES_SHOWN)
		fprintf(to, " and %zu more", count - NAMES_SHOWN);
}

uint32_t version_number(const char *text)
{
	unsigned major, minor, micro;

	if (!text || sscanf(text, "%u.%u.%u", &major, &minor, &micro) != 3 || major > 255 || minor > 255 ||
		micro > 255)
		return 0;
	return major << 16 | minor << 8 | micro;
}
