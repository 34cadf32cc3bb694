/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_statement.h - what became of the GPU-hours of a project between two moments
 *
 * A line for each allocation, out of the journal by the dates of its entries. It foots, exactly:
 *
 *   opening + deposits - withdrawals + transfers_in - transfers_out - charges + refunds + adjustments + voids
 *   - expired + carried_in - carried_out = closing
 *
 * Unit     amounts in units; each positive, but for adjustments, voids, opening and closing, which have a sign
 * Needs    an open transaction (ledger.h) */
#ifndef BUDGETD_LEDGER_STATEMENT_H
#define BUDGETD_LEDGER_STATEMENT_H
#include "budgetd/ledger_money.h"

enum statement_item { ITEM_OPENING, ITEM_DEPOSITS, ITEM_WITHDRAWALS, ITEM_TRANSFERS_IN, ITEM_TRANSFERS_OUT,
	ITEM_CHARGES, ITEM_REFUNDS, ITEM_ADJUSTMENTS, ITEM_VOIDS, ITEM_EXPIRED, ITEM_CARRIED_IN,
	ITEM_CARRIED_OUT, ITEM_CLOSING, STATEMENT_ITEMS };

/* "opening", "transfers_in"... */
extern const char *const statement_item_name[STATEMENT_ITEMS];

struct statement_line {
	int64_t project, allocation;
	amount_t items[STATEMENT_ITEMS];
	/* of a closed month as it was closed, of a range that goes on now; else not known */
	bool held_known;
	amount_t held;
};

/* from <= what is of it < to */
struct statement_range {
	int64_t from, to, now;
};

typedef int (*statement_fn)(const struct statement_line *s, void *arg);
/* The allocations of one project by id, those alone that had something in the range or at its edges. */
int statement_walk(struct ledger *l, int64_t project, const struct statement_range *r, statement_fn each,
	void *arg, struct fault *why);

/* Add a line to a sum of lines. */
void statement_add(struct statement_line *sum, const struct statement_line *s);

#endif
