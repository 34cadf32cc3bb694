/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_run_charge.c - what a run is charged: at its end, at the edge of a month, as its size changes and
 * where it was suspended (ledger_run.h).
 *
 * All of it goes through charge_parts: parts follow each other without a gap, and none is of two months. */
#include "budgetd/ledger_correction.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_refund.h"
#include "budgetd/ledger_run.h"
#include "budgetd/ledger_sql.h"
#include "lib/zone.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- parts -------------------------------------------------------------------------------------- */

/* `tres`: what was allocated in the part; NULL when the row of the run becomes final in this transaction, which
 * then says so for good. One that goes on can have another size later. */
static int charge_add(struct ledger *l, struct charge *c, int64_t seq, const char *tres, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units, dated,"
		" ends_run, tres) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const int64_t one = 1;

	if (booking_date_of_part(l, c->part_start, c->at, &c->dated, why) < 0 ||
		sql_do(l, add_sql, why, "iisiiiiiiipps", c->run, seq, c->kind, c->project, c->at,
			c->part_start, c->part_end, c->gpus, c->price, c->units,
			c->dated != c->at ? &c->dated : NULL, c->ends_run ? &one : NULL, tres) < 0)
		return -1;
	c->id = sql_last_id(l);
	return 0;
}

/* Where the parts of a run that are charged already end, how many they are, and the seconds of them that were
 * suspended; and where the run ends, as far as that is known (0 = it is not). */
struct parts {
	int64_t charged_to, count, suspended_s, run_end;
};

static const char *tres_of_part(const struct run *r, const struct parts *done)
{
	return done->run_end ? NULL : r->tres;
}

static int parts_so_far(struct ledger *l, const struct run *r, struct parts *out, struct fault *why)
{
	static const char parts_sql[] = "SELECT coalesce(max(part_end), ?2), count(*),"
					" coalesce(sum(part_end - part_start) FILTER (WHERE kind = 'suspended'), 0) FROM charge WHERE run = ?1";
	sqlite3_stmt *st = sql_bind(l, parts_sql, why, "ii", r->id, r->start);

	if (!st || sql_step(l, st, why) != 1)
		return -1;
	*out = (struct parts){ sql_col(st, 0), sql_col(st, 1), sql_col(st, 2), 0 };
	sqlite3_reset(st);
	return 0;
}

/* The part that the hold pays for: from what is charged already. Its units never exceed the hold, whatever
 * the clocks said. */
static int charge_funded_part(struct ledger *l, const struct run *r, struct hold_row *h, struct parts *done,
	int64_t end, int64_t now, struct fault *why)
{
	struct charge c = { .run = r->id, .kind = "funded", .project = r->project, .at = now,
		.part_start = done->charged_to, .gpus = r->gpus, .price = r->price };
	int64_t wanted_s = end - done->charged_to, pays_for = r->price > 0 ? h->units / r->price : wanted_s;

	c.part_end = done->charged_to + (wanted_s < pays_for ? wanted_s : pays_for);
	if (c.part_end == c.part_start && done->count > 0)
		return 0;
	if (amount_price(1, c.part_end - c.part_start, r->price, &c.units) < 0)
		return fault_errno(why, EOVERFLOW, "the charge of job %s is more than can be counted",
			r->label);
	c.ends_run = c.part_end == done->run_end;
	if (charge_add(l, &c, done->count, tres_of_part(r, done), why) < 0)
		return -1;
	done->charged_to = c.part_end;
	done->count++;
	return hold_charge(l, h, c.units, c.id, c.dated, why);
}

static int charge_unpaid_part(struct ledger *l, const struct run *r, const char *kind, struct parts *done,
	int64_t end, int64_t now, struct fault *why)
{
	struct charge c = { .run = r->id, .project = r->project, .at = now, .part_start = done->charged_to,
		.part_end = end, .gpus = r->gpus, .price = r->price, .ends_run = end == done->run_end };

	snprintf(c.kind, sizeof(c.kind), "%s", kind);
	if (charge_add(l, &c, done->count, tres_of_part(r, done), why) < 0)
		return -1;
	done->charged_to = end;
	done->count++;
	return 0;
}

/* What no hold pays for, of a run or of the rest of one. What was suspended and has no part yet made its
 * cover longer by as much at most. */
static const char *unpaid_kind(const struct run *r, const struct parts *done)
{
	int64_t pause_s = r->suspended_s - done->suspended_s;

	return r->tier == TIER_FREE || (r->free_since && r->free_since - pause_s <= done->charged_to) ? "free"
		: "uncovered";
}

/* Month by month, up to `end`: what the hold (NULL = none) pays for, and what nobody pays for; all of it
 * suspended, nobody is asked. */
