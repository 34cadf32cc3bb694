/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_import.h - runs that took place before the books looked, out of Slurm's accounting (doc/model.md, 9)
 *
 * A row of Slurm's accounting is taken once, by (cluster, job id, submit, where it begins); what the loop
 * knows already is left alone. Not charged, a part is `imported`: its units count for fair share and stand in
 * no journal. Charged, it is paid as far as the money of now reaches out of allocations that were live at its
 * end and still are; the rest is `uncovered`. A run in the QOS of the free tier is `free`. All that one
 * transaction imports is one row of `import`, with one link in the chain.
 *
 * All functions want an open LEDGER_MONEY transaction, the same one from the first import_add to
 * import_end. */
#ifndef BUDGETD_LEDGER_IMPORT_H
#define BUDGETD_LEDGER_IMPORT_H
#include "budgetd/ledger_money.h"
#include "lib/job_options.h"

#define IMPORT_PIECES_MAX 64		/* of one run: each change of its size begins one */
/* of one run, 27.8 million GPU-h: sums over a window stay far from overflow */
#define IMPORT_UNITS_MAX ((amount_t)100000000000000)

/* A row of Slurm's accounting: a run, or what it was between two changes of its size. */
struct import_piece {
	int64_t submit, from, end;	/* from = max(start, submit) */
	int64_t gpus;
	amount_t price;			/* units a second */
	const char *tres;
	int64_t suspended_s;		/* of it that cost nothing, its last seconds; at most its length */
};

struct import_run {
	const char *cluster, *label, *partition, *state;
	int64_t job, start, project, uid;
	enum job_tier tier;
	int npieces;			/* by `from`, at most IMPORT_PIECES_MAX */
	struct import_piece pieces[IMPORT_PIECES_MAX];
};

/* ledger_import_rows.h: rows that wait to be written, many by one statement. */
struct import_run_values;
struct import_part_values;

/* One transaction's import. The caller fills the first three, all else 0; the texts of its runs live until
 * import_end. */
struct import {
	int64_t now;
	const char *actor;
	bool charge;

	int64_t id, first_run, last_run, first_charge, last_charge;
	int64_t closed_until;		/* of period_closed_until() */
	const char *cluster;		/* of import_expect */
	int64_t lowest, highest;	/* the jobs that were added */
	struct import_run_values *runs;
	struct import_part_values *parts;
	size_t nruns, nparts, runs_room, parts_room;
	struct chain_rows *runs_hash, *parts_hash;	/* over what was written */
};

/* What came of one run; added to what is there. */
struct import_result {
	int64_t runs, known;		/* known: rows */
	int64_t gpu_seconds;		/* not weighted by rates */
	amount_t units, unpaid;		/* what it cost; what of it nothing paid for */
};

/* All that follows is of this cluster, and of jobs from `first` to `last`: when the books know none of them,
 * one look spares one for each. */
int import_expect(struct ledger *l, struct import *im, const char *cluster, int64_t first, int64_t last,
	struct fault *why);

/* booked_to[i]: 0; or piece i, which is left alone, has another end than the same row before it in this run,
 * or a later one than the books have, and this is the end that counts. Not among those known. */
int import_add(struct ledger *l, struct import *im, const struct import_run *r, struct import_result *out,
	int64_t booked_to[IMPORT_PIECES_MAX], struct fault *why);

/* What was written is final from here on. Nothing was: nothing is written. */
int import_end(struct ledger *l, struct import *im, struct fault *why);

void import_free(struct import *im);	/* what it has in memory, however it ended */

#endif
