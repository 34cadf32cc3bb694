/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice_queue.c - the file in which notices wait (notice_queue.h). */
#include "budgetd/notice_queue.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA 1
#define BUSY_MS 5000		/* the other connections write for milliseconds */
#define MONTH_S (INT64_C(30) * 86400)

struct notice_queue {
	sqlite3 *db;
};

static const char schema[] =
	"CREATE TABLE seen (id INTEGER PRIMARY KEY CHECK (id = 1), event INTEGER NOT NULL, event_at INTEGER NOT NULL,"
	" entry INTEGER NOT NULL) STRICT;"
	"CREATE TABLE budget (project INTEGER PRIMARY KEY, told INTEGER NOT NULL, amount INTEGER NOT NULL) STRICT;"
	"CREATE TABLE expiry (allocation INTEGER PRIMARY KEY, ends INTEGER NOT NULL) STRICT;"
	/* AUTOINCREMENT: a number is never used again, as keys must not be */
	"CREATE TABLE notice (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind INTEGER NOT NULL,"
	" severity INTEGER NOT NULL, project TEXT NOT NULL, job TEXT NOT NULL, recipients TEXT NOT NULL,"
	" subject TEXT NOT NULL, text TEXT NOT NULL) STRICT;"
	"CREATE TABLE delivery (notice INTEGER NOT NULL REFERENCES notice(id), way INTEGER NOT NULL,"
	" state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'told', 'failed')),"
	" attempts INTEGER NOT NULL DEFAULT 0, next_at INTEGER NOT NULL DEFAULT 0, done_at INTEGER NOT NULL DEFAULT 0,"
	" error TEXT NOT NULL DEFAULT '', PRIMARY KEY (notice, way)) STRICT, WITHOUT ROWID;"
	"CREATE INDEX delivery_waiting ON delivery(way, attempts, notice) WHERE state = 'waiting';"
	"CREATE INDEX delivery_failed ON delivery(notice) WHERE state = 'failed';"
	/* two queues never give the same key: of a file that was lost and made anew, too */
	"CREATE TABLE queue (name TEXT NOT NULL) STRICT;"
	"INSERT INTO queue VALUES (lower(hex(randomblob(8))));"
	"PRAGMA user_version = 1;";

static const char *const way_names[NOTICE_WAYS] = { "command", "webhook" };

const char *notice_way_name(enum notice_way w)
{
	return way_names[w];
}

/* --- SQL ------------------------------------------------------------------------------------------- */

static int sql_fault(struct notice_queue *q, struct fault *why)
{
	int code = sqlite3_errcode(q->db) & 0xff;

	return fault_errno(why, code == SQLITE_BUSY ? EAGAIN : code == SQLITE_FULL ? ENOSPC : EIO,
		"the queue of notices: %s", sqlite3_errmsg(q->db));
}

/* `types`: i = int64_t, s = const char *. A statement that is made for one use; NULL and `why`. */
static sqlite3_stmt *ask(struct notice_queue *q, const char *sql, struct fault *why, const char *types, va_list ap)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(q->db, sql, -1, &st, NULL);

	for (int i = 0; rc == SQLITE_OK && types[i]; i++)
		rc = types[i] == 'i' ? sqlite3_bind_int64(st, i + 1, va_arg(ap, int64_t))
			: sqlite3_bind_text(st, i + 1, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
	if (rc == SQLITE_OK)
		return st;
	sql_fault(q, why);
	sqlite3_finalize(st);
	return NULL;
}

