/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_export.c - long lists for exports (ledger_export.h). */
#include "budgetd/ledger_export.h"
#include "budgetd/ledger_sql.h"
#include "lib/job_id.h"

#define ROWS_AT_ONCE    512
#define ROW_BYTES_MAX   4096	/* of a row, quotes doubled: texts are checked as they are taken */
#define CLOCK_MARGIN_S  86400	/* a clock that was put back by less leaves nothing out */

/* Only texts that people gave may be long: a reason has 511 bytes, a name 255. */
static bool has_room(const struct export_writer *w)
{
	return w->size - w->used >= ROW_BYTES_MAX;
}

/* Nothing that was written before `from` is dated later. Rows were written in the order of their ids. */
static int first_written_since(struct ledger *l, int64_t last, int64_t since, int64_t *out, struct fault *why)
{
	static const char at_sql[] = "SELECT at FROM charge WHERE id >= ? ORDER BY id LIMIT 1";
	int64_t low = 0, high = last, at;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		int rc = sql_int(l, &at, at_sql, why, "i", middle + 1);

		if (rc < 0)
			return -1;
		if (rc == 1 && at < since)
			low = middle + 1;
		else
			high = middle;
	}
	*out = low;
	return 0;
}

int export_begin(struct ledger *l, struct export_list *x, struct fault *why)
{
	static const char charge_sql[] = "SELECT coalesce(max(id), 0) FROM charge",
		entry_sql[] = "SELECT coalesce(max(id), 0) FROM journal";

	x->refunds = !x->jobs;
	x->after = 0;
	if (sql_int(l, &x->last_charge, charge_sql, why, "") != 1 ||
		sql_int(l, &x->last_entry, entry_sql, why, "") != 1)
		return -1;
	return x->jobs ? first_written_since(l, x->last_charge, x->from - CLOCK_MARGIN_S, &x->after, why) : 0;
}

#define BELOW \
	"WITH RECURSIVE below(id) AS (SELECT ?5 UNION ALL" \
	" SELECT p.id FROM project p JOIN below ON p.parent = below.id) "
#define PART_COLUMNS \
	"r.cluster, p.name, r.uid, r.job, r.label, r.partition, r.tier, r.submit, r.start," \
	/* what became known later is not in the row: a month that was exported stays as it was */ \
	" CASE WHEN c.ends_run OR (r.import IS NOT NULL AND c.part_end = r.ended) THEN r.ended END," \
	" CASE WHEN c.ends_run OR (r.import IS NOT NULL AND c.part_end = r.ended) THEN r.state END," \
	" c.part_start, c.part_end, c.kind, coalesce(c.tres, r.tres), c.gpus, c.price"

/* An INTEGER column that may be NULL. */
static void put_column(struct export_writer *w, sqlite3_stmt *st, int i)
{
	if (sql_null(st, i))
		export_put_nothing(w);
	else
		export_put_number(w, sql_col(st, i));
}

/* Of which array or het job it is. */
static void put_job(struct export_writer *w, const char *label)
{
	struct job_name n = { .part = JOB_WHOLE };

	export_put_text(w, label);
	job_id_parse(label, &n, NULL);
	for (enum job_part part = JOB_TASK; part <= JOB_COMPONENT; part += JOB_COMPONENT - JOB_TASK) {
		if (n.part == part) {
			export_put_number(w, n.job);
			export_put_number(w, n.within);
		} else {
			export_put_nothing(w);
			export_put_nothing(w);
		}
	}
}

/* PART_COLUMNS from column `i` on, up to the price. */
static void put_part(struct export_writer *w, sqlite3_stmt *st, int i, bool refund, export_user_fn user,
	void *arg)
{
	int64_t from = sql_col(st, i + 11), to = sql_col(st, i + 12), gpus = sql_col(st, i + 15);
	char types[EXPORT_TYPES_MAX];

	export_put_text(w, sql_text(st, i));
	export_put_text(w, sql_text(st, i + 1));
	export_put_number(w, sql_col(st, i + 2));
	export_put_text(w, user(sql_col(st, i + 2), arg));
	export_put_number(w, sql_col(st, i + 3));
	put_job(w, sql_text(st, i + 4));
	export_put_text(w, sql_text(st, i + 5));
	export_put_text(w, sql_text(st, i + 6));
	export_put_number(w, sql_col(st, i + 7));
	export_put_number(w, sql_col(st, i + 8));
	if (refund || sql_null(st, i + 9))
		export_put_nothing(w);
	else
		export_put_number(w, sql_col(st, i + 9));
	export_put_text(w, refund ? "" : sql_text(st, i + 10));
	export_put_number(w, from);
	export_put_number(w, to);
	if (refund)
		export_put_nothing(w);
	else
		export_put_number(w, to - from);
	export_put_text(w, sql_text(st, i + 13));
	export_put_text(w, export_gpu_types(sql_text(st, i + 14), types));
	export_put_number(w, gpus);
	if (refund)
		export_put_nothing(w);
	else
		export_put_number(w, (to - from) * gpus);
	export_put_number(w, sql_col(st, i + 16));
}

/* id, dated, the part, units */
static void put_charge(struct export_writer *w, sqlite3_stmt *st, export_user_fn user, void *arg)
{
	export_put_text(w, "charge");
	export_put_number(w, sql_col(st, 1));
	export_put_number(w, sql_col(st, 0));
	export_put_nothing(w);
	put_part(w, st, 2, false, user, arg);
	export_put_number(w, sql_col(st, 19));
	export_put_text(w, "");
	export_end_row(w);
}

