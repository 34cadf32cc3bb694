/* SPDX-License-Identifier: GPL-2.0-or-later
 * schema.c - the schema of the books and its steps forward (schema.h) */
#include "books/schema.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION_ID 0x67706264	/* "gpbd": tells our file from any other SQLite file */

static const char step_1[] =
#include "sql/0001.sql.h"
	;

static const char *const steps_sql[] = { step_1 };

const struct schema_steps schema_steps = { steps_sql, sizeof(steps_sql) / sizeof(steps_sql[0]) };

static int pragma_int(sqlite3 *db, const char *pragma)
{
	sqlite3_stmt *st = NULL;
	int value = -1;

	if (sqlite3_prepare_v2(db, pragma, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		value = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return value;
}

/* --- forward ------------------------------------------------------------------------------------ */

static int version_set(sqlite3 *db, size_t version)
{
	char sql[48];

	snprintf(sql, sizeof(sql), "PRAGMA user_version = %zu", version);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* 0 = there is none, or SQLite's code. */
static int dangling_reference(sqlite3 *db)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &st, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(st);
	sqlite3_finalize(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc == SQLITE_ROW ? SQLITE_CONSTRAINT_FOREIGNKEY : rc;
}

/* Inside a transaction. SQLite's code. */
static int steps_take(sqlite3 *db, const struct schema_steps *steps, size_t from)
{
	int rc = SQLITE_OK;

	for (size_t i = from; rc == SQLITE_OK && i < steps->count; i++)
		rc = sqlite3_exec(db, steps->sql[i], NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = version_set(db, steps->count);
	return rc == SQLITE_OK ? dangling_reference(db) : rc;
}

int schema_upgrade(sqlite3 *db, const char *path, const struct schema_steps *steps, struct fault *why)
{
	int rc, version = pragma_int(db, "PRAGMA user_version");

	if (version >= 0 && (size_t)version >= steps->count)
		return 0;
	rc = sqlite3_exec(db, "PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		version = pragma_int(db, "PRAGMA user_version");	/* another may have been faster */
	if (rc == SQLITE_OK && version >= 0)
		rc = steps_take(db, steps, (size_t)version);
	if (rc == SQLITE_OK && version >= 0)
		rc = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	if (rc == SQLITE_OK && version >= 0)
		return 0;
	fault_errno(why, rc == SQLITE_FULL ? ENOSPC : rc == SQLITE_BUSY ? EAGAIN : EIO,
		"%s: cannot be brought from schema %d to %zu: %s; it was left as it is", path, version,
		steps->count, rc == SQLITE_CONSTRAINT_FOREIGNKEY ? "a reference would lead nowhere"
		: sqlite3_errmsg(db));
	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
}

/* --- new ---------------------------------------------------------------------------------------- */

int schema_build(sqlite3 *db, const struct schema_steps *steps, struct fault *why)
{
	char sql[48];

	snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", APPLICATION_ID);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return fault_errno(why, EIO, "cannot make a new database: %s", sqlite3_errmsg(db));
	return schema_upgrade(db, "a new database", steps, why);
}

int schema_create(const char *path, struct fault *why)
{
	sqlite3 *db = NULL;
	int fd, rv = -1;

	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return fault_set(why, "%s: cannot make a new database: %s", path, strerror(errno));
	close(fd);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
		sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) != SQLITE_OK)
		fault_errno(why, EIO, "%s: cannot make a new database: %s", path,
			db ? sqlite3_errmsg(db) : "out of memory");
	else
		rv = schema_build(db, &schema_steps, why);
	sqlite3_close(db);
	if (rv < 0)
		unlink(path);
	return rv;
}

/* --- is it the one that its number says? --------------------------------------------------------- */

static int cannot_compare(sqlite3 *db, struct fault *wrong)
{
	return fault_errno(wrong, EIO, "it could not be checked: %s",
		db ? sqlite3_errmsg(db) : "out of memory");
}

static int compare_object(sqlite3 *db, sqlite3_stmt *there, sqlite3_stmt *fresh, struct fault *wrong)
{
	const char *name = (const char *)sqlite3_column_text(fresh, 1);

	sqlite3_reset(there);
	if (sqlite3_bind_value(there, 1, sqlite3_column_value(fresh, 0)) != SQLITE_OK ||
		sqlite3_bind_value(there, 2, sqlite3_column_value(fresh, 1)) != SQLITE_OK)
		return cannot_compare(db, wrong);
	switch (sqlite3_step(there)) {
	case SQLITE_DONE:
		return fault_set(wrong, "the %s %s is missing", sqlite3_column_text(fresh, 0), name), 1;
	case SQLITE_ROW:
		if (!strcmp((const char *)sqlite3_column_text(there, 0),
			(const char *)sqlite3_column_text(fresh, 2)))
			return 0;
		return fault_set(wrong, "the %s %s is not as this version makes it",
			sqlite3_column_text(fresh, 0), name), 1;
	}
	return cannot_compare(db, wrong);
}

int schema_compare(sqlite3 *db, const struct schema_steps *steps, struct fault *wrong)
{
	static const char fresh_sql[] =
		"SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type <> 'table', type, rowid";
	static const char there_sql[] =
		"SELECT sql FROM main.sqlite_schema WHERE type = ? AND name = ? AND sql IS NOT NULL";
	sqlite3_stmt *fresh = NULL, *there = NULL;
	sqlite3 *memory = NULL;
	int rc = SQLITE_DONE, rv = 0;

	if (sqlite3_open(":memory:", &memory) != SQLITE_OK || schema_build(memory, steps, wrong) < 0 ||
		sqlite3_prepare_v2(memory, fresh_sql, -1, &fresh, NULL) != SQLITE_OK)
		rv = cannot_compare(memory, wrong);
	else if (sqlite3_prepare_v2(db, there_sql, -1, &there, NULL) != SQLITE_OK)
		rv = cannot_compare(db, wrong);
	while (rv == 0 && (rc = sqlite3_step(fresh)) == SQLITE_ROW)
		rv = compare_object(db, there, fresh, wrong);
	if (rv == 0 && rc != SQLITE_DONE)
		rv = cannot_compare(memory, wrong);
	sqlite3_finalize(fresh);
	sqlite3_finalize(there);
	sqlite3_close(memory);
	return rv;
}

int schema_check(sqlite3 *db, const char *path, const struct schema_steps *steps, int version,
	struct fault *why)
{
	const struct schema_steps then = { steps->sql, (size_t)version };
	struct fault wrong = {0};
	int rc = schema_compare(db, &then, &wrong);

	if (rc <= 0)
		return rc == 0 ? 0 : fault_errno(why, EIO, "%s: %s", path, wrong.text);
	return fault_errno(why, EPROTO,
		"%s says that it has schema %d, but %s: it was made by a build that was never released, or changed by hand. "
		"Go on with that build, or put the file aside and make a new one: budgetd --init", path,
		version, wrong.text);
}

/* --- whose it is -------------------------------------------------------------------------------- */

/* "ok", or the first thing that is wrong. A text of our own length; a whole quick_check of a year's ledger
 * takes about a second. */
static int check_intact(sqlite3 *db, const char *path, struct fault *why)
{
	sqlite3_stmt *st = NULL;
	int rv = 0;

	if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &st, NULL) != SQLITE_OK ||
		sqlite3_step(st) != SQLITE_ROW)
		rv = fault_errno(why, EBADMSG,
			"%s: the database is corrupt (%s); put it aside and restore a backup", path,
			sqlite3_errmsg(db));
	else if (strcmp((const char *)sqlite3_column_text(st, 0), "ok") != 0)
		rv = fault_errno(why, EBADMSG,
			"%s: the database is corrupt (%s); put it aside and restore a backup", path,
			sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return rv;
}

int schema_of(sqlite3 *db, const char *path, const struct schema_steps *steps, struct fault *why)
{
	int application = pragma_int(db, "PRAGMA application_id"),
		version = pragma_int(db, "PRAGMA user_version");

	if (application == -1 &&
		(sqlite3_errcode(db) == SQLITE_READONLY || sqlite3_errcode(db) == SQLITE_CANTOPEN))
		return fault_errno(why, EROFS,
			"%s cannot be written (%s): budgetd must own the file and its folder", path,
			sqlite3_errmsg(db));	/* its WAL has to be made beside it */
	if (application == -1)
		return fault_errno(why, EBADMSG,
			"%s: %s; put it aside and restore a backup, or name another `database`", path,
			sqlite3_errmsg(db));
	if (application != APPLICATION_ID)
		return fault_errno(why, EBADMSG,
			"%s is not a database of budgetd; name the right one in `database`", path);
	if (version > (int)steps->count)
		return fault_errno(why, EPROTO,
			"%s has schema %d and this budgetd knows %zu: it was written by a newer version; "
			"install that version, or restore a backup made before the upgrade", path, version,
			steps->count);
	if (version < 1)
		return fault_errno(why, EBADMSG,
			"%s has no schema: it was not finished; remove it and run budgetd --init", path);
	return check_intact(db, path, why) < 0 ? -1 : version;
}
