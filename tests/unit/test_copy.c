/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_copy.c - backups while the books are in use, and the way back */
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include "books/audit.h"
#include "books/copy.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct books b;
static char backup[128], aside[PATH_MAX];
static struct fault why;
static int64_t allocation;

static void setup(void)
{
	books_open(&b);
	snprintf(backup, sizeof(backup), "%s/backup", b.folder);
	allocation = books_allot(&b, books_project(&b, "vision", 0), 5 * GPU_H, 0, 0);
	why = (struct fault){0};
}

/* And everything that was put aside. */
static void teardown(void)
{
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", b.folder);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
	globfree(&found);
	books_close(&b);
}

static void close_ledger(void)
{
	ledger_close(b.l);
	sqlite3_close(b.look);
	b.l = NULL;
	b.look = NULL;
}

/* The deposits in a file. */
static int64_t deposits_in(const char *path)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	int64_t n = -1;

	ck_assert_msg(audit_open(path, &db, &why) == 0, "%s", why.text);
	if (sqlite3_prepare_v2(db, "SELECT count(*) FROM journal", -1, &st, NULL) == SQLITE_OK &&
		sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	audit_close(db);
	return n;
}

static int files(const char *pattern)
{
	char path[160];
	glob_t found;
	int n;

	snprintf(path, sizeof(path), "%s/%s", b.folder, pattern);
	n = glob(path, 0, NULL, &found) == 0 ? (int)found.gl_pathc : 0;
	globfree(&found);
	return n;
}

