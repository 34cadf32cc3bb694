/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_user_share.h - the weight of a user among those of a project that is divided among its users
 *
 * A user without a weight has 1. What is set counts from then on: the past is in `change`, what is here is
 * the present.
 *
 * All functions want an open transaction (ledger.h). */
#ifndef BUDGETD_LEDGER_USER_SHARE_H
#define BUDGETD_LEDGER_USER_SHARE_H
#include "budgetd/ledger_change.h"


struct user_share {
	int64_t project, uid;
	char user[USER_NAME_MAX];
	int64_t share;			/* 0 .. FAIRSHARE_WEIGHT_MAX */
};

/* Write it and its change. EEXIST: projects stand below it, so that it is no leaf. */
int user_share_set(struct ledger *l, struct change_words *w, const struct user_share *s, struct fault *why);

/* Is the leaf divided now: by what is set at it, or at the nearest project above that says something? 0 and
 * *out, or -1. */
int user_shares_effective(struct ledger *l, const struct project *p, bool *out, struct fault *why);

typedef int (*user_share_fn)(const struct user_share *s, void *arg);
/* by name */
int user_share_walk(struct ledger *l, int64_t project, user_share_fn each, void *arg, struct fault *why);

/* The uid that has a weight under this name. 1, 0, -1. */
int user_share_uid(struct ledger *l, int64_t project, const char *user, int64_t *uid, struct fault *why);

#endif
