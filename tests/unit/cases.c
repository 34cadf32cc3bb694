/* SPDX-License-Identifier: GPL-2.0-or-later
 * cases.c - tables of cases: whatever is wrong with one ends the run, so that no case is lost in silence. */
#include "config.h"
#include "tests/unit/cases.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
static void die(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

static FILE *open_table(const char *file)
{
	const char *folder = getenv("CASES");
	char path[4096];
	FILE *f;

	if (!folder)
		die(file, 0, "the environment variable CASES does not name the folder of the tables");
	snprintf(path, sizeof(path), "%s/%s", folder, file);
	f = fopen(path, "r");
	if (!f)
		die(path, 0, "%s", strerror(errno));
	return f;
}

static char *trim(char *s)
{
	size_t len;

	s += strspn(s, " \t");
	for (len = strlen(s); len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'); len--)
		s[len - 1] = '\0';
	return s;
}

/* Cut one line into its columns. A column of "" is the empty text; one column too many is counted, so that it
 * is seen. */
static int split(char *line, char separator, const char **col)
{
	int n = 0;

	for (char *p = line; p; n++) {
		char *next;

		if (separator == ' ')
			p += strspn(p, " \t");
		next = separator == ' ' ? strpbrk(p, " \t") : strchr(p, separator);
		if (next)
			*next++ = '\0';
		if (separator == '|')
			p = trim(p);
		if (separator == ' ' && !*p)
			break;
		if (n < CASE_COLUMNS_MAX)
			col[n] = strcmp(p, "\"\"") ? p : "";
		p = next;
	}
	return n;
}

static void add_row(struct case_table *t, char *text, int line, char separator, int columns)
{
	struct case_row *row = realloc(t->row, (size_t)(t->rows + 1) * sizeof(*row));

	if (!row)
		die(t->file, line, "out of memory");
	t->row = row;
	row += t->rows++;
	*row = (struct case_row){ .line = line };
	row->n = split(text, separator, row->col);
	if (columns && row->n != columns)
		die(t->file, line, "%d columns, but the table has %d", row->n, columns);
	if (row->n > CASE_COLUMNS_MAX)
		die(t->file, line, "%d columns, but %d is the most", row->n, CASE_COLUMNS_MAX);
}

static struct case_table load(const char *file, char separator, int columns)
{
	struct case_table t = { .file = file };
	FILE *f = open_table(file);
	char *buf = NULL;
	size_t size = 0;

	for (int line = 1; getline(&buf, &size, f) > 0; line++) {
		char *text = buf;

		text[strcspn(text, "\n")] = '\0';
		if (text[0] == '#' || !text[strspn(text, " \t")])
			continue;
		text = strdup(text);
		if (!text)
			die(file, line, "out of memory");
		add_row(&t, text, line, separator, columns);
	}
	free(buf);
	fclose(f);
	if (t.rows == 0)
		die(file, 0, "no case");
	return t;
}

struct case_table cases_load(const char *file, int columns)
{
	const char *dot = strrchr(file, '.');

	return load(file, dot && !strcmp(dot, ".tsv") ? '\t' : '|', columns);
}

struct case_table cases_load_words(const char *file)
{
	return load(file, ' ', 0);
}

void cases_die(const struct case_table *t, const struct case_row *row, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die(t->file, row->line, "%s", text);
}

bool case_none(const struct case_row *row, int column)
{
	return !strcmp(row->col[column], "-");
}

int64_t case_number(const struct case_row *row, int column)
{
	return strtoll(row->col[column], NULL, 10);
}

void cases_check_number(const struct case_table *t, int column)
{
	for (int i = 0; i < t->rows; i++) {
		const char *text = t->row[i].col[column];
		char *end;

		if (case_none(&t->row[i], column))
			continue;
		errno = 0;
		strtoll(text, &end, 10);
		if (errno || end == text || *end)
			die(t->file, t->row[i].line, "column %d, \"%s\", is not a whole number", column + 1,
				text);
	}
}
