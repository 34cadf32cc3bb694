/* SPDX-License-Identifier: GPL-2.0-or-later
 * bench_file.c - the file of the books on the bench (bench_file.h) */
#include "tests/model/bench_file.h"
#include "books/audit.h"
#include "tests/model/memory_files.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bench_must(bool ok, const struct bench *b, const char *doing)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", doing, b->why.text);
	abort();
}

static void done(const struct bench *b, sqlite3 *db, bool ok)
{
	bench_must(ok, b, db ? sqlite3_errmsg(db) : "out of memory");
}

/* --- files -------------------------------------------------------------------------------------- */

/* For names and locks: the bytes are in memory. */
static const char *tmp_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	if (getenv("MODEL_TMP")) /* who breaks the code on purpose cleans up after it */
		return getenv("MODEL_TMP");
	if (access("/dev/shm", W_OK) == 0)
		return "/dev/shm";
	return tmp && *tmp && strlen(tmp) < 32 ? tmp : "/tmp";
}

static void empty_path(const struct bench *b, char path[static 96])
{
	snprintf(path, 96, "%s/empty.db", b->folder);
}

void bench_folder_make(struct bench *b)
{
	char empty[96];

	/* All connections are of this one thread. */
	bench_must(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK &&
		sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK, b, "SQLite");
	b->files = memory_files_new();
	snprintf(b->folder, sizeof(b->folder), "%s/model-XXXXXX", tmp_folder());
	bench_must(mkdtemp(b->folder) != NULL, b, b->folder);
	empty_path(b, empty);
	bench_must(ledger_create(empty, &b->why) == 0, b, "making a database");
}

void bench_folder_remove(struct bench *b)
{
	char empty[96];

	empty_path(b, empty);
	bench_file_remove(b, empty);
	rmdir(b->folder);
	memory_files_free(b->files);
}

void bench_file_make(struct bench *b, const char *from)
{
	char empty[96];

	empty_path(b, empty);
	snprintf(b->path, sizeof(b->path), "%s/ledger%d.db", b->folder, b->generation++);
	free(b->settings->database);
	b->settings->database = strdup(b->path);
	bench_must(b->settings->database != NULL, b, "out of memory");
	memory_file_copy(b->files, from ? from : empty, b->path);
}

void bench_file_remove(struct bench *b, const char *path)
{
	memory_file_remove(b->files, path);
}

/* --- looking ------------------------------------------------------------------------------------ */

static sqlite3_stmt *prepared(struct bench *b, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st = NULL;

	done(b, db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL) == SQLITE_OK);
	return st;
}

static void look_open(struct bench *b)
{
	done(b, b->look, sqlite3_open_v2(b->path, &b->look, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		NULL) == SQLITE_OK);
	bench_must(audit_prepare(b->look, &b->why) == 0, b, "a second connection");
	b->sums = prepared(b, b->look,
		"SELECT allocation, amount, charged, held FROM allocation_sum ORDER BY allocation");
	b->holds = prepared(b, b->look, "SELECT coalesce(sum(units), 0) FROM hold WHERE closed_at IS NULL");
	b->parts = prepared(b, b->look,
		"SELECT c.kind, c.part_end - c.part_start, c.units FROM charge c JOIN run r ON r.id = c.run WHERE r.job = ? AND r.start = ?");
	bench_must(audit_check_count <= BENCH_AUDITS, b, "more checks than expected");
	for (size_t i = 0; i < audit_check_count; i++)
		b->audits[i] = audit_checks[i].sql ? prepared(b, b->look, audit_checks[i].sql) : NULL;
}

static void look_close(struct bench *b)
{
	sqlite3_finalize(b->sums);
	sqlite3_finalize(b->holds);
	sqlite3_finalize(b->parts);
	for (size_t i = 0; i < audit_check_count; i++)
		sqlite3_finalize(b->audits[i]);
	sqlite3_close(b->look);
}

/* --- wiping ------------------------------------------------------------------------------------- */

static void wipe_add(struct bench *b, const char *format, const char *table)
{
	char *sql = sqlite3_mprintf(format, table, table);

	bench_must(sql && b->nwipes < BENCH_WIPES, b, "a wiper");
	b->wipes[b->nwipes++] = prepared(b, b->wipe, sql);
	sqlite3_free(sql);
}

/* The database refuses to forget; without its triggers it does, and no other connection sees that. */
static void wipe_open(struct bench *b)
{
	static const char tables_sql[] =
		"SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name = 'sqlite_sequence'";
	char empty[96], attach[160];
	sqlite3_stmt *tables;

	empty_path(b, empty);
	snprintf(attach, sizeof(attach), "ATTACH '%s' AS empty", empty);
	done(b, b->wipe, sqlite3_open_v2(b->path, &b->wipe, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		NULL) == SQLITE_OK &&
		sqlite3_db_config(b->wipe, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK &&
		sqlite3_exec(b->wipe, attach, NULL, NULL, NULL) == SQLITE_OK);
	b->nwipes = 0;
	wipe_add(b, "BEGIN IMMEDIATE", "");
	tables = prepared(b, b->wipe, tables_sql);
	while (sqlite3_step(tables) == SQLITE_ROW) {
		wipe_add(b, "DELETE FROM main.%w", (const char *)sqlite3_column_text(tables, 0));
		wipe_add(b, "INSERT INTO main.%w SELECT * FROM empty.%w",
			(const char *)sqlite3_column_text(tables, 0));
	}
	sqlite3_finalize(tables);
	wipe_add(b, "COMMIT", "");
	/* a copy of the file is a copy of its WAL */
	wipe_add(b, "PRAGMA main.wal_checkpoint(TRUNCATE)", "");
}

static void wipe_close(struct bench *b)
{
	for (int i = 0; i < b->nwipes; i++)
		sqlite3_finalize(b->wipes[i]);
	sqlite3_close(b->wipe);
}

void bench_file_wipe(struct bench *b)
{
	for (int i = 0; i < b->nwipes; i++) {
		int rc;

		while ((rc = sqlite3_step(b->wipes[i])) == SQLITE_ROW)
			;
		done(b, b->wipe, rc == SQLITE_DONE && sqlite3_reset(b->wipes[i]) == SQLITE_OK);
	}
}

/* --- both --------------------------------------------------------------------------------------- */

void bench_file_open(struct bench *b)
{
	bench_must(ledger_open(b->path, &b->d.ledger, &b->why) == 0 &&
			ledger_open_reader(b->path, &b->d.snapshot, &b->why) == 0,
		b, "opening the books");
	look_open(b);
	wipe_open(b);
}

void bench_file_close(struct bench *b)
{
	look_close(b);
	wipe_close(b);
	ledger_close(b->d.snapshot);
	ledger_close(b->d.ledger);
}
