/* SPDX-License-Identifier: GPL-2.0-or-later
 * tally.h - what happened since the start, counted for /metrics
 *
 * Whoever does something counts it here and waits for nobody; metrics_table.c tells. Nothing is decided by
 * these numbers, and a restart begins at 0, as counters of Prometheus may.
 *
 * Unit     durations in microseconds
 * Threads  any, lock-free. `t` NULL counts nothing (tests) */
#ifndef BUDGETD_TALLY_H
#define BUDGETD_TALLY_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a submission or a change, and whatever else slurmctld asks. LEFT: nothing of the job was changed.
 * FAILED: no answer could be given. */
enum tally_decision { DECIDED_FUNDED, DECIDED_FREE, DECIDED_WAITS, DECIDED_REJECTED, DECIDED_LEFT,
	DECIDED_FAILED, TALLY_DECISIONS };

/* Why the plugin had no answer, as it tells with a later question. */
enum tally_unanswered { UNANSWERED_DEADLINE, UNANSWERED_BREAKER, UNANSWERED_OTHER, TALLY_UNANSWERED };

enum tally_tier { TALLY_FUNDED, TALLY_FREE, TALLY_TIERS };

/* The upper ends of a histogram's buckets, one more than all without an end. */
#define TALLY_BOUNDS 11
struct tally_bound {
	int64_t us;
	const char *le;			/* the same in seconds, as OpenMetrics writes it */
};
extern const struct tally_bound tally_decision_bounds[TALLY_BOUNDS], tally_pass_bounds[TALLY_BOUNDS],
	tally_wait_bounds[TALLY_BOUNDS];

struct tally_histogram {
	atomic_uint_fast64_t in[TALLY_BOUNDS + 1], sum_us;
};

struct tally {
	atomic_uint_fast64_t decisions[TALLY_DECISIONS], unanswered[TALLY_UNANSWERED];
	atomic_uint_fast64_t met;	/* jobs that came without an answer, and got one of a pass */
	atomic_uint_fast64_t passes, failed_passes;
	struct tally_histogram deciding, passing, waiting[TALLY_TIERS];
};

struct tally *tally_new(void);		/* all 0; NULL and ENOMEM; to be freed by free() */

void tally_decided(struct tally *t, enum tally_decision d, int64_t us);
void tally_not_answered(struct tally *t, enum tally_unanswered cause, uint64_t times);
void tally_met(struct tally *t);
void tally_passed(struct tally *t, bool ok, int64_t us);
/* A run began that could have begun `us` before. */
void tally_waited(struct tally *t, enum tally_tier tier, int64_t us);

#endif
