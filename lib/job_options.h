/* SPDX-License-Identifier: GPL-2.0-or-later
 * job_options.h - what the researcher declares: minimum runtime, tier, rank inside the team
 *
 * One table of three options. The SPANK plugin registers and checks them, the daemon reads the same strings
 * again (they are the user's and never trusted), and REST users write them as words of --comment:
 * "gpu-min-runtime=2h gpu-tier=free".
 *
 * Threads  pure functions: any thread */
#ifndef LIB_JOB_OPTIONS_H
#define LIB_JOB_OPTIONS_H
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"

enum job_tier { TIER_UNSET, TIER_FUNDED, TIER_FREE };

#define MIN_RUNTIME_UNSET (-1)
#define TEAM_RANK_MAX 1000

struct job_options {
	int64_t min_runtime_s;		/* MIN_RUNTIME_UNSET, or >= 0; 0 asks for the free tier */
	enum job_tier tier;		/* FUNDED insists: never the free tier instead */
	/* 0 .. TEAM_RANK_MAX, smaller goes first within the own project; 0 = not given */
	int team_rank;
};

enum job_option { OPT_MIN_RUNTIME, OPT_TIER, OPT_TEAM_RANK, JOB_OPTIONS };

struct job_option_row {
	const char *name;		/* "gpu-min-runtime": --name, and the word in --comment */
	const char *argument;		/* "TIME" */
	const char *variable;		/* in the job's environment: "GPUBUDGET_MIN_RUNTIME" */
	const char *help;		/* one line */
};

extern const struct job_option_row job_option_table[JOB_OPTIONS];

void job_options_init(struct job_options *o);

/* Set one option from its text. 0; or -1, o untouched, errno EINVAL or EOVERFLOW; `why` names option, value
 * and what is allowed. */
int job_options_set(struct job_options *o, enum job_option which, const char *value, struct fault *why);

/* Words of a --comment; other words are left alone, our words set options not yet set in `o`.
 * 0; or -1 and a text when one of our words has a value that makes no sense. `comment` may be NULL. */
int job_options_from_comment(struct job_options *o, const char *comment, struct fault *why);

/* Limits that hold wherever the option came from: 0 <= minimum runtime <= max_s (a longer one is refused with
 * the maximum), and tier=funded with minimum runtime 0 contradict each other. 0, or -1 and EINVAL. */
int job_options_check(const struct job_options *o, int64_t max_s, struct fault *why);

const char *job_tier_name(enum job_tier t);	/* "funded", "free", "unset"; static */

#endif
