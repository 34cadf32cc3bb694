/* SPDX-License-Identifier: GPL-2.0-or-later
 * schema.h - whose file it is, which schema it has, and the steps forward
 *
 * Each schema is a step from the one before it, sql/NNNN.sql, compiled in; a new file takes all of them. A
 * step that was released is never edited. There is no way back: an older budgetd refuses a newer file. A step
 * may add nullable columns at the end of the tables of books/chain.h, and nothing else to those.
 *
 * Threads  a connection belongs to one thread at a time
 * Errors   -1 with errno and a text that names `path` and says how to go on */
#ifndef BOOKS_SCHEMA_H
#define BOOKS_SCHEMA_H
#include <sqlite3.h>
#include <stddef.h>
#include "lib/fault.h"

/* Step i leads from schema i to schema i + 1. A list is an argument only for tests: the books' own is
 * schema_steps. */
struct schema_steps {
	const char *const *sql;
	size_t count; /* the newest schema that there is */
};

extern const struct schema_steps schema_steps;

/* A new, empty file of the newest schema; EEXIST when something is there. */
int schema_create(const char *path, struct fault *why);
/* The newest schema in `db`, a new, empty database without a file behind it. */
int schema_build(sqlite3 *db, const struct schema_steps *steps, struct fault *why);

/* Is it ours, whole as far as SQLite can tell, and not newer than we are? The schema that it has, or -1:
 * EROFS, EBADMSG, EPROTO (newer). */
int schema_of(sqlite3 *db, const char *path, const struct schema_steps *steps, struct fault *why);

/* Are the tables, indices and triggers in `db` those that `steps` make? 0; 1 = *wrong names the first that is
 * missing or another; -1 = *wrong says why it cannot be told. What there is besides does not matter. */
int schema_compare(sqlite3 *db, const struct schema_steps *steps, struct fault *wrong);

/* Has a file that says `version` the tables of that schema? One that was made between two releases has not:
 * the number of the next schema is used before the schema is what it will be. 0, or -1: EPROTO. */
int schema_check(sqlite3 *db, const char *path, const struct schema_steps *steps, int version,
	struct fault *why);

/* Bring it forward in one transaction: all the steps that it lacks, or none. `db` enforces no foreign keys
 * meanwhile, so that a step can rebuild a table; they are checked before the end. 0, when there is nothing to
 * do too. */
int schema_upgrade(sqlite3 *db, const char *path, const struct schema_steps *steps, struct fault *why);

#endif
