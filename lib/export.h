/* SPDX-License-Identifier: GPL-2.0-or-later
 * export.h - the columns of exports, and their rows as CSV (RFC 4180)
 *
 * One table of columns for both ends: budgetd writes rows with times as UTC epoch seconds and amounts as
 * units, budgetctl reads them and shows times in a zone. A field that is not there is empty.
 *
 * Threads  pure functions of their arguments: any thread */
#ifndef LIB_EXPORT_H
#define LIB_EXPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum export_kind { EXPORT_TEXT, EXPORT_NUMBER, EXPORT_TIME, EXPORT_UNITS };

struct export_column {
	const char *name;		/* of an amount it ends in "_units" */
	enum export_kind kind;
};

struct export_table {
	const char *name;		/* "jobs" */
	const struct export_column *columns;
	size_t count;
};

/* jobs, journal, statement; NULL behind the last. */
const struct export_table *export_table_at(size_t i);
const struct export_table *export_table_find(const char *name);	/* NULL: there is none */

/* The GPU types of AllocTRES, "h100" or "a100+h100"; "" when Slurm did not tell any. Returns buf. */
#define EXPORT_TYPES_MAX 128
const char *export_gpu_types(const char *tres, char buf[static EXPORT_TYPES_MAX]);

/* --- writing ------------------------------------------------------------------------------------- */

/* Rows in a buffer of the caller's. */
struct export_writer {
	char *text;
	size_t size, used;
	bool begun;			/* a row: the next field has a comma in front */
	bool full;			/* something did not fit: what is behind `used` of the last row is not whole */
};

void export_put_text(struct export_writer *w, const char *text);
void export_put_number(struct export_writer *w, int64_t n);
void export_put_nothing(struct export_writer *w);
void export_end_row(struct export_writer *w);
void export_put_header(struct export_writer *w, const struct export_table *t);

/* --- reading ------------------------------------------------------------------------------------- */

#define EXPORT_FIELDS_MAX 64
#define EXPORT_ROW_MAX    16384

/* One row while its bytes arrive. Zeroed at first. */
struct export_reader {
	char text[EXPORT_ROW_MAX];
	size_t used, starts[EXPORT_FIELDS_MAX], fields;
	bool quoted, quote_seen, in_row;
};

/* A row: its fields, each with an end of its own. -1 stops the reading. */
typedef int (*export_row_fn)(char *const fields[], size_t n, void *arg);

/* Any piece of a file, in order. 0; or -1: a row is too long or has too many fields (errno EPROTO), or `each`
 * said so. */
int export_read(struct export_reader *r, const char *data, size_t n, export_row_fn each, void *arg);

#endif
