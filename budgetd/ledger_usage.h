/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_usage.h - what a project used in a span of time, by somebody or something; and what it is spending
 *
 * Out of the charges: a run that goes on is in them when it ends, or at the edge of a month. A part of a run
 * that lies over the edge of the span counts with its seconds inside it, so spans that follow each other add
 * up exactly.
 *
 * All functions want an open transaction (ledger.h). Amounts in units, times UTC epoch seconds. */
#ifndef BUDGETD_LEDGER_USAGE_H
#define BUDGETD_LEDGER_USAGE_H
#include "budgetd/ledger.h"
#include "lib/amount.h"
#include "lib/forecast.h"

enum usage_key { USAGE_PROJECT, USAGE_USER, USAGE_GPU_TYPE, USAGE_PARTITION, USAGE_KEYS };
extern const char *const usage_key_name[USAGE_KEYS];	/* "project", "user", "gpu_type", "partition" */

struct used_row {
	/* what it is of: a uid as a number, a partition, TRES as Slurm gave them; "" for USAGE_PROJECT */
	const char *key;		/* borrowed until the next row */
	int64_t runs;
	int64_t gpu_s, free_gpu_s;	/* GPU-seconds, whatever a GPU costs: of all, of those that cost nothing */
	amount_t charged;
	amount_t refunded;		/* of parts that ended in the span, whenever it was given back */
};
typedef int (*usage_fn)(const struct used_row *u, void *arg);

/* Of the project itself, without what is below it, in [from, to). */
int usage_walk(struct ledger *l, int64_t project, enum usage_key key, int64_t from, int64_t to, usage_fn each,
	void *arg, struct fault *why);

/* What the funded runs of the project and of all below it cost a second now; and what those cost that have
 * hours set aside and wait, were they running. Their holds are worth their minimum runtimes or, where
 * `holds_limit`, the time limits of those that named one. */
int usage_rates(struct ledger *l, int64_t project, bool holds_limit, amount_t *running, amount_t *waiting,
	struct fault *why);

/* Its allocations that have not ended, for lib/forecast.h: the number, or -1. */
int usage_grants(struct ledger *l, int64_t project, int64_t now,
	struct forecast_grant out[FORECAST_GRANTS_MAX], struct fault *why);

#endif
