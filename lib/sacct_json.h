/* SPDX-License-Identifier: GPL-2.0-or-later
 * sacct_json.h - rows out of what `sacct --json` or slurmrestd (/slurmdb/.../jobs) gave
 *
 * The list "jobs" is taken apart job by job while it is read; all else in the document is skipped. Times are
 * epoch seconds there, whatever the zone. Several documents one after the other are read like one.
 *
 * Memory   one job with its steps, however long the list is
 * Threads  a reader belongs to one thread */
#ifndef LIB_SACCT_JSON_H
#define LIB_SACCT_JSON_H
#include <stdio.h>
#include "lib/sacct.h"
#include "lib/sacct_text.h"

struct sacct_json;

/* `from` stays the caller's and must outlive the reader. NULL and ENOMEM. */
struct sacct_json *sacct_json_new(FILE *from);
void sacct_json_free(struct sacct_json *j);	/* NULL is fine */

/* As sacct_text_next(); row->line is where the job begins. SACCT_FAILED and EINVAL when the file ends and had
 * no list of jobs. */
enum sacct_got sacct_json_next(struct sacct_json *j, struct sacct_row *row, struct fault *why);

#endif
