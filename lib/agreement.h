/* SPDX-License-Identifier: GPL-2.0-or-later
 * agreement.h - do the books, slurmdbd and slurmctld say the same of a run?
 *
 * The one list of differences there can be, with the cause of each and what to do about it. A run is told
 * apart by job id and start. It is compared as each side has it: what is younger than the settling time is
 * not given to this rule, since news of it may still be under way.
 *
 * Unit     amounts in units, times UTC epoch seconds
 * Threads  pure functions: any thread */
#ifndef LIB_AGREEMENT_H
#define LIB_AGREEMENT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/amount.h"

enum difference {
	DIFFERS_MISSING,	/* slurmdbd has it, the books have not */
	DIFFERS_NOT_FOLLOWED,	/* it runs, and the books do not know */
	DIFFERS_UNKNOWN,	/* the books have it, slurmdbd has not */
	DIFFERS_END,
	DIFFERS_GPUS,
	DIFFERS_TWICE,
	DIFFERS_OPEN,		/* open in the books, ended in slurmdbd */
	/* open in the books, gone from slurmctld, and slurmdbd does not tell its end */
	DIFFERS_NO_END,
	DIFFERS_RUNAWAY,	/* goes on in slurmdbd, gone from slurmctld */
	DIFFERS_RUNS_ON,	/* ended in the books, and it runs */
	DIFFERS_TIER,
	DIFFERS_PROJECT,
	DIFFERS_NO_HOLD,	/* a funded run, or a job that waits for one, without a hold */
	DIFFERS_NO_JOB,		/* a hold, and no job that it is for */
	DIFFERENCES
};

struct difference_row {
	const char *id;		/* "end" */
	const char *about;	/* what differs */
	const char *cause;	/* how that comes about */
	const char *mend;	/* what to do */
	bool repair;		/* --repair can put it right by corrections */
};
extern const struct difference_row difference_table[DIFFERENCES];

enum presence { ABSENT, GOES_ON, ENDED };	/* GOES_ON: no end is known */
/* OTHER: a QOS of neither tier, or not told */
enum side_tier { SIDE_TIER_OTHER, SIDE_TIER_FUNDED, SIDE_TIER_FREE };

struct agreement_side {
	enum presence presence;
	int64_t end;		/* 0 unless ENDED */
	int64_t gpus;		/* of the last piece */
	int64_t gpu_seconds;	/* of all pieces; without GPUs (shards) the seconds alone */
	amount_t worth;		/* what those cost by the rates at the start, whoever pays */
	enum side_tier tier;
	const char *project;	/* NULL = not told */
};

/* A piece of constant size: of a resized run there are several. A piece of no length changes nothing but the
 * size. */
void agreement_add_piece(struct agreement_side *s, int64_t from, int64_t to, int64_t gpus, amount_t price);

struct agreement_run {
	int64_t start;
	struct agreement_side books, slurmdbd, slurmctld;
	amount_t charged;	/* by the books, refunds of corrections taken off */
	bool twice;		/* another run of the books has some of its time */
	/* an administrator said when it ended: slurmdbd's row was mended without its true end */
	bool by_hand;
	bool needs_hold, has_hold;
};

/* The differences of a run, as a set of bits 1u << DIFFERS_X; 0 = all agree. */
unsigned agreement_of(const struct agreement_run *r);

/* What the books are off by, units: above 0 Slurm knows of more than the books, below 0 of less. */
amount_t agreement_off(const struct agreement_run *r, enum difference d);

/* What a funded part of a run should have cost: the pieces that Slurm knows, as far as they lie in [from,
 * to], at their price. */
struct agreement_piece {
	int64_t from, to;
	amount_t price;		/* units a second */
};
amount_t agreement_should_cost(const struct agreement_piece *pieces, size_t n, int64_t from, int64_t to);

#endif
