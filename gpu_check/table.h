/* SPDX-License-Identifier: GPL-2.0-or-later
 * table.h - a table on stdout
 *
 * Threads  one */
#ifndef GPU_CHECK_TABLE_H
#define GPU_CHECK_TABLE_H
#include <libsmartcols/libsmartcols.h>
#include <stddef.h>

/* An empty one with these columns, to be ended with table_end; NULL: no memory. */
struct libscols_table *table_new(const char *const headings[], size_t count);

/* One more row; the texts are copied. 0; or -1: no memory. */
int table_row(struct libscols_table *t, const char *const cells[], size_t count);

/* Print it when `rv`, what came of its rows, is 0; free it, `t` may be NULL. 0; or -1 and ENOMEM. */
int table_end(struct libscols_table *t, int rv);

#endif
