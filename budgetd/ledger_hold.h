/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_hold.h - the GPU-hours that are set aside for an admission
 *
 * A hold is drawn on live allocations of the project and of each metered ancestor. A pool hold (run 0) waits
 * with the job in the queue, one share a task; each start takes its share into a hold of its own, which stays
 * whole until the run settles.
 *
 * All functions want an open transaction (ledger.h) and a path loaded in it. None overdraws: the caller
 * decided with the same path. */
#ifndef BUDGETD_LEDGER_HOLD_H
#define BUDGETD_LEDGER_HOLD_H
#include "budgetd/ledger_admission.h"
#include "budgetd/ledger_money.h"

struct hold_row {
	int64_t id, admission, project, run, tasks;
	amount_t units;
	int64_t opened_at, closed_at;	/* 0 = open */
	char closed_why[64];
	/* read only, for lists */
	int64_t job, uid, gpus, min_runtime_s, covered_until;
	amount_t price;			/* of the run, a second */
	char label[64];
};

/* Set `h->units` aside along the path; h->id is set. */
int hold_open(struct ledger *l, const struct path *p, struct hold_row *h, struct fault *why);
/* open, without a run; 1, 0, -1 */
int hold_pool(struct ledger *l, int64_t admission, struct hold_row *out, struct fault *why);
/* open; 1, 0, -1 */
int hold_of_run(struct ledger *l, int64_t run, struct hold_row *out, struct fault *why);

/* More or fewer units; `p` is the path with what it has now. h->units is updated. */
int hold_grow(struct ledger *l, const struct path *p, struct hold_row *h, amount_t by, struct fault *why);
/* By more than it has: to 0, with a warning in the log. */
int hold_shrink(struct ledger *l, struct hold_row *h, amount_t by, struct fault *why);

/* What `p` would be without the hold, so that another one in its place is a check of the difference. In
 * memory only. */
int hold_credit(struct ledger *l, const struct hold_row *h, struct path *p, struct fault *why);

/* One task of the pool starts: its share goes to a hold of the run. *out is that hold. The pool is closed
 * with its last task. */
int hold_take_task(struct ledger *l, struct hold_row *pool, int64_t run, int64_t now, struct hold_row *out,
	struct fault *why);

/* Turn `units` of the hold (at most h->units) into the given charge, in the journal of every allocation it is
 * drawn on. */
int hold_charge(struct ledger *l, struct hold_row *h, amount_t units, int64_t charge, int64_t now,
	struct fault *why);

/* Give back what is left. `why_closed` is a static text: "settled", "job gone", "not seen", ... */
int hold_close(struct ledger *l, struct hold_row *h, int64_t now, const char *why_closed, struct fault *why);

typedef int (*hold_fn)(const struct hold_row *h, void *arg);
/* Newest first; project 0 = all; `all` = closed ones too; before 0 = from the newest. */
int hold_walk(struct ledger *l, int64_t project, bool all, int64_t before, int64_t limit, hold_fn each,
	void *arg, struct fault *why);

/* All holds of the queue by their admission, without what only people read: a pass looks at tens of
 * thousands. */
struct pool_row {
	int64_t id, admission, tasks, opened_at;
	int64_t job;			/* 0 = not tied to one yet */
	amount_t units;
};
typedef int (*pool_fn)(const struct pool_row *pool, void *arg);
int pool_walk(struct ledger *l, pool_fn each, void *arg, struct fault *why);

#endif
