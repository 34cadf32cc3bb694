/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_correction.c - runs with what was made of them, and what Slurm says of them otherwise
 * (ledger_correction.h). */
#include "budgetd/ledger_correction.h"
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_refund.h"
#include "budgetd/ledger_sql.h"
#include "lib/agreement.h"
#include "lib/zone.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- lists -------------------------------------------------------------------------------------- */

#define CORRECTION_COLUMNS "id, at, run, kind, ended, gpu_seconds, tier, project, refunded, actor, reason, request_id"

static void correction_read(sqlite3_stmt *st, struct correction *c)
{
	memset(c, 0, sizeof(*c));
	c->id = sql_col(st, 0);
	c->at = sql_col(st, 1);
	c->run = sql_col(st, 2);
	snprintf(c->kind, sizeof(c->kind), "%s", sql_text(st, 3));
	c->ended = sql_col(st, 4);
	c->gpu_seconds = sql_col(st, 5);
	c->tier = strcmp(sql_text(st, 6), "funded") == 0 ? TIER_FUNDED : TIER_FREE;
	c->project = sql_col(st, 7);
	c->refunded = sql_col(st, 8);
	snprintf(c->actor, sizeof(c->actor), "%s", sql_text(st, 9));
	snprintf(c->reason, sizeof(c->reason), "%s", sql_text(st, 10));
	snprintf(c->request_id, sizeof(c->request_id), "%s", sql_text(st, 11));
}

static int correction_one(struct ledger *l, sqlite3_stmt *st, struct correction *out, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		correction_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

static int last_correction(struct ledger *l, int64_t run, struct correction *out, struct fault *why)
{
	static const char last_sql[] =
		"SELECT " CORRECTION_COLUMNS " FROM correction WHERE run = ? ORDER BY id DESC LIMIT 1";

	return correction_one(l, sql_bind(l, last_sql, why, "i", run), out, why);
}

static int add_up(struct ledger *l, struct run_account *a, struct fault *why)
{
	static const char parts_sql[] =
		"SELECT coalesce(sum((part_end - part_start) * CASE WHEN gpus > 0 THEN gpus ELSE 1 END), 0) FROM charge"
		" WHERE run = ? AND kind <> 'suspended'";
	static const char charged_sql[] = "SELECT coalesce(sum(units), 0) FROM charge WHERE run = ?";
	static const char refunded_sql[] =
		"SELECT coalesce(sum(j.units), 0) FROM charge c JOIN journal j ON j.charge = c.id"
		" WHERE c.run = ? AND j.kind = 'refund' AND j.project = c.project";
	static const char held_sql[] =
		"SELECT coalesce(sum(units), 0) FROM hold WHERE run = ? AND closed_at IS NULL";
	int64_t id = a->run.id;

	if (sql_int(l, &a->gpu_seconds, parts_sql, why, "i", id) < 0 ||
		sql_int(l, &a->charged, charged_sql, why, "i", id) < 0 ||
		sql_int(l, &a->refunded, refunded_sql, why, "i", id) < 0 ||
		sql_int(l, &a->held, held_sql, why, "i", id) < 0)
		return -1;
	return last_correction(l, id, &a->last, why) < 0 ? -1 : 0;
}

/* The runs of a list, by id, at most `max`; how many, or -1. They are read one by one, so that the columns of
 * a run are named in one place. */
static int list_runs(struct ledger *l, const struct run_question *q, int64_t *ids, int64_t max,
	struct fault *why)
{
	static const char list_sql[] =
		"WITH RECURSIVE below(id) AS (SELECT id FROM project WHERE CASE WHEN ?1 = 0 THEN parent IS NULL ELSE id = ?1 END"
		" UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id)"
		"SELECT r.id FROM run r WHERE r.id < ?2 AND (?3 = 0 OR r.job = ?3) AND (r.ended IS NULL OR (NOT ?4 AND r.ended > ?5))"
		" AND r.project IN (SELECT id FROM below) ORDER BY r.id DESC LIMIT ?6";
	sqlite3_stmt *st = sql_bind(l, list_sql, why, "iiiiii", q->project, q->before ? q->before : INT64_MAX,
		q->job, (int64_t)q->open, q->since, max);
	int n = 0, rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1)
		ids[n++] = sql_col(st, 0);
	return rc < 0 ? -1 : n;
}

