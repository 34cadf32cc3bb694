/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_moves.c - GPU-hours taken back, moved, refunded and corrected (ledger_moves.h).
 *
 * What may be taken at a project is what is neither charged nor held of its live allocations: its credit is
 * no GPU-hour that could go elsewhere, and the debt of those that have expired is to be paid first. */
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_sql.h"
#include "lib/zone.h"
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* One more entry of the group: the first one carries the request id, the others name it. */
static int post(struct ledger *l, struct journal_entry *head, int64_t allocation, amount_t units,
	struct fault *why)
{
	struct journal_entry e = *head;

	e.allocation = allocation;
	e.units = units;
	e.first = head->id;
	if (head->id)
		e.request_id[0] = '\0';
	if (journal_post(l, &e, why) < 0)
		return -1;
	if (!head->id)
		*head = e;
	return 0;
}

/* `stays`: what of it cannot be taken. */
static int too_little(struct fault *why, const char *of, amount_t left, amount_t asked, const char *stays)
{
	char has[AMOUNT_TEXT_MAX], wants[AMOUNT_TEXT_MAX];

	return fault_errno(why, EEXIST,
		"%s has %s GPU-h that are neither charged nor held, %s were asked for; %s cannot be taken", of,
		amount_text(left > 0 ? left : 0, has), amount_text(asked, wants), stays);
}

#define STAYS_ALWAYS	"what is charged or held, and credit,"
#define STAYS_UNVESTED	"what is charged or held, what has not vested and credit"

/* The allocations of a project, live and to come, of which something is left. */
#define UNSPENT \
	"FROM allocation a JOIN allocation_sum s ON s.allocation = a.id WHERE a.project = ? AND (a.ends IS NULL OR a.ends > ?)" \
	" AND s.amount - s.charged - s.held > 0"

/* Can `units` leave the allocation? Unvested units can: they are the ones that nobody counts on yet. */
static int check_take(struct ledger *l, int64_t allocation, amount_t units, int64_t now, struct fault *why)
{
	struct allocation a;
	struct path path;
	char name[64];
	amount_t left;

	if (allocation_by_id(l, allocation, &a, why) != 1)
		return fault_errno(why, ENOENT, "there is no allocation %jd", (intmax_t)allocation);
	left = allocation_free(&a);
	if (allocation_live(&a, now)) {
		if (path_load(l, a.project, now, &path, why) < 0)
			return -1;
		if (path.nodes[0].budget.metered &&
			budget_own(&path.nodes[0].budget) + path.nodes[0].budget.unvested < left)
			left = budget_own(&path.nodes[0].budget) + path.nodes[0].budget.unvested;
	}
	snprintf(name, sizeof(name), "allocation %jd", (intmax_t)a.id);
	return left < units ? too_little(why, name, left, units, STAYS_ALWAYS) : 0;
}

/* What is put into one that has ended expires at once. */
static int check_ended(struct ledger *l, const struct allocation *a, int64_t now, struct fault *why)
{
	struct project p;
	char end[ZONE_TEXT_MAX];

	if (!a->ends || now < a->ends)
		return 0;
	if (project_by_id(l, a->project, &p, why) != 1)
		return -1;
	zone_utc_text(a->ends, end);
	return fault_errno(why, EEXIST,
		"allocation %jd of %s has ended, at %s, and what was left of it has expired; make another: budgetctl "
		"allocation add %s GPU-HOURS, or name one that is live, of budgetctl allocation list %s",
		(intmax_t)a->id, p.name, end, p.name, p.name);
}

int money_change(struct ledger *l, struct journal_entry *e, int64_t now, struct fault *why)
{
	struct journal_entry first = *e;
	struct allocation a;
	int rc = journal_known(l, &first, why);

	if (rc != 0) {
		*e = first;
		return rc;
	}
	if (allocation_by_id(l, e->allocation, &a, why) != 1)
		return fault_errno(why, ENOENT, "there is no allocation %jd", (intmax_t)e->allocation);
	if (check_ended(l, &a, now, why) < 0)
		return -1;
	if (e->units < 0 && check_take(l, e->allocation, -e->units, now, why) < 0)
		return -1;
	return journal_post(l, e, why);
}

int money_unspent(struct ledger *l, int64_t project, int64_t now, amount_t *out, struct fault *why)
{
	static const char unspent_sql[] = "SELECT coalesce(sum(s.amount - s.charged - s.held), 0) " UNSPENT;

	return sql_int(l, out, unspent_sql, why, "ii", project, now) < 0 ? -1 : 0;
}

