/* SPDX-License-Identifier: GPL-2.0-or-later
 * token.h - the words in AdminComment: the one that ties an answer to its job, and the mark of a job that the
 * budget holds
 *
 * budgetd makes a token when it answers a submission, before Slurm has given the job an id. The plugin writes
 * it into AdminComment, which users cannot set; the loop and a later modification find it there, among the
 * words of others.
 *
 * Threads  pure functions: any thread */
#ifndef LIB_TOKEN_H
#define LIB_TOKEN_H
#include <stdbool.h>

#define TOKEN_PREFIX "gpubudget:"	/* every token begins with it */
#define TOKEN_MAX 64			/* bytes with the NUL */

/* The last word of `comment` (words are separated by blanks) that is a token: a copied job carries the old
 * one in front. true and `out` set; or false, `out` untouched: there is none. `comment` may be NULL. */
bool token_find(const char *comment, char out[TOKEN_MAX]);

/* Can this be written as a token: the prefix, something behind it, letters, digits and "._-" only, and it
 * fits? */
bool token_valid(const char *token);

/* The other word of ours: this record is held by the budget and by nobody else, and is released when there is
 * money. An administrator's own hold does not carry it, nor does a user's. */
#define WAITS_WORD "gpubudget-waits"
bool token_waits(const char *comment);	/* NULL is fine */
/* `comment` (NULL is fine) with the word once, at its end, or without it; all else stays as it is. malloc'ed;
 * NULL and ENOMEM. */
char *token_set_waits(const char *comment, bool waits);

#endif
