/* SPDX-License-Identifier: GPL-2.0-or-later
 * settings.h - budgetd.conf: one table of settings, read by budgetd and (its part) by the job_submit plugin
 *
 * The file is `key = value` lines (libconfuse). The whole is read and validated before anything is returned;
 * an unknown key, a bad value or a value out of range is refused with file:line. The sample file and
 * budgetd.conf(5) are printed from the table.
 *
 * Threads  settings_load takes a lock of its own (libconfuse's scanner is not reentrant); a struct
 *          settings is const once loaded */
#ifndef SETTINGS_SETTINGS_H
#define SETTINGS_SETTINGS_H
#include <stdint.h>
#include <stdio.h>
#include "lib/fault.h"
#include "lib/lane.h"

enum unreachable_policy { UNREACHABLE_FREE, UNREACHABLE_ACCEPT, UNREACHABLE_REJECT };
enum exhausted_policy { EXHAUSTED_FREE, EXHAUSTED_REJECT, EXHAUSTED_WAIT };
enum unlimited_policy { UNLIMITED_FREE, UNLIMITED_REJECT };
enum unknown_account_policy { UNKNOWN_ACCOUNT_REJECT, UNKNOWN_ACCOUNT_FREE };
enum drain_extent { DRAIN_ALL, DRAIN_OURS };
enum displacement { DISPLACE_ON, DISPLACE_OFF };
enum suspended_time { SUSPENDED_CHARGED, SUSPENDED_NOT_CHARGED };
enum hold_basis { HOLD_MIN_RUNTIME, HOLD_TIME_LIMIT };
enum enforcement { ENFORCE_ON, ENFORCE_WARN, ENFORCE_OFF };	/* the strictest first; enforce.h */

struct settings {
	/* where things are */
	char *socket, *slurm_socket, *database;
	/* login nodes: budgetd's side, then budgetctl's; "" = not used */
	char *listen, *munge_socket, *server, *server_ca;
	int64_t credential_age_s;
	/* the plugin inside slurmctld */
	int64_t ask_deadline_ms, breaker_ms;
	int when_unreachable;		/* enum unreachable_policy */
	/* Slurm's side of the tiers */
	char *qos_funded, *qos_funded_still, *qos_free;
	int enforce;			/* enum enforcement, of the cluster */
	char *enforce_partitions;	/* "debug=off gpu=warn"; read by enforce.h */
	/* the contract */
	int64_t default_min_runtime_s, max_min_runtime_s;
	int hold, on_exhausted, unlimited_time, unknown_account;	/* enums above */
	int charge_suspended;		/* enum suspended_time */
	int64_t node_fail_refund_s;
	int displace;			/* enum displacement */
	int64_t displace_kinds, hysteresis_percent;
	int64_t grace_s;		/* between the signal and the end of a run that gives way */
	/* the loop */
	int64_t pass_interval_s, unbound_hold_s, window_s;
	/* nodes that drain */
	int drain;			/* enum drain_extent */
	/* idle GPUs */
	char *prometheus;		/* "" = nobody looks */
	int64_t prometheus_step_s, prometheus_deadline_ms;
	char *prometheus_ca;
	int gpu_exporter;		/* enum gpu_exporter of lib/gpu_metric.h */
	char *gpu_utilization, *gpu_memory, *gpu_processes,
		*gpu_labels;	/* "" = those of the exporter */
	int64_t idle_note_s, idle_warning_s, idle_last_warning_s, idle_unprotected_s;
	/* who goes first */
	struct lane_limits lane;
	int64_t clear_after_s;		/* a job for several nodes that waited that long has them cleared */
	char *time_zone;		/* of the days of the lane and the weeks of slots */
	/* metrics */
	char *metrics_listen;		/* "" = nowhere */
	int64_t metrics_projects;
	/* people */
	char *administrators;		/* user names, separated by commas or spaces */
	/* notices: off where neither of the first two is set */
	char *notice_command, *notice_url_file, *notice_ca;
	char *notice_kinds, *notice_levels, *notice_copy;
	int64_t notice_rearm_points, notice_expiry_s;
	int64_t notice_deadline_ms, notice_retry_s, notice_keep_s;
	/* the page */
	char *page_listen;		/* "" = nowhere */
	char *page_proxies;		/* addresses that say who asks, separated by commas or spaces */
	char *page_user_header, *page_secret_file;
};

/* The compiled-in place, or $GPUBUDGET_CONF. Borrowed. */
const char *settings_default_path(void);

/* Read `path`. A missing file is an error (ENOENT) for budgetd and fine for the plugin, which then calls
 * settings_defaults. 0 and *out set, to be freed by settings_free; or -1, *out untouched, `why` is
 * "file:line: what, why". */
int settings_load(const char *path, struct settings **out, struct fault *why);
struct settings *settings_defaults(void);	/* NULL and ENOMEM */
void settings_free(struct settings *s);		/* NULL is fine; errno is kept */

/* A commented sample of every setting with its default, range and meaning. */
void settings_print_sample(FILE *to);
/* The same as a list of budgetd.conf(5), in mdoc(7). */
void settings_print_manual(FILE *to);
/* The effective values, one `key = value` a line. */
void settings_print(const struct settings *s, FILE *to);

#endif
