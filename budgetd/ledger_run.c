/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_run.c - runs and what was charged for them. */
#include "budgetd/ledger_run.h"
#include "budgetd/ledger_correction.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_refund.h"
#include "budgetd/ledger_sql.h"
#include "lib/zone.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RUN_COLUMNS                                                                                                              \
	"r.id, r.cluster, r.job, r.submit, r.start, r.label, r.partition, r.admission, r.project, r.uid, r.tier, r.min_runtime,"  \
	" r.gpus, r.tres, r.price, r.covered_until, r.free_since, r.ended, r.state,"                                               \
	" coalesce((SELECT max(part_end) FROM charge WHERE run = r.id), r.start), r.lost_at,"                  \
	" r.unprotected_at, r.unprotected_why, r.suspended,"                                                        \
	/* an imported run has it in its parts alone */                                                                           \
	" r.suspended IS NOT NULL OR (r.import IS NOT NULL AND"                                                \
	" EXISTS (SELECT 1 FROM charge WHERE run = r.id AND kind = 'suspended'))"

static void run_read(sqlite3_stmt *st, struct run *r)
{
	memset(r, 0, sizeof(*r));
	r->id = sql_col(st, 0);
	snprintf(r->cluster, sizeof(r->cluster), "%s", sql_text(st, 1));
	r->job = sql_col(st, 2);
	r->submit = sql_col(st, 3);
	r->start = sql_col(st, 4);
	snprintf(r->label, sizeof(r->label), "%s", sql_text(st, 5));
	snprintf(r->partition, sizeof(r->partition), "%s", sql_text(st, 6));
	r->admission = sql_col(st, 7);
	r->project = sql_col(st, 8);
	r->uid = sql_col(st, 9);
	r->tier = strcmp(sql_text(st, 10), "funded") == 0 ? TIER_FUNDED : TIER_FREE;
	r->min_runtime_s = sql_col(st, 11);
	r->gpus = sql_col(st, 12);
	snprintf(r->tres, sizeof(r->tres), "%s", sql_text(st, 13));
	r->price = sql_col(st, 14);
	r->covered_until = sql_col(st, 15);
	r->free_since = sql_col(st, 16);
	r->ended = sql_col(st, 17);
	snprintf(r->state, sizeof(r->state), "%s", sql_text(st, 18));
	r->charged_to = sql_col(st, 19);
	r->lost_at = sql_col(st, 20);
	r->unprotected_at = sql_col(st, 21);
	snprintf(r->unprotected_why, sizeof(r->unprotected_why), "%s", sql_text(st, 22));
	r->suspended_s = sql_col(st, 23);
	r->pauses_free = sql_col(st, 24);
}

