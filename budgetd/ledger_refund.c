/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_refund.c - refunds that nobody has to ask for. The newest charge first: it is the last hours that
 * are given back. */
#include "budgetd/ledger_refund.h"
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_said.h"
#include "budgetd/ledger_sql.h"
#include "lib/duration.h"
#include "lib/refund.h"
#include <stdio.h>

#define CHARGES_AT_ONCE 16

struct part {
	int64_t charge, start, end;
	amount_t units, back;		/* back: given back before */
	bool paid;			/* by a project with allocations */
};

/* --- out of the ratio --------------------------------------------------------------------------- */

int charge_uncounted(struct ledger *l, int64_t charge, amount_t *out, struct fault *why)
{
	static const char sum_sql[] = "SELECT coalesce(sum(units), 0) FROM uncounted WHERE charge = ?";

	return sql_int(l, out, sum_sql, why, "i", charge) == 1 ? 0 : -1;
}

int charge_uncount(struct ledger *l, int64_t charge, amount_t units, const char *cause, int64_t now,
	struct fault *why)
{
	static const char left_sql[] =
		"SELECT units - coalesce((SELECT sum(units) FROM uncounted WHERE charge = ?1), 0) FROM charge WHERE id = ?1";
	static const char add_sql[] = "INSERT INTO uncounted (at, charge, units, cause) VALUES (?, ?, ?, ?)";
	amount_t left;

	if (units <= 0)
		return 0;
	if (sql_int(l, &left, left_sql, why, "i", charge) != 1)
		return -1;
	if (units > left)
		units = left;
	return units > 0 ? sql_do(l, add_sql, why, "iiis", now, charge, units, cause) : 0;
}

/* --- given back by itself ----------------------------------------------------------------------- */

/* The charges of a run that cost something and began before `before`, the newest first. Their number, or
 * -1. */
static int parts_before(struct ledger *l, int64_t run, int64_t before, struct part out[CHARGES_AT_ONCE],
	struct fault *why)
{
	/* Every project that paid gets back alike: one of them tells what a charge has got back. */
	static const char parts_sql[] =
		"SELECT c.id, c.part_start, c.part_end, c.units, coalesce((SELECT sum(units) FROM journal WHERE charge = c.id"
		" AND kind = 'refund' GROUP BY project ORDER BY 1 DESC LIMIT 1), 0), EXISTS (SELECT 1 FROM journal WHERE charge = c.id)"
		" FROM charge c WHERE c.run = ? AND c.part_start < ? AND c.units > 0 ORDER BY c.part_start DESC LIMIT 16";
	sqlite3_stmt *st = sql_bind(l, parts_sql, why, "ii", run, before);
	int n = 0, rc = -1;

	_Static_assert(CHARGES_AT_ONCE == 16, "the LIMIT of the statement");
	while (st && (rc = sql_step(l, st, why)) == 1)
		out[n++] = (struct part){ sql_col(st, 0), sql_col(st, 1), sql_col(st, 2), sql_col(st, 3),
			sql_col(st, 4), sql_col(st, 5) != 0 };
	return rc < 0 ? -1 : n;
}

/* What the rule gives back of the whole run, and what refunds by hand gave of it already. */
static int sum_parts(struct ledger *l, int64_t run, int64_t since, amount_t *due, amount_t *before,
	struct fault *why)
{
	struct part p[CHARGES_AT_ONCE];
	int64_t from = INT64_MAX;
	int n;

	*due = *before = 0;
	while ((n = parts_before(l, run, from, p, why)) > 0) {
		for (int i = 0; i < n; i++) {
			if (!p[i].paid)
				continue;
			*due += refund_of_part(p[i].units, p[i].start, p[i].end, since);
			*before += p[i].back;
		}
		from = p[n - 1].start;
	}
	return n;
}

static void describe(const struct run *r, enum refund_cause cause, int64_t since, const struct part *p,
	struct journal_entry *e)
{
	char time[DURATION_TEXT_MAX];

	duration_text(r->ended - since, time);
	if (cause == REFUND_NODE_FAILURE)
		snprintf(e->reason, sizeof(e->reason),
			"its node failed: the last %s of job %s are given back", time, r->label);
	else
		snprintf(e->reason, sizeof(e->reason),
			"job %s was displaced after %s, before its minimum runtime: all of its run is given back",
			r->label, time);
	snprintf(e->actor, sizeof(e->actor), "budgetd");
	snprintf(e->request_id, sizeof(e->request_id), OWN_ID_PREFIX "run-%jd-charge-%jd", (intmax_t)r->id,
		(intmax_t)p->charge);
}

/* At most `left` of one charge. What was given back, or -1. What nobody paid leaves the ratio all the
 * same. */
static amount_t refund_part(struct ledger *l, const struct part *p, amount_t left, int64_t since,
	const char *cause, struct journal_entry *e, struct fault *why)
{
	amount_t units = refund_of_part(p->units, p->start, p->end, since);

	if (!p->paid)
		return charge_uncount(l, p->charge, units, cause, e->at, why);
	if (units > p->units - p->back)
		units = p->units - p->back;
	if (units > left)
		units = left;
	if (units > 0 && (money_refund(l, p->charge, units, e, e->at, why) < 0 ||
		charge_uncount(l, p->charge, units, cause, e->at, why) < 0))
		return -1;
	return units > 0 ? units : 0;
}

int run_refund(struct ledger *l, const struct run *r, int64_t node_fail_s, int64_t now, amount_t *back,
	struct fault *why)
{
	int displaced = run_note_displaced(l, r, now, why);
	struct refund_run rule = { .state = r->state, .funded = r->tier == TIER_FUNDED,
		.displaced = displaced == 1, .unprotected = r->unprotected_at != 0, .start = r->start,
		.end = r->ended, .min_runtime_s = r->min_runtime_s, .node_fail_s = node_fail_s };
	struct part p[CHARGES_AT_ONCE];
	int64_t since, from = INT64_MAX;
	enum refund_cause cause = refund_cause(&rule, &since);
	amount_t due, before;
	int n;

	*back = 0;
	if (displaced < 0 || cause == REFUND_NONE)
		return displaced < 0 ? -1 : 0;
	if (sum_parts(l, r->id, since, &due, &before, why) < 0)
		return -1;
	while ((n = parts_before(l, r->id, from, p, why)) > 0) {
		for (int i = 0; i < n; i++) {
			struct journal_entry e = { .at = now };
			amount_t given;

			describe(r, cause, since, &p[i], &e);
			given = refund_part(l, &p[i], due - before - *back, since,
				cause == REFUND_NODE_FAILURE ? "node failure" : "displaced", &e, why);
			if (given < 0)
				return -1;
			*back += given;
		}
		if (p[n - 1].end <= since)
			return 0;
		from = p[n - 1].start;
	}
	return n;
}
