/* SPDX-License-Identifier: GPL-2.0-or-later
 * looks_conf.c - slurm.conf, as the running slurmctld has it
 *
 * The line that mends keeps what the site has beside what is missing, so that it can be pasted as it is. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include "doctor/looks.h"

#define BACKFILL_AGE_LEAST_S (30 * 86400)	/* no job waits that long before it is the first */
#define BACKFILL_AGE "2592000"			/* 30 days: Slurm 22.05 refuses more */
#define CRED_EXPIRE_S 30			/* long enough for a slow node, short for who was displaced */
#define CRED_EXPIRE_PRESET_S 120		/* Slurm's own */
#define PASSES_IN_JOB_AGE 4			/* a pass may be late, and one may fail */

static const char *or_none(const char *text)
{
	return text ? text : "(none)";
}

/* A setting of one word that has one good value. */
static enum look one_value(const char *key, const char *value, const char *good, FILE *found, FILE *mend)
{
	fprintf(found, "%s=%s", key, or_none(value));
	fprintf(mend, "%s=%s", key, good);
	return value && !strcasecmp(value, good) ? LOOK_FINE : LOOK_BAD;
}

enum look look_job_submit(const struct facts *f, FILE *found, FILE *mend)
{
	const char *plugins = f->conf ? f->conf->job_submit_plugins : NULL;

	if (!f->conf)
		return LOOK_UNKNOWN;
	fprintf(found, "JobSubmitPlugins=%s", or_none(plugins));
	fputs("JobSubmitPlugins=", mend);
	list_print(mend, plugins, "gpubudget", "gpubudget");
	return list_has(plugins, "gpubudget") || list_has(plugins, "job_submit/gpubudget") ? LOOK_FINE
											   : LOOK_BAD;
}

/* slurmctld does not start with preempt/qos and the PreemptMode of preempt/none: both lines, then. */
enum look look_preempt_type(const struct facts *f, FILE *found, FILE *mend)
{
	enum look result;

	if (!f->conf)
		return LOOK_UNKNOWN;
	result = one_value("PreemptType", f->conf->preempt_type, "preempt/qos", found, mend);
	if (!list_has(f->conf->preempt_mode, "requeue"))
		fputs("\nPreemptMode=REQUEUE", mend);
	return result;
}

static bool preempts_by_qos(const struct facts *f)
{
	return f->conf && f->conf->preempt_type && !strcasecmp(f->conf->preempt_type, "preempt/qos");
}

enum look look_preempt_mode(const struct facts *f, FILE *found, FILE *mend)
{
	if (!preempts_by_qos(f))
		return LOOK_UNKNOWN;
	fprintf(found, "PreemptMode=%s", or_none(f->conf->preempt_mode));
	fputs("PreemptMode=REQUEUE", mend);
	return list_has(f->conf->preempt_mode, "requeue") ? LOOK_FINE : LOOK_BAD;
}

enum look look_priority_type(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf)
		return LOOK_UNKNOWN;
	return one_value("PriorityType", f->conf->priority_type, "priority/multifactor", found, mend);
}

enum look look_select_type(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf)
		return LOOK_UNKNOWN;
	return one_value("SelectType", f->conf->select_type, "select/cons_tres", found, mend);
}

enum look look_accounting_type(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf)
		return LOOK_UNKNOWN;
	return one_value("AccountingStorageType", f->conf->accounting_type, "accounting_storage/slurmdbd",
		found, mend);
}

static bool accounts_in_slurmdbd(const struct facts *f)
{
	return f->conf && f->conf->accounting_type && strstr(f->conf->accounting_type, "slurmdbd");
}

/* Slurm counts these without being told. */
static const char *const own_tres[] = {"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"};

static bool is_own_tres(const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(own_tres) / sizeof(own_tres[0]); i++)
		if (n == strlen(own_tres[i]) && !strncasecmp(word, own_tres[i], n))
			return true;
	return n == strlen("gres/gpu") && !strncasecmp(word, "gres/gpu", n);
}

