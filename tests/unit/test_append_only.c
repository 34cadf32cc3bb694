/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_append_only.c - the database itself refuses to change what is final, whoever asks it
 *
 * By SQL alone, over the rows of the fixture: what is refused here is refused to any program that has the
 * file open, not only to budgetd. The tables are those of books/chain.h, so that a new one without triggers
 * fails. */
#include "tests/unit/suites.h"
#include "books/chain.h"
#include "books/schema.h"
#include <sqlite3.h>
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;

static void load_fixture(void)
{
	const char *cases = getenv("CASES");
	struct fault why = {0};
	static char rows[1 << 17];
	char name[160];
	size_t n;
	FILE *f;

	ck_assert_msg(schema_build(db, &schema_steps, &why) == 0, "%s", why.text);
	snprintf(name, sizeof(name), "%s/fixtures/%04zu.sql", cases ? cases : ".", schema_steps.count);
	f = fopen(name, "r");
	ck_assert_msg(f != NULL, "%s: every schema has its rows there", name);
	n = fread(rows, 1, sizeof(rows) - 1, f);
	fclose(f);
	rows[n] = '\0';
	ck_assert_msg(sqlite3_exec(db, rows, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
}

static void setup(void)
{
	ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	load_fixture();
}

static void teardown(void)
{
	sqlite3_close(db);
}

static int64_t ask(const char *sql)
{
	sqlite3_stmt *st = NULL;
	int64_t value;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(db));
	value = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return value;
}

/* A trigger of ours said no, not a CHECK that happened to. */
static void refused(const char *sql)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	ck_assert_msg(rc != SQLITE_OK, "was done: %s", sql);
	ck_assert_msg(sqlite3_extended_errcode(db) == SQLITE_CONSTRAINT_TRIGGER, "%s: %s", sql,
		sqlite3_errmsg(db));
}

#define REFUSED(...)                                             \
	do {                                                     \
		char sql_[1024];                                 \
		snprintf(sql_, sizeof(sql_), __VA_ARGS__);       \
		refused(sql_);                                   \
	} while (0)

/* One text of `sql` about `name`. */
static void text_of(const char *sql, const char *name, char *out, size_t size)
{
	sqlite3_stmt *st = NULL;

	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
	sqlite3_bind_text(st, 1, name, -1, NULL);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	snprintf(out, size, "%s", sqlite3_column_text(st, 0) ? (const char *)sqlite3_column_text(st, 0) : "");
	sqlite3_finalize(st);
}

/* The columns of a table for INSERT ... SELECT: those of the index `key` as they are, of other unique keys
 * NULL where that may be. */
static void columns_but_other_keys(const char *table, const char *key, char *out, size_t size)
{
	char sql[1024];

	snprintf(sql, sizeof(sql),
		"SELECT group_concat(CASE WHEN name IN (SELECT name FROM pragma_index_info('%s')) THEN '\"' || name || '\"'"
		" WHEN pk OR (NOT \"notnull\" AND name IN (SELECT i.name FROM pragma_index_list('%s') l, pragma_index_info(l.name) i"
		"  WHERE l.\"unique\")) THEN 'NULL' ELSE '\"' || name || '\"' END, ', ') FROM pragma_table_info(?1)",
		key, table);
	text_of(sql, table, out, size);
}

static void replaced_by_key(const char *table, const char *key)
{
	char columns[512], there[256], sql[1024];

	text_of("SELECT group_concat('\"' || name || '\" IS NOT NULL', ' AND ') FROM pragma_index_info(?1)",
		key, there, sizeof(there));
	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE %s", table, there);
	ck_assert_msg(ask(sql) > 0, "the fixture has no row in %s", key);
	columns_but_other_keys(table, key, columns, sizeof(columns));
	REFUSED("INSERT OR REPLACE INTO %s SELECT %s FROM %s WHERE %s", table, columns, table, there);
}

static void never_replaced(const char *table, const char *final)
{
	sqlite3_stmt *st = NULL;

	REFUSED("INSERT OR REPLACE INTO %s SELECT * FROM %s WHERE %s", table, table, final);
	ck_assert_int_eq(sqlite3_prepare_v2(db,
		"SELECT name FROM pragma_index_list(?1) WHERE \"unique\" AND origin <> 'pk'", -1, &st, NULL),
		SQLITE_OK);
	sqlite3_bind_text(st, 1, table, -1, NULL);
	while (sqlite3_step(st) == SQLITE_ROW)
		replaced_by_key(table, (const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}

static void never_changed(const char *table, const char *final)
{
	sqlite3_stmt *st = NULL;

	ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?1)", -1, &st, NULL),
		SQLITE_OK);
	sqlite3_bind_text(st, 1, table, -1, NULL);
	while (sqlite3_step(st) == SQLITE_ROW)
		REFUSED("UPDATE %s SET \"%s\" = \"%s\" WHERE %s", table, sqlite3_column_text(st, 0),
			sqlite3_column_text(st, 0), final);
	sqlite3_finalize(st);
}

