/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_expiry.c - the end of an allocation: what is left of it expires or is carried over (ledger_moves.h).
 *
 * What is held stays held to the end of its run (doc/model.md, 4); it expires when it comes back. */
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_sql.h"
#include <errno.h>
#include <stdio.h>

#define DUE "FROM allocation a JOIN allocation_sum s ON s.allocation = a.id WHERE a.ends <= ? AND s.amount - s.charged - s.held > 0"

int money_expiry_due(struct ledger *l, int64_t now, struct fault *why)
{
	static const char due_sql[] = "SELECT EXISTS (SELECT 1 " DUE ")";
	int64_t due = 0;

	return sql_int(l, &due, due_sql, why, "i", now) < 0 ? -1 : (int)due;
}

/* The first expiry is dated at the end, where its month is open; what comes back later is dated when it
 * comes. */
static int expiry_date(struct ledger *l, const struct allocation *a, int64_t now, int64_t *out,
	struct fault *why)
{
	static const char before_sql[] =
		"SELECT EXISTS (SELECT 1 FROM journal WHERE project = ? AND allocation = ? AND units < 0"
		" AND kind IN ('expiry', 'carry-over'))";
	int64_t before = 0;

	if (sql_int(l, &before, before_sql, why, "ii", a->project, a->id) < 0)
		return -1;
	return booking_date(l, before ? now : a->ends, now, out, why);
}

/* The allocation that goes on when `a` ends: the one that began last before that, else the next to begin. 1,
 * 0, -1. */
static int next_allocation(struct ledger *l, const struct allocation *a, int64_t now, int64_t *out,
	struct fault *why)
{
	static const char next_sql[] =
		"SELECT id FROM allocation WHERE project = ?1 AND id <> ?2 AND (ends IS NULL OR (ends > ?3 AND ends > ?4))"
		" ORDER BY starts > ?3, CASE WHEN starts > ?3 THEN starts ELSE -starts END, id LIMIT 1";

	return sql_int(l, out, next_sql, why, "iiii", a->project, a->id, a->ends, now);
}

static int post_expiry(struct ledger *l, const struct allocation *a, amount_t units, int64_t at,
	const char *reason, struct fault *why)
{
	struct journal_entry e = { .at = at, .kind = "expiry", .allocation = a->id, .units = -units,
		.actor = "budgetd" };

	snprintf(e.reason, sizeof(e.reason), "%s", reason);
	return units > 0 ? journal_post(l, &e, why) : 0;
}

static int post_carry_over(struct ledger *l, const struct allocation *a, int64_t next, amount_t units,
	int64_t at, struct fault *why)
{
	struct journal_entry out = { .at = at, .kind = "carry-over", .allocation = a->id, .units = -units,
		.actor = "budgetd" }, in;

	snprintf(out.reason, sizeof(out.reason), "%jd %% of what was left into allocation %jd",
		(intmax_t)a->carry_over_percent, (intmax_t)next);
	if (journal_post(l, &out, why) < 0)
		return -1;
	in = out;
	in.allocation = next;
	in.units = units;
	in.first = out.id;
	snprintf(in.reason, sizeof(in.reason), "%jd %% of what was left of allocation %jd",
		(intmax_t)a->carry_over_percent, (intmax_t)a->id);
	return journal_post(l, &in, why);
}

static int expire(struct ledger *l, int64_t id, bool carry, int64_t now, struct fault *why)
{
	struct allocation a;
	amount_t left, carried = 0;
	int64_t at, next = 0;

	if (allocation_by_id(l, id, &a, why) != 1 || expiry_date(l, &a, now, &at, why) < 0)
		return -1;
	left = allocation_free(&a);
	if (left <= 0)
		return 0;
	if (carry && a.carry_over_percent)
		carried = left / 100 * a.carry_over_percent + left % 100 * a.carry_over_percent / 100;
	if (carried > 0 && next_allocation(l, &a, now, &next, why) < 0)
		return -1;
	if (!next)
		carried = 0;
	if (post_expiry(l, &a, left - carried, at, a.carry_over_percent && carry && !next
		? "the allocation has ended, and there is none to carry over into"
		: "the allocation has ended", why) < 0)
		return -1;
	return carried > 0 ? post_carry_over(l, &a, next, carried, at, why) : 0;
}

int money_expire_one(struct ledger *l, int64_t allocation, int64_t now, struct fault *why)
{
	return expire(l, allocation, false, now, why);
}

int money_expire(struct ledger *l, int64_t now, struct fault *why)
{
	static const char next_due_sql[] = "SELECT a.id " DUE " ORDER BY a.ends, a.id LIMIT 1";
	int64_t id;
	int n = 0, rc;

	while ((rc = sql_int(l, &id, next_due_sql, why, "i", now)) == 1) {
		if (expire(l, id, true, now, why) < 0)
			return -1;
		n++;
	}
	return rc < 0 ? -1 : n;
}
