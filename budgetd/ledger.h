/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger.h - the books: one SQLite file, one transaction per decision
 *
 * The ledger_*.h beside this one are its subjects: projects, money (allocations, deposits, journal),
 * admissions and holds, runs and charges. All their functions want an open transaction and the caller's
 * ledger_begin ... ledger_commit around them, so that a check and what follows from it cannot be torn apart.
 *
 * Durability  LEDGER_MONEY is on the disk (fsync) when ledger_commit returns: deposits, charges. LEDGER_HOLDS
 *             may lose the last moments at a power cut, never consistency: holds are rebuilt from the jobs by
 *             the next pass. LEDGER_READ sees one state of the books and writes nothing; it is the only one
 *             that a reader takes.
 * Threads     any; transactions of one ledger follow each other in order of arrival (a fair lock is taken by
 *             ledger_begin and given back by ledger_commit or ledger_rollback)
 * Errors      -1 with errno and a text: EAGAIN (locked by another program), ENOSPC, EIO, EROFS, EBADMSG
 *             (corrupt), EEXIST, ENOENT, EINVAL */
#ifndef BUDGETD_LEDGER_H
#define BUDGETD_LEDGER_H
#include <stdbool.h>
#include <stdint.h>
#include "lib/fault.h"

struct ledger;

enum ledger_durability { LEDGER_HOLDS, LEDGER_MONEY, LEDGER_READ };

/* Make a new, empty ledger at `path`; EEXIST when something is there. */
int ledger_create(const char *path, struct fault *why);

/* Open an existing ledger, check it, bring an older schema forward, and lock it against a second budgetd. The
 * text of a failure says how to go on: missing (make one or restore), read-only, newer schema, corrupt, in
 * use. */
int ledger_open(const char *path, struct ledger **out, struct fault *why);
/* A second connection to a ledger that is open, for lists: it waits for nobody and nobody waits for it. */
int ledger_open_reader(const char *path, struct ledger **out, struct fault *why);
void ledger_close(struct ledger *l);	/* NULL is fine */

int ledger_begin(struct ledger *l, enum ledger_durability d, struct fault *why);
int ledger_commit(struct ledger *l, struct fault *why);	/* on failure everything was rolled back */
void ledger_rollback(struct ledger *l);			/* keeps errno */

/* A LEDGER_HOLDS transaction is decided: what follows in this ledger sees it, the file and other connections
 * only after ledger_write (or the next ledger_begin). So an answer can go out before it is written. What is
 * lost in between, by a kill or a full disk, is a hold of a job that the next pass then meets as one without
 * an answer. That is so for one answer only: after a write that failed the next thousand decisions are
 * written before they count; -1: this one was not, and is undone. */
int ledger_decided(struct ledger *l, struct fault *why);
int ledger_write(struct ledger *l, struct fault *why);	/* 0 when there is nothing to write, too */
/* Did the last write succeed? -1: no, with its text. Waits for nobody. */
int ledger_writes(struct ledger *l, struct fault *why);

/* All checks of books/audit.h over a reader, outside a transaction, of what is written by now. 0; or -1 and
 * EBADMSG: the first row that is wrong is named. It takes seconds for a million runs. */
int ledger_audit(struct ledger *reader, struct fault *why);

/* Bring what the WAL holds into the file, now and then. Commits seldom do: a submission would wait for the
 * disk. It is done over a reader, by its thread and outside a transaction; writers go on meanwhile. */
int ledger_checkpoint(struct ledger *reader, struct fault *why);

#endif