int money_withdraw_all(struct ledger *l, int64_t project, struct journal_entry *e, int64_t now,
	struct fault *why)
{
	static const char next_sql[] = "SELECT a.id " UNSPENT " ORDER BY a.id LIMIT 1";
	struct allocation a;
	int64_t id;
	int rc;

	snprintf(e->kind, sizeof(e->kind), "withdrawal");
	while ((rc = sql_int(l, &id, next_sql, why, "ii", project, now)) == 1)
		if (allocation_by_id(l, id, &a, why) != 1 || post(l, e, id, -allocation_free(&a), why) < 0)
			return -1;
	return rc;
}

/* --- transfer ----------------------------------------------------------------------------------- */

/* Where two paths meet: the first index in each that is of both; their depths when there is none. */
static void paths_meet(const struct path *a, const struct path *b, int *in_a, int *in_b)
{
	for (*in_a = 0; *in_a < a->depth; (*in_a)++)
		for (*in_b = 0; *in_b < b->depth; (*in_b)++)
			if (a->nodes[*in_a].id == b->nodes[*in_b].id)
				return;
	*in_b = b->depth;
}

int money_common_ancestor(struct ledger *l, int64_t from, int64_t to, int64_t *out, struct fault *why)
{
	static const char common_sql[] =
		"WITH RECURSIVE a(id, n) AS (SELECT ?1, 0 UNION ALL SELECT p.parent, n + 1 FROM a JOIN project p ON p.id = a.id"
		" WHERE p.parent IS NOT NULL), b(id) AS (SELECT ?2 UNION ALL SELECT p.parent FROM b JOIN project p ON p.id = b.id"
		" WHERE p.parent IS NOT NULL) SELECT a.id FROM a JOIN b ON b.id = a.id ORDER BY a.n LIMIT 1";

	*out = 0;
	return sql_int(l, out, common_sql, why, "ii", from, to) < 0 ? -1 : 0;
}

/* Soonest to expire first. Their frees sum to at least what is left: only the debt of others is taken off
 * it. */
static int take_at(struct ledger *l, const struct path_node *n, amount_t units, struct journal_entry *e,
	struct fault *why)
{
	if (budget_own(&n->budget) < units)
		return too_little(why, n->budget.name, budget_own(&n->budget), units, STAYS_UNVESTED);
	for (int i = 0; i < n->nlive && units > 0; i++) {
		amount_t take = n->live[i].free < units ? n->live[i].free : units;

		if (take <= 0)
			continue;
		if (post(l, e, n->live[i].id, -take, why) < 0)
			return -1;
		units -= take;
	}
	assert(units == 0);
	return 0;
}

static int give_at(struct ledger *l, const struct path_node *n, amount_t units, struct journal_entry *e,
	struct fault *why)
{
	if (n->nlive == 0)
		return fault_errno(why, EEXIST,
			"%s has no live allocation to move GPU-hours into; make one: budgetctl allocation add %s "
			"GPU-HOURS", n->budget.name, n->budget.name);
	return post(l, e, n->live[0].id, units, why);
}

static int check_ends(const struct path *from, const struct path *to, struct fault *why)
{
	const struct path *ends[] = { from, to };

	if (from->nodes[0].id == to->nodes[0].id)
		return fault_errno(why, EINVAL, "a transfer is between two projects");
	for (int i = 0; i < 2; i++)
		if (ends[i]->nodes[0].unmetered)
			return fault_errno(why, EEXIST,
				"%s is set unmetered: nothing can be moved; budgetctl project set %s --unmetered no",
				ends[i]->nodes[0].budget.name, ends[i]->nodes[0].budget.name);
	for (int i = 0; i < 2; i++)
		if (!ends[i]->nodes[0].budget.metered)
			return fault_errno(why, EEXIST,
				"%s has no allocation, it is bounded by fair share alone: nothing can be moved",
				ends[i]->nodes[0].budget.name);
	return 0;
}

/* The project as if the named allocation were its only live one; 0 leaves it as it is. `moves`: the transfer
 * touches this end at all. */
static int choose(struct path_node *n, int64_t allocation, bool moves, struct fault *why)
{
	if (!allocation)
		return 0;
	if (!moves)
		return fault_errno(why, EINVAL,
			"along one line only what is below moves: no allocation of %s is touched, so none can be named",
			n->budget.name);
	for (int i = 0; i < n->nlive; i++)
		if (n->live[i].id == allocation) {
			n->live[0] = n->live[i];
			n->nlive = 1;
			return 0;
		}
	return fault_errno(why, EEXIST,
		"allocation %jd is not a live one of %s; see budgetctl allocation list %s",
		(intmax_t)allocation, n->budget.name, n->budget.name);
}

