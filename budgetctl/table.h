/* SPDX-License-Identifier: GPL-2.0-or-later
 * table.h - rows of a reply on stdout, as a table, JSON, CSV (RFC 4180) or lines with bars
 *
 * CSV and bars are written while rows arrive, so that a long journal needs no memory; table and JSON at the
 * end. Whether stdout took it is asked once, by out_finish(): a full disk is an error, a closed pipe is
 * not.
 *
 * Threads  one */
#ifndef BUDGETCTL_TABLE_H
#define BUDGETCTL_TABLE_H
#include <json-c/json.h>
#include <stddef.h>
#include "budgetctl/cell.h"

struct table;

/* `columns` and `style` must outlive the table. `tree`: rows have a "path" and the first column is drawn as
 * a tree. Prints the headings of CSV and bars. The list is called "rows" in JSON, as in the API. NULL and
 * ENOMEM. */
struct table *table_new(const struct column *columns, size_t count, const struct style *style, bool tree);
void table_free(struct table *t);	/* NULL is fine; errno is kept */

/* Every object of the array `rows`, in its order. 0; or -1 and ENOMEM. `rows` is not needed afterwards. */
int table_add(struct table *t, struct json_object *rows);

/* What is left to print; a table that is wider than a narrow terminal as rows of lines. 0; or -1 and
 * ENOMEM. */
int table_print(struct table *t);

size_t table_rows(const struct table *t);	/* added so far */

/* One object: a line "heading: value" a column for people, the object itself in JSON, else a table of one
 * row. 0; or -1 and ENOMEM. */
int table_object(
	const struct column *columns, size_t count, const struct style *style, struct json_object *object);

#endif
