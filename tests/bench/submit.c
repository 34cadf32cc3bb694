/* SPDX-License-Identifier: GPL-2.0-or-later
 * submit.c - sbatch without its start-up: many small GPU jobs through libslurm, one after the other or all at
 * once
 *
 *     submit COUNT ACCOUNT PARTITION [--race]
 *
 * Each asks for one GPU for an hour. One after the other, the time of each as its user sees it is told:
 * "first median p99 longest" in nanoseconds. With --race as many processes submit one job each when all of
 * them are ready. Run as the user who submits. */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/bench/samples.h"

#define RACERS_MAX 512

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)
#define ONE_GPU "gres:gpu:1"
#else
#define ONE_GPU "gres/gpu:1"
#endif

struct plan {
	long count;
	char *account, *partition;
	bool race;
};

static int submit_one(const struct plan *p)
{
	static char script[] = "#!/bin/sh\nsleep 1\n", path_variable[] = "PATH=/usr/bin:/bin",
		gpu[] = ONE_GPU;
	static char nowhere[] = "/dev/null", root[] = "/", name[] = "bench";
	char *environment[] = { path_variable };
	submit_response_msg_t *reply = NULL;
	job_desc_msg_t d;
	int rc;

	slurm_init_job_desc_msg(&d);
	d.user_id = getuid();
	d.group_id = getgid();
	d.name = name;
	d.account = p->account;
	d.partition = p->partition;
	d.script = script;
	d.environment = environment;
	d.env_size = 1;
	d.work_dir = root;
	d.std_in = d.std_out = d.std_err = nowhere;
	d.tres_per_job = gpu;
	d.time_limit = 60;
	rc = slurm_submit_batch_job(&d, &reply);
	slurm_free_submit_response_response_msg(reply);
	if (rc != SLURM_SUCCESS)
		fprintf(stderr, "submit: %s\n", slurm_strerror(errno));
	return rc == SLURM_SUCCESS ? 0 : -1;
}

static int one_after_the_other(const struct plan *p)
{
	struct samples s;
	int64_t begun, first = 0;

	if (samples_new(&s, (size_t)p->count) < 0)
		return -1;
	for (long i = 0; i < p->count; i++) {
		begun = samples_now();
		if (submit_one(p) < 0) {
			samples_free(&s);
			return -1;
		}
		samples_add(&s, samples_now() - begun);
		if (i == 0)
			first = s.ns[0];
	}
	printf("%jd %jd %jd %jd\n", (intmax_t)first, (intmax_t)samples_at(&s, 500),
		(intmax_t)samples_at(&s, 990), (intmax_t)samples_at(&s, 1000));
	samples_free(&s);
	return 0;
}

/* Everybody waits for the end of a pipe that only the parent holds open. */
static int all_at_once(const struct plan *p)
{
	int gate[2], status, failed = 0;
	char c;

	if (p->count > RACERS_MAX || pipe(gate) < 0)
		return -1;
	for (long i = 0; i < p->count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid == 0) {
			close(gate[1]);
			if (read(gate[0], &c, 1) != 0)
				_exit(1);
			_exit(submit_one(p) < 0);
		}
	}
	close(gate[1]);
	while (wait(&status) > 0)
		failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct plan p = { 0 };

	if (argc < 4 || argc > 5 || (argc == 5 && strcmp(argv[4], "--race") != 0) ||
		(p.count = atol(argv[1])) < 1) {
		fputs("usage: submit COUNT ACCOUNT PARTITION [--race]\n", stderr);
		return 2;
	}
	p.account = argv[2];
	p.partition = argv[3];
	p.race = argc == 5;
	slurm_init(NULL);
	return (p.race ? all_at_once(&p) : one_after_the_other(&p)) < 0;
}