START_TEST(a_backup_is_one_sound_file_while_the_books_are_open)
{
	struct stat st;

	ck_assert_msg(copy_backup(b.path, backup, &why) == 0, "%s", why.text);
	ck_assert_int_eq(books_deposit(&b, allocation, GPU_H, ""), 0);
	ck_assert_msg(audit_file(backup, &why) == 0, "%s", why.text);
	ck_assert_int_eq(deposits_in(backup), 1);
	ck_assert_int_eq(deposits_in(b.path), 2);
	ck_assert_int_eq(stat(backup, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(files("backup*"), 1);
}
END_TEST

/* A reader of one state is not disturbed by it, and a transaction that is not committed is not in it. */
START_TEST(what_is_not_committed_is_not_in_a_backup)
{
	struct journal_entry e = { .at = NOON, .kind = "deposit", .allocation = allocation, .units = 5,
		.actor = "ada" };

	ck_assert_int_eq(ledger_begin(b.l, LEDGER_MONEY, &why), 0);
	ck_assert_int_eq(journal_post(b.l, &e, &why), 0);
	ck_assert_msg(copy_backup(b.path, backup, &why) == 0, "%s", why.text);
	ck_assert_int_eq(ledger_commit(b.l, &why), 0);
	ck_assert_int_eq(deposits_in(backup), 1);
	ledger_invariants(&b);
}
END_TEST

START_TEST(a_backup_replaces_nothing)
{
	ck_assert_int_eq(copy_backup(b.path, b.path, &why), -1);
	ck_assert_int_eq(errno, EEXIST);
	ck_assert_msg(strstr(why.text, "is there already: name a file that is not"), "%s", why.text);
	ck_assert_int_eq(symlink("nowhere", backup), 0);
	ck_assert_int_eq(copy_backup(b.path, backup, &why), -1);
	ck_assert_int_eq(files("backup*"), 1);
}
END_TEST

START_TEST(what_is_not_sound_is_no_backup)
{
	ck_assert_ptr_null(books_try(&b, "UPDATE allocation_sum SET amount = amount + 1"));
	ck_assert_int_eq(copy_backup(b.path, backup, &why), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_msg(strstr(why.text,
		"is not sound (sums.amount): allocation 1: its running sum of amount is"), "%s", why.text);
	ck_assert_int_eq(files("backup*"), 0);
}
END_TEST

START_TEST(a_backup_of_what_is_no_database_or_not_there_is_refused)
{
	char text[128];
	int fd;

	snprintf(text, sizeof(text), "%s/text", b.folder);
	ck_assert_int_eq(copy_backup(text, backup, &why), -1);
	ck_assert_int_eq(errno, ENOENT);
	fd = open(text, O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(write(fd, "dear diary", 10), 10);
	close(fd);
	why = (struct fault){0};
	ck_assert_int_eq(copy_backup(text, backup, &why), -1);
	ck_assert_int_eq(errno, EBADMSG);
	ck_assert_int_eq(files("backup*"), 0);
}
END_TEST

START_TEST(a_backup_is_put_back_and_what_was_there_is_kept)
{
	ck_assert_msg(copy_backup(b.path, backup, &why) == 0, "%s", why.text);
	ck_assert_int_eq(books_deposit(&b, allocation, GPU_H, ""), 0);
	close_ledger();
	ck_assert_msg(copy_restore(backup, b.path, NOON, aside, &why) == 0, "%s", why.text);
	ck_assert_int_eq(deposits_in(b.path), 1);
	ck_assert_int_eq(deposits_in(aside), 2);
	ck_assert_int_eq(deposits_in(backup), 1);
	ck_assert_msg(strstr(aside, "ledger.db.20270115T080000Z"), "%s", aside);
	ck_assert_msg(ledger_open(b.path, &b.l, &why) == 0, "%s", why.text);
}
END_TEST

/* As after a kill -9: the last commits are in the WAL only. It goes aside with its file. */
START_TEST(a_wal_goes_with_its_file)
{
	char killed[128], wal[160];

	ck_assert_int_eq(copy_backup(b.path, backup, &why), 0);
	ck_assert_int_eq(books_deposit(&b, allocation, GPU_H, ""), 0);
	snprintf(killed, sizeof(killed), "%s/killed.db", b.folder);
	ck_assert_int_eq(link(b.path, killed), 0);
	snprintf(wal, sizeof(wal), "%s-wal", b.path);
	snprintf(killed, sizeof(killed), "%s/killed.db-wal", b.folder);
	ck_assert_int_eq(link(wal, killed), 0);
	*strrchr(killed, '-') = '\0';
	/* the lock; the other connection keeps the WAL from being folded */
	ledger_close(b.l);
	b.l = NULL;
	ck_assert_msg(copy_restore(backup, killed, NOON, aside, &why) == 0, "%s", why.text);
	ck_assert_int_eq(deposits_in(killed), 1);
	ck_assert_int_eq(deposits_in(aside), 2);
}
END_TEST

START_TEST(nothing_is_put_back_while_budgetd_runs)
{
	ck_assert_int_eq(copy_backup(b.path, backup, &why), 0);
	ck_assert_int_eq(copy_restore(backup, b.path, NOON, aside, &why), -1);
	ck_assert_int_eq(errno, EBUSY);
	ck_assert_msg(strstr(why.text, "is in use: stop budgetd first"), "%s", why.text);
	ck_assert_str_eq(aside, "");
	ck_assert_int_eq(files("ledger.db.*"), 0);
	ledger_invariants(&b);
}
END_TEST

START_TEST(what_is_not_sound_is_not_put_back)
{
	sqlite3 *db;

	ck_assert_int_eq(copy_backup(b.path, backup, &why), 0);
	close_ledger();
	ck_assert_int_eq(sqlite3_open(backup, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db,
		"DROP TRIGGER journal_is_never_changed; UPDATE journal SET reason = 'x'", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
	ck_assert_int_eq(copy_restore(backup, b.path, NOON, aside, &why), -1);
	ck_assert_msg(strstr(why.text,
		"/backup is not sound (schema): the trigger journal_is_never_changed is missing"), "%s",
		why.text);
	ck_assert_int_eq(files("ledger.db*"), 1);
	ck_assert_int_eq(deposits_in(b.path), 1);
}
END_TEST

/* It is told by the name that was given, not by that of the copy, which is gone. */
START_TEST(what_is_no_backup_is_told_by_its_name)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(backup, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	close_ledger();
	ck_assert_int_eq(copy_restore(backup, b.path, NOON, aside, &why), -1);
	ck_assert_msg(strstr(why.text, "/backup is not a database of budgetd"), "%s", why.text);
	ck_assert_int_eq(files("ledger.db*"), 1);
}
END_TEST

START_TEST(a_backup_is_put_where_nothing_is)
{
	ck_assert_int_eq(copy_backup(b.path, backup, &why), 0);
	close_ledger();
	ck_assert_int_eq(unlink(b.path), 0);
	ck_assert_msg(copy_restore(backup, b.path, NOON, aside, &why) == 0, "%s", why.text);
	ck_assert_str_eq(aside, "");
	ck_assert_int_eq(deposits_in(b.path), 1);
}
END_TEST

Suite *copy_suite(void)
{
	Suite *s = suite_create("copy");
	TCase *t = tcase_create("copy");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_backup_is_one_sound_file_while_the_books_are_open);
	tcase_add_test(t, what_is_not_committed_is_not_in_a_backup);
	tcase_add_test(t, a_backup_replaces_nothing);
	tcase_add_test(t, what_is_not_sound_is_no_backup);
	tcase_add_test(t, what_is_no_backup_is_told_by_its_name);
	tcase_add_test(t, a_backup_of_what_is_no_database_or_not_there_is_refused);
	tcase_add_test(t, a_backup_is_put_back_and_what_was_there_is_kept);
	tcase_add_test(t, a_wal_goes_with_its_file);
	tcase_add_test(t, nothing_is_put_back_while_budgetd_runs);
	tcase_add_test(t, what_is_not_sound_is_not_put_back);
	tcase_add_test(t, a_backup_is_put_where_nothing_is);
	suite_add_tcase(s, t);
	return s;
}
