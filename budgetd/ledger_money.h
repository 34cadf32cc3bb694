/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_money.h - allocations, deposits, the journal, and what a path of projects has left
 *
 * All functions want an open transaction (ledger.h); deposits want LEDGER_MONEY. Amounts in units, times UTC
 * epoch seconds. */
#ifndef BUDGETD_LEDGER_MONEY_H
#define BUDGETD_LEDGER_MONEY_H
#include "budgetd/ledger_project.h"

#define LIVE_ALLOCATIONS_MAX 32		/* of one project, live or to come: bounds the work of one verdict */
/* so that no sum over a path can overflow */
#define ALLOCATION_UNITS_MAX (INT64_MAX / (4 * LIVE_ALLOCATIONS_MAX))

struct allocation {
	int64_t id, project;
	int64_t starts, ends;		/* ends 0 = open */
	amount_t amount, charged, held;
	char comment[256];
	int64_t created_at;
	/* of what is left at its end, into the next allocation of the project */
	int64_t carry_over_percent;
	bool vests;			/* usable little by little, from its start to its end */
	amount_t burst;			/* units usable before they have vested */
};

static inline amount_t allocation_free(const struct allocation *a)
{
	return a->amount - a->charged - a->held;
}

static inline bool allocation_live(const struct allocation *a, int64_t now)
{
	return a->starts <= now && (!a->ends || now < a->ends);
}

/* a->id is set. EINVAL: ends before it starts; EEXIST: more than LIVE_ALLOCATIONS_MAX. */
int allocation_add(struct ledger *l, struct allocation *a, int64_t now, struct fault *why);
int allocation_by_id(struct ledger *l, int64_t id, struct allocation *out, struct fault *why);	/* 1, 0, -1 */
typedef int (*allocation_fn)(const struct allocation *a, void *arg);
/* by id */
int allocation_walk(struct ledger *l, int64_t project, allocation_fn each, void *arg, struct fault *why);

/* Write starts, ends, comment, carry_over_percent, vests and burst. EINVAL: what has no end cannot vest nor
 * be carried over; it would end before it starts, or by now. EEXIST: it has ended; it has begun, and its
 * start stays; or it would begin in the past. */
int allocation_set(struct ledger *l, const struct allocation *a, int64_t now, struct fault *why);

/* --- the way up: what each project from the leaf to the root has left now --- */

struct path_node {
	int64_t id;
	enum on_exhausted on_exhausted;
	bool unmetered;			/* by its setting: the budget is then as if it had no allocation */
	struct budget_node budget;
	int nlive;			/* live allocations, the soonest to expire first */
	struct {
		int64_t id, starts;
		amount_t free;
	} live[LIVE_ALLOCATIONS_MAX];
};

struct path {
	int depth;			/* nodes[0] is the project itself */
	struct path_node nodes[BUDGET_DEPTH_MAX];
};

int path_load(struct ledger *l, int64_t project, int64_t now, struct path *out, struct fault *why);
/* The same as it is for a job of the user `uid`: with that user's caps. Whatever sets something aside for a
 * job asks this way. */
int path_load_for(struct ledger *l, int64_t project, int64_t uid, int64_t now, struct path *out,
	struct fault *why);
/* The budgets of a path in a row, as lib/admission wants them. */
void path_budgets(const struct path *p, struct budget_node out[BUDGET_DEPTH_MAX]);
/* The policy of the nearest node that has one; `site` when none has. */
enum on_exhausted path_on_exhausted(const struct path *p, enum on_exhausted site);

/* --- the journal --- */

struct journal_entry {
	int64_t id, at;
	char kind[16];
	int64_t allocation, project;
	amount_t units;			/* signed */
	amount_t balance;		/* of the allocation, after it */
	int64_t charge;			/* 0 = none */
	char actor[USER_NAME_MAX], reason[512];
	char request_id[72];		/* "" = none */
	int64_t first;			/* the first entry of the same write; 0 = this one */
	int64_t corrects;		/* the entry that a void reverses; 0 = none */
	char job[64];			/* label of the charged job, "" = none; read only */
	int64_t uid;			/* of the charged job, -1 = none; read only */
};

/* Post one entry and move the sums of its allocation; e->id and e->balance are set. With a request_id that is
 * known already nothing is written and *e becomes the first entry: 1; else 0; -1. EOVERFLOW: beyond
 * ALLOCATION_UNITS_MAX. */
int journal_post(struct ledger *l, struct journal_entry *e, struct fault *why);

/* 1 and *e replaced when a write of its kind with its request_id was already answered, else 0; -1: EEXIST
 * when one of another kind was. */
int journal_known(struct ledger *l, struct journal_entry *e, struct fault *why);

int journal_by_id(struct ledger *l, int64_t id, struct journal_entry *out, struct fault *why);	/* 1, 0, -1 */

/* The next entry of the write that began with entry `first`, by id, after `after` (0 at first). 1, 0, -1. */
int journal_next_of(struct ledger *l, int64_t first, int64_t after, struct journal_entry *out,
	struct fault *why);

typedef int (*journal_fn)(const struct journal_entry *e, void *arg);
/* Newest first, at most `limit`; project 0 = all (with what is below it), before 0 = from the newest, job 0 =
 * all. */
int journal_walk(struct ledger *l, int64_t project, int64_t job, int64_t before, int64_t limit,
	journal_fn each, void *arg, struct fault *why);

#endif
