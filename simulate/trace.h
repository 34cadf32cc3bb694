/* SPDX-License-Identifier: GPL-2.0-or-later
 * trace.h - the jobs that are replayed: a CSV file, or what sacct gave
 *
 * CSV      a header line, columns in any order: submit_s, duration_s, gpus, project; user, min_runtime_s and
 *          resumable may be missing. Others are skipped
 * sacct    -P or --json, as `budgetctl import sacct` reads it: every run with GPUs is a job of its own
 * Unit     seconds; `submit_s` counts from any moment, so that it may be epoch seconds
 * Threads  one */
#ifndef SIMULATE_TRACE_H
#define SIMULATE_TRACE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "lib/fault.h"
#include "lib/zone.h"

struct trace_job {
	int64_t submit_s, duration_s;
	int64_t min_runtime_s; /* 0: the free tier; cut to the time limit */
	int64_t limit_s;       /* 1 to 3 times the duration, by the seed: nobody knows how long a job takes */
	int32_t gpus;
	uint32_t project, user; /* indices of names */
	bool resumable;         /* no: displaced is cancelled */
};

struct trace_names {
	char **name;
	size_t count, room;
	uint32_t *hash; /* open: index + 1, 0 = empty */
	size_t hash_room;
};

struct trace {
	struct trace_job *jobs; /* by submit_s; those of one second as in the file */
	size_t count, room;
	struct trace_names projects, users;
	size_t aside;             /* rows that are no job */
	struct fault first_aside; /* why the first of them is none */
};

#define TRACE_MIN_RUNTIME_S 900 /* where none is given: the site's default */

/* Everything in `from`. 0; or -1: EINVAL (a header that is none, no job at all), EIO, ENOMEM; *t is to be
 * freed in any case. */
int trace_read(struct trace *t, FILE *from, const struct zone *z, uint64_t seed, struct fault *why);
void trace_free(struct trace *t);

/* The index of a name, put there when `add`. -1: not there, or out of memory (errno ENOMEM). */
int trace_name(struct trace_names *n, const char *name, bool add);

/* Even numbers out of a seed and a thing: the same on every machine. */
uint64_t trace_random(uint64_t seed, uint64_t thing);

#endif
