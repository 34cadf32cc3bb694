/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_schema.c - a database of any schema that was released is brought forward, whole or not at all */
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include "books/audit.h"
#include "books/chain.h"
#include "books/schema.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[128], folder[64];
static sqlite3 *db;
static struct fault why;

static void setup(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%.40s/schema-XXXXXX",
		tmp && *tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/ledger.db", folder);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	why = (struct fault){0};
}

static void teardown(void)
{
	static const char *const files[] = { "", "-wal", "-shm" };
	char name[144];

	sqlite3_close(db);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, files[i]);
		unlink(name);
	}
	rmdir(folder);
}

static void does(const char *sql)
{
	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, "%.60s: %s", sql,
		sqlite3_errmsg(db));
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

/* The database that a budgetd of schema `version` left. */
static void load(size_t version)
{
	const struct schema_steps then = { schema_steps.sql, version };
	char name[160], *rows;
	size_t n;
	FILE *f;

	ck_assert_msg(schema_build(db, &then, &why) == 0, "%s", why.text);
	snprintf(name, sizeof(name), "%s/fixtures/%04zu.sql", getenv("CASES") ? getenv("CASES") : ".",
		version);
	f = fopen(name, "r");
	ck_assert_msg(f != NULL, "%s: every schema has its rows there", name);
	rows = calloc(1, 1 << 20);
	ck_assert_ptr_nonnull(rows);
	n = fread(rows, 1, (1 << 20) - 1, f);
	ck_assert_uint_gt(n, 0);
	fclose(f);
	does(rows);
	free(rows);
}

static void rows_are_sound(void)
{
	struct fault wrong = {0};

	ck_assert_int_eq(audit_prepare(db, &why), 0);
	for (size_t i = 0; i < audit_check_count; i++)
		if (strcmp(audit_checks[i].id, "schema"))
			ck_assert_msg(audit_make(db, &audit_checks[i], &wrong) == 0, "%s: %s",
				audit_checks[i].id, wrong.text);
}

START_TEST(every_schema_that_was_released_is_brought_forward)
{
	struct ledger *l;

	load((size_t)_i);
	ck_assert_int_ge(ask("SELECT count(DISTINCT kind) FROM chain"), 4);
	ck_assert_int_ge(ask("SELECT count(*) FROM hold WHERE closed_at IS NULL"), 2);
	sqlite3_close(db);
	db = NULL;
	ck_assert_msg(ledger_open(path, &l, &why) == 0, "%s", why.text);
	ledger_close(l);
	ck_assert_msg(audit_file(path, &why) == 0, "%s", why.text);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(ask("PRAGMA user_version"), (int64_t)schema_steps.count);
	ck_assert_int_eq(ask("SELECT amount - charged - held FROM allocation_sum s JOIN allocation a ON a.id = s.allocation"
		" JOIN project p ON p.id = a.project WHERE p.name = 'vision'"),
		183600000 - 5400000 - 10800000);
}
END_TEST

/* --- steps that there are not yet ----------------------------------------------------------------- */

#define STEPS(...) { (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *) }

static const char wider[] = "ALTER TABLE journal ADD COLUMN later INTEGER REFERENCES journal(id);"
			    "ALTER TABLE run ADD COLUMN later TEXT;";
static const char rebuilt[] =
	"CREATE TABLE member_new (project INTEGER NOT NULL REFERENCES project(id), user TEXT NOT NULL, role TEXT NOT NULL,"
	" since INTEGER, PRIMARY KEY (project, user)) STRICT, WITHOUT ROWID;"
	"INSERT INTO member_new SELECT project, user, role, NULL FROM member;"
	"DROP TABLE member; ALTER TABLE member_new RENAME TO member;";

START_TEST(all_steps_that_are_missing_are_taken_in_order)
{
	const struct schema_steps later = STEPS(schema_steps.sql[0], wider, rebuilt);

	load(1);
	ck_assert_int_eq(schema_of(db, path, &later, &why), 1);
	ck_assert_msg(schema_upgrade(db, path, &later, &why) == 0, "%s", why.text);
	ck_assert_int_eq(schema_of(db, path, &later, &why), 3);
	ck_assert_int_eq(ask("SELECT count(*) FROM member WHERE since IS NULL"), 2);
	rows_are_sound();		/* new columns at the end change no hash */
	ck_assert_int_eq(schema_upgrade(db, path, &later, &why), 0);
	ck_assert_int_eq(ask("PRAGMA user_version"), 3);
}
END_TEST

START_TEST(what_is_written_after_a_step_is_chained_with_its_new_columns)
{
	const struct schema_steps later = STEPS(schema_steps.sql[0], wider);
	struct fault wrong = {0};

	load(1);
	ck_assert_int_eq(schema_upgrade(db, path, &later, &why), 0);
	ck_assert_msg(chain_attach(db, &why) == 0, "%s", why.text);
	does("INSERT INTO journal (at, kind, allocation, project, units, balance, actor, later)"
	     " SELECT 1800009000, 'adjustment', allocation, project, -5, balance - 5, 'ada', id FROM journal ORDER BY id DESC LIMIT 1;"
	     "UPDATE allocation_sum SET amount = amount - 5 WHERE allocation = (SELECT allocation FROM journal ORDER BY id DESC LIMIT 1)");
	rows_are_sound();
	does("DROP TRIGGER journal_is_never_changed; UPDATE journal SET later = 1 WHERE later IS NOT NULL");
	ck_assert_int_eq(chain_check_links(db, &wrong), 1);
	ck_assert_msg(strstr(wrong.text, "is not what was written"), "%s", wrong.text);
}
END_TEST

