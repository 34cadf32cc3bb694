/* SPDX-License-Identifier: GPL-2.0-or-later
 * options.c - texts in, texts out; lib/job_options knows what they mean.
 *
 * The texts themselves are carried, not what was read from them: budgetd reads them again, and a job that
 * finds them in its environment sees what its user wrote. */
#include "spank/options.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/duration.h"

#define ARGUMENT "max_min_runtime="

void declared_init(struct declared *d, int64_t max_min_runtime_s)
{
	memset(d, 0, sizeof(*d));
	d->max_min_runtime_s = max_min_runtime_s;
}

int declared_keep(struct declared *d, enum job_option which, const char *text, struct fault *why)
{
	size_t n = strlen(text);

	if (n >= OPTION_TEXT_MAX)
		return fault_errno(
			why, EINVAL, "--%s: %zu bytes are too many", job_option_table[which].name, n);
	memcpy(d->text[which], text, n + 1);
	return 0;
}

int declared_check(const struct declared *d, enum job_option which, struct fault *why)
{
	struct job_options o;

	job_options_init(&o);
	for (int i = 0; i < JOB_OPTIONS; i++)
		if ((d->text[i][0] || i == (int)which) && job_options_set(&o, i, d->text[i], why) < 0)
			return -1;
	return job_options_check(&o, d->max_min_runtime_s, why);
}

int declared_argument(struct declared *d, const char *argument, struct fault *why)
{
	int64_t max;

	if (strncmp(argument, ARGUMENT, strlen(ARGUMENT)))
		return fault_errno(why, EINVAL,
			"plugstack.conf: \"%s\" is not known; " ARGUMENT
			"TIME, gpu_numa, gpu_memory, gpu_places, gpu_root, gpu_check, gpu_backend, "
			"gpu_check_least, gpu_check_policy, gpu_check_at, gpu_check_deadline, "
			"gpu_check_helper and check_NAME are",
			argument);
	if (duration_parse(argument + strlen(ARGUMENT), &max, why) < 0)
		return -1;
	d->max_min_runtime_s = max;
	return 0;
}

const char *declared_inherited_variable(enum job_option which, char buf[OPTION_VARIABLE_MAX])
{
	snprintf(buf, OPTION_VARIABLE_MAX, "SLURM_SPANK__SLURM_SPANK_OPTION_gpubudget_%s",
		job_option_table[which].name);
	for (char *c = buf; *c; c++)	/* Slurm writes '_' for what is no letter and no digit */
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return buf;
}
