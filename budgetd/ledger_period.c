/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_period.c - months that are closed (ledger_period.h). */
#include "budgetd/ledger_period.h"
#include "budgetd/ledger_run.h"
#include "budgetd/ledger_sql.h"
#include "lib/zone.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- months as text ------------------------------------------------------------------------------ */

const char *period_text(int64_t month, char buf[static PERIOD_TEXT_MAX])
{
	snprintf(buf, PERIOD_TEXT_MAX, "%04d-%02d", (int)(month / 12 % 10000), (int)(month % 12) + 1);
	return buf;
}

int period_parse(const char *text, struct period *out, struct fault *why)
{
	struct zone_reading r = { .day = 1 };
	int64_t at;

	if (zone_month_read(text, &r.year, &r.month) < 0 || zone_utc(&r, &at) != 1)
		return fault_errno(why, EINVAL, "\"%.40s\" is no month; write it like 2026-12", text);
	*out = (struct period){0};
	out->month = zone_utc_month(at, &out->starts, &out->ends);
	return 0;
}

/* --- what is booked when ------------------------------------------------------------------------- */

int period_closed_until(struct ledger *l, int64_t *out, struct fault *why)
{
	static const char until_sql[] = "SELECT ends FROM period ORDER BY id DESC LIMIT 1";

	*out = 0;
	return sql_int(l, out, until_sql, why, "") < 0 ? -1 : 0;
}

int booking_date(struct ledger *l, int64_t wanted, int64_t now, int64_t *out, struct fault *why)
{
	int64_t closed;

	if (period_closed_until(l, &closed, why) < 0)
		return -1;
	*out = wanted >= closed ? wanted : now;
	return 0;
}

int64_t period_date_of_part(int64_t part_start, int64_t now, int64_t closed_until)
{
	int64_t start, end;

	zone_utc_month(part_start, &start, &end);
	return end <= now && end - 1 >= closed_until ? end - 1 : now;
}

int booking_date_of_part(struct ledger *l, int64_t part_start, int64_t now, int64_t *out, struct fault *why)
{
	int64_t closed;

	if (period_closed_until(l, &closed, why) < 0)
		return -1;
	*out = period_date_of_part(part_start, now, closed);
	return 0;
}

/* --- closing ------------------------------------------------------------------------------------- */

static int check_order(struct ledger *l, const struct period *p, struct fault *why)
{
	char wanted[PERIOD_TEXT_MAX], next[PERIOD_TEXT_MAX], end[ZONE_TEXT_MAX];
	int64_t start, until, closed;
	int month;

	period_text(p->month, wanted);
	if (p->closed_at < p->ends)
		return fault_errno(why, EEXIST, "%s is not over: it ends at %s", wanted,
			zone_utc_text(p->ends, end));
	if (period_closed_until(l, &closed, why) < 0)
		return -1;
	if (p->starts < closed)
		return fault_errno(why, EEXIST,
			"%s is closed already, and stays so; see budgetctl period list", wanted);
	month = closed ? zone_utc_month(closed, &start, &until) : 0;
	if (closed && month != p->month)
		return fault_errno(why, EEXIST, "%s comes before %s and is open: budgetctl period close %s",
			period_text(month, next), wanted, next);
	return 0;
}

/* Add a sentence to what is open. */
static void add_open(char open[PERIOD_FORCED_MAX], const char *text)
{
	size_t n = strlen(open);

	snprintf(open + n, PERIOD_FORCED_MAX - n, "%s%s", n ? "; " : "", text);
}

/* Runs that go on, or whose end is not known, and that are not charged up to the end of the month. Those that
 * are gone are named first. */
#define OPEN_RUNS_NAMED 8

static int find_open_runs(struct ledger *l, const struct period *p, char open[PERIOD_FORCED_MAX],
	struct fault *why)
{
	static const char open_sql[] =
		"WITH open AS (SELECT id, label, lost_at FROM run r WHERE ended IS NULL AND start < ?1"
		" AND coalesce((SELECT max(part_end) FROM charge WHERE run = r.id), start) < ?1)"
		" SELECT count(*), count(lost_at), (SELECT group_concat(label, ', ') FROM"
		"  (SELECT label FROM open ORDER BY lost_at IS NULL, id LIMIT ?2)) FROM open";
	sqlite3_stmt *st = sql_bind(l, open_sql, why, "ii", p->ends, (int64_t)OPEN_RUNS_NAMED);
	char month[PERIOD_TEXT_MAX], lost[64] = "", text[PERIOD_FORCED_MAX];
	int64_t count;