int run_account_walk(struct ledger *l, const struct run_question *q, run_account_fn each, void *arg,
	struct fault *why)
{
	int64_t ids[RUN_LIST_MAX];
	int n = list_runs(l, q, ids, q->limit < RUN_LIST_MAX ? q->limit : RUN_LIST_MAX, why);

	for (int i = 0; i < n; i++) {
		struct run_account a = {0};

		if (run_by_id(l, ids[i], &a.run, why) != 1 || add_up(l, &a, why) < 0 || each(&a, arg) < 0)
			return -1;
	}
	return n < 0 ? -1 : 0;
}

int run_account_read(struct ledger *l, int64_t run, struct run_account *out, struct fault *why)
{
	int rc;

	*out = (struct run_account){0};
	rc = run_by_id(l, run, &out->run, why);
	return rc == 1 && add_up(l, out, why) < 0 ? -1 : rc;
}

/* --- writing one -------------------------------------------------------------------------------- */

/* 1 and *c replaced when its request id was answered before. */
static int correction_known(struct ledger *l, struct correction *c, struct fault *why)
{
	static const char known_sql[] = "SELECT " CORRECTION_COLUMNS " FROM correction WHERE request_id = ?";

	return c->request_id[0] ? correction_one(l, sql_bind(l, known_sql, why, "s", c->request_id), c, why)
		: 0;
}

static int correction_add(struct ledger *l, struct correction *c, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO correction (at, run, kind, ended, gpu_seconds, tier, project, refunded, actor, reason,"
		" request_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

	if (sql_do(l, add_sql, why, "iisiisiisss", c->at, c->run, c->kind, c->ended, c->gpu_seconds,
		job_tier_name(c->tier), c->project, c->refunded, c->actor, c->reason,
		c->request_id[0] ? c->request_id : NULL) < 0)
		return -1;
	c->id = sql_last_id(l);
	return 0;
}

static int64_t gpu_seconds(const struct run_facts *f)
{
	int64_t sum = 0;

	for (size_t i = 0; i < f->count; i++)
		sum += (f->pieces[i].to - f->pieces[i].from -
			f->pieces[i].suspended_s) * (f->pieces[i].gpus > 0 ? f->pieces[i].gpus : 1);
	return sum;
}

static int finish(struct ledger *l, const struct run *r, const struct run_facts *f, struct correction *c,
	struct fault *why)
{
	c->run = r->id;
	c->ended = f->count ? f->ended : r->ended;
	c->gpu_seconds = gpu_seconds(f);
	c->tier = f->tier;
	c->project = f->project;
	return correction_add(l, c, why);
}

/* --- a run that is in the books ----------------------------------------------------------------- */

static int next_funded_part(struct ledger *l, int64_t run, struct charge *c, struct fault *why)
{
	static const char next_sql[] =
		"SELECT id, part_start, part_end, units FROM charge WHERE run = ? AND kind = 'funded' AND id > ?"
		" ORDER BY id LIMIT 1";
	sqlite3_stmt *st = sql_bind(l, next_sql, why, "ii", run, c->id);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		*c = (struct charge){ .id = sql_col(st, 0), .part_start = sql_col(st, 1),
			.part_end = sql_col(st, 2), .units = sql_col(st, 3) };
		sqlite3_reset(st);
	}
	return rc;
}

/* What the charge cost beyond what it should have; what was given back of it before, for whatever reason, is
 * not given back twice. */
