/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_power_cut.c - the current fails: of the write-ahead log a part has reached the disk, or has and is torn
 *
 * Deposits are written one after the other. What a power cut leaves is the file and the log up to some byte,
 * with nothing or with rubbish behind it. budgetd starts on that: every deposit whose write had ended by then
 * is there, none of the others, and the books are sound. */
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPOSITS 12
#define CUTS 60				/* evenly over the log, beside those at the ends of writes */

static struct books b;
static off_t written[DEPOSITS];		/* the size of the log when the deposit was done */

static void log_name(char name[128], const char *database)
{
	snprintf(name, 128, "%s-wal", database);
}

static off_t size_of(const char *name)
{
	struct stat st;

	ck_assert_msg(stat(name, &st) == 0, "%s", name);
	return st.st_size;
}

static void setup(void)
{
	char name[128], request_id[32];
	int64_t a;

	books_open(&b);
	a = books_allot(&b, books_project(&b, "vision", 0), GPU_H, 0, 0);
	log_name(name, b.path);
	for (int i = 0; i < DEPOSITS; i++) {
		snprintf(request_id, sizeof(request_id), "deposit %d", i);
		ck_assert_int_eq(books_deposit(&b, a, GPU_H, request_id), 0);
		written[i] = size_of(name);
	}
}

static void teardown(void)
{
	books_close(&b);
}

/* --- what is left ------------------------------------------------------------------------------- */

/* The first `bytes` of a file, and up to its old size rubbish where the rest is `torn`. */
static void copy_cut(const char *from, const char *to, off_t bytes, bool torn)
{
	off_t size = size_of(from);
	char *data = malloc((size_t)size);
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	ck_assert(data && in >= 0 && out >= 0);
	ck_assert_int_eq(read(in, data, (size_t)size), size);
	for (off_t i = bytes; i < size; i++)
		data[i] = (char)(i * 31);
	ck_assert_int_eq(write(out, data, (size_t)(torn ? size : bytes)), torn ? size : bytes);
	close(in);
	close(out);
	free(data);
}

static int64_t deposits_in(const char *path)
{
	sqlite3_stmt *st;
	sqlite3 *db;
	int64_t n;

	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db,
		"SELECT count(*) FROM journal WHERE kind = 'deposit' AND request_id LIKE 'deposit %'", -1, &st, NULL),
		SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(st), SQLITE_ROW);
	n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return n;
}

static void start_on_what_is_left(off_t bytes, bool torn)
{
	char left[128], from[128], to[160];
	struct ledger *l = NULL, *reader = NULL;
	struct fault why = {0};
	int64_t done = 0;

	while (done < DEPOSITS && written[done] <= bytes)
		done++;
	snprintf(left, sizeof(left), "%s/left.db", b.folder);
	log_name(from, b.path);
	snprintf(to, sizeof(to), "%s-wal", left);
	copy_cut(b.path, left, size_of(b.path), false);
	copy_cut(from, to, bytes, torn);
	ck_assert_msg(ledger_open(left, &l, &why) == 0, "cut at %jd: %s", (intmax_t)bytes, why.text);
	ck_assert_msg(ledger_open_reader(left, &reader, &why) == 0 && ledger_audit(reader, &why) == 0,
		"cut at %jd: %s", (intmax_t)bytes, why.text);
	ck_assert_msg(deposits_in(left) == done, "cut at %jd: %jd deposits, %jd were written", (intmax_t)bytes,
		(intmax_t)deposits_in(left), (intmax_t)done);
	ledger_close(reader);
	ledger_close(l);
	unlink(left);
	unlink(to);
}

START_TEST(what_was_written_before_the_power_cut_is_there_and_nothing_else)
{
	off_t end = written[DEPOSITS - 1];
	bool torn = _i;

	for (int i = 0; i <= CUTS; i++)
		start_on_what_is_left(written[0] + (end - written[0]) * i / CUTS, torn);
	for (int i = 0; i < DEPOSITS; i++) {
		start_on_what_is_left(written[i] - 1, torn);
		start_on_what_is_left(written[i], torn);
	}
}
END_TEST

Suite *power_cut_suite(void)
{
	Suite *s = suite_create("power_cut");
	TCase *t = tcase_create("log");

	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, what_was_written_before_the_power_cut_is_there_and_nothing_else, 0, 2);
	suite_add_tcase(s, t);
	return s;
}
