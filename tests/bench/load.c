/* SPDX-License-Identifier: GPL-2.0-or-later
 * load.c - how long libslurm's own call for the job table takes: what a pass of budgetd is measured against
 *
 *     load ROUNDS
 *
 * Prints "jobs median longest", the times in nanoseconds. */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "tests/bench/samples.h"

static int load(struct samples *s, uint32_t *jobs)
{
	job_info_msg_t *table = NULL;
	int64_t begun = samples_now();

	if (slurm_load_jobs(0, &table, SHOW_ALL | SHOW_DETAIL) != SLURM_SUCCESS) {
		fprintf(stderr, "load: %s\n", slurm_strerror(errno));
		return -1;
	}
	samples_add(s, samples_now() - begun);
	*jobs = table->record_count;
	slurm_free_job_info_msg(table);
	return 0;
}

int main(int argc, char **argv)
{
	long rounds = argc == 2 ? atol(argv[1]) : 0;
	struct samples s;
	uint32_t jobs = 0;
	int rv = 0;

	if (rounds < 1) {
		fputs("usage: load ROUNDS\n", stderr);
		return 2;
	}
	slurm_init(NULL);
	if (samples_new(&s, (size_t)rounds) < 0)
		return 1;
	for (long i = 0; i < rounds && rv == 0; i++)
		rv = load(&s, &jobs);
	if (rv == 0)
		printf("%u %jd %jd\n", jobs, (intmax_t)samples_at(&s, 500), (intmax_t)samples_at(&s, 1000));
	samples_free(&s);
	return rv < 0;
}
