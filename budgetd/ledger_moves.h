/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_moves.h - GPU-hours taken back, moved, refunded and corrected
 *
 * Each function writes one group of journal entries, all or nothing. `e` brings the time, the actor, the
 * reason and the request id, and becomes the first entry of the group; the others name it (journal_next_of).
 * Said again with the same request id nothing is written: 1, and *e is the first entry of then. Else 0, or
 * -1: EEXIST with the numbers when it does not fit, ENOENT, EINVAL.
 *
 * Rule  none makes charges + holds exceed what there is at any project; credit is never moved (doc/model.md,
 *       4)
 * All want an open LEDGER_MONEY transaction (ledger.h). Amounts in units. */
#ifndef BUDGETD_LEDGER_MOVES_H
#define BUDGETD_LEDGER_MOVES_H
#include "budgetd/ledger_money.h"

/* A deposit, a withdrawal or an adjustment: e->units (not 0; negative takes) at e->allocation. What is
 * charged or held, and credit, stays. EEXIST: the allocation has ended. */
int money_change(struct ledger *l, struct journal_entry *e, int64_t now, struct fault *why);

/* What is neither charged nor held of all allocations of a project that have not ended, those to come too. */
int money_unspent(struct ledger *l, int64_t project, int64_t now, amount_t *out, struct fault *why);
/* Withdraw it, a row for each allocation; for a project that is removed. */
int money_withdraw_all(struct ledger *l, int64_t project, struct journal_entry *e, int64_t now,
	struct fault *why);

/* The lowest project that is `from`, `to` or above both; 0 = none: they are of different trees. */
int money_common_ancestor(struct ledger *l, int64_t from, int64_t to, int64_t *out, struct fault *why);

struct transfer {
	int64_t from, to;		/* projects */
	amount_t units;
	/* of these two projects, live; 0 = the one that expires first, and as many as it takes */
	int64_t from_allocation, to_allocation;
};

/* Move units on both paths up to, not including, the lowest common ancestor. At each project that has
 * allocations: out of those that expire first, into the live one that expires first, but at both ends where
 * another one is named. EINVAL: one is named where nothing is taken or given, because that end stands above
 * the other. */
int money_transfer(struct ledger *l, const struct transfer *t, struct journal_entry *e, int64_t now,
	struct fault *why);

/* Give back what a charge took, at each project that paid it, never more than it paid: to the allocation that
 * paid, else to the live one of that project that expires first, else it is recorded and expires at once.
 * units 0 = all that is left of it. */
int money_refund(struct ledger *l, int64_t charge, amount_t units, struct journal_entry *e, int64_t now,
	struct fault *why);

/* The most that a project which paid for the charge has not got back. 0 and *out, or -1. */
int money_refundable(struct ledger *l, int64_t charge, amount_t *out, struct fault *why);

/* Reverse a deposit, withdrawal, transfer or adjustment, with all the entries of its write; once. */
int money_void(struct ledger *l, int64_t entry, struct journal_entry *e, int64_t now, struct fault *why);

/* --- the end of an allocation --- */

/* What is left of allocations that have ended expires, dated at their end; what comes back to them later
 * expires when it comes. A part is carried over into the next allocation where that is said. The number of
 * allocations, or -1. */
int money_expire(struct ledger *l, int64_t now, struct fault *why);
/* Is there something for money_expire to do? 1, 0, -1. A reader's transaction will do. */
int money_expiry_due(struct ledger *l, int64_t now, struct fault *why);

/* Without carry-over: what was posted to an allocation that has ended is lost at once. */
int money_expire_one(struct ledger *l, int64_t allocation, int64_t now, struct fault *why);

#endif
