/* SPDX-License-Identifier: GPL-2.0-or-later
 * cases.h - tables of cases, files of data beside the tests
 *
 * Form       one case a line; blank lines and lines that begin with # are skipped. In NAME.tsv a tab
 *            separates the columns, in NAME.cases a bar with blanks around it. "-" is "none", "" is written
 *            as "".
 * Where      the folder in the environment variable CASES
 * Failure    a file that is missing or has no case, a line with another number of columns and a number that
 *            is none end the run: a table that is not read must not pass
 * Threads    one thread, before the tests run */
#ifndef UNIT_CASES_H
#define UNIT_CASES_H
#include <stdbool.h>
#include <stdint.h>

#define CASE_COLUMNS_MAX 64

struct case_row {
	int line;
	int n;				/* columns */
	const char *col[CASE_COLUMNS_MAX];
};

struct case_table {
	const char *file;
	int rows;
	struct case_row *row;		/* lives as long as the programme */
};

/* Read `file` (static text), every case of which has `columns` columns. */
struct case_table cases_load(const char *file, int columns);

/* Read `file` whose columns are separated by blanks and of which a line may have any number: for tables of
 * several kinds of lines. */
struct case_table cases_load_words(const char *file);

/* Say what is wrong with a row, with file and line, and end the run. */
void cases_die(const struct case_table *t, const struct case_row *row, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* A column that is "-". */
bool case_none(const struct case_row *row, int column);

/* A column that is a whole number, with or without a sign. Checked by cases_check_number when the table is
 * loaded. */
int64_t case_number(const struct case_row *row, int column);

/* Every row has a whole number, or "-", in this column. */
void cases_check_number(const struct case_table *t, int column);

#endif
