/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_text.h - rows out of what `sacct -P` (or -p) printed, by its header
 *
 * sacct -P quotes nothing: a bar or a newline in a job's name or comment is one column or line too many. The
 * number of columns decides. Lines are joined until a row is whole; bars that are too many belong to the
 * column of free text with which times, resources and the number of the job come out in their columns. Where
 * that is none, or more than one that differ in a column that is needed, the row is set aside.
 *
 * Memory   one row (at most SACCT_ROW_MAX bytes), however long the file is
 * Threads  a reader belongs to one thread */
#ifndef LIB_SACCT_TEXT_H
#define LIB_SACCT_TEXT_H
#include <stdio.h>
#include "lib/sacct.h"

#define SACCT_ROW_MAX (1 << 20)

struct sacct_text;

/* Reads the header. `from` stays the caller's and must outlive the reader. NULL, errno EINVAL (no header, or
 * columns are missing: `why` names them), EIO or ENOMEM. */
struct sacct_text *sacct_text_new(FILE *from, struct fault *why);
void sacct_text_free(struct sacct_text *t);	/* NULL is fine */

enum sacct_got {
	SACCT_FAILED = -1,	/* errno and why: the file cannot be read further */
	SACCT_END_OF_FILE,
	SACCT_ROW,		/* *row, valid until the next call */
	SACCT_BROKEN		/* row->line and why: set aside */
};

enum sacct_got sacct_text_next(struct sacct_text *t, struct sacct_row *row, struct fault *why);

#endif
