/* SPDX-License-Identifier: GPL-2.0-or-later
 * looks.h - the functions behind the rows of checks.c, and what they share; nobody else includes it
 *
 * Threads  pure functions: any thread */
#ifndef DOCTOR_LOOKS_H
#define DOCTOR_LOOKS_H
#include "doctor/checks.h"

typedef enum look look_fn(const struct facts *f, FILE *found, FILE *mend);

/* looks_host.c: settings, daemons, sockets, files */
look_fn look_settings, look_settings_readable, look_enforce, look_munge, look_slurmctld, look_slurmdbd,
	look_clock, look_budgetd, look_prometheus, look_notices, look_budgetd_version, look_budgetd_slurm,
	look_budgetd_pass, look_budgetd_alone, look_socket_people, look_socket_slurm, look_plugin_file,
	look_plugin_version, look_plugstack, look_spank_file, look_spank_version, look_spank_limit;
/* looks_conf.c: slurm.conf */
look_fn look_job_submit, look_preempt_type, look_preempt_mode, look_priority_type, look_select_type,
	look_accounting_type, look_accounting_tres, look_accounting_enforce, look_job_requeue,
	look_backfill_age, look_cred_expire, look_min_job_age;
/* looks_accounts.c: slurmdbd and jobs */
look_fn look_qos_exist, look_qos_priority, look_qos_mode, look_qos_preempt, look_qos_exempt, look_qos_grace,
	look_root_qos, look_root_default, look_account_qos, look_account_default, look_project_accounts,
	look_job_accounts, look_job_qos;

/* Is `word` one of a list with commas between? Letters of any case; NULL is an empty list. */
bool list_has(const char *list, const char *word);

/* The number of "key=number" in such a list, `none` when it is not there or no number. */
int64_t list_number(const char *list, const char *key, int64_t none);

/* The list without the words that are `key` or begin with "key=", and then `more` (NULL = nothing). */
void list_print(FILE *to, const char *list, const char *key, const char *more);

/* "a, b, c and 7 more" of the `nth` name (from 0): call it for each, then list_end with how many there were.
 */
#define NAMES_SHOWN 5
void names_add(FILE *to, size_t nth, const char *name);
void names_end(FILE *to, size_t count);

/* 22.05.8 of "22.05.8-1" as SLURM_VERSION_NUM has it, 0 when it is no version. */
uint32_t version_number(const char *text);

#endif
