/* SPDX-License-Identifier: GPL-2.0-or-later
 * table.c - rows of a reply on stdout (table.h)
 *
 * libsmartcols draws tables, trees and JSON. It knows neither RFC 4180 nor the lines of sacct -P, which are
 * written here. */
#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "budgetctl/say.h"
#include "budgetctl/table.h"
#include "budgetctl/wrap.h"

#define TREE_DEPTH_MAX 64 /* deeper rows are drawn below the last that has room */

struct branch {
	char *path;
	struct libscols_line *line;
};

struct table {
	const struct column *columns;
	size_t count;
	const struct style *style;
	bool tree;
	struct libscols_table *scols;       /* NULL in CSV and with bars */
	struct branch open[TREE_DEPTH_MAX]; /* the way from the root to the last row */
	size_t depth;
	size_t rows;
};

static bool column_shown(const struct column *c, const struct style *style)
{
	return style->format != FORMAT_TABLE || (c->heading && (!c->detail || style->detail));
}

/* --- CSV and bars ----------------------------------------------------------------------------------- */

static void csv_field(const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

/* A bar or a newline inside a value would be one field or line too many: written as libsmartcols does,
 * \x7c. */
static void bar_field(const char *text)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '\\' || (unsigned char)*text < 0x20)
			printf("\\x%02x", (unsigned char)*text);
		else
			putchar(*text);
	}
}

static int line_print(const struct table *t, struct json_object *row)
{
	bool csv = t->style->format == FORMAT_CSV;

	for (size_t i = 0; i < t->count; i++) {
		const struct column *c = &t->columns[i];
		char *text = row ? cell_text(c, row, t->style) : cell_heading(c, t->style, false);

		if (!text)
			return -1;
		if (i)
			putchar(csv ? ',' : '|');
		(csv ? csv_field : bar_field)(text);
		free(text);
	}
	fputs(csv ? "\r\n" : "\n", stdout);
	return 0;
}

/* --- table and JSON --------------------------------------------------------------------------------- */

/* libsmartcols returns -errno. */
static int scols_rv(int rv)
{
	if (rv >= 0)
		return 0;
	errno = -rv;
	return -1;
}

static int column_add(struct table *t, const struct column *c, bool tree, bool unit)
{
	int flags = (cell_right(c->kind) ? SCOLS_FL_RIGHT : 0) | (tree ? SCOLS_FL_TREE : 0) |
		    (c->kind == KIND_LONG_TEXT ? SCOLS_FL_WRAP : 0);
	char *heading = cell_heading(c, t->style, unit);
	struct libscols_column *column = heading ? scols_table_new_column(t->scols, heading, 0, flags) : NULL;

	free(heading);
	if (!column)
		return -1;
	if (t->style->format != FORMAT_JSON)
		return 0;
	/* cells are JSON already, and "number" is what libsmartcols copies as it is: its own lists turn []
	 * into [null], its own strings "" into null */
	return scols_rv(scols_column_set_json_type(column, SCOLS_JSON_NUMBER));
}

static int columns_add(struct table *t)
{
	bool unit_told = false, first = true;

	for (size_t i = 0; i < t->count; i++) {
		const struct column *c = &t->columns[i];
		bool unit = !unit_told && c->kind == KIND_AMOUNT;

		if (!column_shown(c, t->style))
			continue;
		if (column_add(t, c, t->tree && first && t->style->format == FORMAT_TABLE, unit) < 0)
			return -1;
		unit_told |= unit;
		first = false;
	}
	return 0;
}

/* Close the branches that `path` is not below, and return the line above it: a caller may see a project and
 * not its parent. */
static struct libscols_line *branch_above(struct table *t, const char *path)
{
	while (t->depth) {
		struct branch *b = &t->open[t->depth - 1];
		size_t length = strlen(b->path);

		if (!strncmp(path, b->path, length) && path[length] == '/')
			return b->line;
		free(b->path);
		t->depth--;
	}
	return NULL;
}

static int branch_open(struct table *t, const char *path, struct libscols_line *line)
{
	char *copy;

	if (t->depth == TREE_DEPTH_MAX)
		return 0;
	copy = strdup(path);
	if (!copy)
		return -1;
	t->open[t->depth].path = copy;
	t->open[t->depth++].line = line;
	return 0;
}

