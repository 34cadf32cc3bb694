/* SPDX-License-Identifier: GPL-2.0-or-later
 * suites.h - the one list of suites: a new one is a line here and its file in Makefile.am. */
#ifndef UNIT_SUITES_H
#define UNIT_SUITES_H
#include <check.h>

#define SUITES(X) \
	X(admission) \
	X(admit) \
	X(agreement) \
	X(amount) \
	X(asked) \
	X(append_only) \
	X(audit) \
	X(bar) \
	X(breaker) \
	X(budget) \
	X(caps) \
	X(cell) \
	X(check) \
	X(client) \
	X(copy) \
	X(deal) \
	X(doctor) \
	X(doctor_files) \
	X(drain) \
	X(duration) \
	X(entitlement) \
	X(fairshare) \
	X(features) \
	X(forecast) \
	X(fronts) \
	X(gpu_count) \
	X(gpu_lines) \
	X(gpu_metric) \
	X(gpu_request) \
	X(gpu_table) \
	X(idle) \
	X(notice) \
	X(notice_ways) \
	X(notices) \
	X(import) \
	X(job_id) \
	X(job_options) \
	X(ledger) \
	X(ledger_correction) \
	X(ledger_failures) \
	X(power_cut) \
	X(ledger_moves) \
	X(ledger_open) \
	X(ledger_project) \
	X(locality) \
	X(metrics) \
	X(nearest) \
	X(network) \
	X(node) \
	X(numa) \
	X(order) \
	X(owed) \
	X(page) \
	X(place) \
	X(placement) \
	X(question) \
	X(ranking) \
	X(ranking_past) \
	X(run_months) \
	X(export_rows) \
	X(period) \
	X(rate) \
	X(rights) \
	X(refund) \
	X(routes) \
	X(said) \
	X(sacct) \
	X(sacct_text) \
	X(schema) \
	X(settings) \
	X(simulate) \
	X(submit_options) \
	X(task_devices) \
	X(usage) \
	X(token) \
	X(tres) \
	X(user_shares) \
	X(verdict) \
	X(wait_line) \
	X(when) \
	X(wrap) \
	X(zone)

#define SUITE_PROTOTYPE(name) Suite *name##_suite(void);
SUITES(SUITE_PROTOTYPE)

/* of the program `pass` */
Suite *pass_displace_suite(void);
Suite *pass_gang_suite(void);
Suite *pass_gang_het_suite(void);
Suite *pass_guard_suite(void);
Suite *pass_fronts_suite(void);
Suite *pass_drain_suite(void);
Suite *pass_users_suite(void);
Suite *pass_clock_suite(void);
Suite *pass_hold_suite(void);
Suite *pass_idle_suite(void);
Suite *pass_why_suite(void);

#endif
