/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_event.c - events, and the runs that were told to go (ledger_event.h). */
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_sql.h"
#include "lib/duration.h"
#include "lib/refund.h"
#include <stdio.h>
#include <string.h>

static const char *const what_names[EVENT_WHATS] = { [EVENT_TOLD] = "told", [EVENT_DISPLACED] = "displaced",
	[EVENT_NOTED] = "noted",
	[EVENT_WARNED] = "warned", [EVENT_UNPROTECTED] = "unprotected", [EVENT_SPARED] = "spared" };
static const char *const reason_names[EVENT_REASONS] = { [REASON_ROTATED] = "ROTATED",
	[REASON_FREE_RECLAIMED] = "FREE_RECLAIMED", [REASON_NODE_DRAIN] = "NODE_DRAIN",
	[REASON_HEALTH] = "HEALTH", [REASON_IDLE] = "IDLE", [REASON_OVERDRAWN] = "OVERDRAWN",
	[REASON_USER] = "USER" };

static int position(const char *const *names, int count, const char *name)
{
	int i = 0;

	while (i < count && strcmp(names[i], name))
		i++;
	return i;
}

const char *event_what_name(enum event_what w)
{
	return what_names[w];
}

const char *event_reason_name(enum event_reason r)
{
	return reason_names[r];
}

enum event_reason event_reason_read(const char *name)
{
	return (enum event_reason)position(reason_names, EVENT_REASONS, name);
}

/* --- events ------------------------------------------------------------------------------------- */

