/* SPDX-License-Identifier: GPL-2.0-or-later
 * bench_file.h - the file of the books on the bench, and those who look into it beside budgetd
 *
 * A history is short, and opening a file of the books is not: the schema is compared, triggers are made, a
 * hundred statements are prepared. So the connections stay, and what one history wrote is wiped before the
 * next.
 *
 * Failure  ends the program */
#ifndef TESTS_MODEL_BENCH_FILE_H
#define TESTS_MODEL_BENCH_FILE_H
#include "tests/model/bench.h"

/* What must not fail, or the program ends with b->why. */
void bench_must(bool ok, const struct bench *b, const char *doing);

/* The folder and its empty database; and away with them. */
void bench_folder_make(struct bench *b);
void bench_folder_remove(struct bench *b);

/* A new file b->path, empty, or as `from` lies there at this moment with its WAL. */
void bench_file_make(struct bench *b, const char *from);
void bench_file_remove(struct bench *b, const char *path);

/* budgetd's connections b->d.ledger and b->d.snapshot, and ours. */
void bench_file_open(struct bench *b);
void bench_file_close(struct bench *b);

/* As in the empty database; ids begin at 1 again. Nobody is in a transaction. */
void bench_file_wipe(struct bench *b);

#endif