int run_by_id(struct ledger *l, int64_t id, struct run *out, struct fault *why)
{
	static const char by_id_sql[] = "SELECT " RUN_COLUMNS " FROM run r WHERE r.id = ?";
	sqlite3_stmt *st = sql_bind(l, by_id_sql, why, "i", id);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		run_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

static int run_walk(struct ledger *l, sqlite3_stmt *st, run_fn each, void *arg, struct fault *why)
{
	struct run r;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		run_read(st, &r);
		if (each(&r, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int run_find(struct ledger *l, const char *cluster, int64_t job, int64_t submit, int64_t start,
	struct run *out, struct fault *why)
{
	static const char find_sql[] = "SELECT " RUN_COLUMNS
				       " FROM run r WHERE r.cluster = ? AND r.job = ? AND r.submit = ? AND r.start = ?";
	sqlite3_stmt *st = sql_bind(l, find_sql, why, "siii", cluster, job, submit, start);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		run_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int run_open(struct ledger *l, struct run *r, struct fault *why)
{
	static const char open_sql[] =
		"INSERT INTO run (cluster, job, submit, start, label, partition, admission, project, uid, tier, min_runtime, gpus, tres, price,"
		" covered_until, suspended) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const int64_t not_suspended = 0;
	struct run there;
	int rc = run_find(l, r->cluster, r->job, r->submit, r->start, &there, why);

	if (rc != 0) {
		if (rc == 1)
			*r = there;
		return rc;
	}
	if (sql_do(l, open_sql, why, "siiisspiisiisiip", r->cluster, r->job, r->submit, r->start, r->label,
		r->partition, r->admission ? &r->admission : NULL, r->project, r->uid, job_tier_name(r->tier),
		r->min_runtime_s, r->gpus, r->tres, r->price, r->covered_until,
		r->pauses_free ? &not_suspended : NULL) < 0)
		return -1;
	r->id = sql_last_id(l);
	return 0;
}

int run_update(struct ledger *l, const struct run *r, struct fault *why)
{
	static const char update_sql[] =
		"UPDATE run SET covered_until = ?, free_since = ?, gpus = ?, tres = ?, price = ?, suspended = ?"
					 " WHERE id = ?";

	return sql_do(l, update_sql, why, "ipisipi", r->covered_until, r->free_since ? &r->free_since : NULL,
		r->gpus, r->tres, r->price, r->pauses_free ? &r->suspended_s : NULL, r->id);
}

int run_set_lost(struct ledger *l, int64_t run, int64_t at, struct fault *why)
{
	static const char lost_sql[] = "UPDATE run SET lost_at = ? WHERE id = ? AND ended IS NULL";

	return sql_do(l, lost_sql, why, "pi", at ? &at : NULL, run);
}

int run_walk_open(struct ledger *l, const char *cluster, run_fn each, void *arg, struct fault *why)
{
	static const char open_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE (?1 = '' OR r.cluster = ?1) AND r.ended IS NULL ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, open_sql, why, "s", cluster), each, arg, why);
}

int run_walk_job(struct ledger *l, int64_t job, run_fn each, void *arg, struct fault *why)
{
	static const char job_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE r.job = ? ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, job_sql, why, "i", job), each, arg, why);
}

#define TASKS_OF "(r.job = ?1 OR r.admission IN (SELECT id FROM admission WHERE job = ?1)) AND (?2 = '' OR r.label = ?2)"

int run_walk_tasks(struct ledger *l, int64_t job, const char *label, int64_t limit, run_fn each, void *arg,
	struct fault *why)
{
	static const char tasks_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE r.id IN (SELECT r.id FROM run r WHERE " TASKS_OF
					" ORDER BY r.start DESC, r.id DESC LIMIT ?3) ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, tasks_sql, why, "isi", job, label, limit), each, arg, why);
}

int run_sum_tasks(struct ledger *l, int64_t job, const char *label, int64_t *runs, amount_t *charged,
	struct fault *why)
{
	static const char runs_sql[] = "SELECT count(*) FROM run r WHERE " TASKS_OF,
		charged_sql[] = "SELECT coalesce(sum(c.units), 0) FROM run r JOIN charge c ON c.run = r.id WHERE " TASKS_OF;

	if (sql_int(l, runs, runs_sql, why, "is", job, label) != 1)
		return -1;
	return sql_int(l, charged, charged_sql, why, "is", job, label) == 1 ? 0 : -1;
}

int run_walk_admission(struct ledger *l, int64_t admission, run_fn each, void *arg, struct fault *why)
{
	static const char admission_sql[] =
		"SELECT " RUN_COLUMNS " FROM run r WHERE r.id IN (SELECT run FROM hold WHERE admission = ?"
					    " AND closed_at IS NULL AND run IS NOT NULL) ORDER BY r.start, r.id";

	return run_walk(l, sql_bind(l, admission_sql, why, "i", admission), each, arg, why);
}

/* --- the end of a run --------------------------------------------------------------------------- */

static int charge_add(struct ledger *l, struct charge *c, int64_t seq, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units)"
				      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

	if (sql_do(l, add_sql, why, "iisiiiiiii", c->run, seq, c->kind, c->project, c->at, c->part_start,
		c->part_end, c->gpus, c->price,
		    c->units) < 0)
		return -1;
	c->id = sql_last_id(l);
	return 0;
}

/* Where the parts of a run that are charged already end, how many they are, and the seconds of them that were
 * suspended. */
struct parts {
	int64_t charged_to, count, suspended_s;
};

static int parts_so_far(struct ledger *l, const struct run *r, struct parts *out, struct fault *why)
{
	static const char parts_sql[] = "SELECT coalesce(max(part_end), ?2), count(*),"
					" coalesce(sum(part_end - part_start) FILTER (WHERE kind = 'suspended'), 0) FROM charge WHERE run = ?1";
	sqlite3_stmt *st = sql_bind(l, parts_sql, why, "ii", r->id, r->start);

	if (!st || sql_step(l, st, why) != 1)
		return -1;
	*out = (struct parts){ sql_col(st, 0), sql_col(st, 1), sql_col(st, 2) };
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
	if (charge_add(l, &c, done->count, why) < 0)
		return -1;
	done->charged_to = c.part_end;
	done->count++;
	return hold_charge(l, h, c.units, c.id, now, why);
}

static int charge_unpaid_part(struct ledger *l, const struct run *r, const char *kind, struct parts *done,
	int64_t end, int64_t now, struct fault *why)
{
	struct charge c = { .run = r->id, .project = r->project, .at = now, .part_start = done->charged_to,
		.part_end = end, .gpus = r->gpus, .price = r->price };

	snprintf(c.kind, sizeof(c.kind), "%s", kind);
	if (charge_add(l, &c, done->count, why) < 0)
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

/* Charge a run up to `end`. Of its suspended seconds those that have no part yet are the last ones. */
static int charge_up_to(struct ledger *l, const struct run *r, struct hold_row *h, int64_t end, int64_t now,
	struct fault *why)
{
	int64_t suspended_s, paid_end;
	struct parts done;

	if (parts_so_far(l, r, &done, why) < 0)
		return -1;
	assert(done.charged_to <= end);
	suspended_s = r->suspended_s - done.suspended_s;
	if (suspended_s > end - done.charged_to)
		suspended_s = end - done.charged_to;
	paid_end = suspended_s > 0 ? end - suspended_s : end;
	if ((paid_end > done.charged_to || paid_end == end) &&
		charge_months(l, r, h, false, &done, paid_end, now, why) < 0)
		return -1;
	return paid_end < end ? charge_months(l, r, NULL, true, &done, end, now, why) : 0;
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

		snprintf(e.reason, sizeof(e.reason),
			"job %s ended at %jd and was charged to %jd before that was known", r->label,
			(intmax_t)end, (intmax_t)c.part_end);
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
	if (held < 0 || charge_up_to(l, r, held ? &h : NULL, end, now, why) < 0)
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

int ledger_all_seen(struct ledger *l, int64_t *out, struct fault *why)
{
	static const char seen_sql[] = "SELECT all_seen_at FROM look";

	*out = 0;
	return sql_int(l, out, seen_sql, why, "") < 0 ? -1 : 0;
}

int ledger_set_all_seen(struct ledger *l, int64_t at, struct fault *why)
{
	static const char set_sql[] =
		"INSERT INTO look (id, all_seen_at) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET all_seen_at = ?1";

	return sql_do(l, set_sql, why, "i", at);
}