/* Of the chosen one no more than it has, however much others have. */
static int check_chosen(const struct path_node *n, int64_t allocation, amount_t units, struct fault *why)
{
	char name[64];

	snprintf(name, sizeof(name), "allocation %jd", (intmax_t)allocation);
	return allocation && n->live[0].free < units
		? too_little(why, name, n->live[0].free, units, STAYS_UNVESTED) : 0;
}

int money_transfer(struct ledger *l, const struct transfer *t, struct journal_entry *e, int64_t now,
	struct fault *why)
{
	struct path source, target;
	int up_source, up_target, rc;

	snprintf(e->kind, sizeof(e->kind), "transfer");
	rc = journal_known(l, e, why);
	if (rc != 0)
		return rc;
	if (path_load(l, t->from, now, &source, why) < 0 || path_load(l, t->to, now, &target, why) < 0 ||
		check_ends(&source, &target, why) < 0)
		return -1;
	paths_meet(&source, &target, &up_source, &up_target);
	if (choose(&source.nodes[0], t->from_allocation, up_source > 0, why) < 0 ||
		choose(&target.nodes[0], t->to_allocation, up_target > 0, why) < 0 ||
		check_chosen(&source.nodes[0], t->from_allocation, t->units, why) < 0)
		return -1;
	for (int i = 0; i < up_source; i++)
		if (source.nodes[i].budget.metered && take_at(l, &source.nodes[i], t->units, e, why) < 0)
			return -1;
	for (int i = 0; i < up_target; i++)
		if (target.nodes[i].budget.metered && give_at(l, &target.nodes[i], t->units, e, why) < 0)
			return -1;
	return 0;
}

/* --- refund ------------------------------------------------------------------------------------- */

/* What a project paid of a charge, and got back of it. */
struct payer {
	int64_t project;
	amount_t paid, back;
};

/* The next project that paid, after `after`. 1, 0, -1. */
static int next_payer(struct ledger *l, int64_t charge, int64_t after, struct payer *out, struct fault *why)
{
	static const char payer_sql[] = "SELECT project, -sum(CASE kind WHEN 'charge' THEN units ELSE 0 END),"
					" sum(CASE kind WHEN 'refund' THEN units ELSE 0 END) FROM journal WHERE charge = ? AND project > ?"
					" GROUP BY project ORDER BY project LIMIT 1";
	sqlite3_stmt *st = sql_bind(l, payer_sql, why, "ii", charge, after);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		*out = (struct payer){ sql_col(st, 0), sql_col(st, 1), sql_col(st, 2) };
		sqlite3_reset(st);
	}
	return rc;
}

int money_refundable(struct ledger *l, int64_t charge, amount_t *out, struct fault *why)
{
	struct payer p = {0};
	int rc;

	*out = 0;
	while ((rc = next_payer(l, charge, p.project, &p, why)) == 1)
		if (p.paid - p.back > *out)
			*out = p.paid - p.back;
	return rc;
}

static int refund_into(struct ledger *l, int64_t allocation, amount_t units, struct journal_entry *e,
	int64_t now, struct fault *why)
{
	struct allocation a;
	struct path path;

	if (allocation_by_id(l, allocation, &a, why) != 1 || path_load(l, a.project, now, &path, why) < 0)
		return -1;
	if (allocation_live(&a, now) || path.nodes[0].nlive == 0) {
		if (post(l, e, allocation, units, why) < 0)
			return -1;
		return allocation_live(&a, now) ? 0 : money_expire_one(l, allocation, now, why);
	}
	return post(l, e, path.nodes[0].live[0].id, units, why);
}

/* The allocations that paid get it back in one fixed order, the last to expire first: what was given back
 * before is passed over. */
static int refund_payer(struct ledger *l, const struct payer *p, amount_t units, struct journal_entry *e,
	int64_t now, struct fault *why)
{
	static const char paid_sql[] =
		"SELECT j.allocation, -sum(j.units) FROM journal j JOIN allocation a ON a.id = j.allocation"
		" WHERE j.charge = ?1 AND j.kind = 'charge' AND j.project = ?2 GROUP BY j.allocation"
		" ORDER BY a.ends IS NOT NULL, a.ends DESC, a.id DESC";
	struct { int64_t allocation; amount_t paid; } by[LIVE_ALLOCATIONS_MAX * 2];
	sqlite3_stmt *st = sql_bind(l, paid_sql, why, "ii", e->charge, p->project);
	amount_t skip = p->back;
	int n = 0, rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1 && n < LIVE_ALLOCATIONS_MAX * 2) {
		by[n].allocation = sql_col(st, 0);
		by[n++].paid = sql_col(st, 1);
	}
	for (int i = 0; i < n && rc == 0 && units > 0; i++) {
		amount_t passed = skip < by[i].paid ? skip : by[i].paid;
		amount_t back = by[i].paid - passed < units ? by[i].paid - passed : units;

		skip -= passed;
		units -= back;
		if (back > 0)
			rc = refund_into(l, by[i].allocation, back, e, now, why);
	}
	return rc;
}

