/* SPDX-License-Identifier: GPL-2.0-or-later
 * facts.h - what a job is told of its own run, beside the texts of its options
 *
 * Knows no SPANK. GPUBUDGET_TIER and the others have what was asked for; these have what is.
 *
 * Threads  pure functions */
#ifndef SPANK_FACTS_H
#define SPANK_FACTS_H
#include <stddef.h>
#include <stdint.h>
#include "settings/settings.h"

#define FACT_TIER        "GPUBUDGET_JOB_TIER"
#define FACT_PROJECT     "GPUBUDGET_JOB_PROJECT"
#define FACT_RUN         "GPUBUDGET_JOB_RUN"
#define FACT_MIN_RUNTIME "GPUBUDGET_JOB_MIN_RUNTIME"
#define FACT_GRACE       "GPUBUDGET_JOB_GRACE"

/* The tier that a QOS stands for; NULL for any other QOS. */
const char *fact_tier(const char *qos, const struct settings *s);

/* The number of the run, the first is 1: one more than Slurm's count of restarts (NULL: none yet). NULL for
 * what is no number. */
const char *fact_run(const char *restarts, char *buf, size_t size);

/* For how many seconds the run is protected: what was declared (NULL: the site's default), and no longer than
 * `limit_s`, where Slurm says for how long it may run (0: it does not); 0 in the free tier. */
const char *fact_min_runtime(const char *tier, const char *declared, int64_t limit_s,
	const struct settings *s, char *buf, size_t size);

/* How many seconds lie between the signal that it has to give way and its end; 0 in the free tier, which is
 * told of nothing before. */
const char *fact_grace(const char *tier, const struct settings *s, char *buf, size_t size);

#endif