enum look look_accounting_tres(const struct facts *f, FILE *found, FILE *mend)
{
	const char *list = f->conf ? f->conf->accounting_tres : NULL;

	if (!accounts_in_slurmdbd(f))
		return LOOK_UNKNOWN;
	fprintf(found, "AccountingStorageTRES=%s", or_none(list));
	fputs("AccountingStorageTRES=gres/gpu", mend);
	for (const char *w = list; w && *w; w += strcspn(w, ","), w += *w == ',')
		if (!is_own_tres(w, strcspn(w, ",")))
			fprintf(mend, ",%.*s", (int)strcspn(w, ","), w);
	return list_has(list, "gres/gpu") ? LOOK_FINE : LOOK_BAD;
}

enum look look_accounting_enforce(const struct facts *f, FILE *found, FILE *mend)
{
	static const char *const more[] = { "wckeys", "safe", "nojobs", "nosteps" };
	const char *list = f->conf ? f->conf->accounting_enforce : NULL;

	if (!accounts_in_slurmdbd(f))
		return LOOK_UNKNOWN;
	fprintf(found, "AccountingStorageEnforce=%s", or_none(list));
	fputs("AccountingStorageEnforce=associations,limits,qos", mend);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (list_has(list, more[i]))
			fprintf(mend, ",%s", more[i]);
	return list_has(list, "qos") ? LOOK_FINE : LOOK_BAD;
}

enum look look_job_requeue(const struct facts *f, FILE *found, FILE *mend)
{
	if (!f->conf)
		return LOOK_UNKNOWN;
	return one_value("JobRequeue", f->conf->job_requeue ? "1" : "0", "1", found, mend);
}

/* A list in which one word is to be right: as it is when it is. */
static enum look one_word(
	const char *key, const char *list, bool good, const char *word, const char *right, FILE *mend)
{
	fprintf(mend, "%s=", key);
	if (good)
		fputs(or_none(list), mend);
	else
		list_print(mend, list, word, right);
	return good ? LOOK_FINE : LOOK_BAD;
}

enum look look_backfill_age(const struct facts *f, FILE *found, FILE *mend)
{
	const char *list = f->conf ? f->conf->scheduler_parameters : NULL;

	if (!f->conf)
		return LOOK_UNKNOWN;
	fprintf(found, "SchedulerParameters=%s", or_none(list));
	return one_word("SchedulerParameters", list,
		list_number(list, "bf_min_age_reserve", 0) >= BACKFILL_AGE_LEAST_S, "bf_min_age_reserve",
		"bf_min_age_reserve=" BACKFILL_AGE, mend);
}

enum look look_cred_expire(const struct facts *f, FILE *found, FILE *mend)
{
	int64_t s;

	if (!f->conf)
		return LOOK_UNKNOWN;
	s = list_number(f->conf->auth_info, "cred_expire", CRED_EXPIRE_PRESET_S);
	fprintf(found, "AuthInfo=%s (cred_expire is %" PRId64 " s)",
		or_none(f->conf->auth_info), s);
	return one_word(
		"AuthInfo", f->conf->auth_info, s <= CRED_EXPIRE_S, "cred_expire", "cred_expire=30", mend);
}

enum look look_min_job_age(const struct facts *f, FILE *found, FILE *mend)
{
	int64_t pass = f->settings->pass_interval_s, age;
	bool good;

	if (!f->conf || f->settings_error)
		return LOOK_UNKNOWN;
	age = f->conf->min_job_age_s;
	fprintf(found, "MinJobAge=%" PRId64 " with pass_interval = %" PRId64 "s", age, pass);
	good = age == 0 || age >= PASSES_IN_JOB_AGE * pass;
	fprintf(mend, "MinJobAge=%" PRId64, good ? age : 300);
	return good ? LOOK_FINE : LOOK_BAD;
}