/* The statement on its first row, to be finalized: 1; 0 = there is none; -1. */
static int first_row(struct notice_queue *q, sqlite3_stmt **row, const char *sql, struct fault *why,
	const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;
	int rc;

	va_start(ap, types);
	st = ask(q, sql, why, types, ap);
	va_end(ap);
	*row = NULL;
	if (!st)
		return -1;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		*row = st;
		return 1;
	}
	if (rc != SQLITE_DONE)
		sql_fault(q, why);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int run(struct notice_queue *q, const char *sql, struct fault *why, const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;
	int rc;

	va_start(ap, types);
	st = ask(q, sql, why, types, ap);
	va_end(ap);
	if (!st)
		return -1;
	rc = sqlite3_step(st);
	if (rc != SQLITE_DONE)
		sql_fault(q, why);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int run_script(struct notice_queue *q, const char *sql, struct fault *why)
{
	return sqlite3_exec(q->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : sql_fault(q, why);
}

static void text_copy(char *to, size_t size, sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	snprintf(to, size, "%s", text ? text : "");
}

/* --- the file -------------------------------------------------------------------------------------- */

/* What it says is for those who may read the books. One that is there is never opened here: closing it would
 * drop the locks that SQLite has on it in this process, and another one would take it for unused. */
static int file_make(const char *path, struct fault *why)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);

	if (fd < 0 && errno == EEXIST)
		return 0;
	if (fd < 0)
		return fault_errno(why, errno, "%s: %s", path, strerror(errno));
	close(fd);
	return 0;
}

static int schema_make(struct notice_queue *q, const char *path, struct fault *why)
{
	sqlite3_stmt *st;
	int version;

	if (run_script(q, "BEGIN IMMEDIATE", why) < 0 || first_row(q, &st, "PRAGMA user_version", why, "") != 1)
		return -1;
	version = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	if (version == 0 && run_script(q, schema, why) < 0)
		return -1;
	if (version > SCHEMA)
		return fault_errno(why, EPROTO,
			"%s is of a newer version: move it away, and what waits in it is not told", path);
	return run_script(q, "COMMIT", why);
}

