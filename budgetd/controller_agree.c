/* SPDX-License-Identifier: GPL-2.0-or-later
 * controller_agree.c - what was settled from slurmctld's table, held against slurmdbd's rows when they are
 * final.
 *
 * One question to slurmdbd for the runs of the last hours, the same rule as `budgetctl check`
 * (lib/agreement.h), and nothing is put right here: what differs is said and counted, so that somebody
 * looks. */
#include "budgetd/ledger_correction.h"
#include "budgetd/log.h"
#include "budgetd/pass.h"
#include "budgetd/rates.h"
#include "lib/agreement.h"
#include "lib/tres.h"
#include <string.h>

#define TOLD_MAX 10		/* differences that are named; the count tells of the others */

struct comparison {
	struct pass *p;
	struct run_account books;	/* of the run in question; id 0 = not there */
	int64_t start;
	struct fault *why;
};

static int keep_run(const struct run *r, void *arg)
{
	struct comparison *x = arg;

	if (r->start != x->start)
		return 0;
	return run_account_read(x->p->books, r->id, &x->books, x->why) < 0 ? -1 : 0;
}

/* The last correction is how the books have a run. */
static void books_side(const struct run_account *a, struct agreement_side *out)
{
	const struct correction *k = a->last.id ? &a->last : NULL;
	enum job_tier tier = k ? k->tier : a->run.tier;

	*out = (struct agreement_side){ .presence = a->run.ended ? ENDED : GOES_ON,
		.end = k ? k->ended : a->run.ended, .gpus = a->run.gpus,
		.gpu_seconds = k ? k->gpu_seconds : a->gpu_seconds,
		.tier = tier == TIER_FUNDED ? SIDE_TIER_FUNDED : SIDE_TIER_FREE };
}

/* The rows of one run; its tier and project are left to `budgetctl check`. */
static int slurmdbd_side(struct pass *p, const struct run_row *rows, size_t n, bool pauses_free,
	struct agreement_side *out)
{
	*out = (struct agreement_side){ .presence = ENDED, .end = rows[n - 1].end };
	for (size_t i = 0; i < n; i++) {
		struct gpu_count given = {0};
		amount_t price;

		if (tres_read(rows[i].tres_alloc, &given, NULL) < 0 ||
			rates_price(p->b->rates, &given, rows->start, &price) < 0)
			return -1;
		agreement_add_piece(out, rows[i].effective_start,
			rows[i].end - (pauses_free ? rows[i].suspended_s : 0), given.total, price);
	}
	return 0;
}

static void tell(const struct run_row *row, unsigned set, const struct agreement_run *r)
{
	for (int d = 0; d < DIFFERENCES; d++)
		if (set & 1u << d)
			log_warning("job %u, started at %jd: %s (ended at %jd with %jd GPU-s in the books, at %jd with %jd in slurmdbd); see "
				"budgetctl check --job %u", row->job_id, (intmax_t)row->start,
				difference_table[d].about, (intmax_t)r->books.end,
				(intmax_t)r->books.gpu_seconds, (intmax_t)r->slurmdbd.end,
				(intmax_t)r->slurmdbd.gpu_seconds, row->job_id);
}

/* 1 = it differs, 0, -1. Only runs that both have: what is missing is found by pass_find_missed. */
static int compare_run(struct comparison *x, const struct run_row *rows, size_t n, bool told)
{
	struct agreement_run r = { .start = rows->start };
	unsigned set;

	x->books = (struct run_account){0};
	x->start = rows->start;
	if (run_walk_job(x->p->books, rows->job_id, keep_run, x, x->why) < 0)
		return -1;
	if (!x->books.run.ended || slurmdbd_side(x->p, rows, n, x->books.run.pauses_free, &r.slurmdbd) < 0)
		return 0;
	books_side(&x->books, &r.books);
	r.by_hand = x->books.last.id && strcmp(x->books.last.kind, "by hand") == 0;
	set = agreement_of(&r);
	if (set && told)
		tell(rows, set, &r);
	return set != 0;
}

int pass_compare(struct pass *p, int64_t from, int64_t to, size_t *differences, struct fault *why)
{
	struct comparison x = { .p = p, .why = why };
	struct run_table *t;
	int rc = 0;

	*differences = 0;
	if (slurm_link_runs_between(p->b->slurm, from, to, &t, why) < 0)
		return -1;
	for (size_t i = 0, k; i < t->count && rc >= 0; i = k) {
		const struct run_row *first = &t->rows[i], *last;

		for (k = i + 1; k < t->count && t->rows[k].job_id == first->job_id &&
			t->rows[k].start == first->start; k++)
			;
		last = &t->rows[k - 1];
		if (!first->start || !last->end || last->resized || last->end > to)
			continue;
		rc = compare_run(&x, first, k - i, *differences < TOLD_MAX);
		*differences += rc > 0;
	}
	run_table_free(t);
	return rc < 0 ? -1 : 0;
}
