/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_ledger_open.c - a database that cannot be used is refused, and the text says how to go on */
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct books b;

/* A ledger with something in it, closed again. */
static void setup(void)
{
	int64_t p;

	books_open(&b);
	p = books_project(&b, "vision", 0);
	books_allot(&b, p, GPU_H, 0, 0);
	sqlite3_close(b.look);
	ledger_close(b.l);
	b.look = NULL;
	b.l = NULL;
}

static void teardown(void)
{
	chmod(b.folder, 0700);
	books_close(&b);
}

static void make_missing(void)
{
	unlink(b.path);
}

static void write_at(off_t from, size_t bytes, char fill)
{
	int fd = open(b.path, O_WRONLY | O_CREAT, 0600);
	char *junk = malloc(bytes);

	ck_assert(fd >= 0 && junk);
	memset(junk, fill, bytes);
	ck_assert_int_eq(pwrite(fd, junk, bytes, from), (ssize_t)bytes);
	close(fd);
	free(junk);
}

static void make_a_text_file(void)
{
	ck_assert_int_eq(truncate(b.path, 0), 0);
	write_at(0, 5000, 'x');
}

static void make_empty(void)
{
	ck_assert_int_eq(truncate(b.path, 0), 0);
}

static void damage_a_page(void)
{
	write_at(2 * 4096, 4096, '\x5a');
}

static void cut_in_half(void)
{
	struct stat st;

	ck_assert_int_eq(stat(b.path, &st), 0);
	ck_assert_int_eq(truncate(b.path, st.st_size / 2 / 4096 * 4096), 0);
}

