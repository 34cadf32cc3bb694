/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_slot.c - weekly slots in the books (ledger_slot.h). */
#include "budgetd/ledger_slot.h"
#include "budgetd/ledger_sql.h"
#include "lib/slot.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define SLOT_COLUMNS "s.id, s.project, s.starts, s.length, s.percent, s.created_at, s.removed_at, p.name"

static void slot_read(sqlite3_stmt *st, struct slot_row *s)
{
	*s = (struct slot_row){ .id = sql_col(st, 0), .project = sql_col(st, 1), .starts_s = sql_col(st, 2),
		.length_s = sql_col(st, 3), .boosted_percent = sql_col(st, 4), .created_at = sql_col(st, 5),
		.removed_at = sql_col(st, 6) };
	snprintf(s->project_name, sizeof(s->project_name), "%s", sql_text(st, 7));
}

static int read_one(struct ledger *l, sqlite3_stmt *st, struct slot_row *out, struct fault *why)
{
	int rc = st ? sql_step(l, st, why) : -1;

	if (rc == 1) {
		slot_read(st, out);
		sqlite3_reset(st);
	}
	return rc;
}

int slot_by_id(struct ledger *l, int64_t id, struct slot_row *out, struct fault *why)
{
	static const char by_id_sql[] =
		"SELECT " SLOT_COLUMNS " FROM slot s JOIN project p ON p.id = s.project WHERE s.id = ?";
	int rc = read_one(l, sql_bind(l, by_id_sql, why, "i", id), out, why);

	if (rc == 0)
		fault_errno(why, ENOENT, "there is no slot %jd; see budgetctl slot list", (intmax_t)id);
	return rc;
}

int slot_by_request(struct ledger *l, const char *request_id, struct slot_row *out, struct fault *why)
{
	static const char by_request_sql[] =
		"SELECT " SLOT_COLUMNS " FROM change c JOIN slot s ON s.id = CAST(substr(c.what, 6) AS INTEGER)"
		" JOIN project p ON p.id = s.project WHERE c.request_id = ? AND c.what LIKE 'slot %'";

	return read_one(l, sql_bind(l, by_request_sql, why, "s", request_id), out, why);
}

int slot_walk(struct ledger *l, int64_t project, slot_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"WITH RECURSIVE below(id) AS (SELECT ?1 UNION ALL SELECT p.id FROM project p JOIN below ON p.parent = below.id)"
		" SELECT " SLOT_COLUMNS " FROM slot s JOIN project p ON p.id = s.project WHERE s.removed_at IS NULL AND p.removed_at IS NULL"
		" AND (?1 = 0 OR s.project IN (SELECT id FROM below)) ORDER BY p.name, s.starts, s.id";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "i", project);
	struct slot_row s;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		slot_read(st, &s);
		if (each(&s, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}

int slot_walk_running(struct ledger *l, const char *cluster, slot_running_fn each, void *arg,
	struct fault *why)
{
	static const char running_sql[] =
		"SELECT project, sum(gpus) FROM run INDEXED BY run_open WHERE ended IS NULL AND cluster = ?"
		" AND tier = 'funded' AND lost_at IS NULL GROUP BY project";
	sqlite3_stmt *st = sql_bind(l, running_sql, why, "s", cluster);
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1)
		each(sql_col(st, 0), sql_col(st, 1), arg);
	return rc;
}

const char *slot_text(const struct slot_row *s, char buf[static SLOT_TEXT_MAX])
{
	static const char days[][4] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };
	int hours = (int)(s->length_s / 3600), minutes = (int)(s->length_s % 3600 / 60);
	char whole[16] = "", rest[16] = "";

	if (hours)
		snprintf(whole, sizeof(whole), " %d h", hours);
	if (minutes)
		snprintf(rest, sizeof(rest), " %d min", minutes);
	snprintf(buf, SLOT_TEXT_MAX, "%s %02d:%02d for%s%s up to %jd %%", days[s->starts_s / 86400 % 7],
		(int)(s->starts_s % 86400 / 3600), (int)(s->starts_s % 3600 / 60), whole, rest,
		(intmax_t)s->boosted_percent);
	return buf;
}

/* --- added and removed -------------------------------------------------------------------------- */

struct overlap {
	const struct slot_row *with;
	struct slot_row found;
};

static bool is_open_at(const struct slot_row *s, int64_t week_s)
{
	return (week_s - s->starts_s + SLOT_WEEK_S) % SLOT_WEEK_S < s->length_s;
}

static int find_overlap(const struct slot_row *s, void *arg)
{
	struct overlap *x = arg;

	if (s->project == x->with->project &&
		(is_open_at(s, x->with->starts_s) || is_open_at(x->with, s->starts_s)))
		x->found = *s;
	return 0;
}

static int note(struct ledger *l, struct change_words *w, const struct slot_row *s, bool there,
	struct fault *why)
{
	char what[32], text[SLOT_TEXT_MAX];

	snprintf(what, sizeof(what), "slot %" PRId64, s->id);
	slot_text(s, text);
	return change_add(l, w, &(struct change){ .project = s->project, .what = what,
		.was = there ? NULL : text, .became = there ? text : NULL }, why);
}

int slot_add(struct ledger *l, struct change_words *w, struct slot_row *s, int64_t now, struct fault *why)
{
	static const char add_sql[] =
		"INSERT INTO slot (project, starts, length, percent, created_at) VALUES (?, ?, ?, ?, ?)";
	struct overlap x = { .with = s };
	char text[SLOT_TEXT_MAX];

	if (slot_walk(l, s->project, find_overlap, &x, why) < 0)
		return -1;
	if (x.found.id)
		return fault_errno(why, EEXIST,
			"slot %jd of the project (%s) is open then: remove it first, or choose another time",
			(intmax_t)x.found.id, slot_text(&x.found, text));
	if (sql_do(l, add_sql, why, "iiiii", s->project, s->starts_s, s->length_s, s->boosted_percent,
		now) < 0)
		return -1;
	s->id = sql_last_id(l);
	s->created_at = now;
	return note(l, w, s, true, why);
}

int slot_remove(struct ledger *l, struct change_words *w, struct slot_row *s, int64_t now, struct fault *why)
{
	static const char remove_sql[] = "UPDATE slot SET removed_at = ? WHERE id = ? AND removed_at IS NULL";

	if (sql_do(l, remove_sql, why, "ii", now, s->id) < 0)
		return -1;
	if (sql_changes(l) == 0)
		return 0;
	s->removed_at = now;
	return note(l, w, s, false, why);
}
