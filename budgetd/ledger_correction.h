/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_correction.h - runs with what was made of them, and what Slurm's accounting says of them otherwise
 *
 * A run that ended is never changed. What Slurm knows better is a correction: a dated row that names the run,
 * what was charged too much is refunded, time that is missing is an `uncovered` part, a run that is missing
 * is entered. The last correction of a run says how it is to be compared from then on. The same request id is
 * written once.
 *
 * All functions want an open transaction (ledger.h); those that write want LEDGER_MONEY. */
#ifndef BUDGETD_LEDGER_CORRECTION_H
#define BUDGETD_LEDGER_CORRECTION_H
#include "budgetd/ledger_run.h"

struct correction {
	int64_t id, at, run;		/* id 0 = none */
	char kind[12];			/* missing, end, gpus, twice, tier, project, by hand */
	int64_t ended, gpu_seconds;
	enum job_tier tier;
	int64_t project;
	amount_t refunded;
	char actor[USER_NAME_MAX], reason[512], request_id[72];
};

/* A run, and its charges together. */
struct run_account {
	struct run run;
	/* refunded: of its charges, by whatever entry, at its own project */
	amount_t charged, refunded, held;
	int64_t gpu_seconds;		/* of its parts; without GPUs (shards) the seconds alone */
	struct correction last;
};

#define RUN_LIST_MAX 1001		/* a page and the one more that tells of the next */
struct run_question {
	int64_t project;		/* with what is below it; 0 = all */
	int64_t since;			/* those that go on or ended later */
	int64_t job;			/* 0 = all */
	bool open;			/* only those that go on */
	/* newest first; before 0 = from the newest; limit at most RUN_LIST_MAX */
	int64_t before, limit;
};

typedef int (*run_account_fn)(const struct run_account *a, void *arg);
int run_account_walk(struct ledger *l, const struct run_question *q, run_account_fn each, void *arg,
	struct fault *why);

/* 1, 0, -1 */
int run_account_read(struct ledger *l, int64_t run, struct run_account *out, struct fault *why);

/* --- what Slurm's accounting says --- */

#define RUN_PIECES_MAX 256		/* sizes of one run; more are refused */

struct run_piece {
	int64_t from, to, gpus;
	int64_t suspended_s;		/* of it that cost nothing */
	amount_t price;			/* units a second, by the rates at the start of the run */
	char tres[512];			/* AllocTRES */
};

struct run_facts {
	int64_t ended;
	char state[32];
	enum job_tier tier;
	int64_t project;
	/* one after the other, the last one to `ended`; none: it was no run */
	const struct run_piece *pieces;
	size_t count;
};

/* `c` brings kind, time, actor, reason and request id and becomes the row. 0; 1: said before, nothing is
 * written and *c is the row of then; or -1: EEXIST, EINVAL and a text. */

/* A run that ended: what it was charged beyond the facts is refunded, time beyond the books becomes an
 * uncovered part. */
int run_correct(struct ledger *l, struct run *r, const struct run_facts *f, struct correction *c,
	struct fault *why);
/* A run that is not in the books: r->gpus, tres and price are those of the first piece; r->id is set. */
int run_enter(struct ledger *l, struct run *r, const struct run_facts *f, struct correction *c,
	struct fault *why);
/* A run ended at `end`, before what it was charged to in the interim, which was given back: how it is to be
 * compared from now on. */
int run_note_end(struct ledger *l, const struct run *r, int64_t end, int64_t now, struct fault *why);
/* An open run whose end nobody knows but who says so. */
int run_end_by_hand(struct ledger *l, struct run *r, int64_t end, struct correction *c, struct fault *why);

#endif
