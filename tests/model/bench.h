/* SPDX-License-Identifier: GPL-2.0-or-later
 * bench.h - budgetd on the bench: its real parts over a database of its own, with its clock in our hand
 *
 * The loop, the verdicts and the books are those of budgetd; only Slurm is a world of ours (world.h) and
 * people's calls come without HTTP, each in the transaction that its route would use.
 *
 * Failure  -1 and bench.why, as the functions that are called say; what must not fail ends the program */
#ifndef TESTS_MODEL_BENCH_H
#define TESTS_MODEL_BENCH_H
#include <sqlite3.h>
#include "budgetd/admit.h"
#include "budgetd/controller.h"
#include "tests/model/world.h"

#define BENCH_AUDITS 64
#define BENCH_WIPES  128

struct bench {
	char folder[64], path[96];
	struct memory_files *files;
	int generation; /* of the file: a crash goes on in a copy */
	struct settings *settings;
	struct budgetd d;
	struct controller *loop;
	bool thorough;	/* this history: what is closed is opened anew, what is killed goes on in a copy */
	bool unwritten; /* an answer is decided, and not written */
	sqlite3 *look; /* sees what is committed */
	sqlite3_stmt *sums, *holds, *parts, *audits[BENCH_AUDITS];
	sqlite3 *wipe;
	sqlite3_stmt *wipes[BENCH_WIPES];
	int nwipes;
	struct fault why;
	int64_t projects[O_NODES];
	char unsound[FAULT_TEXT_MAX + 64];
};

/* A folder for all histories, with one file of the books. */
void bench_open(struct bench *b);
void bench_close(struct bench *b);

/* Empty books for one history; `thorough`: opening and closing the file is a part of it. The file stays when
 * it ends. */
void bench_begin(struct bench *b, struct slurm_link *world, bool thorough);
void bench_end(struct bench *b);

/* budgetd is stopped and started; or killed, and started on the file as it lay there at that moment. */
void bench_restart(struct bench *b);
void bench_kill(struct bench *b);

/* --- what people do. 0, or -1: refused --- */
void bench_project(struct bench *b, int node, int parent, enum o_policy policy);
int bench_credit(struct bench *b, int node, int64_t credit);
int bench_cap(struct bench *b, int64_t now, int node, int user, int64_t cap); /* O_NONE: none */
/* type: a number of the world's, O_ANY_TYPE, or one of these. */
#define BENCH_SHARD (-2)
#define BENCH_MPS   (-3)
int bench_rate(struct bench *b, int64_t now, int type, int64_t from, int64_t rate);
int bench_allocate(struct bench *b, int64_t now, const struct o_allocation *a, int64_t units, int64_t *entry);
int bench_deposit(struct bench *b, int64_t now, int allocation, int64_t units, int64_t *entry);
int bench_change(struct bench *b, int64_t now, int allocation, int64_t units, char kind, int64_t *entry);
int bench_transfer(struct bench *b, int64_t now, int from, int to, int64_t units, int64_t *entry);
int bench_refund(struct bench *b, int64_t now, int64_t charge, int64_t units);
int bench_void(struct bench *b, int64_t now, int64_t entry);
/* The month that ends then. */
int bench_close_month(struct bench *b, int64_t now, int64_t ends, bool force);
/* Up to when all runs are known. */
int64_t bench_all_seen(struct bench *b);

/* --- what Slurm asks --- */
/* The answer is decided and not written: bench_write, or bench_kill. */
struct verdict bench_ask(struct bench *b, int64_t now, const struct question *q);
void bench_write(struct bench *b);
/* Decided and written. Refused: b->why says why. */
bool bench_change_job(struct bench *b, int64_t now, const struct question *q, int job);

/* The ranks of the projects as the next pass has them. */
void bench_ranks(struct bench *b, int64_t now, int nprojects, int64_t out[O_NODES]);

/* One pass of the loop. -1: slurmctld could not be asked. */
int bench_pass(struct bench *b, int64_t now);

/* All checks of `budgetctl verify`. The text of the first that fails, or NULL. */
const char *bench_verify(struct bench *b);

/* Lines of the log go here; NULL: nowhere. */
void bench_log_to(FILE *to);

#endif
