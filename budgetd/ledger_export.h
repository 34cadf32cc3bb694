/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_export.h - long lists for exports, piece by piece, in an order that is the same every time
 *
 * A piece is read in a transaction of its own and goes on behind the last row of the piece before: a slow
 * reader keeps no transaction open, and memory does not grow with the list. What it reads is append-only, and
 * ends where the list ended when it was begun. The rows of a closed month are the same whenever they are
 * asked for. */
#ifndef BUDGETD_LEDGER_EXPORT_H
#define BUDGETD_LEDGER_EXPORT_H
#include "budgetd/ledger.h"
#include "lib/export.h"

struct export_list {
	bool jobs;			/* else the journal */
	int64_t project;		/* and all below it; 0 = all */
	int64_t from, to;		/* from <= when it is booked < to */
	/* its own: */
	bool refunds;			/* of jobs: behind the charges */
	int64_t after, last_charge, last_entry;
};

/* The name of a user for a row. */
typedef const char *(*export_user_fn)(int64_t uid, void *arg);

/* Where it begins and ends. Wants an open transaction. 0 or -1. */
int export_begin(struct ledger *l, struct export_list *x, struct fault *why);

/* As many rows as `w` has room for. 1 there may be more, 0 that was all, -1. Begins and ends its own
 * transaction. */
int export_more(struct ledger *l, struct export_list *x, struct export_writer *w, export_user_fn user, void *arg,
	struct fault *why);

#endif