static int refund_over(struct ledger *l, const struct run *r, const struct charge *part, amount_t should,
	struct correction *c, struct fault *why)
{
	static const char paid_sql[] =
		"SELECT coalesce(-sum(CASE kind WHEN 'charge' THEN units ELSE 0 END), 0) FROM journal"
		" WHERE charge = ? AND project = ?";
	static const char back_sql[] =
		"SELECT coalesce(sum(CASE kind WHEN 'refund' THEN units ELSE 0 END), 0) FROM journal"
		" WHERE charge = ? AND project = ?";
	struct journal_entry e = { .at = c->at, .uid = -1 };
	amount_t paid, back, over, uncounted;

	/* Who paid nothing, or got it back already, was over-used in the ratio all the same. */
	if (charge_uncounted(l, part->id, &uncounted, why) < 0 ||
		charge_uncount(l, part->id, part->units - uncounted - should, "correction", c->at, why) < 0)
		return -1;
	if (sql_int(l, &paid, paid_sql, why, "ii", part->id, r->project) < 0 ||
		sql_int(l, &back, back_sql, why, "ii", part->id, r->project) < 0)
		return -1;
	over = paid - back - should;	/* a project without allocations paid nothing */
	if (over <= 0)
		return 0;
	snprintf(e.actor, sizeof(e.actor), "%s", c->actor);
	snprintf(e.reason, sizeof(e.reason), "%s", c->reason);
	if (money_refund(l, part->id, over, &e, c->at, why) < 0)
		return -1;
	c->refunded += over;
	return 0;
}

/* Where the piece ends for who pays: it was suspended for longer than the books have, and what they lack are
 * the last seconds that they do not have as suspended. */
static int payable_to(struct ledger *l, const struct run *r, const struct run_piece *p, int64_t *to,
	struct fault *why)
{
	static const char pauses_sql[] =
		"SELECT max(part_start, ?2), min(part_end, ?3) FROM charge WHERE run = ?1 AND kind = 'suspended'"
		" AND part_start < ?3 AND part_end > ?2 ORDER BY part_start DESC";
	static const char sum_sql[] =
		"SELECT coalesce(sum(min(part_end, ?3) - max(part_start, ?2)), 0) FROM charge WHERE run = ?1"
		" AND kind = 'suspended' AND part_start < ?3 AND part_end > ?2";
	int64_t known, lack;
	sqlite3_stmt *st;
	int rc = -1;

	*to = p->to;
	if (sql_int(l, &known, sum_sql, why, "iii", r->id, p->from, p->to) < 0)
		return -1;
	lack = p->suspended_s - known;
	if (lack <= 0)
		return 0;
	st = sql_bind(l, pauses_sql, why, "iii", r->id, p->from, p->to);
	while (st && (rc = sql_step(l, st, why)) == 1 && *to - sql_col(st, 1) < lack) {
		lack -= *to - sql_col(st, 1);
		*to = sql_col(st, 0);
	}
	if (rc == 1)
		sqlite3_reset(st);
	*to -= lack;
	return rc < 0 ? -1 : 0;
}

/* Who paid for a run that was in the other tier or account paid for nothing. */
static int refund_parts(struct ledger *l, const struct run *r, const struct run_facts *f,
	struct correction *c, struct fault *why)
{
	size_t payable = f->tier == r->tier && f->project == r->project ? f->count : 0;
	struct agreement_piece pieces[RUN_PIECES_MAX];
	struct charge part = {0};
	int rc;

	for (size_t i = 0; i < payable; i++) {
		pieces[i] = (struct agreement_piece){ f->pieces[i].from, f->pieces[i].to,
			f->pieces[i].price };
		if (payable_to(l, r, &f->pieces[i], &pieces[i].to, why) < 0)
			return -1;
	}
	while ((rc = next_funded_part(l, r->id, &part, why)) == 1) {
		amount_t should = agreement_should_cost(pieces, payable, part.part_start, part.part_end);

		if (refund_over(l, r, &part, should, c, why) < 0)
			return -1;
	}
	return rc;
}

