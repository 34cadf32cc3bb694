/* SPDX-License-Identifier: GPL-2.0-or-later
 * options.h - the command line of gpu-check: commands, options and exit codes, each one table for getopt,
 * help and gpu-check(1)
 *
 * Threads  one */
#ifndef GPU_CHECK_OPTIONS_H
#define GPU_CHECK_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "gpu_check/stage.h"

enum exit_code { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_FAR, EXIT_UNPROVEN, EXIT_NOTHING, EXIT_FAULTY,
	EXIT_DRAIN, EXIT_CODES };

struct options {
	const struct command *command;
	const char *root;		/* borrowed, as all that follow; "/" */
	const char *places;		/* below root */
	const char *cpus, *gpus;	/* NULL: not given */
	int tasks;			/* 0: not given */
	bool json, strict, mine;
	enum level level;
	const char *backend;		/* NULL: not given */
	const char *helper;		/* NULL: the one that was installed */
	int64_t deadline_ms;
	int64_t soak_s;			/* 0: once */
	int expected;			/* -1: not given */
	bool all, optional;
	const char *baseline, *mark, *policy;	/* below root */
	const char *nvml;		/* NULL: not given */
	bool learn, acknowledge, under_load, drain_reason;
};

struct command {
	const char *name, *help;
	int (*run)(const struct options *o);	/* the exit code; what went wrong it has said */
};

/* -1 to go on; else the exit code: help or version was printed, or a complaint. */
int options_read(int argc, char **argv, struct options *out);

/* "gpu-check: " and the sentence on stderr; returns `code`. */
int complain(enum exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