int notice_queue_open(const char *database, struct notice_queue **out, struct fault *why)
{
	struct notice_queue *q = calloc(1, sizeof(*q));
	char *path = NULL;
	int rc = -1;

	if (!q || asprintf(&path, "%s.notices", database) < 0) {
		free(q);
		return fault_errno(why, ENOMEM, "out of memory");
	}
	if (file_make(path, why) < 0)
		goto out;
	if (sqlite3_open_v2(path, &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL) != SQLITE_OK) {
		sql_fault(q, why);
		goto out;
	}
	sqlite3_busy_timeout(q->db, BUSY_MS);
	if (run_script(q, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", why) < 0 ||
		schema_make(q, path, why) < 0)
		goto out;
	*out = q;
	q = NULL;
	rc = 0;
out:
	notice_queue_close(q);
	free(path);
	return rc;
}

void notice_queue_close(struct notice_queue *q)
{
	int saved = errno;

	if (!q)
		return;
	sqlite3_close(q->db);
	free(q);
	errno = saved;
}

int notice_queue_begin(struct notice_queue *q, struct fault *why)
{
	return run_script(q, "BEGIN IMMEDIATE", why);
}

int notice_queue_commit(struct notice_queue *q, struct fault *why)
{
	if (run_script(q, "COMMIT", why) == 0)
		return 0;
	notice_queue_rollback(q);
	return -1;
}

void notice_queue_rollback(struct notice_queue *q)
{
	int saved = errno;

	sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
	errno = saved;
}

/* --- up to where was looked ------------------------------------------------------------------------ */

int notice_seen_get(struct notice_queue *q, struct notice_seen *out, struct fault *why)
{
	sqlite3_stmt *st;
	int rc = first_row(q, &st, "SELECT event, event_at, entry FROM seen", why, "");

	*out = (struct notice_seen){ 0 };
	if (rc != 1)
		return rc;
	out->event = sqlite3_column_int64(st, 0);
	out->event_at = sqlite3_column_int64(st, 1);
	out->entry = sqlite3_column_int64(st, 2);
	sqlite3_finalize(st);
	return 1;
}

int notice_seen_set(struct notice_queue *q, const struct notice_seen *seen, struct fault *why)
{
	return run(q, "INSERT OR REPLACE INTO seen VALUES (1, ?, ?, ?)", why, "iii", seen->event, seen->event_at,
		seen->entry);
}

int notice_budget_get(struct notice_queue *q, int64_t project, struct notice_budget *out, struct fault *why)
{
	sqlite3_stmt *st;
	int rc = first_row(q, &st, "SELECT told, amount FROM budget WHERE project = ?", why, "i", project);

	*out = (struct notice_budget){ 0 };
	if (rc != 1)
		return rc;
	out->told = sqlite3_column_int64(st, 0);
	out->amount = sqlite3_column_int64(st, 1);
	sqlite3_finalize(st);
	return 0;
}

int notice_budget_set(struct notice_queue *q, int64_t project, const struct notice_budget *b, struct fault *why)
{
	return run(q, "INSERT OR REPLACE INTO budget VALUES (?, ?, ?)", why, "iii", project, b->told, b->amount);
}

int notice_expiry_get(struct notice_queue *q, int64_t allocation, int64_t *ends, struct fault *why)
{
	sqlite3_stmt *st;
	int rc = first_row(q, &st, "SELECT ends FROM expiry WHERE allocation = ?", why, "i", allocation);

	*ends = 0;
	if (rc != 1)
		return rc;
	*ends = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return 0;
}

int notice_expiry_set(struct notice_queue *q, int64_t allocation, int64_t ends, struct fault *why)
{
	return run(q, "INSERT OR REPLACE INTO expiry VALUES (?, ?)", why, "ii", allocation, ends);
}

/* --- notices --------------------------------------------------------------------------------------- */

void notice_clear(struct notice *n)
{
	free(n->text);
	n->text = NULL;
}

int notice_add(struct notice_queue *q, const struct notice *n, unsigned ways, struct fault *why)
{
	int64_t id;

	if (run(q, "INSERT INTO notice (at, kind, severity, project, job, recipients, subject, text)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?)", why, "iiisssss", n->at, (int64_t)n->kind, (int64_t)n->severity,
		n->project, n->job, n->to, n->subject, n->text) < 0)
		return -1;
	id = sqlite3_last_insert_rowid(q->db);
	for (int w = 0; w < NOTICE_WAYS; w++)
		if (ways & 1u << w &&
			run(q, "INSERT INTO delivery (notice, way) VALUES (?, ?)", why, "ii", id, (int64_t)w) < 0)
			return -1;
	return 0;
}

#define NOTICE_COLUMNS "n.id, (SELECT name FROM queue) || '-' || n.id, n.at, n.kind, n.severity, n.project, n.job," \
	" n.recipients, n.subject"
#define NOTICE_COLUMNS_COUNT 9

static void notice_read(sqlite3_stmt *st, struct notice *n)
{
	*n = (struct notice){ .id = sqlite3_column_int64(st, 0), .at = sqlite3_column_int64(st, 2),
		.kind = (enum notice_kind)sqlite3_column_int(st, 3),
		.severity = (enum notice_severity)sqlite3_column_int(st, 4) };
	text_copy(n->key, sizeof(n->key), st, 1);
	text_copy(n->project, sizeof(n->project), st, 5);
	text_copy(n->job, sizeof(n->job), st, 6);
	text_copy(n->to, sizeof(n->to), st, 7);
	text_copy(n->subject, sizeof(n->subject), st, 8);
	if ((unsigned)n->kind >= NOTICE_KINDS)	/* a file that somebody else wrote in */
		n->kind = NOTICE_TEST;
	if ((unsigned)n->severity >= NOTICE_SEVERITIES)
		n->severity = NOTICE_INFO;
}

int notice_due(struct notice_queue *q, enum notice_way way, int64_t now, struct notice *out, int64_t *attempts,
	struct fault *why)
{
	sqlite3_stmt *st;
	int rc = first_row(q, &st, "SELECT " NOTICE_COLUMNS ", n.text, d.attempts FROM delivery d JOIN notice n ON n.id = d.notice"
		" WHERE d.state = 'waiting' AND d.way = ? AND d.next_at <= ? ORDER BY d.attempts, d.notice LIMIT 1", why, "ii",
		(int64_t)way, now);
	const char *text;

	*out = (struct notice){ 0 };
	if (rc != 1)
		return rc;
	notice_read(st, out);
	text = (const char *)sqlite3_column_text(st, NOTICE_COLUMNS_COUNT);
	out->text = text ? strdup(text) : NULL;
	*attempts = sqlite3_column_int64(st, NOTICE_COLUMNS_COUNT + 1);
	sqlite3_finalize(st);
	return out->text ? 1 : fault_errno(why, ENOMEM, "out of memory");
}

int notice_told(struct notice_queue *q, int64_t id, enum notice_way way, int64_t now, struct fault *why)
{
	return run(q, "UPDATE delivery SET state = 'told', attempts = attempts + 1, done_at = ?, error = ''"
		" WHERE notice = ? AND way = ?", why, "iii", now, id, (int64_t)way);
}

int notice_missed(struct notice_queue *q, int64_t id, enum notice_way way, int64_t next, const char *error,
	struct fault *why)
{
	return run(q, "UPDATE delivery SET attempts = attempts + 1, next_at = ?, error = ? WHERE notice = ? AND way = ?",
		why, "isii", next, error, id, (int64_t)way);
}

int notice_give_up(struct notice_queue *q, int64_t keep_s, unsigned ways, int64_t now, struct fault *why)
{
	if (run(q, "UPDATE delivery SET state = 'failed', done_at = ?1, error = CASE WHEN (?2 >> way) & 1 = 0 THEN"
		" 'that way is not set any more' WHEN error = '' THEN 'there was no time to try it' ELSE error END"
		" WHERE state = 'waiting' AND ((?2 >> way) & 1 = 0"
		" OR notice IN (SELECT n.id FROM notice n WHERE n.id = notice AND ?1 - n.at > ?3))", why, "iii", now,
		(int64_t)ways, keep_s) < 0)
		return -1;
	return sqlite3_changes(q->db);
}

int notice_forget(struct notice_queue *q, int64_t now, struct fault *why)
{
	if (run(q, "DELETE FROM delivery WHERE state <> 'waiting' AND done_at < ?", why, "i", now - MONTH_S) < 0)
		return -1;
	return run(q, "DELETE FROM notice WHERE at < ? AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.notice = notice.id)",
		why, "i", now - MONTH_S);
}

int notice_count(struct notice_queue *q, struct notice_counts *out, struct fault *why)
{
	sqlite3_stmt *st;
	int rc = first_row(q, &st, "SELECT (SELECT count(*) FROM delivery WHERE state = 'waiting'),"
		" (SELECT count(*) FROM delivery WHERE state = 'failed')", why, "");

	if (rc != 1)
		return -1;
	*out = (struct notice_counts){ sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1) };
	sqlite3_finalize(st);
	return 0;
}