static void is_append_only(const char *table, const char *closing)
{
	char final[64] = "1", sql[256];

	if (closing)
		snprintf(final, sizeof(final), "%s IS NOT NULL", closing);
	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE %s", table, final);
	ck_assert_msg(ask(sql) > 0, "the fixture has no row of %s that is final", table);
	never_changed(table, final);
	REFUSED("DELETE FROM %s WHERE %s", table, final);
	never_replaced(table, final);
	if (closing)	/* what is open does not take its place */
		REFUSED("UPDATE OR REPLACE %s SET id = (SELECT min(id) FROM %s WHERE %s) WHERE %s IS NULL",
			table, table, final, closing);
}

/* A void, for the one key of the journal that the fixture has no row for, imports, and GPUs. */
static void add_what_the_fixture_lacks(void)
{
	static const char rows_sql[] =
		"INSERT INTO journal (at, kind, allocation, project, units, balance, actor, corrects)"
		" SELECT at, 'void', allocation, project, -units, balance - units, 'ada', id FROM journal WHERE id = 3;"
		"INSERT INTO import (at, actor, hash) VALUES (1, 'root', zeroblob(32)), (1, 'root', NULL);"
		"INSERT INTO capacity (at, units) VALUES (1, 16000)";

	ck_assert_msg(sqlite3_exec(db, rows_sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
}

START_TEST(what_is_final_is_never_changed_deleted_or_replaced)
{
	const char *closing, *table;
	size_t n = 0;

	add_what_the_fixture_lacks();
	for (; (table = chain_table(n, &closing)) != NULL; n++)
		is_append_only(table, closing);
	ck_assert_uint_ge(n, 9);
	is_append_only("chain", NULL);
	is_append_only("said", NULL);
}
END_TEST

/* What is set aside and what administrators set, as it is now. */
static const char *const present[] = { "project", "member", "allocation", "allocation_sum", "cap", "user_sum",
	"user_share", "admission", "hold_draw", "shadow",
	"leaving", "guard", "kept_off", "drain", "look", "chain_head", "lane_job", "lane_run", "slot" };

static bool is_known(const char *table)
{
	const char *closing, *t;

	for (size_t i = 0; i < sizeof(present) / sizeof(present[0]); i++)
		if (!strcmp(present[i], table))
			return true;
	for (size_t i = 0; (t = chain_table(i, &closing)) != NULL; i++)
		if (!strcmp(t, table))
			return true;
	return !strcmp(table, "chain") || !strcmp(table, "said");
}

START_TEST(every_table_is_present_state_or_append_only)
{
	sqlite3_stmt *st = NULL;

	ck_assert_int_eq(sqlite3_prepare_v2(db,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", -1, &st,
		NULL), SQLITE_OK);
	while (sqlite3_step(st) == SQLITE_ROW)
		ck_assert_msg(is_known((const char *)sqlite3_column_text(st, 0)),
			"table %s: may its rows change? then name it here; else in books/chain.c",
			sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
}
END_TEST

START_TEST(an_allocation_that_the_journal_names_keeps_what_was_counted_by)
{
	refused("UPDATE allocation SET project = 1 WHERE id = 2");
	refused("UPDATE allocation SET id = 9 WHERE id = 2");
	refused("UPDATE allocation SET starts = starts + 1 WHERE id = 2");
	refused("DELETE FROM allocation WHERE id = 2");
	refused("INSERT OR REPLACE INTO allocation SELECT * FROM allocation");
	ck_assert_int_eq(sqlite3_exec(db,
		"UPDATE allocation SET ends = 1900000000, comment = 'longer' WHERE id = 2", NULL, NULL, NULL),
		SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db,
		"INSERT INTO allocation (project, starts, created_at) VALUES (2, 5, 5);"
		"UPDATE allocation SET starts = 6 WHERE id = last_insert_rowid()", NULL, NULL, NULL),
		SQLITE_OK);
}
END_TEST

Suite *append_only_suite(void)
{
	Suite *s = suite_create("append_only");
	TCase *t = tcase_create("triggers");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_is_final_is_never_changed_deleted_or_replaced);
	tcase_add_test(t, every_table_is_present_state_or_append_only);
	tcase_add_test(t, an_allocation_that_the_journal_names_keeps_what_was_counted_by);
	suite_add_tcase(s, t);
	return s;
}