static struct libscols_line *line_new(struct table *t, struct json_object *row)
{
	struct json_object *value = NULL;
	struct libscols_line *line;
	const char *path;

	if (!t->tree || t->style->format != FORMAT_TABLE || !json_object_object_get_ex(row, "path", &value) ||
		!value)
		return scols_table_new_line(t->scols, NULL);
	path = json_object_get_string(value);
	if (!path)
		return NULL;
	line = scols_table_new_line(t->scols, branch_above(t, path));
	return line && branch_open(t, path, line) == 0 ? line : NULL;
}

/* A row is a line: advice of several lines follows behind blanks, or libsmartcols would write \x0a. */
static void lines_join(char *text)
{
	while ((text = strchr(text, '\n')))
		*text++ = ' ';
}

static int line_add(struct table *t, struct json_object *row)
{
	struct libscols_line *line = line_new(t, row);
	size_t n = 0;

	if (!line)
		return -1;
	for (size_t i = 0; i < t->count; i++) {
		char *text;

		if (!column_shown(&t->columns[i], t->style))
			continue;
		text = cell_text(&t->columns[i], row, t->style);
		if (!text)
			return -1;
		if (t->style->format == FORMAT_TABLE)
			lines_join(text);
		if (scols_rv(scols_line_refer_data(line, n++, text)) < 0) {
			free(text);
			return -1;
		}
	}
	return 0;
}

static int scols_start(struct table *t)
{
	t->scols = scols_new_table();
	if (!t->scols)
		return -1;
	if (scols_rv(scols_table_enable_noheadings(t->scols, !t->style->headings)) < 0 || columns_add(t) < 0)
		return -1;
	if (t->style->format != FORMAT_JSON)
		return 0;
	if (scols_rv(scols_table_enable_json(t->scols, 1)) < 0 ||
		scols_rv(scols_table_enable_noencoding(t->scols, 1)) < 0)
		return -1; /* json-c has escaped what must be; \x1b would be no JSON */
	return scols_rv(scols_table_set_name(t->scols, "rows"));
}

/* --- for callers ------------------------------------------------------------------------------------ */

struct table *table_new(const struct column *columns, size_t count, const struct style *style, bool tree)
{
	struct table *t = calloc(1, sizeof(*t));
	int rv = 0;

	if (!t)
		return NULL;
	*t = (struct table){.columns = columns, .count = count, .style = style, .tree = tree};
	if (style->format == FORMAT_TABLE || style->format == FORMAT_JSON)
		rv = scols_start(t);
	else if (style->headings)
		rv = line_print(t, NULL);
	if (rv == 0)
		return t;
	table_free(t);
	return NULL;
}

void table_free(struct table *t)
{
	int err = errno;

	if (!t)
		return;
	while (t->depth)
		free(t->open[--t->depth].path);
	scols_unref_table(t->scols);
	free(t);
	errno = err;
}

int table_add(struct table *t, struct json_object *rows)
{
	size_t n = json_object_array_length(rows);

	for (size_t i = 0; i < n; i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if ((t->scols ? line_add(t, row) : line_print(t, row)) < 0)
			return -1;
		t->rows++;
	}
	return 0;
}

size_t table_rows(const struct table *t)
{
	return t->rows;
}

/* --- a narrow terminal ------------------------------------------------------------------------------ */

/* Is the table wider than the terminal, and the terminal so narrow that cells which are broken or lines which
 * run over cannot be read? 1, 0, -1. */
static int is_too_wide(struct table *t)
{
	int columns = wrap_width(stdout), widest = 0;
	char *text = NULL;

	if (!columns || columns >= WRAP_NARROW)
		return 0;
	if (scols_rv(scols_table_set_termforce(t->scols, SCOLS_TERMFORCE_NEVER)) < 0 ||
		scols_rv(scols_print_table_to_string(t->scols, &text)) < 0)
		return -1;
	for (const char *p = text; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
		int n = wrap_columns(p, strcspn(p, "\n"));

		widest = n > widest ? n : widest;
	}
	free(text);
	return scols_rv(scols_table_set_termforce(t->scols, SCOLS_TERMFORCE_AUTO)) < 0 ? -1
										       : widest > columns;
}

