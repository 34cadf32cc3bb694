/* SPDX-License-Identifier: GPL-2.0-or-later
 * options.h - the options of one command or step, as texts
 *
 * Knows no SPANK: what is declared, whether it may be, and under which names it travels. The rules are
 * lib/job_options.
 *
 * Threads  an object belongs to its caller; else pure functions */
#ifndef SPANK_OPTIONS_H
#define SPANK_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include "lib/fault.h"
#include "lib/job_options.h"

#define OPTION_TEXT_MAX 128		/* bytes with the NUL; the longest that makes sense has 30 */

struct declared {
	char text[JOB_OPTIONS][OPTION_TEXT_MAX];	/* "" = not given */
	int64_t max_min_runtime_s;
};

void declared_init(struct declared *d, int64_t max_min_runtime_s);

/* Keep the text of an option. 0; or -1 and EINVAL: too long. Not checked further: a job's node must not
 * judge it again. */
int declared_keep(struct declared *d, enum job_option which, const char *text, struct fault *why);

/* Is the text of `which` valid, even an empty one, and may it stand with the others? 0; or -1, `why` names
 * option, value and what is allowed. */
int declared_check(const struct declared *d, enum job_option which, struct fault *why);

/* One argument of the line in plugstack.conf: "max_min_runtime=8h". 0; or -1 and EINVAL, `d` untouched. */
int declared_argument(struct declared *d, const char *argument, struct fault *why);

/* The variable in which sbatch and salloc leave an option for the srun of their script: it starts with
 * SLURM_, so it is there even after --export=NONE. Returns buf; cannot fail. */
#define OPTION_VARIABLE_MAX 128
const char *declared_inherited_variable(enum job_option which, char buf[OPTION_VARIABLE_MAX]);

#endif