START_TEST(a_new_file_and_one_that_was_brought_forward_are_alike)
{
	static const char all_sql[] =
		"SELECT count(*) FROM (SELECT type, name, sql FROM main.sqlite_schema EXCEPT SELECT type, name, sql FROM"
		" other.sqlite_schema)";
	const struct schema_steps later = STEPS(schema_steps.sql[0], wider, rebuilt);
	char other[144], attach[180];
	sqlite3 *fresh;

	load(1);
	ck_assert_int_eq(schema_upgrade(db, path, &later, &why), 0);
	snprintf(other, sizeof(other), "%s/other.db", folder);
	ck_assert_int_eq(sqlite3_open(other, &fresh), SQLITE_OK);
	ck_assert_msg(schema_build(fresh, &later, &why) == 0, "%s", why.text);
	sqlite3_close(fresh);
	snprintf(attach, sizeof(attach), "ATTACH '%s' AS other", other);
	does(attach);
	ck_assert_int_eq(ask(all_sql), 0);
	does("DETACH other");
	unlink(other);
}
END_TEST

static const struct {
	const char *what, *step, *says;
} bad_steps[] = {
	{ "that is no SQL", "ALTER TABLE project ADD COLUMN note TEXT; ALTER TABLE nowhere ADD COLUMN x TEXT", "no such table: nowhere" },
	{ "that deletes what others refer to", "DELETE FROM project WHERE id = 1", "a reference would lead nowhere" },
	{ "that breaks a rule of the books", "UPDATE journal SET reason = 'x'", "the journal is append-only" },
};

START_TEST(a_step_that_fails_leaves_everything_as_it_was)
{
	const struct schema_steps later = STEPS(schema_steps.sql[0], wider, bad_steps[_i].step);
	int64_t objects;

	load(1);
	objects = ask("SELECT sum(length(sql)) FROM sqlite_schema");
	ck_assert_msg(schema_upgrade(db, path, &later, &why) == -1, "a step %s was taken",
		bad_steps[_i].what);
	ck_assert_msg(strstr(why.text, bad_steps[_i].says) && strstr(why.text, "from schema 1 to 3") &&
		strstr(why.text, "it was left as it is"), "%s", why.text);
	ck_assert_int_eq(ask("PRAGMA user_version"), 1);
	ck_assert_int_eq(ask("SELECT sum(length(sql)) FROM sqlite_schema"), objects);
	rows_are_sound();
}
END_TEST

START_TEST(an_older_version_refuses_a_newer_file)
{
	const struct schema_steps later = STEPS(schema_steps.sql[0], wider), now = { schema_steps.sql, 1 };

	load(1);
	ck_assert_int_eq(schema_upgrade(db, path, &later, &why), 0);
	ck_assert_int_eq(schema_of(db, path, &now, &why), -1);
	ck_assert_int_eq(errno, EPROTO);
	ck_assert_msg(strstr(why.text, "has schema 2 and this budgetd knows 1"), "%s", why.text);
}
END_TEST

static const struct {
	const char *change, *says;
} unreleased[] = {
	{ "DROP TRIGGER hold_is_never_replaced", "the trigger hold_is_never_replaced is missing" },
	{ "DROP TABLE uncounted", "the table uncounted is missing" },
	{ "ALTER TABLE charge DROP COLUMN gpus", "the table charge is not as this version makes it" },
};

/* It has the number of the schema, and would fail at the first write. */
START_TEST(a_file_of_a_build_that_was_never_released_is_refused_at_the_start)
{
	struct ledger *l;

	load(schema_steps.count);
	does(unreleased[_i].change);
	ck_assert_int_eq(ledger_open(path, &l, &why), -1);
	ck_assert_int_eq(errno, EPROTO);
	ck_assert_msg(strstr(why.text, unreleased[_i].says) && strstr(why.text, "never released") &&
		strstr(why.text, "budgetd --init"), "%s", why.text);
}
END_TEST

Suite *schema_suite(void)
{
	Suite *s = suite_create("schema");
	TCase *t = tcase_create("schema");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_schema_that_was_released_is_brought_forward, 1,
		(int)schema_steps.count + 1);
	tcase_add_test(t, all_steps_that_are_missing_are_taken_in_order);
	tcase_add_test(t, what_is_written_after_a_step_is_chained_with_its_new_columns);
	tcase_add_test(t, a_new_file_and_one_that_was_brought_forward_are_alike);
	tcase_add_loop_test(t, a_step_that_fails_leaves_everything_as_it_was, 0,
		sizeof(bad_steps) / sizeof(bad_steps[0]));
	tcase_add_test(t, an_older_version_refuses_a_newer_file);
	tcase_add_loop_test(t, a_file_of_a_build_that_was_never_released_is_refused_at_the_start, 0,
		sizeof(unreleased) / sizeof(unreleased[0]));
	suite_add_tcase(s, t);
	return s;
}
