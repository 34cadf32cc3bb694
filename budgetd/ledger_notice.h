/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_notice.h - what of the books people are told of without asking (notice_look.c)
 *
 * All functions want an open transaction (ledger.h); they write nothing. */
#ifndef BUDGETD_LEDGER_NOTICE_H
#define BUDGETD_LEDGER_NOTICE_H
#include "budgetd/ledger_event.h"
#include "lib/notice.h"

/* The newest event and journal entry there are, 0 = none. */
struct newest {
	int64_t event, event_at, entry;
};
int newest_read(struct ledger *l, struct newest *out, struct fault *why);
/* Is that event the one of that time? 1, 0 = these are other books, -1. */
int event_is_of(struct ledger *l, int64_t event, int64_t at, struct fault *why);
/* The last event up to `at`, 0 = none. */
int event_up_to(struct ledger *l, int64_t at, int64_t *event, struct fault *why);

/* Of each live project that is metered and has live allocations: what it uses of them. */
struct budget_use {
	int64_t project;
	char name[PROJECT_NAME_MAX];
	amount_t amount, charged, held;
};
typedef int (*budget_use_fn)(const struct budget_use *u, void *arg);
int budget_use_walk(struct ledger *l, int64_t now, budget_use_fn each, void *arg, struct fault *why);
/* What was given back of charges to a project since that entry of the journal. */
int refunded_since(struct ledger *l, int64_t project, int64_t entry, amount_t *out, struct fault *why);

/* Live allocations of live projects that end after `now` and up to `until`, the first first. */
struct ending {
	int64_t allocation, project, ends;
	char name[PROJECT_NAME_MAX];
	amount_t left;			/* neither charged nor held */
};
typedef int (*ending_fn)(const struct ending *e, void *arg);
int ending_walk(struct ledger *l, int64_t now, int64_t until, ending_fn each, void *arg, struct fault *why);

/* Events of runs after that one that are displacements or about idle GPUs, the oldest first, at most `limit`. */
struct run_event {
	struct event event;
	char label[64], project[PROJECT_NAME_MAX];	/* of its job, as people write it */
	int64_t uid;
};
typedef int (*run_event_fn)(const struct run_event *e, void *arg);
int run_event_walk(struct ledger *l, int64_t after, int64_t limit, run_event_fn each, void *arg,
	struct fault *why);

/* The owners of the project, or of the nearest above it that has some, with commas between; "" = nobody. Those
 * that have no room are left out. */
int owners_text(struct ledger *l, int64_t project, char *out, size_t size, struct fault *why);

#endif
