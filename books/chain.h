/* SPDX-License-Identifier: GPL-2.0-or-later
 * chain.h - a hash over every row that is final, and over all that were final before it
 *
 * A row becomes final once: a journal entry, a charge and a rate when written, a run when it has ended, a
 * hold when it is closed, a request when it is decided. That moment adds a link to the table `chain`: link
 * number, table, row and
 *
 *   hash = SHA-256(hash of the link before || table || column || column ...)
 *
 * with 32 zero bytes before the first link. The table's name and the columns, in the order of the table, are
 * written as `t<bytes>:<text>;` (the name and texts), `i<decimal>;` (integers), `b<bytes>:<bytes>;` (blobs)
 * and `n;` (NULL); NULLs at the end are left out. So a later schema may add columns at the end of a table
 * without a change to the hashes of its old rows.
 *
 * Runs that were imported become final many at once: the row of `import` has a hash over them (import_hash
 * below) and is the one that gets a link. A link for each would cost more than the import.
 *
 * `chain_head` has the number and the hash of the last link: rows cut off at the end are missed, too. Who can
 * write the file can write a new chain as well: note the head that `budgetctl verify` prints somewhere else.
 *
 * Links are added by temporary triggers of the connection that budgetd writes by, made from the columns as
 * they are: no statement that writes such a row can forget it, and it is in the same transaction.
 *
 * Threads  a connection belongs to one thread at a time */
#ifndef BOOKS_CHAIN_H
#define BOOKS_CHAIN_H
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include "lib/fault.h"

#define CHAIN_HASH_BYTES 32
#define CHAIN_HEAD_TEXT_MAX 96

/* The tables of which rows become final, by number; NULL behind the last. *closing: as this column gets a
 * value; NULL = as they are written. */
const char *chain_table(size_t i, const char **closing);

/* This connection knows from now on chain_hash(HASH-BEFORE, TABLE, COLUMN...) and import_hash(FIRST-RUN,
 * LAST-RUN, FIRST-CHARGE, LAST-CHARGE), which is SHA-256(SHA-256 over those runs || SHA-256 over those
 * charges), by id, the columns of each row as above with `r;` behind them. 0; or -1, errno ENOMEM, EIO. */
int chain_function(sqlite3 *db, struct fault *why);

/* The same, and what becomes final over this connection from now on gets its link. */
int chain_attach(sqlite3 *db, struct fault *why);

/* The rows of one table on their way to import_hash(), told as they are written, so that none is read again:
 * its columns in their order, without NULLs at the end, and then the end of the row. One left out or told
 * wrongly is found by import.rows of the audit. */
struct chain_rows *chain_rows_new(void);	/* NULL and ENOMEM */
void chain_rows_free(struct chain_rows *r);	/* NULL is fine */
void chain_rows_integer(struct chain_rows *r, int64_t n);
void chain_rows_text(struct chain_rows *r, const char *text);
void chain_rows_null(struct chain_rows *r);
void chain_rows_end(struct chain_rows *r);

/* What import_hash() gives of all that was told. Ends both. */
void chain_import_hash(struct chain_rows *runs, struct chain_rows *charges,
	uint8_t out[static CHAIN_HASH_BYTES]);

/* For books/audit.c; they want chain_function(). 0 = sound; 1 = *wrong names the first row that is not; -1 =
 * *wrong says why it cannot be told. */
int chain_check_links(sqlite3 *db, struct fault *wrong); /* each link is what its row gives */
int chain_check_head(sqlite3 *db, struct fault *wrong);  /* the last one is the one that was written last */
int chain_check_rows(sqlite3 *db, struct fault *wrong);  /* each row that is final has its link */

/* "1234 links, the last is 9f86d0..." Returns buf; cannot fail: "" when there is none. */
const char *chain_head_text(sqlite3 *db, char buf[static CHAIN_HEAD_TEXT_MAX]);

#endif
