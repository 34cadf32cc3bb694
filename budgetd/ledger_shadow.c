/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_shadow.c - what shadow mode would have done. */
#include "budgetd/ledger_shadow.h"
#include "budgetd/ledger_sql.h"
#include <stdio.h>
#include <string.h>

#define SHADOW_COLUMNS "id, at, job, kind, admission, account, partition, uid, gpus, for_job, text"

static const int64_t *nullable(const int64_t *v)
{
	return *v ? v : NULL;
}

int shadow_note(struct ledger *l, const struct shadow *s, struct fault *why)
{
	static const char note_sql[] =
		"INSERT OR IGNORE INTO shadow (at, job, kind, admission, account, partition, uid, gpus, for_job, text)"
		" VALUES (?, ?, ?, ?, lower(?), ?, ?, ?, ?, ?)";

	return sql_do(l, note_sql, why, "ipspssiips", s->at, nullable(&s->job), s->kind,
		nullable(&s->admission), s->account, s->partition, s->uid, s->gpus, nullable(&s->for_job),
		s->text);
}

int shadow_known(struct ledger *l, int64_t job, struct fault *why)
{
	static const char known_sql[] = "SELECT id FROM shadow WHERE job = ? AND kind <> 'displaced' LIMIT 1";
	int64_t id;

	return sql_int(l, &id, known_sql, why, "i", job);
}

int shadow_bind(struct ledger *l, const struct shadow *s, int64_t *admission, struct fault *why)
{
	static const char find_sql[] =
		"SELECT id, admission FROM shadow WHERE job IS NULL AND uid = ?1 AND at BETWEEN ?2 - 2 AND ?2 + 2"
		" AND account = lower(?3) AND gpus = ?4 ORDER BY id LIMIT 1";
	static const char bind_sql[] = "UPDATE shadow SET job = ? WHERE id = ?";
	sqlite3_stmt *st = sql_bind(l, find_sql, why, "iisi", s->uid, s->at, s->account, s->gpus);
	int rc = st ? sql_step(l, st, why) : -1;
	int64_t id;

	if (rc != 1)
		return rc;
	id = sql_col(st, 0);
	*admission = sql_col(st, 1);
	sqlite3_reset(st);
	return sql_do(l, bind_sql, why, "ii", s->job, id) < 0 ? -1 : 1;
}

int shadow_expire_unbound(struct ledger *l, int64_t before, struct fault *why)
{
	static const char expire_sql[] = "DELETE FROM shadow WHERE job IS NULL AND at < ?";

	return sql_do(l, expire_sql, why, "i", before);
}

static void shadow_read(sqlite3_stmt *st, struct shadow *s)
{
	memset(s, 0, sizeof(*s));
	s->id = sql_col(st, 0);
	s->at = sql_col(st, 1);
	s->job = sql_col(st, 2);
	snprintf(s->kind, sizeof(s->kind), "%s", sql_text(st, 3));
	s->admission = sql_col(st, 4);
	snprintf(s->account, sizeof(s->account), "%s", sql_text(st, 5));
	snprintf(s->partition, sizeof(s->partition), "%s", sql_text(st, 6));
	s->uid = sql_col(st, 7);
	s->gpus = sql_col(st, 8);
	s->for_job = sql_col(st, 9);
	snprintf(s->text, sizeof(s->text), "%s", sql_text(st, 10));
}

int shadow_walk(struct ledger *l, const char *account, bool funded, int64_t before, int64_t limit,
	shadow_fn each, void *arg, struct fault *why)
{
	static const char walk_sql[] =
		"SELECT " SHADOW_COLUMNS " FROM shadow WHERE job IS NOT NULL AND (?1 IS NULL OR account = lower(?1))"
		" AND (?2 OR kind <> 'funded') AND id < ?3 ORDER BY id DESC LIMIT ?4";
	sqlite3_stmt *st = sql_bind(l, walk_sql, why, "siii", account, (int64_t)funded,
		before ? before : INT64_MAX, limit);
	struct shadow s;
	int rc = -1;

	while (st && (rc = sql_step(l, st, why)) == 1) {
		shadow_read(st, &s);
		if (each(&s, arg) < 0) {
			sqlite3_reset(st);
			return -1;
		}
	}
	return rc;
}