/* Time beyond what the books have of it, month by month: nobody set anything aside for it, and its hold is
 * closed. */
static int add_unpaid(struct ledger *l, const struct run *r, const struct run_piece *p, int64_t *last,
	int64_t now, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO charge (run, seq, kind, project, at, part_start, part_end, gpus, price, units, dated, tres)"
		" SELECT ?1, coalesce(max(seq) + 1, 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8, 0, ?9, ?10 FROM charge WHERE run = ?1";

	while (*last < p->to) {
		int64_t month, edge, dated;

		zone_utc_month(*last, &month, &edge);
		if (edge > p->to)
			edge = p->to;
		if (booking_date_of_part(l, *last, now, &dated, why) < 0 ||
			sql_do(l, add_sql, why, "isiiiiiiis", r->id, r->tier == TIER_FREE ? "free" : "uncovered",
			r->project, now, *last, edge, p->gpus, p->price, dated,
			p->tres[0] ? p->tres : NULL) < 0)
			return -1;
		*last = edge;
	}
	return 0;
}

static int add_uncovered(struct ledger *l, const struct run *r, const struct run_facts *f,
	const struct correction *c, struct fault *why)
{
	int64_t last = r->charged_to;

	for (size_t i = 0; i < f->count; i++)
		if (add_unpaid(l, r, &f->pieces[i], &last, c->at, why) < 0)
			return -1;
	return 0;
}

int run_correct(struct ledger *l, struct run *r, const struct run_facts *f, struct correction *c,
	struct fault *why)
{
	int rc = correction_known(l, c, why);

	if (rc != 0)
		return rc;
	/* the caller's copy may be older than this transaction */
	if (run_by_id(l, r->id, r, why) != 1)
		return -1;
	if (!r->ended)
		return fault_errno(why, EEXIST,
			"job %s goes on in the books: a pass settles it when its end is known", r->label);
	if (refund_parts(l, r, f, c, why) < 0 || add_uncovered(l, r, f, c, why) < 0)
		return -1;
	return finish(l, r, f, c, why);
}

int run_note_end(struct ledger *l, const struct run *r, int64_t end, int64_t now, struct fault *why)
{
	static const char used_sql[] =
		"SELECT coalesce(sum((min(part_end, ?2) - part_start) * CASE WHEN gpus > 0 THEN gpus ELSE 1 END), 0)"
		" FROM charge WHERE run = ?1 AND part_start < ?2 AND kind <> 'suspended'";
	static const char back_sql[] =
		"SELECT coalesce(sum(j.units), 0) FROM charge c JOIN journal j ON j.charge = c.id WHERE c.run = ? AND"
		" j.kind = 'refund' AND j.project = c.project AND j.at = ?";
	struct correction c = { .at = now, .run = r->id, .kind = "end", .ended = end, .tier = r->tier,
		.project = r->project, .actor = "budgetd",
		.reason = "its end was told after it was charged beyond it" };

	if (sql_int(l, &c.gpu_seconds, used_sql, why, "ii", r->id, end) < 0 ||
		sql_int(l, &c.refunded, back_sql, why, "ii", r->id, now) < 0)
		return -1;
	return correction_add(l, &c, why);
}

/* --- a run that is not -------------------------------------------------------------------------- */

/* Of the first `n` pieces. */
static int64_t suspended_s(const struct run_facts *f, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += f->pieces[i].suspended_s;
	return sum;
}

