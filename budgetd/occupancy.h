/* SPDX-License-Identifier: GPL-2.0-or-later
 * occupancy.h - what projects used in the window, out of the charges of the books: the O_n of doc/model.md 5
 *
 * Charges, and what of them does not count, are append-only: what was read once is kept and read on from
 * there, so that a pass reads what is new and no second counter can come to differ from the ledger.
 *
 * Unit     units (amount.h), seconds
 * Memory   48 bytes for each part of a run that reaches into the window
 * Threads  an object belongs to one thread */
#ifndef BUDGETD_OCCUPANCY_H
#define BUDGETD_OCCUPANCY_H
#include "budgetd/ledger.h"
#include "lib/amount.h"

struct occupancy;

struct occupancy *occupancy_new(void);		/* nothing is read yet; NULL and ENOMEM */
void occupancy_free(struct occupancy *o);	/* NULL is fine */

/* Read on, up to what the books have now; the window begins at `from`. What was forgotten is not read again:
 * a `from` before the last one begins anew, and so does another `by_user`: whether what each user had in a
 * project is told apart. Wants an open transaction on `l`, which sees what is committed only. */
int occupancy_read(struct occupancy *o, struct ledger *l, int64_t from, bool by_user, struct fault *why);

/* Of each project that used something, itself and not what is below it, or of each user in it (else `uid` is
 * -1): `paid` was charged or imported, less what of it does not count; `unpaid` is what the same time would
 * have cost of what cost nothing, in the free tier or covered by no hold. */
typedef void (*occupancy_fn)(int64_t project, int64_t uid, amount_t paid, amount_t unpaid, void *arg);
void occupancy_walk(const struct occupancy *o, occupancy_fn each, void *arg);

/* The same part by part, those that were paid for: `counted` units of it, at most `price` of them a second
 * from `from` on, which is in the window. */
struct occupancy_part {
	int64_t project, uid, from, to;
	amount_t price, counted;
};
typedef void (*occupancy_part_fn)(const struct occupancy_part *p, void *arg);
void occupancy_walk_parts(const struct occupancy *o, occupancy_part_fn each, void *arg);

/* Where the first imported part begins that reaches into the window; INT64_MAX: there is none. */
int64_t occupancy_imported_from(const struct occupancy *o);

/* What goes on and is not charged yet: of an open run no more than that takes. */
struct open_use {
	int64_t project, uid;
	bool paid;			/* funded, and an answer gave it its hours */
	amount_t price;			/* units a second */
	int64_t start, min_runtime_s, covered_until, charged_to;	/* as struct run has them */
};
typedef void (*open_use_fn)(const struct open_use *u, void *arg);
int occupancy_walk_open(struct ledger *l, open_use_fn each, void *arg, struct fault *why);

#endif
