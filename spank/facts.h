/* SPDX-License-Identifier: GPL-2.0-or-later
 * facts.h - what a job is told of its own run, beside the texts of its options
 *
 * Knows no SPANK. GPUBUDGET_TIER and the others have what was asked for; these have what is.
 *
 * Threads  pure functions */
#ifndef SPANK_FACTS_H
#define SPANK_FACTS_H
#include <stddef.h>

#define FACT_TIER        "GPUBUDGET_JOB_TIER"
#define FACT_PROJECT     "GPUBUDGET_JOB_PROJECT"
#define FACT_RUN         "GPUBUDGET_JOB_RUN"
#define FACT_MIN_RUNTIME "GPUBUDGET_JOB_MIN_RUNTIME"

/* The tier that a QOS stands for, by the names that budgetd.conf has unless it says otherwise; NULL for any other. */
const char *fact_tier(const char *qos);

/* The number of the run, the first is 1: one more than Slurm's count of restarts (NULL: none yet). NULL for what is no number. */
const char *fact_run(const char *restarts, char *buf, size_t size);

/* For how many seconds the run is protected: what was declared; 0 in the free tier; NULL when nothing was declared, since only budgetd knows the
 * site's default then. */
const char *fact_min_runtime(const char *tier, const char *declared, char *buf, size_t size);

#endif
