/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_notice.c - what of the books people are told of (ledger_notice.h). */
#include "budgetd/ledger_notice.h"
#include "budgetd/ledger_project.h"
#include "budgetd/ledger_sql.h"
#include <stdio.h>
#include <string.h>

int newest_read(struct ledger *l, struct newest *out, struct fault *why)
{
	static const char last_event[] = "SELECT id, at FROM event ORDER BY id DESC LIMIT 1";
	static const char last_entry[] = "SELECT coalesce(max(id), 0) FROM journal";
	sqlite3_stmt *st = sql_bind(l, last_event, why, "");
	int rc = st ? sql_step(l, st, why) : -1;

	*out = (struct newest){ 0 };
	if (rc == 1) {
		out->event = sql_col(st, 0);
		out->event_at = sql_col(st, 1);
		sqlite3_reset(st);
	}
	return rc < 0 ? -1 : sql_int(l, &out->entry, last_entry, why, "") < 0 ? -1 : 0;
}

int event_is_of(struct ledger *l, int64_t event, int64_t at, struct fault *why)
{
	static const char sql[] = "SELECT 1 FROM event WHERE id = ? AND at = ?";
	int64_t one;

	return sql_int(l, &one, sql, why, "ii", event, at);
}

int event_up_to(struct ledger *l, int64_t at, int64_t *event, struct fault *why)
{
	static const char sql[] = "SELECT coalesce(max(id), 0) FROM event WHERE at <= ?";

	return sql_int(l, event, sql, why, "i", at) < 0 ? -1 : 0;
}

/* --- budgets --------------------------------------------------------------------------------------- */

int budget_use_walk(struct ledger *l, int64_t now, budget_use_fn each, void *arg, struct fault *why)
{
	static const char sql[] =
		"SELECT p.id, p.name, sum(s.amount), sum(s.charged), sum(s.held) FROM allocation a"
		" JOIN allocation_sum s ON s.allocation = a.id JOIN project p ON p.id = a.project"
		" WHERE a.starts <= ?1 AND (a.ends IS NULL OR ?1 < a.ends) AND p.removed_at IS NULL AND p.unmetered = 0"
		" GROUP BY p.id ORDER BY p.id";
	sqlite3_stmt *st = sql_bind(l, sql, why, "i", now);
	int rc = st ? 0 : -1;

	while (rc == 0 && (rc = sql_step(l, st, why)) == 1) {
		struct budget_use u = { .project = sql_col(st, 0), .amount = sql_col(st, 2),
			.charged = sql_col(st, 3), .held = sql_col(st, 4) };

		snprintf(u.name, sizeof(u.name), "%s", sql_text(st, 1));
		rc = each(&u, arg);
	}
	if (st)
		sqlite3_reset(st);
	return rc;
}

int refunded_since(struct ledger *l, int64_t project, int64_t entry, amount_t *out, struct fault *why)
{
	static const char sql[] =
		"SELECT coalesce(sum(units), 0) FROM journal WHERE project = ? AND id > ? AND kind = 'refund'";

	return sql_int(l, out, sql, why, "ii", project, entry) < 0 ? -1 : 0;
}

int ending_walk(struct ledger *l, int64_t now, int64_t until, ending_fn each, void *arg, struct fault *why)
{
	static const char sql[] =
		"SELECT a.id, p.id, p.name, a.ends, s.amount - s.charged - s.held FROM allocation a"
		" JOIN allocation_sum s ON s.allocation = a.id JOIN project p ON p.id = a.project"
		" WHERE a.starts <= ?1 AND a.ends > ?1 AND a.ends <= ?2 AND p.removed_at IS NULL AND p.unmetered = 0"
		" ORDER BY a.ends, a.id";
	sqlite3_stmt *st = sql_bind(l, sql, why, "ii", now, until);
	int rc = st ? 0 : -1;

	while (rc == 0 && (rc = sql_step(l, st, why)) == 1) {
		struct ending e = { .allocation = sql_col(st, 0), .project = sql_col(st, 1), .ends = sql_col(st, 3),
			.left = sql_col(st, 4) };

		snprintf(e.name, sizeof(e.name), "%s", sql_text(st, 2));
		rc = each(&e, arg);
	}
	if (st)
		sqlite3_reset(st);
	return rc;
}

/* --- events ---------------------------------------------------------------------------------------- */

static enum event_what what_of(const char *name)
{
	enum event_what w = EVENT_TOLD;

	while (w < EVENT_WHATS - 1 && strcmp(event_what_name(w), name) != 0)
		w++;
	return w;
}

int run_event_walk(struct ledger *l, int64_t after, int64_t limit, run_event_fn each, void *arg,
	struct fault *why)
{
	static const char sql[] =
		"SELECT e.id, e.at, e.job, e.what, e.reason, coalesce(e.for_job, 0), e.detail, r.label, p.name, r.uid FROM event e"
		" JOIN run r ON r.id = e.run JOIN project p ON p.id = r.project"
		" WHERE e.id > ? AND e.what IN ('displaced', 'noted', 'warned', 'unprotected') ORDER BY e.id LIMIT ?";
	sqlite3_stmt *st = sql_bind(l, sql, why, "ii", after, limit);
	int rc = st ? 0 : -1;

	while (rc == 0 && (rc = sql_step(l, st, why)) == 1) {
		struct run_event e = { .uid = sql_col(st, 9),
			.event = { .id = sql_col(st, 0), .at = sql_col(st, 1), .job = sql_col(st, 2),
				.what = what_of(sql_text(st, 3)), .reason = event_reason_read(sql_text(st, 4)),
				.for_job = sql_col(st, 5) } };

		snprintf(e.event.detail, sizeof(e.event.detail), "%s", sql_text(st, 6));
		snprintf(e.label, sizeof(e.label), "%s", sql_text(st, 7));
		snprintf(e.project, sizeof(e.project), "%s", sql_text(st, 8));
		rc = each(&e, arg);
	}
	if (st)
		sqlite3_reset(st);
	return rc;
}

/* --- people ---------------------------------------------------------------------------------------- */

int owners_text(struct ledger *l, int64_t project, char *out, size_t size, struct fault *why)
{
	/* depth 0 is the project itself */
	static const char sql[] =
		"WITH RECURSIVE up(id, depth) AS (SELECT ?1, 0 UNION ALL"
		" SELECT p.parent, depth + 1 FROM up JOIN project p ON p.id = up.id WHERE p.parent IS NOT NULL)"
		" SELECT m.user, up.depth FROM up JOIN member m ON m.project = up.id AND m.role = 'owner'"
		" ORDER BY up.depth, m.user";
	sqlite3_stmt *st = sql_bind(l, sql, why, "i", project);
	int64_t depth = -1;
	size_t used = 0;
	int rc = st ? 0 : -1;

	out[0] = '\0';
	while (rc == 0 && (rc = sql_step(l, st, why)) == 1) {
		const char *user = sql_text(st, 0);

		if (depth >= 0 && sql_col(st, 1) != depth)
			break;
		depth = sql_col(st, 1);
		if (used + strlen(user) + 2 < size)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "", user);
		rc = 0;
	}
	if (st)
		sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}
