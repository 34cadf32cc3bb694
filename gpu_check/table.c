/* SPDX-License-Identifier: GPL-2.0-or-later
 * table.c - libsmartcols, as the tables of gpu-check need it (table.h) */
#include "gpu_check/table.h"
#include <errno.h>

struct libscols_table *table_new(const char *const headings[], size_t count)
{
	struct libscols_table *t = scols_new_table();

	for (size_t i = 0; t && i < count; i++)
		if (!scols_table_new_column(t, headings[i], 0, i + 1 == count ? SCOLS_FL_NOEXTREMES : 0)) {
			scols_unref_table(t);
			return NULL;
		}
	return t;
}

int table_row(struct libscols_table *t, const char *const cells[], size_t count)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);

	for (size_t i = 0; line && i < count; i++)
		if (scols_line_set_data(line, i, cells[i]) < 0)
			return -1;
	return line ? 0 : -1;
}

int table_end(struct libscols_table *t, int rv)
{
	if (t && rv == 0)
		rv = scols_print_table(t) < 0 ? -1 : 0;
	scols_unref_table(t);
	if (rv < 0)
		errno = ENOMEM;
	return rv;
}
