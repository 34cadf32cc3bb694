/* SPDX-License-Identifier: GPL-2.0-or-later
 * idle.h - GPUs that are allocated and not used: since when, and what is to be said about it
 *
 * A GPU is idle as long as each sample of it says utilisation 0 and nothing about its memory and its
 * processes changes (doc/model.md, 6). A sample that is missing is never idleness: after a hole it begins
 * anew. A job is idle when all of its GPUs are. Being busy is never rewarded; only the last word takes
 * something away: the protection.
 *
 * Unit     epoch seconds, seconds; what a sample says is in the unit of the exporter
 * Threads  pure functions: any thread */
#ifndef LIB_IDLE_H
#define LIB_IDLE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idle_sample {
	int64_t at;
	double utilization; /* of the time since the sample before: 0 = not used. NAN: the sample is missing
			     */
	double memory, processes; /* NAN: nobody asks for them */
};

/* One GPU in the hands of one job. All zero: nothing is known yet. */
struct idle_gpu {
	int64_t since; /* 0 = not idle */
	int64_t last;  /* the newest sample; 0 = none */
	double memory, processes;
};

/* The next sample. One that is not newer than the last counts nothing; when more than `step_s` went by since
 * the last, samples are missing. */
void idle_add(struct idle_gpu *g, const struct idle_sample *s, int64_t step_s);

/* Since when a job is idle that was started at `start` with `gpus` GPUs: 0 when it is not, when one of
 * `known` GPUs is not or has no sample of `fresh` or later, or when fewer than `gpus` are known. */
int64_t idle_since(
	const struct idle_gpu *const known[], size_t count, int64_t gpus, int64_t start, int64_t fresh);

/* The ladder, in the order in which it is gone up. */
enum idle_word { IDLE_NOTHING, IDLE_NOTE, IDLE_WARNING, IDLE_LAST_WARNING, IDLE_UNPROTECTED };

/* After how long; 0: never. */
struct idle_limits {
	int64_t note_s, warning_s, last_warning_s, unprotected_s;
};

/* What is to be said at `now` to a job that is idle since `since` (0 = it is not), after `said` was said to
 * it at `said_at`; what was said before it became idle counts nothing. Steps that nobody could say in time
 * are left out, but no protection is lost that was not warned of as long before as the limits say. */
enum idle_word idle_next(
	const struct idle_limits *l, int64_t since, enum idle_word said, int64_t said_at, int64_t now);

#endif
