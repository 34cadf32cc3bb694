/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_lane.c - the debug lane in the books (ledger_lane.h). */
#include "budgetd/ledger_lane.h"
#include "budgetd/ledger_sql.h"

int lane_set(struct ledger *l, const int64_t *admissions, size_t count, struct fault *why)
{
	static const char empty_sql[] = "DELETE FROM lane_job";
	static const char add_sql[] = "INSERT INTO lane_job (admission) VALUES (?)";

	if (sql_do(l, empty_sql, why, "") < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (sql_do(l, add_sql, why, "i", admissions[i]) < 0)
			return -1;
	return 0;
}

int lane_walk(struct ledger *l, lane_job_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] = "SELECT admission FROM lane_job ORDER BY admission";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "");
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1)
		if (each(sql_col(st, 0), arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	return rc;
}

int lane_run_began(struct ledger *l, int64_t run, int64_t admission, struct fault *why)
{
	static const char began_sql[] =
		"INSERT INTO lane_run (run) SELECT ?1 FROM lane_job WHERE admission = ?2";

	return sql_do(l, began_sql, why, "ii", run, admission);
}

int lane_forget(struct ledger *l, int64_t before, struct fault *why)
{
	static const char forget_sql[] =
		"DELETE FROM lane_run WHERE run IN (SELECT l.run FROM lane_run l CROSS JOIN run r ON r.id = l.run WHERE r.ended <= ?)";

	return sql_do(l, forget_sql, why, "i", before);
}

/* Out of the few runs of the lane, not out of all that go on or ended today: a pass asks this while
 * submissions wait for the writer. */
int lane_use(struct ledger *l, int64_t since, int64_t now, lane_user_fn each, void *arg, struct fault *why)
{
	static const char use_sql[] =
		"SELECT r.uid, sum(r.ended IS NULL AND r.lost_at IS NULL),"
		" sum(coalesce((SELECT sum(c.gpus * (c.part_end - max(c.part_start, ?1))) FROM charge c WHERE c.run = r.id AND c.part_end > ?1), 0)"
		" + CASE WHEN r.ended IS NULL AND r.lost_at IS NULL THEN r.gpus * max(0, ?2 - max(?1,"
		" coalesce((SELECT max(c.part_end) FROM charge c WHERE c.run = r.id), r.start))) ELSE 0 END)"
		" FROM lane_run l CROSS JOIN run r ON r.id = l.run WHERE r.ended IS NULL OR r.ended > ?1 GROUP BY r.uid ORDER BY r.uid";
	sqlite3_stmt *st = sql_bind(l, use_sql, why, "ii", since, now);
	struct lane_user u;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		u = (struct lane_user){ .uid = sql_col(st, 0), .running = sql_col(st, 1),
			.used_gpu_s = sql_col(st, 2) };
		if (each(&u, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
