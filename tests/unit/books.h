/* SPDX-License-Identifier: GPL-2.0-or-later
 * books.h - a real ledger in a folder of its own, and short words for what happens to it
 *
 * A step is one transaction, and after each all checks of books/audit.c are made over a second connection:
 * what is not committed does not count.
 *
 * Unit     GPU-hours where a name says so, else units; times are seconds
 * Failure  a step that fails ends the test, unless its name says that it may */
#ifndef UNIT_BOOKS_H
#define UNIT_BOOKS_H
#include <sqlite3.h>
#include "budgetd/ledger_import.h"
#include "budgetd/ledger_run.h"

#define HOUR 3600
#define GPU_H AMOUNT_GPU_HOUR
#define NOON 1800000000			/* the present of every story */

struct books {
	char folder[64], path[96];
	struct ledger *l;
	sqlite3 *look;			/* the second connection, for counting */
	struct fault why;		/* of the last step that failed */
	int64_t booked_to;		/* of the last piece that was imported: import_add() */
};

void books_open(struct books *b);	/* makes the folder and an empty ledger */
void books_close(struct books *b);	/* and removes the folder */

/* How many lines the parts of the daemon logged as warnings so far, in all suites. */
extern int books_warnings;

/* The first row that is wrong is named and the test ends. */
void ledger_invariants(struct books *b);
/* The first column of the first row of plain SQL. */
int64_t books_ask(struct books *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Plain SQL that changes something; the error's text, or NULL when it worked. Static until the next call. */
const char *books_try(struct books *b, const char *sql);

/* One transaction around a step of the caller's. 0, or -1 with b->why and everything rolled back. */
typedef int (*books_step)(struct ledger *l, void *arg, struct fault *why);
int books_do(struct books *b, enum ledger_durability d, books_step step, void *arg);

int64_t books_project(struct books *b, const char *name, int64_t parent);
/* A new allocation with its first deposit, valid from/until (0 = open). Its id. */
int64_t books_allot(struct books *b, int64_t project, amount_t units, int64_t starts, int64_t ends);
/* 1 = it was there already, 0 = written, -1. */
int books_deposit(struct books *b, int64_t allocation, amount_t units, const char *request_id);

/* The answer to a submission as admit.c gives it: 1 = it does not fit and nothing was written, 0 = the hold
 * is taken. */
struct submission {
	int64_t project, gpus, min_runtime_s, tasks, now;
	int64_t uid;			/* 0 = 1000 */
	struct admission_row admission;	/* set */
};
int books_submit(struct books *b, struct submission *s);

/* A task of it starts: the run, with its share of the pool. */
void books_start(struct books *b, const struct submission *s, int64_t job, int64_t start, struct run *out);
/* `seconds` more, or -1 when the money does not reach: the run is free from there on. */
int books_extend(struct books *b, struct run *r, int64_t seconds, int64_t now);
/* 1 = it was ended already, 0 = now, -1. */
int books_end(struct books *b, struct run *r, int64_t end);

/* A batch of one run out of Slurm's accounting, in the present of the stories. */
struct import_result books_import(struct books *b, const struct import_run *r, bool charge);

/* What a project itself was charged for what ran since `from` and counts in its ratio. */
amount_t books_occupied(struct books *b, int64_t project, int64_t from);

/* at the tightest node of its path */
amount_t books_available(struct books *b, int64_t project, int64_t now);

#endif
