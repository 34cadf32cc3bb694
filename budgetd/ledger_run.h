/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_run.h - runs and what was charged for them
 *
 * A run is keyed by (cluster, job id, submit, start): opened twice it is one, ended twice it is charged once.
 * Its price a second is fixed at the start. Its hold pays up to covered_until; what is beyond is free (an
 * extension did not fit) or uncovered (nobody looked in time): facts always post, and never overdraw. No part
 * is of two months (of UTC): whatever is charged at once is split at each edge, so that the parts are the
 * same whether a pass saw the edge go by or the run was settled long after it.
 *
 * All functions want an open transaction (ledger.h); run_end wants LEDGER_MONEY. */
#ifndef BUDGETD_LEDGER_RUN_H
#define BUDGETD_LEDGER_RUN_H
#include "budgetd/ledger_hold.h"

struct run {
	int64_t id;
	char cluster[64];
	int64_t job, submit, start;
	char label[64], partition[64];
	int64_t admission, project, uid;	/* admission 0 = none */
	enum job_tier tier;
	int64_t min_runtime_s, gpus;
	char tres[512];
	int64_t price;			/* units a second */
	int64_t covered_until, free_since;
	int64_t ended;			/* 0 = running */
	char state[32];
	/* read only: up to here its parts are in the books; `start` when there is none */
	int64_t charged_to;
	int64_t lost_at;		/* since when its end is not known; 0 = it is not lost */
	/* since when its minimum runtime protects it no more; 0 = it does (ledger_event.h) */
	int64_t unprotected_at;
	char unprotected_why[16];	/* the word of its reason */
	/* Is it free while it is suspended? As the site had it when the run was opened: what is set later
	 * does not touch it, as with its price. */
	bool pauses_free;
	int64_t suspended_s;		/* of it so far that cost nothing */
};

/* 1 = it was there already (and *r is it), 0 = opened, -1. */
int run_open(struct ledger *l, struct run *r, struct fault *why);
int run_by_id(struct ledger *l, int64_t id, struct run *out, struct fault *why);	/* 1, 0, -1 */
int run_find(struct ledger *l, const char *cluster, int64_t job, int64_t submit, int64_t start,
	struct run *out, struct fault *why);
/* Write covered_until, free_since and gpus/tres/price of a running one. */
int run_update(struct ledger *l, const struct run *r, struct fault *why);

/* Since when its end is not known; 0: it is again. */
int run_set_lost(struct ledger *l, int64_t run, int64_t at, struct fault *why);

typedef int (*run_fn)(const struct run *r, void *arg);
/* Open runs, the oldest start first; cluster "" = of all. */
int run_walk_open(struct ledger *l, const char *cluster, run_fn each, void *arg, struct fault *why);
/* of a raw id, oldest first */
int run_walk_job(struct ledger *l, int64_t job, run_fn each, void *arg, struct fault *why);
/* The newest `limit` of a job and of all tasks of it, or of its task `label` ("12_3"; "" = all): oldest
 * first. */
int run_walk_tasks(struct ledger *l, int64_t job, const char *label, int64_t limit, run_fn each, void *arg,
	struct fault *why);
/* How many there are, and what was charged for them. */
int run_sum_tasks(struct ledger *l, int64_t job, const char *label, int64_t *runs, amount_t *charged,
	struct fault *why);
/* Those of one answer whose hold is open, the oldest first. Holds and runs may be written meanwhile. */
int run_walk_admission(struct ledger *l, int64_t admission, run_fn each, void *arg, struct fault *why);

/* The run ended at `end`: its parts are charged, the rest of its hold is given back. A second call changes
 * nothing: 1; else 0; -1. What was charged beyond `end` in the interim is refunded, and the run ends where it
 * was charged to. */
int run_end(struct ledger *l, struct run *r, int64_t end, const char *state, int64_t now, struct fault *why);

/* The cover of the run ended before `at`: what it used up to `at` is charged, the rest of that time is a free
 * or uncovered part, and covered_until becomes `at`, from where *h (its hold, kept current) may grow again.
 * The caller writes the run. Wants LEDGER_MONEY. */
int run_cut(struct ledger *l, struct run *r, struct hold_row *h, int64_t at, int64_t now, struct fault *why);

/* The run goes on and was in a month that ended at `edge`: what ran up to there is charged in the interim,
 * the rest of its hold stays. *r becomes what the books have. 1 = charged up to there already, or ended:
 * nothing changed; else 0; -1. A power cut may lose it: LEDGER_HOLDS will do. */
int run_interim(struct ledger *l, struct run *r, int64_t edge, int64_t now, struct fault *why);

/* The run has `gpus` (AllocTRES `tres`) for `price` units a second, by the rates of its start, from `at` on:
 * the part before is charged, the hold follows. 1 = told before, nothing changed; else 0; -1. Wants
 * LEDGER_MONEY. */
int run_resize(struct ledger *l, struct run *r, int64_t at, int64_t gpus, amount_t price, const char *tres,
	int64_t now, struct fault *why);

/* Suspended time of a run that costs nothing: `total_s` of it by now, what is new up to `until`. Its hold
 * covers as much longer. `over`: it was resumed (or has ended), and is charged up to there, the suspended
 * seconds being the last ones before `until`; what is never told to be over they are the last ones of what is
 * charged next. A smaller total than before is one that knows the end: a job that is cancelled in its
 * suspension ended, for Slurm, as that began. 1 = told before, nothing changed; else 0; -1. A power cut may
 * lose it: LEDGER_HOLDS will do. */
int run_suspend(struct ledger *l, struct run *r, int64_t total_s, int64_t until, bool over, int64_t now,
	struct fault *why);

struct charge {
	int64_t id, run, at, project;
	int64_t dated;			/* when it is booked: ledger_period.h */
	char kind[12];			/* funded, free, uncovered, imported, suspended */
	int64_t part_start, part_end, gpus;
	amount_t price, units;		/* price: units a second, of the size that the run had then */
	bool ends_run;			/* the run ends with it */
	/* read only, for lists */
	char label[64], tres[512];
	int64_t uid, run_start;
};

/* Up to when no run can have been missed; 0 = the loop has never looked. Kept in the file: what a daemon
 * writes in the first pass after it was away must not make it believe that it was there. */
int ledger_all_seen(struct ledger *l, int64_t *out, struct fault *why);
int ledger_set_all_seen(struct ledger *l, int64_t at, struct fault *why);

typedef int (*charge_fn)(const struct charge *c, void *arg);
/* Newest first; project 0 = all, job 0 = all, before 0 = from the newest. */
int charge_walk(struct ledger *l, int64_t project, int64_t job, int64_t before, int64_t limit, charge_fn each,
	void *arg, struct fault *why);

#endif