static const char *heading_of(struct table *t, size_t column)
{
	struct libscols_column *c = scols_table_get_column(t->scols, column);
	const char *text = c ? scols_cell_get_data(scols_column_get_header(c)) : NULL;

	return text ? text : "";
}

/* A row as lines "heading  value", and an empty line between rows; what is empty is left out. */
static void records_print(struct table *t)
{
	size_t ncolumns = scols_table_get_ncols(t->scols);
	int width = 0;

	for (size_t c = 0; c < ncolumns; c++)
		width = (int)strlen(heading_of(t, c)) > width ? (int)strlen(heading_of(t, c)) : width;
	for (size_t i = 0; i < scols_table_get_nlines(t->scols); i++) {
		struct libscols_line *line = scols_table_get_line(t->scols, i);

		if (i)
			putchar('\n');
		for (size_t c = 0; c < ncolumns; c++) {
			const char *text =
				scols_line_get_column_data(line, scols_table_get_column(t->scols, c));

			if (!text || !*text)
				continue;
			printf("%-*s  ", width, heading_of(t, c));
			say_line(stdout, width + 2, text);
		}
	}
}

/* libsmartcols fills the last column up; a line ends where its text does, or a copy of it ends in blanks. The
 * string has no newline behind its last line. */
static int lines_print(struct table *t)
{
	char *text = NULL;

	if (scols_rv(scols_print_table_to_string(t->scols, &text)) < 0)
		return -1;
	for (const char *p = text; p && *p; ) {
		size_t whole = strcspn(p, "\n"), n = whole;

		while (n > 0 && p[n - 1] == ' ')
			n--;
		fwrite(p, 1, n, stdout);
		putchar('\n');
		p += whole + (p[whole] == '\n');
	}
	free(text);
	return 0;
}

int table_print(struct table *t)
{
	int narrow = 0;

	if (!t->scols)
		return 0;
	if (t->style->format == FORMAT_JSON && !t->rows) {
		/* libsmartcols prints nothing at all for an empty list, which is not JSON */
		puts("{\n   \"rows\": []\n}");
		return 0;
	}
	if (t->style->format == FORMAT_TABLE)
		narrow = is_too_wide(t);
	if (narrow > 0)
		records_print(t);
	else if (narrow == 0)
		narrow = t->style->format == FORMAT_TABLE ? lines_print(t)
			: scols_rv(scols_print_table(t->scols));
	return narrow < 0 ? -1 : 0;
}

static void line_say(int width, const char *heading, const char *text, const char *unit)
{
	if (!*text) {
		puts(heading);
		return;
	}
	printf("%-*s  ", width, heading);
	if (unit)
		printf("%s %s\n", text, unit);
	else
		say_line(stdout, width + 2, text);
}

static int object_lines(
	const struct column *columns, size_t count, const struct style *style, struct json_object *object)
{
	int width = 0;

	for (size_t i = 0; i < count; i++)
		if (columns[i].heading && (int)strlen(columns[i].heading) > width)
			width = (int)strlen(columns[i].heading);
	for (size_t i = 0; i < count; i++) {
		char *text;

		if (!columns[i].heading)
			continue;
		text = cell_text(&columns[i], object, style);
		if (!text)
			return -1;
		lines_join(text);	/* or a reason could look like further lines of ours */
		line_say(width, columns[i].heading, text,
			columns[i].kind == KIND_AMOUNT && *text &&
					json_object_object_get(object, columns[i].key)
				? cell_unit(style)
				: NULL);
		free(text);
	}
	return 0;
}

static int object_json(struct json_object *object)
{
	const char *text = json_object_to_json_string_ext(
		object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE);

	if (!text) {
		errno = ENOMEM;
		return -1;
	}
	puts(text);
	return 0;
}

int table_object(
	const struct column *columns, size_t count, const struct style *style, struct json_object *object)
{
	struct table t = {.columns = columns, .count = count, .style = style};

	switch (style->format) {
	case FORMAT_TABLE:
		return object_lines(columns, count, style, object);
	case FORMAT_JSON:
		return object_json(object);
	default:
		return (style->headings && line_print(&t, NULL) < 0) || line_print(&t, object) < 0 ? -1 : 0;
	}
}
