/* SPDX-License-Identifier: GPL-2.0-or-later
 * run_set.h - which runs were seen already
 *
 * A row counts once, by (cluster, job, submit, start), however often it is in the file; rows of one job and
 * start with another submit are pieces of one run.
 *
 * Memory   some 48 bytes a row: 96 bits of a hash, the submit time and the end. Two of 10 million rows are taken for
 *          one another by chance once in 10^15 files
 * Threads  a set belongs to one thread */
#ifndef LIB_RUN_SET_H
#define LIB_RUN_SET_H
#include <stddef.h>
#include <stdint.h>

struct run_set;

struct run_set *run_set_new(void);	/* NULL and ENOMEM */
void run_set_free(struct run_set *s);	/* NULL is fine */

enum run_seen {
	RUN_FAILED = -1,	/* ENOMEM */
	RUN_NEW,
	RUN_PIECE,		/* another piece of a run that is in the set */
	RUN_TWICE,		/* the very same row */
	RUN_OTHER_END		/* the same row, with another end than before: the first one counts */
};

enum run_seen run_set_add(
	struct run_set *s, const char *cluster, const char *job, int64_t submit, int64_t start, int64_t end);

#endif
