/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_statement.c - statements (ledger_statement.h). */
#include "budgetd/ledger_statement.h"
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_sql.h"
#include "lib/zone.h"

const char *const statement_item_name[STATEMENT_ITEMS] = {
	[ITEM_OPENING] = "opening", [ITEM_DEPOSITS] = "deposits", [ITEM_WITHDRAWALS] = "withdrawals",
	[ITEM_TRANSFERS_IN] = "transfers_in", [ITEM_TRANSFERS_OUT] = "transfers_out",
	[ITEM_CHARGES] = "charges", [ITEM_REFUNDS] = "refunds", [ITEM_ADJUSTMENTS] = "adjustments",
	[ITEM_VOIDS] = "voids", [ITEM_EXPIRED] = "expired", [ITEM_CARRIED_IN] = "carried_in",
	[ITEM_CARRIED_OUT] = "carried_out", [ITEM_CLOSING] = "closing",
};

/* Where what is held is known from: 1 = the month that was closed, 0 = it is as of now, -1 = nowhere; -2:
 * failure. */
static int held_from(struct ledger *l, const struct statement_range *r, int64_t *month, struct fault *why)
{
	int64_t start, end;
	struct period p;
	int rc;

	*month = zone_utc_month(r->from, &start, &end);
	rc = start == r->from && end == r->to ? period_by_month(l, *month, &p, why) : 0;
	if (rc != 0)
		return rc < 0 ? -2 : 1;
	return r->to > r->now ? 0 : -1;
}

static void line_read(sqlite3_stmt *st, struct statement_line *s)
{
	*s = (struct statement_line){ .project = sql_col(st, 0), .allocation = sql_col(st, 1) };
	for (int i = 0; i < STATEMENT_ITEMS; i++)
		s->items[i] = sql_col(st, 2 + i);
	s->held_known = !sql_null(st, 2 + STATEMENT_ITEMS);
	s->held = sql_col(st, 2 + STATEMENT_ITEMS);
}

#define SUM(sign, condition) "coalesce(" sign "sum(j.units) FILTER (WHERE j.at >= ?2 AND " condition "), 0)"
#define OF(kind) "j.kind = '" kind "'"

int statement_walk(struct ledger *l, int64_t project, const struct statement_range *r, statement_fn each,
	void *arg, struct fault *why)
{
	/* in the order of enum statement_item */
	static const char walk_sql[] =
		"SELECT * FROM (SELECT j.project, j.allocation, coalesce(sum(j.units) FILTER (WHERE j.at < ?2), 0) AS opening,"
		SUM("", OF("deposit")) "," SUM("-", OF("withdrawal")) ","
		SUM("", OF("transfer") " AND j.units > 0") "," SUM("-", OF("transfer") " AND j.units < 0") ","
		SUM("-", OF("charge")) "," SUM("", OF("refund")) "," SUM("", OF("adjustment")) ","
		SUM("", OF("void")) "," SUM("-", OF("expiry")) ","
		SUM("", OF("carry-over") " AND j.units > 0") "," SUM("-", OF("carry-over") " AND j.units < 0") ","
		" sum(j.units) AS closing, CASE ?4 WHEN 1 THEN coalesce((SELECT h.units FROM period_held h WHERE h.period = ?5"
		" AND h.allocation = j.allocation), 0) WHEN 0 THEN (SELECT s.held FROM allocation_sum s WHERE s.allocation = j.allocation) END,"
		" count(*) FILTER (WHERE j.at >= ?2) AS entries"
		" FROM journal j WHERE j.project = ?1 AND j.at < ?3 GROUP BY j.allocation)"
		" WHERE opening <> 0 OR entries > 0 OR closing <> 0 ORDER BY allocation";
	int64_t month;
	int from = held_from(l, r, &month, why), rc = -1;
	sqlite3_stmt *st = from < -1 ? NULL
		: sql_bind(l, walk_sql, why, "iiiii", project, r->from, r->to, (int64_t)from, month);
	struct statement_line s;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		line_read(st, &s);
		if (each(&s, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

void statement_add(struct statement_line *sum, const struct statement_line *s)
{
	for (int i = 0; i < STATEMENT_ITEMS; i++)
		sum->items[i] += s->items[i];
	sum->held += s->held;
	sum->held_known = sum->held_known && s->held_known;
}