static int charge_months(struct ledger *l, const struct run *r, struct hold_row *h, bool suspended,
	struct parts *done, int64_t end, int64_t now, struct fault *why)
{
	do {
		int64_t month, edge;

		zone_utc_month(done->charged_to, &month, &edge);
		if (edge > end)
			edge = end;
		if (h && !suspended && charge_funded_part(l, r, h, done, edge, now, why) < 0)
			return -1;
		if (done->charged_to < edge &&
			charge_unpaid_part(l, r, suspended ? "suspended" : unpaid_kind(r, done), done, edge,
				now, why) < 0)
			return -1;
		assert(done->charged_to == edge);	/* each turn ends a month or the run: it goes on */
	} while (done->charged_to < end);
	return 0;
}

/* Charge a run up to `end`, which is its own end or not. Of its suspended seconds those that have no part yet
 * are the last ones. */
static int charge_parts(struct ledger *l, const struct run *r, struct hold_row *h, int64_t end, bool ends_run,
	int64_t now, struct fault *why)
{
	int64_t suspended_s, paid_end;
	struct parts done;

	if (parts_so_far(l, r, &done, why) < 0)
		return -1;
	assert(done.charged_to <= end);
	done.run_end = ends_run ? end : 0;
	suspended_s = r->suspended_s - done.suspended_s;
	if (suspended_s > end - done.charged_to)
		suspended_s = end - done.charged_to;
	paid_end = suspended_s > 0 ? end - suspended_s : end;
	if ((paid_end > done.charged_to || paid_end == end) &&
		charge_months(l, r, h, false, &done, paid_end, now, why) < 0)
		return -1;
	return paid_end < end ? charge_months(l, r, NULL, true, &done, end, now, why) : 0;
}

static int charge_up_to(struct ledger *l, const struct run *r, struct hold_row *h, int64_t end, int64_t now,
	struct fault *why)
{
	return charge_parts(l, r, h, end, false, now, why);
}

/* --- charged beyond its end --------------------------------------------------------------------- */

/* The funded part of run `run` that reaches beyond `end`, from `after` on. 1 and *out, 0 none, -1. */
static int part_beyond(struct ledger *l, int64_t run, int64_t end, int64_t after, struct charge *out,
	struct fault *why)
{
	static const char beyond_sql[] =
		"SELECT id, part_start, part_end, units FROM charge WHERE run = ? AND part_end > ? AND units > 0"
		" AND id > ? ORDER BY id LIMIT 1";
	sqlite3_stmt *st = sql_bind(l, beyond_sql, why, "iii", run, end, after);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc != 1)
		return rc;
	*out = (struct charge){ .id = sql_col(st, 0), .part_start = sql_col(st, 1),
		.part_end = sql_col(st, 2), .units = sql_col(st, 3) };
	sqlite3_reset(st);
	return 1;
}

/* An end that is told late can lie before what was charged in the interim: two clocks that differ, a job
 * cancelled in its suspension. Charges are never changed, so what is too much goes back as a refund. */
static int refund_beyond(struct ledger *l, const struct run *r, int64_t end, int64_t now, struct fault *why)
{
	struct charge c = {0};
	int rc;

	while ((rc = part_beyond(l, r->id, end, c.id, &c, why)) == 1) {
		int64_t from = end > c.part_start ? end : c.part_start;
		amount_t left, back = c.units / (c.part_end - c.part_start) * (c.part_end - from);
		struct journal_entry e = { .at = now, .uid = -1, .actor = "budgetd" };
		char ended[ZONE_TEXT_MAX], charged[ZONE_TEXT_MAX];

		snprintf(e.reason, sizeof(e.reason),
			"job %s ended at %s and was charged to %s before that was known", r->label,
			zone_utc_text(end, ended), zone_utc_text(c.part_end, charged));
		if (charge_uncount(l, c.id, back, "correction", now, why) < 0 ||
			money_refundable(l, c.id, &left, why) < 0)
			return -1;
		if (left < back)
			back = left;	/* somebody gave it back by hand */
		if (back > 0 && money_refund(l, c.id, back, &e, now, why) < 0)
			return -1;
	}
	return rc;
}

/* --- the end ------------------------------------------------------------------------------------ */

static int run_close(struct ledger *l, struct run *r, int64_t end, const char *state, struct fault *why)
{
	static const char end_sql[] = "UPDATE run SET ended = ?, state = ? WHERE id = ? AND ended IS NULL";

	r->ended = end;
	snprintf(r->state, sizeof(r->state), "%s", state);
	return sql_do(l, end_sql, why, "isi", end, state, r->id);
}

/* The caller's copy may be older than this transaction: only the row says whether the run has ended. 1 = it
 * has, and *r is it. */
