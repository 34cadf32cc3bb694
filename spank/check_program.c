/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_program.c - gpu-check-task FD TASK PROGRAM [ARGUMENT...]: proves the GPUs and becomes the program
 *
 * Put before a task's own words by check_hooks.c, where Slurm can do that: behind all hooks, TaskProlog and
 * whatever made a container of the task, so it sees what the program will see. FD is the page of the proofs.
 * The program is executed in this very process, which has changed nothing but one variable. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/number.h"
#include "spank/check.h"

/* 0: go on. */
static int prove_here(int fd, int task)
{
	struct proofs *p = proofs_open(fd, sizeof(struct check_order));
	struct proof_result result;
	bool own;
	int rv;

	if (!p) {
		fprintf(stderr, "gpubudget: task %d: GPUs are not checked: descriptor %d is no page of "
			"proofs\n",
			task, fd);
		return 0;
	}
	rv = check_task(p, task, environ, &result, &own);
	proofs_free(p);
	if (result.say[0])
		fprintf(stderr, "gpubudget: task %d: %s\n", task, result.say);
	setenv(CHECK_VARIABLE, outcome_name[result.outcome], 1);
	return rv;
}

int main(int argc, char *argv[])
{
	int64_t fd, task;
	int err;

	if (argc < 4 || number_parse(argv[1], 1 << 20, &fd) < 0 ||
		number_parse(argv[2], 1 << 20, &task) < 0) {
		fputs("gpu-check-task is put before a task's program by Slurm's plugin, not by hand\n",
			stderr);
		return 2;
	}
	if (prove_here((int)fd, (int)task) < 0)
		return 1;
	execvp(argv[3], argv + 3);
	err = errno;			/* the status that slurmstepd ends with then, too */
	fprintf(stderr, "gpubudget: %s: %s\n", argv[3], strerror(err));
	return err;
}