static void change(const char *sql)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(b.path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void make_newer(void)
{
	change("PRAGMA user_version = 2");
}

static void make_unfinished(void)
{
	change("PRAGMA user_version = 0");
}

static void make_somebody_elses(void)
{
	change("PRAGMA application_id = 7");
}

static void make_a_folder(void)
{
	unlink(b.path);
	ck_assert_int_eq(mkdir(b.path, 0700), 0);
}

static const struct {
	const char *what;
	void (*spoil)(void);
	int err;
	const char *says;
} cases[] = {
	{ "missing", make_missing, ENOENT, "does not exist: make a new database by budgetd --init, or restore a backup" },
	{ "a text file", make_a_text_file, EBADMSG, "file is not a database; put it aside and restore a backup" },
	{ "empty", make_empty, EBADMSG, "is not a database of budgetd" },
	{ "a damaged page", damage_a_page, EBADMSG, "corrupt" },
	{ "cut in half", cut_in_half, EBADMSG, "restore a backup" },
	{ "of a newer budgetd", make_newer, EPROTO, "has schema 2 and this budgetd knows 1: it was written by a newer version" },
	{ "not finished", make_unfinished, EBADMSG, "was not finished; remove it and run budgetd --init" },
	{ "of another program", make_somebody_elses, EBADMSG, "is not a database of budgetd; name the right one in `database`" },
	{ "a folder", make_a_folder, EISDIR, "cannot be opened for writing" },
};

START_TEST(a_database_that_cannot_be_used_is_refused_with_the_next_step)
{
	struct fault why = {0};
	struct ledger *l = NULL;

	cases[_i].spoil();
	ck_assert_msg(ledger_open(b.path, &l, &why) == -1, "%s: it was opened", cases[_i].what);
	ck_assert_msg(errno == cases[_i].err, "%s: errno is %s", cases[_i].what, strerror(errno));
	ck_assert_msg(strstr(why.text, cases[_i].says), "%s: \"%s\"", cases[_i].what, why.text);
	ck_assert_msg(strstr(why.text, b.path), "%s: \"%s\" does not name the file", cases[_i].what,
		why.text);
	ck_assert_ptr_null(l);
	rmdir(b.path);
}
END_TEST

/* Rights do not bind root: another user tries, in a process of its own. The exit status tells which check
 * failed. */
static int open_as_nobody(const char *says)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		struct fault why = {0};
		struct ledger *l = NULL;

		if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(2);
		if (ledger_open(b.path, &l, &why) == 0)
			_exit(3);
		if (errno != EROFS && errno != EACCES)
			_exit(4);
		_exit(strstr(why.text, says) ? 0 : 5);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

START_TEST(a_file_that_cannot_be_written_is_refused)
{
	ck_assert_int_eq(chmod(b.folder, 0755), 0);
	ck_assert_int_eq(chmod(b.path, 0444), 0);
	ck_assert_int_eq(open_as_nobody("cannot be opened for writing"), 0);
}
END_TEST

START_TEST(a_folder_that_cannot_be_written_is_refused)
{
	ck_assert_int_eq(chmod(b.path, 0666), 0);
	ck_assert_int_eq(chmod(b.folder, 0555), 0);
	ck_assert_int_eq(open_as_nobody("budgetd must own the file and its folder"), 0);
}
END_TEST

START_TEST(a_second_budgetd_is_refused_and_the_first_goes_on)
{
	struct fault why = {0};
	struct ledger *first;
	pid_t pid;
	int status;

	ck_assert_int_eq(ledger_open(b.path, &first, &why), 0);
	pid = fork();
	if (pid == 0) {
		struct ledger *second;

		if (ledger_open(b.path, &second, &why) == 0)
			_exit(1);
		_exit(errno == EBUSY && strstr(why.text, "is in use by another budgetd") ? 0 : 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(ledger_begin(first, LEDGER_MONEY, &why), 0);
	ck_assert_int_eq(ledger_commit(first, &why), 0);
	ledger_close(first);
	ck_assert_int_eq(ledger_open(b.path, &first, &why), 0);
	ledger_close(first);
}
END_TEST

START_TEST(nothing_is_made_over_what_is_there)
{
	struct fault why = {0};

	ck_assert_int_eq(ledger_create(b.path, &why), -1);
	ck_assert_int_eq(errno, EEXIST);
}
END_TEST

START_TEST(a_reader_sees_one_state_and_writes_nothing)
{
	struct fault why = {0};
	struct ledger *l, *reader;
	struct project p = { .name = "speech", .share = 1 }, seen;

	ck_assert_int_eq(ledger_open(b.path, &l, &why), 0);
	ck_assert_int_eq(ledger_open_reader(b.path, &reader, &why), 0);
	ck_assert_int_eq(ledger_begin(reader, LEDGER_READ, &why), 0);
	ck_assert_int_eq(project_find(reader, "vision", &seen, &why), 1);
	ck_assert_int_eq(ledger_begin(l, LEDGER_MONEY, &why), 0);	/* nobody waits for the reader */
	ck_assert_int_eq(project_add(l, &p, NOON, &why), 0);
	ck_assert_int_eq(ledger_commit(l, &why), 0);
	ck_assert_int_eq(project_find(reader, "speech", &seen, NULL), 0);
	ck_assert_int_eq(project_add(reader, &(struct project){ .name = "third", .share = 1 }, NOON, &why),
		-1);
	ledger_rollback(reader);
	ck_assert_int_eq(ledger_begin(reader, LEDGER_READ, &why), 0);
	ck_assert_int_eq(project_find(reader, "speech", &seen, &why), 1);
	ledger_rollback(reader);
	ledger_close(reader);
	ledger_close(l);
}
END_TEST

Suite *ledger_open_suite(void)
{
	Suite *s = suite_create("ledger_open");
	TCase *t = tcase_create("open");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_database_that_cannot_be_used_is_refused_with_the_next_step, 0,
		sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, a_file_that_cannot_be_written_is_refused);
	tcase_add_test(t, a_folder_that_cannot_be_written_is_refused);
	tcase_add_test(t, a_second_budgetd_is_refused_and_the_first_goes_on);
	tcase_add_test(t, nothing_is_made_over_what_is_there);
	tcase_add_test(t, a_reader_sees_one_state_and_writes_nothing);
	suite_add_tcase(s, t);
	return s;
}
