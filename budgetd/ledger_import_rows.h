/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_import_rows.h - what an import has to write, many rows by one statement. Private to the import.
 *
 * A statement costs SQLite as much as the three rows it inserts. So what is to be written is kept, and
 * written by statements of many rows: before something must be found in the tables, and at the end. */
#ifndef BUDGETD_LEDGER_IMPORT_ROWS_H
#define BUDGETD_LEDGER_IMPORT_ROWS_H
#include "budgetd/ledger_import.h"

struct import_run_values {
	const char *cluster, *label, *partition, *tier, *tres, *state;
	int64_t id, job, submit, start, project, uid, gpus, price, end;
};

struct import_part_values {
	const char *kind, *tres;	/* tres: NULL = as its run */
	int64_t id, run, seq, project, from, end, gpus, price, units, dated;
};

/* Writes the rows that `im` keeps, into the hashes over them too, and keeps none. 0 or -1. */
int import_rows_write(struct ledger *l, struct import *im, struct fault *why);

#endif