static int has_ended(struct ledger *l, struct run *r, struct fault *why)
{
	int64_t id = r->id;
	int rc = run_by_id(l, id, r, why);

	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT, "there is no run %jd", (intmax_t)id);
	return r->ended != 0;
}

int run_end(struct ledger *l, struct run *r, int64_t end, const char *state, int64_t now, struct fault *why)
{
	struct hold_row h;
	int held, ended = has_ended(l, r, why);

	if (ended != 0)
		return ended;
	if (end < r->start)
		end = r->start;		/* a job that ended before its start cost nothing */
	if (end < r->charged_to) {
		if (refund_beyond(l, r, end, now, why) < 0 || run_note_end(l, r, end, now, why) < 0)
			return -1;
		end = r->charged_to;
	}
	held = hold_of_run(l, r->id, &h, why);
	if (held < 0 || charge_parts(l, r, held ? &h : NULL, end, true, now, why) < 0)
		return -1;
	if (held && hold_close(l, &h, now, "settled", why) < 0)
		return -1;
	return run_close(l, r, end, state, why);
}

int run_cut(struct ledger *l, struct run *r, struct hold_row *h, int64_t at, int64_t now, struct fault *why)
{
	assert(r->covered_until <= at);
	if (charge_up_to(l, r, h, at, now, why) < 0)
		return -1;
	r->covered_until = at;
	r->free_since = 0;
	return 0;
}

int run_interim(struct ledger *l, struct run *r, int64_t edge, int64_t now, struct fault *why)
{
	struct hold_row h;
	int held, ended = has_ended(l, r, why);

	if (ended != 0)
		return ended;
	if (edge <= r->charged_to)
		return 1;
	held = hold_of_run(l, r->id, &h, why);
	if (held < 0 || charge_up_to(l, r, held ? &h : NULL, edge, now, why) < 0)
		return -1;
	r->charged_to = edge;
	return 0;
}

/* A smaller run is covered as long as before and gives back the difference; a larger one until its hold is
 * used up. */
static int hold_follow_size(struct ledger *l, struct run *r, struct hold_row *h, int64_t at,
	struct fault *why)
{
	int64_t left_s = r->covered_until > at ? r->covered_until - at : 0;
	amount_t needed;

	if (amount_price(1, left_s, r->price, &needed) < 0 || needed > h->units) {
		r->covered_until = at + h->units / r->price;
		/* it was to be free when its hold is used up, and that is sooner now */
		if (r->free_since)
			r->free_since = r->covered_until;
		return 0;
	}
	return hold_shrink(l, h, h->units - needed, why);
}

int run_resize(struct ledger *l, struct run *r, int64_t at, int64_t gpus, amount_t price, const char *tres,
	int64_t now, struct fault *why)
{
	struct hold_row h;
	int held, ended = has_ended(l, r, why);

	if (ended != 0)
		return ended;
	if (at < r->charged_to || (r->gpus == gpus && r->price == price))
		return 1;
	held = hold_of_run(l, r->id, &h, why);
	if (held < 0)
		return -1;
	/* What ran up to a month's edge may be charged already, when the size changes on the edge. */
	if (at > r->charged_to && charge_up_to(l, r, held ? &h : NULL, at, now, why) < 0)
		return -1;
	r->charged_to = at;
	r->price = price;
	r->gpus = gpus;
	snprintf(r->tres, sizeof(r->tres), "%s", tres);
	if (held && hold_follow_size(l, r, &h, at, why) < 0)
		return -1;
	return run_update(l, r, why);
}

/* --- suspended time that costs nothing ----------------------------------------------------------- */

/* A cover that reached into the pause is not used up by it, and what was to be free at its end is so
 * later. */
static void shift_cover(struct run *r, int64_t pause_s, int64_t until)
{
	if (r->covered_until <= until - pause_s)
		return;
	if (r->free_since == r->covered_until)
		r->free_since += pause_s;
	r->covered_until += pause_s;
}

int run_suspend(struct ledger *l, struct run *r, int64_t total_s, int64_t until, bool over, int64_t now,
	struct fault *why)
{
	struct hold_row h;
	int held, ended = has_ended(l, r, why);

	if (ended != 0)
		return ended;
	over = over && until > r->charged_to;
	if (total_s == r->suspended_s && !over)
		return 1;
	if (total_s > r->suspended_s)
		shift_cover(r, total_s - r->suspended_s, until);
	r->suspended_s = total_s;
	r->pauses_free |= total_s > 0;
	held = over ? hold_of_run(l, r->id, &h, why) : 0;
	if (held < 0 || (over && charge_up_to(l, r, held ? &h : NULL, until, now, why) < 0))
		return -1;
	r->charged_to = over ? until : r->charged_to;
	return run_update(l, r, why);
}
