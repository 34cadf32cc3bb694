/* SPDX-License-Identifier: GPL-2.0-or-later
 * program.h - run a program, without a shell, and have what it says
 *
 * Threads  one: it forks */
#ifndef DOCTOR_PROGRAM_H
#define DOCTOR_PROGRAM_H
#include <stddef.h>
#include "lib/fault.h"

#define PROGRAM_SAID_MAX 8192

/* argv[0] is looked for in PATH. `input` (NULL = nothing) goes to its stdin; stdout and stderr come to `said`
 * in the order of writing, cut when longer. It is killed after deadline_ms. Its exit status, 127 when there
 * is no such program; or -1 and errno: ETIMEDOUT, EINTR (it ended by a signal), or that of fork and pipe.
 * `said` is filled in any case. */
int program_run(char *const argv[], const char *input, int deadline_ms, char said[PROGRAM_SAID_MAX],
	struct fault *why);

/* Run a function in a child as if it were a program: for calls that may end the process. The function's value
 * is the exit status. */
int program_try(
	int (*run)(void *arg), void *arg, int deadline_ms, char said[PROGRAM_SAID_MAX], struct fault *why);

#endif