int event_add(struct ledger *l, const struct event *e, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO event (at, cluster, job, run, what, reason, for_job, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

	return sql_do(l, add_sql, why, "isipssps", e->at, e->cluster, e->job, e->run ? &e->run : NULL,
		what_names[e->what], reason_names[e->reason], e->for_job ? &e->for_job : NULL, e->detail);
}

#define EVENT_COLUMNS "id, at, cluster, job, run, what, reason, for_job, detail"

static void event_read(sqlite3_stmt *st, struct event *e)
{
	memset(e, 0, sizeof(*e));
	e->id = sql_col(st, 0);
	e->at = sql_col(st, 1);
	snprintf(e->cluster, sizeof(e->cluster), "%s", sql_text(st, 2));
	e->job = sql_col(st, 3);
	e->run = sql_col(st, 4);
	e->what = (enum event_what)position(what_names, EVENT_WHATS, sql_text(st, 5));
	e->reason = event_reason_read(sql_text(st, 6));
	e->for_job = sql_col(st, 7);
	snprintf(e->detail, sizeof(e->detail), "%s", sql_text(st, 8));
}

int event_last(struct ledger *l, int64_t run, enum event_what what, enum event_reason reason,
	struct event *out, struct fault *why)
{
	static const char last_sql[] =
		"SELECT " EVENT_COLUMNS " FROM event WHERE run = ? AND what = ? AND reason = ? ORDER BY id DESC LIMIT 1";
	sqlite3_stmt *st = sql_bind(l, last_sql, why, "iss", run, what_names[what], reason_names[reason]);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		event_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int event_spared_for(struct ledger *l, int64_t job, int64_t since, struct fault *why)
{
	static const char spared_sql[] =
		"SELECT 1 FROM event WHERE for_job = ? AND what = 'spared' AND at >= ? LIMIT 1";
	int64_t one;

	return sql_int(l, &one, spared_sql, why, "ii", job, since);
}

static int walk(struct ledger *l, sqlite3_stmt *st, event_fn each, void *arg, struct fault *why)
{
	struct event e;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		event_read(st, &e);
		if (each(&e, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int event_walk_tasks(struct ledger *l, int64_t job, const char *label, int64_t before, int64_t limit,
	event_fn each, void *arg, struct fault *why)
{
	static const char tasks_sql[] =
		"SELECT " EVENT_COLUMNS " FROM event WHERE job IN (SELECT r.job FROM admission a JOIN run r"
		" ON r.admission = a.id WHERE a.job = ?1 AND (?2 = '' OR r.label = ?2) UNION SELECT ?1 WHERE ?2 = '') AND id < ?3"
		" ORDER BY id DESC LIMIT ?4";

	return walk(l, sql_bind(l, tasks_sql, why, "isii", job, label, before ? before : INT64_MAX, limit),
		each, arg, why);
}

int event_of_run(struct ledger *l, const struct run *r, enum event_what what, enum event_reason reason,
	int64_t for_job, const char *detail, int64_t now, struct fault *why)
{
	struct event e = { .at = now, .job = r->job, .run = r->id, .what = what, .reason = reason,
		.for_job = for_job };

	snprintf(e.cluster, sizeof(e.cluster), "%s", r->cluster);
	snprintf(e.detail, sizeof(e.detail), "%s", detail);
	return event_add(l, &e, why);
}

int run_unprotect(struct ledger *l, struct run *r, enum event_reason reason, const char *detail, int64_t now,
	struct fault *why)
{
	static const char unprotect_sql[] =
		"UPDATE run SET unprotected_at = ?, unprotected_why = ? WHERE id = ? AND ended IS NULL"
		" AND unprotected_at IS NULL";

	if (sql_do(l, unprotect_sql, why, "isi", now, reason_names[reason], r->id) < 0)
		return -1;
	if (!sql_changes(l))
		return 1;
	r->unprotected_at = now;
	snprintf(r->unprotected_why, sizeof(r->unprotected_why), "%s", reason_names[reason]);
	return event_of_run(l, r, EVENT_UNPROTECTED, reason, 0, detail, now, why);
}

/* --- runs that leave ---------------------------------------------------------------------------- */

#define LEAVING_COLUMNS "x.run, x.told_at, x.due, x.reason, x.for_job, x.signalled_at, x.made_to_go_at"

static void leaving_read(sqlite3_stmt *st, struct leaving *x)
{
	*x = (struct leaving){ .run = sql_col(st, 0), .told_at = sql_col(st, 1), .due = sql_col(st, 2),
		.reason = event_reason_read(sql_text(st, 3)), .for_job = sql_col(st, 4),
		.signalled_at = sql_col(st, 5), .made_to_go_at = sql_col(st, 6) };
}

int leaving_of(struct ledger *l, int64_t run, struct leaving *out, struct fault *why)
{
	static const char of_sql[] = "SELECT " LEAVING_COLUMNS " FROM leaving x WHERE x.run = ?";
	sqlite3_stmt *st = sql_bind(l, of_sql, why, "i", run);
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		leaving_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int leaving_add(struct ledger *l, const struct run *r, const struct leaving *x, const char *detail,
	struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO leaving (run, told_at, due, reason, for_job) VALUES (?, ?, ?, ?, ?)";
	static const char sooner_sql[] =
		"UPDATE leaving SET due = max(told_at, ?2), reason = ?3, for_job = ?4"
		" WHERE run = ?1 AND due > ?2";
	struct leaving before;
	int rc = leaving_of(l, r->id, &before, why);

	if (rc < 0)
		return -1;
	if (rc == 1)
		return sql_do(l, sooner_sql, why, "iisp", r->id, x->due, reason_names[x->reason],
			x->for_job ? &x->for_job : NULL) < 0 ? -1 : 1;
	if (sql_do(l, add_sql, why, "iiisp", r->id, x->told_at, x->due, reason_names[x->reason],
		x->for_job ? &x->for_job : NULL) < 0)
		return -1;
	return event_of_run(l, r, EVENT_TOLD, x->reason, x->for_job, detail, x->told_at, why);
}

int leaving_update(struct ledger *l, const struct leaving *x, struct fault *why)
{
	static const char update_sql[] =
		"UPDATE leaving SET for_job = ?, signalled_at = ?, made_to_go_at = ? WHERE run = ?";

	return sql_do(l, update_sql, why, "pppi", x->for_job ? &x->for_job : NULL,
		x->signalled_at ? &x->signalled_at : NULL, x->made_to_go_at ? &x->made_to_go_at : NULL,
		x->run);
}

int leaving_remove(struct ledger *l, int64_t run, struct fault *why)
{
	static const char remove_sql[] = "DELETE FROM leaving WHERE run = ?";

	return sql_do(l, remove_sql, why, "i", run);
}

int leaving_walk(struct ledger *l, const char *cluster, leaving_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT " LEAVING_COLUMNS " FROM leaving x JOIN run r ON r.id = x.run WHERE r.cluster = ?"
		" ORDER BY x.told_at, x.run";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "s", cluster);
	struct leaving x;
	struct run r;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		leaving_read(st, &x);
		if (run_by_id(l, x.run, &r, why) != 1 || each(&x, &r, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

/* --- the end ------------------------------------------------------------------------------------ */

/* Whoever did it: Slurm alone only reclaims free runs, and a funded one that nobody here told to go was
 * changed by hand. */
static enum event_reason reason_of_end(const struct run *r, const struct leaving *told)
{
	if (told)
		return told->reason;
	if (r->tier == TIER_FREE || (r->free_since && r->free_since <= r->ended))
		return REASON_FREE_RECLAIMED;
	return r->unprotected_at ? event_reason_read(r->unprotected_why) : REASON_USER;
}

static void describe_end(const struct run *r, enum event_reason reason, char *out, size_t size)
{
	static const char *const why[EVENT_REASONS] =
		{ [REASON_ROTATED] = "its GPUs go to a project that is further below its share",
		[REASON_FREE_RECLAIMED] = "a funded job needs its GPUs",
		[REASON_NODE_DRAIN] = "its node is drained",
		[REASON_HEALTH] = "its node must not be used any more",
		[REASON_IDLE] = "it did not use its GPUs",
		[REASON_OVERDRAWN] = "its project could not pay for it",
		[REASON_USER] = "the job was changed by hand" };

	char ran[DURATION_TEXT_MAX];

	snprintf(out, size, "gave way after %s on %jd GPU%s: %s", duration_text(r->ended - r->start, ran),
		(intmax_t)r->gpus, r->gpus == 1 ? "" : "s", why[reason]);
}

int run_note_displaced(struct ledger *l, const struct run *r, int64_t now, struct fault *why)
{
	struct leaving told;
	char detail[256];
	int rc = leaving_of(l, r->id, &told, why);
	enum event_reason reason = reason_of_end(r, rc == 1 ? &told : NULL);

	if (rc < 0)
		return -1;
	if (!run_gave_way(r->state, rc == 1))
		return 0;
	describe_end(r, reason, detail, sizeof(detail));
	return event_of_run(l, r, EVENT_DISPLACED, reason, rc == 1 ? told.for_job : 0, detail, now, why) < 0
		? -1 : 1;
}
