/* SPDX-License-Identifier: GPL-2.0-or-later
 * prometheus.h - one question to a Prometheus: a query over a range of time, by its HTTP API
 *
 * An answer has an end in time (the deadline) and in size. No proxy, no redirect, nothing out of the
 * environment.
 *
 * Threads  one at a time; it is asked from a thread that nobody waits for */
#ifndef BUDGETD_PROMETHEUS_H
#define BUDGETD_PROMETHEUS_H
#include <json-c/json.h>
#include <stdatomic.h>
#include <stdint.h>
#include "lib/fault.h"

struct prometheus;

/* A question that is on its way is given up when *stop becomes true. `stop` is borrowed. NULL and ENOMEM.
 * curl_global_init is the caller's. */
struct prometheus *prometheus_new(const atomic_bool *stop);
void prometheus_free(struct prometheus *p);	/* NULL is fine */

struct prometheus_range {
	const char *url;		/* as address_check_url takes it */
	const char *ca;			/* "" = those that the host trusts */
	const char *query;		/* PromQL */
	int64_t from, to, step_s;
	int64_t deadline_ms;
};

/* 0 and *series: the array "result" of a matrix, [{"metric":{label:text},"values":[[time,"number"]]}], to be
 * put by the caller. Or -1: ETIMEDOUT, ECONNREFUSED, EMSGSIZE (over 32 MiB), EINVAL (Prometheus does not
 * understand the query), ECANCELED (told to stop), EPROTO (anything else); `why` says where and what. */
int prometheus_range(struct prometheus *p, const struct prometheus_range *r, struct json_object **series,
	struct fault *why);

#endif
