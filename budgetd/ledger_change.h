/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_change.h - settings of projects and terms of allocations as they were changed
 *
 * GPU-hours have their journal; this is the history of all else that owners and administrators decide: who,
 * when, from what, to what, and why. A write of several changes is one group, as in the journal: the first
 * row has its request id, the others name the first.
 *
 * All functions want an open transaction (ledger.h), the writing ones LEDGER_MONEY. */
#ifndef BUDGETD_LEDGER_CHANGE_H
#define BUDGETD_LEDGER_CHANGE_H
#include "budgetd/ledger_money.h"

/* Who says what, for all rows of one write. */
struct change_words {
	int64_t at;
	char actor[USER_NAME_MAX], reason[512];
	char request_id[72];		/* "" = none */
	int64_t first;			/* 0 before the first row of the write */
};

struct change {
	int64_t id, project, allocation;	/* allocation 0 = a setting of the project */
	const char *what;		/* the key by which the API sets it: share, credit_units, ends... */
	const char *user;		/* NULL = it is no user's */
	const char *was, *became;	/* NULL = there was none, there is none */
	struct change_words words;	/* read only */
};

/* One row, unless was and became are the same. 0 or -1. */
int change_add(struct ledger *l, struct change_words *w, const struct change *c, struct fault *why);
/* The same for a number. */
int change_number(struct ledger *l, struct change_words *w, const struct change *of, int64_t was,
	int64_t became, struct fault *why);

/* A row for each setting of a project, and for each term of an allocation, that is not as it was. `was` NULL:
 * it is new. */
int change_project(struct ledger *l, struct change_words *w, const struct project *was,
	const struct project *became, struct fault *why);
int change_allocation(struct ledger *l, struct change_words *w, const struct allocation *was,
	const struct allocation *became, struct fault *why);
/* What a user is in a project. */
int change_role(struct ledger *l, struct change_words *w, int64_t project, const char *user,
	enum member_role was, enum member_role became, struct fault *why);
/* It is there, it is gone. */
int change_existence(struct ledger *l, struct change_words *w, int64_t project, bool there,
	struct fault *why);

typedef int (*change_fn)(const struct change *c, void *arg);
/* Newest first, at most `limit`; project 0 = all, else with what is below it; before 0 = from the newest. The
 * texts live until the next row. */
int change_walk(struct ledger *l, int64_t project, int64_t before, int64_t limit, change_fn each, void *arg,
	struct fault *why);

#endif
