/* SPDX-License-Identifier: GPL-2.0-or-later
 * import.h - import sacct, in four files: import.c reads the rows, import_count.c counts them for a dry run,
 * import_send.c sends them to budgetd, import_stop.c tells how far it came when somebody stops it
 *
 * Every function that returns an exit code has said by itself what went wrong.
 *
 * Threads  one; import_send.c has some of its own while it sends, which touch nothing of this, and import_stop.c
 * one that reads `runs` alone */
#ifndef BUDGETCTL_IMPORT_H
#define BUDGETCTL_IMPORT_H
#include <stdio.h>
#include "budgetctl/progress.h"
#include "budgetctl/session.h"
#include "lib/run_set.h"
#include "lib/sacct.h"
#include "lib/usage.h"

struct sacct_text;
struct sacct_json;
struct sending;

struct import {
	const struct style *style;
	FILE *from;
	struct sacct_text *text; /* of sacct -P; or */
	struct sacct_json *json;
	struct zone *zone;
	struct progress progress;
	struct json_object *aside; /* {"line", "reason"}; as many as are shown */
	int64_t now; /* no run that ends behind it counts */
	int64_t naside;
	int64_t rows, steps, not_started;
	_Atomic int64_t runs; /* read by import_stop.c as well */

	/* a dry run; or */
	struct run_set *seen;
	struct usage *usage;
	int64_t pieces, twice;
	int64_t gpu_runs; /* rows with GPUs */

	/* an import */
	struct sending *sending;
	int64_t known, without_gpus; /* rows */
	struct json_object *projects; /* name -> what was imported for it */
};

/* One more row that is set aside. `reason` may have bytes that are no text. */
int import_set_aside(struct import *im, int64_t line, const char *reason);

/* For people: the first rows that were set aside, and a line of counts that begins and ends with these. On
 * stderr, so that a program's rows on stdout stay rows. */
void import_tell(const struct import *im, const char *begins, const char *ends);

/* Numbers and texts of a reply. -1 is out of memory. */
int import_put_text(struct json_object *o, const char *key, const char *text);
int import_put_number(struct json_object *o, const char *key, int64_t number);

/* --- import_count.c --- */
int import_count_begin(struct import *im);
int import_count(struct import *im, int64_t line, const struct sacct_run *r);
int import_count_print(const struct session *s, struct import *im);
void import_count_end(struct import *im);

/* --- import_send.c --- */
int import_send_begin(struct import *im, struct session *s, bool charge);
int import_send(struct import *im, int64_t line, const struct sacct_run *r); /* when a batch is full */
int import_send_rest(struct import *im); /* and wait for the answer */
int import_send_print(const struct session *s, struct import *im);
void import_send_end(struct import *im);

/* --- import_stop.c --- */

/* From here to import_stop_end() Ctrl-C, SIGTERM and SIGHUP are told with what is in the books by then and how
 * to go on; then the signal does what it does. One that is ignored (nohup) stays so. NULL: there is no memory
 * or no thread for it, and signals are what they were. */
struct import_stop;
struct import_stop *import_stop_begin(const struct import *im);
void import_stop_end(struct import_stop *stop); /* NULL is fine */

#endif
