/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_usage.c - sums over charges, and what is being spent. */
#include "budgetd/ledger_usage.h"
#include "budgetd/ledger_sql.h"

const char *const usage_key_name[USAGE_KEYS] = { "project", "user", "gpu_type", "partition" };

/* Seconds of a part inside [?2, ?3). */
#define INSIDE "(min(c.part_end, ?3) - max(c.part_start, ?2))"
/* A refund is a group of rows, one of each metered project of the path; the first tells how much. */
#define USAGE(key) \
	"SELECT " key ", count(DISTINCT c.run)," \
	" sum(CASE WHEN c.kind = 'suspended' THEN 0 ELSE c.gpus * " INSIDE " END)," \
	" sum(CASE WHEN c.kind IN ('free', 'uncovered') THEN c.gpus * " INSIDE " ELSE 0 END)," \
	" sum(CASE WHEN c.units > 0 THEN c.price * " INSIDE " ELSE 0 END)," \
	" sum(CASE WHEN c.part_end <= ?3 THEN (SELECT coalesce(sum(j.units), 0) FROM journal j" \
	"  WHERE j.charge = c.id AND j.kind = 'refund' AND j.first IS NULL) ELSE 0 END)" \
	" FROM charge c JOIN run r ON r.id = c.run" \
	" WHERE c.project = ?1 AND c.part_end > ?2 AND c.part_start < ?3 GROUP BY 1"

int usage_walk(struct ledger *l, int64_t project, enum usage_key key, int64_t from, int64_t to, usage_fn each,
	void *arg, struct fault *why)
{
	static const char by_project[] = USAGE("''"), by_user[] = USAGE("r.uid"),
		by_tres[] = USAGE("coalesce(c.tres, r.tres)"), by_partition[] = USAGE("r.partition");
	static const char *const sql[USAGE_KEYS] = { by_project, by_user, by_tres, by_partition };
	sqlite3_stmt *st = sql_bind(l, sql[key], why, "iii", project, from, to);
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		struct used_row u = { .key = sql_text(st, 0), .runs = sql_col(st, 1),
			.gpu_s = sql_col(st, 2), .free_gpu_s = sql_col(st, 3), .charged = sql_col(st, 4),
			.refunded = sql_col(st, 5) };

		if (each(&u, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

#define BELOW \
	"WITH RECURSIVE below(id) AS (SELECT ?1 UNION ALL" \
	" SELECT p.id FROM project p JOIN below ON p.parent = below.id)"

int usage_rates(struct ledger *l, int64_t project, bool holds_limit, amount_t *running, amount_t *waiting,
	struct fault *why)
{
	static const char running_sql[] = BELOW
		" SELECT coalesce(sum(price), 0) FROM run WHERE ended IS NULL AND tier = 'funded' AND free_since IS NULL"
		" AND lost_at IS NULL AND project IN (SELECT id FROM below)";
	static const char waiting_sql[] = BELOW
		" SELECT coalesce(sum(h.units /"
		"  max(iif(?2, coalesce(" ADMISSION_LIMIT ", a.min_runtime), a.min_runtime), 1)), 0)"
		" FROM hold h INDEXED BY hold_open_by_admission"
		" JOIN admission a ON a.id = h.admission"
		" WHERE h.closed_at IS NULL AND h.run IS NULL AND h.project IN (SELECT id FROM below)";

	return sql_int(l, running, running_sql, why, "i", project) < 0 ||
		sql_int(l, waiting, waiting_sql, why, "ii", project, (int64_t)holds_limit) < 0 ? -1 : 0;
}

int usage_grants(struct ledger *l, int64_t project, int64_t now,
	struct forecast_grant out[FORECAST_GRANTS_MAX], struct fault *why)
{
	static const char sql[] =
		"SELECT s.amount - s.charged, a.starts, a.ends FROM allocation a"
		" JOIN allocation_sum s ON s.allocation = a.id"
		" WHERE a.project = ?1 AND (a.ends IS NULL OR a.ends > ?2) ORDER BY a.id LIMIT ?3";
	sqlite3_stmt *st = sql_bind(l, sql, why, "iii", project, now, (int64_t)FORECAST_GRANTS_MAX);
	int rc = -1, n = 0;

	while (st && (rc = sql_step(l, st, why)) == 1)
		out[n++] = (struct forecast_grant){ sql_col(st, 0), sql_col(st, 1), sql_col(st, 2) };
	return rc < 0 ? -1 : n;
}
