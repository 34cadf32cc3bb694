/* SPDX-License-Identifier: GPL-2.0-or-later
 * history.h - a random history, told to budgetd and to the oracle alike, and compared after each step
 *
 * Everything follows from the seed. A history has a tree of projects with money, and then steps: somebody
 * does something, Slurm does something, time goes by, budgetd looks or does not. At its end all that runs has
 * ended and budgetd has looked long enough.
 *
 * Threads  one at a time */
#ifndef TESTS_MODEL_HISTORY_H
#define TESTS_MODEL_HISTORY_H
#include <setjmp.h>
#include "tests/model/bench.h"
#include "tests/model/oracle.h"
#include "tests/model/world.h"

#define H_MONTH 1801440000 /* 1 February 2027: about half of the histories see a month end */
#define H_JOBS  28
#define H_TASKS 6

struct history {
	uint64_t seed, random;
	int step;
	int64_t epoch;               /* when it begins */
	int64_t now, before, looked; /* the clock; what it was at the last step, and at budgetd's last look */
	struct bench *b;
	struct slurm_link w;
	struct oracle o, saved;
	int64_t entry_of[O_ENTRIES]; /* first row of the journal, of each group of the oracle */
	int64_t changed_at;          /* slurmctld or slurmdbd came or went */
	FILE *story;                 /* NULL: nobody listens */
	bool must_look;              /* budgetd was started: it looks before anybody asks it */
	jmp_buf differs;             /* where compare.c ends it */
	char difference[512];
};

/* 0, or -1: h->difference says what differs. */
int history_run(struct history *h, struct bench *b, uint64_t seed, FILE *story);

/* --- for the files of the history --- */
void tell(struct history *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void differ(struct history *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int64_t below(struct history *h, int64_t n); /* 0 to n - 1 */
bool chance(struct history *h, int percent);
int64_t between(struct history *h, int64_t from, int64_t to); /* both possible */

/* acts_money.c, acts_jobs.c: one thing that somebody does; whether it could be done now. */
void money_begins(struct history *h);
bool money_act(struct history *h);
bool job_act(struct history *h);
void jobs_end(struct history *h); /* all of them */

/* acts_submit.c */
bool job_submitted(struct history *h);
bool het_job_submitted(struct history *h);
bool job_met(struct history *h);
/* A job as budgetd and as the oracle is asked about it. `minimum` is a text of the question. */
struct question job_question(const struct w_job *j, char minimum[32]);
struct o_seen job_wanted(const struct history *h, const struct w_job *j, int number);

/* compare.c */
void compare_money(struct history *h);
void compare_months(struct history *h); /* what allocations had at the edges of months */
void tell_numbers(struct history *h);
void compare_runs(struct history *h); /* at the end: every run that there was, to the second */

#endif
