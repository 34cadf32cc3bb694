/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_sql.h - how the ledger_*.c speak SQL: named statements, prepared once, bound parameters
 *
 * A statement is a static text beside the function that uses it; its address is its name in the cache of
 * prepared statements. Private to the ledger_*.c. Threads: only inside a transaction. */
#ifndef BUDGETD_LEDGER_SQL_H
#define BUDGETD_LEDGER_SQL_H
#include <sqlite3.h>
#include "budgetd/ledger.h"

/* Prepare (once), reset and bind. `types` has a letter for each parameter: i = int64_t, s = const char *
 * (NULL binds NULL; copied), p = const int64_t * (NULL binds NULL). NULL and `why` set on failure. */
sqlite3_stmt *sql_bind(struct ledger *l, const char *sql, struct fault *why, const char *types, ...);

/* 1 a row, 0 done, -1 error. A statement that was stepped to its end is reset by itself. */
int sql_step(struct ledger *l, sqlite3_stmt *st, struct fault *why);

/* Bind and run a statement that returns no rows. 0 or -1. */
int sql_do(struct ledger *l, const char *sql, struct fault *why, const char *types, ...);

/* Bind and read one row's first column. 1 found and *out set, 0 no row, -1. */
int sql_int(struct ledger *l, int64_t *out, const char *sql, struct fault *why, const char *types, ...);

int64_t sql_last_id(struct ledger *l);
int sql_changes(struct ledger *l);

/* Columns. Text is borrowed until the next step; "" for NULL. */
int64_t sql_col(sqlite3_stmt *st, int i);
const char *sql_text(sqlite3_stmt *st, int i);
bool sql_null(sqlite3_stmt *st, int i);

/* The time limit that the submission of admission `a` named, in seconds; NULL: none, or no limit. */
#define ADMISSION_LIMIT \
	"CASE WHEN json_extract(a.request, '$.time_limit_min') > 0" \
	" THEN json_extract(a.request, '$.time_limit_min') * 60 END"

#endif