static int check_refund(struct ledger *l, int64_t charge, amount_t *units, struct fault *why)
{
	static const char there_sql[] = "SELECT units FROM charge WHERE id = ?";
	char left[AMOUNT_TEXT_MAX], of[AMOUNT_TEXT_MAX], asked[AMOUNT_TEXT_MAX];
	amount_t most, charged;
	int rc = sql_int(l, &charged, there_sql, why, "i", charge);

	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT,
			"there is no charge %jd; see budgetctl charge list", (intmax_t)charge);
	if (money_refundable(l, charge, &most, why) < 0)
		return -1;
	if (*units == 0)
		*units = most;
	if (most <= 0 || *units > most)
		return fault_errno(why, EEXIST,
			"charge %jd took %s GPU-h and %s of them can still be given back, not %s",
			(intmax_t)charge, amount_text(charged, of), amount_text(most, left),
			*units ? amount_text(*units, asked) : "more");
	return 0;
}

int money_refund(struct ledger *l, int64_t charge, amount_t units, struct journal_entry *e, int64_t now,
	struct fault *why)
{
	struct payer p = {0};
	int rc;

	snprintf(e->kind, sizeof(e->kind), "refund");
	rc = journal_known(l, e, why);
	if (rc != 0)
		return rc;
	if (check_refund(l, charge, &units, why) < 0)
		return -1;
	e->charge = charge;
	while ((rc = next_payer(l, charge, p.project, &p, why)) == 1) {
		amount_t back = p.paid - p.back < units ? p.paid - p.back : units;

		if (back > 0 && refund_payer(l, &p, back, e, now, why) < 0)
			return -1;
	}
	return rc;
}

/* --- void --------------------------------------------------------------------------------------- */

static bool can_be_voided(const char *kind)
{
	static const char *const kinds[] = { "deposit", "withdrawal", "transfer", "adjustment" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

/* The first entry of the write that `entry` is of, after a look whether it can be voided at all. */
static int find_voidable(struct ledger *l, int64_t entry, struct journal_entry *out, struct fault *why)
{
	static const char voided_sql[] = "SELECT id FROM journal WHERE corrects = ?";
	int64_t by;
	int rc = journal_by_id(l, entry, out, why);

	if (rc == 1 && out->first)
		rc = journal_by_id(l, out->first, out, why);
	if (rc != 1)
		return rc < 0 ? -1
			: fault_errno(why, ENOENT, "there is no journal entry %jd", (intmax_t)entry);
	if (!can_be_voided(out->kind))
		return fault_errno(why, EEXIST,
			"entry %jd is of kind %s: a deposit, a withdrawal, a transfer or an adjustment can be voided",
			(intmax_t)entry, out->kind);
	rc = sql_int(l, &by, voided_sql, why, "i", out->id);
	return rc <= 0 ? rc : fault_errno(why, EEXIST, "entry %jd was voided already, by entry %jd",
		(intmax_t)entry, (intmax_t)by);
}

static int void_row(struct ledger *l, const struct journal_entry *row, struct journal_entry *e, int64_t now,
	struct fault *why)
{
	struct allocation a;

	if (row->units > 0 && check_take(l, row->allocation, row->units, now, why) < 0)
		return -1;
	e->corrects = row->id;
	if (post(l, e, row->allocation, -row->units, why) < 0 ||
		allocation_by_id(l, row->allocation, &a, why) != 1)
		return -1;
	return a.ends && a.ends <= now ? money_expire_one(l, a.id, now, why) : 0;
}

int money_void(struct ledger *l, int64_t entry, struct journal_entry *e, int64_t now, struct fault *why)
{
	struct journal_entry first, row = {0};
	int rc;

	snprintf(e->kind, sizeof(e->kind), "void");
	rc = journal_known(l, e, why);
	if (rc != 0)
		return rc;
	if (find_voidable(l, entry, &first, why) < 0)
		return -1;
	while ((rc = journal_next_of(l, first.id, row.id, &row, why)) == 1)
		if (void_row(l, &row, e, now, why) < 0)
			return -1;
	return rc;
}