/* id, at, the part, units, reason, charge */
static void put_refund(struct export_writer *w, sqlite3_stmt *st, export_user_fn user, void *arg)
{
	export_put_text(w, "refund");
	export_put_number(w, sql_col(st, 1));
	export_put_number(w, sql_col(st, 21));
	export_put_number(w, sql_col(st, 0));
	put_part(w, st, 2, true, user, arg);
	export_put_number(w, -sql_col(st, 19));
	export_put_text(w, sql_text(st, 20));
	export_end_row(w);
}

static void put_entry(struct export_writer *w, sqlite3_stmt *st, export_user_fn user, void *arg)
{
	(void)user, (void)arg;
	export_put_number(w, sql_col(st, 0));
	export_put_number(w, sql_col(st, 1));
	export_put_text(w, sql_text(st, 2));
	export_put_text(w, sql_text(st, 3));
	for (int k = 4; k <= 6; k++)
		export_put_number(w, sql_col(st, k));
	put_column(w, st, 7);
	export_put_text(w, sql_text(st, 8));
	put_column(w, st, 9);
	for (int k = 10; k <= 12; k++)
		export_put_text(w, sql_text(st, k));
	put_column(w, st, 13);
	put_column(w, st, 14);
	export_end_row(w);
}

#define RANGE(id, dated) \
	id " > ?1 AND " id " <= ?2 AND " dated " >= ?3 AND " dated " < ?4"
#define PAGE(id) " ORDER BY " id " LIMIT 512"
#define CHARGES \
	"SELECT c.id, coalesce(c.dated, c.at), " PART_COLUMNS ", c.units FROM charge c" \
	" JOIN run r ON r.id = c.run JOIN project p ON p.id = c.project" \
	" WHERE " RANGE("c.id", "coalesce(c.dated, c.at)")
/* Every project that paid gets back alike: the run's own tells it, or, when it paid nothing, the first that
 * did. */
#define REFUNDS \
	"SELECT j.id, j.at, " PART_COLUMNS ", j.units, j.reason, c.id FROM journal j" \
	" JOIN charge c ON c.id = j.charge" \
	" JOIN run r ON r.id = c.run JOIN project p ON p.id = c.project WHERE j.kind = 'refund'" \
	" AND j.project = coalesce(" \
	"(SELECT x.project FROM journal x WHERE x.charge = c.id AND x.kind = 'charge'" \
	" AND x.project = c.project LIMIT 1)," \
	" (SELECT x.project FROM journal x WHERE x.charge = c.id AND x.kind = 'charge'" \
	" ORDER BY x.id LIMIT 1))" \
	" AND " RANGE("j.id", "j.at")
#define ENTRIES \
	"SELECT j.id, j.at, j.kind, p.name, j.allocation, j.units, j.balance, j.charge, r.label, r.uid," \
	" j.actor, j.reason, j.request_id, j.first, j.corrects FROM journal j" \
	" JOIN project p ON p.id = j.project" \
	" LEFT JOIN charge c ON c.id = j.charge LEFT JOIN run r ON r.id = c.run" \
	" WHERE " RANGE("j.id", "j.at")

enum source { SOURCE_CHARGES, SOURCE_REFUNDS, SOURCE_ENTRIES };

static const struct {
	const char *all, *below;
	void (*put)(struct export_writer *w, sqlite3_stmt *st, export_user_fn user, void *arg);
} sources[] = {
	[SOURCE_CHARGES] = { CHARGES PAGE("c.id"),
		BELOW CHARGES " AND c.project IN (SELECT id FROM below)" PAGE("c.id"), put_charge },
	[SOURCE_REFUNDS] = { REFUNDS PAGE("j.id"),
		BELOW REFUNDS " AND c.project IN (SELECT id FROM below)" PAGE("j.id"), put_refund },
	[SOURCE_ENTRIES] = { ENTRIES PAGE("j.id"),
		BELOW ENTRIES " AND j.project IN (SELECT id FROM below)" PAGE("j.id"), put_entry },
};

static enum source source_of(const struct export_list *x)
{
	return !x->jobs ? SOURCE_ENTRIES : x->refunds ? SOURCE_REFUNDS : SOURCE_CHARGES;
}

/* One statement's rows. 1: there may be more of them, 0, -1. */
static int page(struct ledger *l, struct export_list *x, struct export_writer *w, export_user_fn user,
	void *arg, struct fault *why)
{
	enum source s = source_of(x);
	int64_t last = s == SOURCE_CHARGES ? x->last_charge : x->last_entry;
	sqlite3_stmt *st = x->project
		? sql_bind(l, sources[s].below, why, "iiiii", x->after, last, x->from, x->to, x->project)
		: sql_bind(l, sources[s].all, why, "iiii", x->after, last, x->from, x->to);
	int n = 0, rc = -1;

	while (st && has_room(w) && (rc = sql_step(l, st, why)) == 1) {
		sources[s].put(w, st, user, arg);
		x->after = sql_col(st, 0);
		n++;
	}
	if (!st || rc < 0)
		return -1;
	sqlite3_reset(st);
	return n == ROWS_AT_ONCE || rc == 1 || !has_room(w);
}

int export_more(struct ledger *l, struct export_list *x, struct export_writer *w, export_user_fn user,
	void *arg, struct fault *why)
{
	int rc;

	if (ledger_begin(l, LEDGER_READ, why) < 0)
		return -1;
	while ((rc = page(l, x, w, user, arg, why)) >= 0 && has_room(w)) {
		if (rc == 1)
			continue;
		if (x->refunds)
			break;
		x->refunds = true;
		x->after = 0;
	}
	ledger_rollback(l);
	return rc < 0 ? -1 : rc == 1 || !has_room(w);
}
