/* SPDX-License-Identifier: GPL-2.0-or-later
 * audit.h - are the books sound: everything that can be recomputed from the rows is, and compared
 *
 * Each check is a row: plain SQL (or a function) that finds the first row that is wrong and says so with the
 * numbers. They are written from doc/architecture.md, "The books", not from the code that writes. Nothing is
 * changed and no budgetd is needed.
 *
 * Threads  a connection belongs to one thread at a time */
#ifndef BOOKS_AUDIT_H
#define BOOKS_AUDIT_H
#include <sqlite3.h>
#include <stddef.h>
#include "lib/fault.h"

struct audit_check {
	const char *id;    /* "journal.balance": the table, and what of it */
	const char *about; /* what is so when it is sound, one sentence */
	const char *sql; /* its first row's first column is the text of the first row that is wrong; NULL: */
	int (*look)(sqlite3 *db, struct fault *wrong); /* as audit_make */
};

extern const struct audit_check audit_checks[];
extern const size_t audit_check_count;

/* Open the file for reading, as one state that stays the same until it is closed: budgetd goes on writing
 * meanwhile. 0 and *out, to be closed by audit_close; or -1, errno EACCES, ENOENT, EBADMSG (corrupt, or not
 * ours), EPROTO (another schema) or EIO, and a text. */
int audit_open(const char *path, sqlite3 **out, struct fault *why);
void audit_close(sqlite3 *db); /* NULL is fine */

/* What audit_make and chain_head_text need of a connection that was opened otherwise. 0 or -1. */
int audit_prepare(sqlite3 *db, struct fault *why);

/* 0 = sound; 1 = *wrong names the first row; -1 = it could not be made (the file is damaged), *wrong says
 * why. */
int audit_make(sqlite3 *db, const struct audit_check *c, struct fault *wrong);

/* All checks on a file. 0 = sound; -1 with *why naming the first that is not, errno EBADMSG. */
int audit_file(const char *path, struct fault *why);

/* Likewise of a copy; what is wrong is said of the file that it was made of. */
int audit_copy(const char *path, const char *of, struct fault *why);

#endif
