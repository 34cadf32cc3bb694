/* SPDX-License-Identifier: GPL-2.0-or-later
 * submit_options.h - sbatch's own command line, as far as it decides GPUs, time and money
 *
 * Reads the options of sbatch(1) (long with = or a space, short clustered or not, abbreviations that getopt
 * accepts) and the #SBATCH lines of a script into the same fields that slurmctld hands to a submit plugin, so
 * that a quote and the answer inside slurmctld come from one rule. Het job scripts give several components.
 *
 * Ownership  strings of a component belong to the submit_options and die with submit_options_free
 * Threads    one object per thread */
#ifndef LIB_SUBMIT_OPTIONS_H
#define LIB_SUBMIT_OPTIONS_H
#include <stdbool.h>
#include <stddef.h>
#include "lib/fault.h"
#include "lib/gpu_request.h"
#include "lib/job_options.h"

#define TIME_LIMIT_UNSET (-1)

struct submit_component {
	struct gpu_request_input gpus;
	struct job_options options;
	/* TIME_LIMIT_UNSET, DURATION_UNLIMITED, or seconds (sbatch rounds up to minutes) */
	int64_t time_limit_s;
	char *account, *partition, *qos, *comment, *dependency;	/* NULL = not given */
	bool held, no_requeue;
	int signal;			/* 0 = not given */
	bool signal_script;		/* --signal=B:... */
};

struct submit_options;

struct submit_options *submit_options_new(void);	/* NULL and ENOMEM */
void submit_options_free(struct submit_options *s);	/* NULL is fine; errno is kept */

/* One command line without the program's name; a word that is not an option ends it (it is the script), its
 * index is in *script (argc when there is none; may be NULL). Options that do not concern us are skipped with
 * their argument. Later ones win. A lone ":" starts the next component. 0, or -1, EINVAL and a text with
 * option and position. */
int submit_options_words(struct submit_options *s, int argc, const char *const *argv, int *script,
	struct fault *why);

/* The #SBATCH lines of a script's text, up to the first command; "#SBATCH hetjob" (and packjob) starts the
 * next component; shell comments after the options are cut; quotes are honoured. Errors name the line. Call
 * it before submit_options_words: the command line wins over the script. */
int submit_options_script(struct submit_options *s, const char *text, struct fault *why);

/* The long options of the script that sbatch is not known to have: of another plugin, or mistyped. i from 0
 * up; false behind the last.
 * *name is without "--" and its value, borrowed. */
bool submit_options_unknown(const struct submit_options *s, size_t i, int *line, const char **name);

size_t submit_options_components(const struct submit_options *s);	/* 1 unless het */
/* borrowed */
const struct submit_component *submit_options_component(const struct submit_options *s, size_t i);

#endif