/* As for a run that budgetd meets: what its answer set aside, from its start, as far as the money goes. */
static int cover(struct ledger *l, struct run *r, const struct run_facts *f, int64_t now, struct fault *why)
{
	struct hold_row h = { .admission = r->admission, .project = r->project, .run = r->id, .tasks = 1,
		.opened_at = now };
	int64_t ran_s = f->ended - r->start - suspended_s(f, f->count),
		wanted_s = ran_s < r->min_runtime_s ? ran_s : r->min_runtime_s;
	struct budget_node nodes[BUDGET_DEPTH_MAX];
	struct path path;
	amount_t wanted;
	int tightest;

	if (r->price == 0 || amount_price(1, wanted_s, r->price, &wanted) < 0)
		return r->price == 0 ? 0 : fault_errno(why, EOVERFLOW,
			"the price of job %s is more than can be counted", r->label);
	if (hold_open(l, &(struct path){0}, &h, why) < 0 ||
		path_load_for(l, r->project, r->uid, now, &path, why) < 0)
		return -1;
	path_budgets(&path, nodes);
	tightest = budget_tightest(nodes, path.depth);
	if (tightest >= 0 && budget_available(&nodes[tightest]) < wanted)
		wanted = budget_available(&nodes[tightest]) > 0 ? budget_available(&nodes[tightest]) : 0;
	wanted -= wanted % r->price;	/* whole seconds only */
	if (wanted > 0 && hold_grow(l, &path, &h, wanted, why) < 0)
		return -1;
	r->covered_until = r->start + wanted / r->price;
	return run_update(l, r, why);
}

static int is_there(struct ledger *l, const struct run *r, struct fault *why)
{
	static const char there_sql[] =
		"SELECT id FROM run WHERE cluster = ? AND job = ? AND start = ? LIMIT 1";
	char began[ZONE_TEXT_MAX];
	int64_t id;
	int rc = sql_int(l, &id, there_sql, why, "sii", r->cluster, r->job, r->start);

	return rc <= 0 ? rc : fault_errno(why, EEXIST,
		"the run of job %s that began at %s is in the books already; see budgetctl run list --job %jd",
		r->label, zone_utc_text(r->start, began), (intmax_t)r->job);
}

int run_enter(struct ledger *l, struct run *r, const struct run_facts *f, struct correction *c,
	struct fault *why)
{
	int rc = correction_known(l, c, why);

	if (rc != 0)
		return rc;
	if (f->count == 0)
		return fault_errno(why, EINVAL, "a run that is entered has pieces");
	if (is_there(l, r, why) < 0 || run_open(l, r, why) < 0)
		return -1;
	if (r->tier == TIER_FUNDED && r->admission && cover(l, r, f, c->at, why) < 0)
		return -1;
	for (size_t i = 1; i < f->count; i++)
		if (run_suspend(l, r, suspended_s(f, i), f->pieces[i - 1].to, false, c->at, why) < 0 ||
			run_resize(l, r, f->pieces[i].from, f->pieces[i].gpus, f->pieces[i].price,
				f->pieces[i].tres, c->at, why) < 0)
			return -1;
	if (run_suspend(l, r, suspended_s(f, f->count), f->ended, false, c->at, why) < 0 ||
		run_end(l, r, f->ended, f->state, c->at, why) < 0 || run_note_displaced(l, r, c->at, why) < 0)
		return -1;
	return finish(l, r, f, c, why);
}

int run_end_by_hand(struct ledger *l, struct run *r, int64_t end, struct correction *c, struct fault *why)
{
	char at[ZONE_TEXT_MAX];
	struct run_account a;
	int rc = correction_known(l, c, why);

	if (rc != 0)
		return rc;
	if (r->ended)
		return fault_errno(why, EEXIST,
			"job %s has ended in the books, at %s; budgetctl check --repair corrects what differs",
			r->label, zone_utc_text(r->ended, at));
	if (end < r->start)
		return fault_errno(why, EINVAL, "job %s began at %s, it did not end before that", r->label,
			zone_utc_text(r->start, at));
	if (run_end(l, r, end, "BY HAND", c->at, why) < 0 || run_account_read(l, r->id, &a, why) != 1)
		return -1;
	c->run = r->id;
	c->ended = r->ended;
	c->gpu_seconds = a.gpu_seconds;
	c->tier = r->tier;
	c->project = r->project;
	return correction_add(l, c, why);
}