	if (!st || sql_step(l, st, why) != 1)
		return -1;
	count = sql_col(st, 0);
	if (sql_col(st, 1))
		snprintf(lost, sizeof(lost), ", %jd of them gone from Slurm without an end",
			(intmax_t)sql_col(st, 1));
	snprintf(text, sizeof(text), "%jd runs of %s are not charged to its end%s (jobs %.300s%s): %s",
		(intmax_t)count, period_text(p->month, month), lost, sql_text(st, 2),
		count > OPEN_RUNS_NAMED ? " and others" : "",
		lost[0] ? "say when those ended, budgetctl run end JOB"
		: "the next passes do that, as slurmctld and slurmdbd answer and they are not suspended");
	sqlite3_reset(st);
	if (count)
		add_open(open, text);
	return 0;
}

/* Runs that no pass saw: slurmdbd is asked for them. */
static int find_unseen(struct ledger *l, const struct period *p, char open[PERIOD_FORCED_MAX],
	struct fault *why)
{
	char seen[ZONE_TEXT_MAX], end[ZONE_TEXT_MAX], text[PERIOD_FORCED_MAX];
	int64_t all_seen;

	if (ledger_all_seen(l, &all_seen, why) < 0)
		return -1;
	if (all_seen >= p->ends)
		return 0;
	snprintf(text, sizeof(text),
		"all runs are known up to %s, not to %s: what no pass saw is asked of slurmdbd, some 10 minutes "
		"later; see budgetctl health", all_seen ? zone_utc_text(all_seen, seen) : "no time at all",
		zone_utc_text(p->ends, end));
	add_open(open, text);
	return 0;
}

static int period_add(struct ledger *l, const struct period *p, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO period (id, starts, ends, closed_at, entries, charges, actor, reason, request_id, forced)"
		" VALUES (?, ?, ?, ?, (SELECT coalesce(max(id), 0) FROM journal), (SELECT coalesce(max(id), 0) FROM charge),"
		" ?, ?, ?, ?)";
	static const char held_sql[] =
		"INSERT INTO period_held (period, allocation, units) SELECT ?, allocation, held FROM allocation_sum"
		" WHERE held > 0 ORDER BY allocation";

	return sql_do(l, add_sql, why, "iiiissss", p->month, p->starts, p->ends, p->closed_at, p->actor,
		p->reason, p->request_id[0] ? p->request_id : NULL, p->forced[0] ? p->forced : NULL) < 0
		? -1 : sql_do(l, held_sql, why, "i", p->month);
}

int period_close(struct ledger *l, struct period *p, bool force, struct fault *why)
{
	char month[PERIOD_TEXT_MAX];

	p->forced[0] = '\0';
	if (check_order(l, p, why) < 0 || find_open_runs(l, p, p->forced, why) < 0 ||
		find_unseen(l, p, p->forced, why) < 0)
		return -1;
	if (p->forced[0] && !force)
		return fault_errno(why, EEXIST,
			"%s cannot be closed yet: %s; with --force it is closed over that, which is recorded",
			period_text(p->month, month), p->forced);
	return period_add(l, p, why);
}

/* --- lists --------------------------------------------------------------------------------------- */

#define PERIOD_COLUMNS "id, starts, ends, closed_at, actor, reason, request_id, forced"

static void period_read(sqlite3_stmt *st, struct period *p)
{
	*p = (struct period){ .month = sql_col(st, 0), .starts = sql_col(st, 1), .ends = sql_col(st, 2),
		.closed_at = sql_col(st, 3) };
	snprintf(p->actor, sizeof(p->actor), "%s", sql_text(st, 4));
	snprintf(p->reason, sizeof(p->reason), "%s", sql_text(st, 5));
	snprintf(p->request_id, sizeof(p->request_id), "%s", sql_text(st, 6));
	snprintf(p->forced, sizeof(p->forced), "%s", sql_text(st, 7));
}

int period_walk(struct ledger *l, period_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] = "SELECT " PERIOD_COLUMNS " FROM period ORDER BY id";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "");
	struct period p;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		period_read(st, &p);
		if (each(&p, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int period_by_month(struct ledger *l, int64_t month, struct period *out, struct fault *why)
{
	static const char month_sql[] = "SELECT " PERIOD_COLUMNS " FROM period WHERE id = ?";
	sqlite3_stmt *st = sql_bind(l, month_sql, why, "i", month);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		period_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}