static int give_row(sqlite3_stmt *st, notice_fn each, void *arg)
{
	struct notice_delivery d;
	int way = sqlite3_column_int(st, NOTICE_COLUMNS_COUNT);

	notice_read(st, &d.notice);
	d.way = way >= 0 && way < NOTICE_WAYS ? way_names[way] : "";
	d.state = (const char *)sqlite3_column_text(st, NOTICE_COLUMNS_COUNT + 1);
	d.error = (const char *)sqlite3_column_text(st, NOTICE_COLUMNS_COUNT + 2);
	d.attempts = sqlite3_column_int64(st, NOTICE_COLUMNS_COUNT + 3);
	d.next_at = sqlite3_column_int64(st, NOTICE_COLUMNS_COUNT + 4);
	d.done_at = sqlite3_column_int64(st, NOTICE_COLUMNS_COUNT + 5);
	return each(&d, arg);
}

int notice_walk(struct notice_queue *q, const char *state, int64_t limit, notice_fn each, void *arg,
	struct fault *why)
{
	sqlite3_stmt *st;
	int rc = first_row(q, &st, "SELECT " NOTICE_COLUMNS ", d.way, d.state, d.error, d.attempts, d.next_at, d.done_at"
		" FROM delivery d JOIN notice n ON n.id = d.notice WHERE ?1 = '' OR d.state = ?1"
		" ORDER BY d.notice DESC, d.way LIMIT ?2", why, "si", state, limit);
	int step = SQLITE_ROW;

	if (rc != 1)
		return rc;
	for (rc = 0; rc == 0 && step == SQLITE_ROW; step = rc == 0 ? sqlite3_step(st) : step)
		rc = give_row(st, each, arg);
	if (rc == 0 && step != SQLITE_DONE)
		rc = sql_fault(q, why);
	sqlite3_finalize(st);
	return rc;
}
