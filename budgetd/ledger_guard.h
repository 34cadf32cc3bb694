/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_guard.h - the gang whose nodes are being cleared, and which jobs are kept off them, in the books
 *
 * Both are present state. What stands of a job that is kept off is what was written into its excluded nodes,
 * each text that there ever was, and what to put back for it: a record of Slurm with such a text has it from
 * us, one with any other has it from its user.
 *
 * All functions want an open transaction (ledger.h). */
#ifndef BUDGETD_LEDGER_GUARD_H
#define BUDGETD_LEDGER_GUARD_H
#include <stdbool.h>
#include <stddef.h>
#include "budgetd/ledger.h"

/* bytes of names with commas between, and the NUL: a gang of more is not guarded */
#define GUARD_NODES_MAX 8192

/* A het job's nodes are closed to free jobs for so long before its planned start: a pass tells Slurm, and
 * each of them is known by then. */
#define GUARD_CLOSES_S(settings) (2 * (settings)->pass_interval_s + 1)

struct guard {
	int64_t admission;		/* 0 = there is none */
	int64_t at;			/* planned start */
	/* of a het job, which displaces nobody in Slurm: free jobs are kept off as well */
	bool together;
	char nodes[GUARD_NODES_MAX];
};

/* 1 and *out; 0 and *out all 0: none; -1. */
int guard_load(struct ledger *l, struct guard *out, struct fault *why);
/* admission 0: there is none any more */
int guard_store(struct ledger *l, const struct guard *g, struct fault *why);

/* The gang could not use what was kept for it. What was given up before `forget` is forgotten. */
int guard_give_up(struct ledger *l, int64_t admission, int64_t now, int64_t forget, struct fault *why);
/* Since then? 1, 0, or -1. */
int guard_given_up(struct ledger *l, int64_t admission, int64_t since, struct fault *why);

struct kept_off {
	int64_t admission;
	const char *written;		/* as we wrote it; borrowed during the call */
	const char *own;		/* its user's; "" = none */
	bool nowhere;			/* Slurm found no other node for it */
};

/* again: only nowhere is changed */
int kept_off_add(struct ledger *l, const struct kept_off *k, int64_t now, struct fault *why);
/* By admission. `each` returns < 0 to stop, which makes the call fail. */
typedef int (*kept_off_fn)(const struct kept_off *k, void *arg);
int kept_off_walk(struct ledger *l, kept_off_fn each, void *arg, struct fault *why);
/* Of a job that waits and has nothing of ours any more: what its user writes from now on is the user's, also
 * when it reads the same. Of one that is gone. Not while a run of it goes on, which may be requeued with what it has. */
int kept_off_drop(struct ledger *l, int64_t admission, struct fault *why);
#endif
