/* SPDX-License-Identifier: GPL-2.0-or-later
 * notices.h - telling people without being asked: the thread that looks at the books and tells what is new
 *
 * Off unless `notice_command` or `notice_url_file` is set. It looks over a reader of the books of its own and
 * writes into a file of its own (notice_queue.h), so a receiver that hangs, a full queue or a slow directory
 * delays nothing but notices. The queue is bounded: while it is full nothing is looked at, and nothing is lost,
 * because what is to be told stays in the books.
 *
 * Threads  notices_state, notices_wake: any. start and stop: one, before and after all others */
#ifndef BUDGETD_NOTICES_H
#define BUDGETD_NOTICES_H
#include <stdio.h>
#include "budgetd/notice_queue.h"

struct budgetd;
struct ledger;
struct notices;
struct settings;

/* Can what the settings name be used? 0; or -1 and a text that says what to do. */
int notices_check(const struct settings *s, struct fault *why);

/* The kinds of notices as a list of budgetd(8), in mdoc(7). */
void notices_print_manual(FILE *to);

/* A bit for each way that is set; 0 = notices are off. */
unsigned notices_ways(const struct settings *s);

/* Follows the settings of `b` as they are when it looks. 0 and *out set; or -1. */
int notices_start(const struct budgetd *b, struct notices **out, struct fault *why);
/* NULL is fine; returns within a second or two, whatever a receiver does */
void notices_stop(struct notices *n);

/* There is something new to tell: it is not waited for the next look. */
void notices_wake(struct notices *n);	/* NULL is fine */

/* How it goes, in words: "" = off, "ok", or what is wrong. */
struct notices_state {
	char text[FAULT_TEXT_MAX];
	struct notice_counts counts;
};
void notices_state(struct notices *n, struct notices_state *out);	/* NULL: off */

/* What is new in the books since the last look becomes notices for `ways`, in one transaction of the queue. On
 * the first look events of before are left out. 0, or -1 and nothing was queued. */
int notice_look(const struct budgetd *b, struct ledger *reader, struct notice_queue *q, int64_t now,
	struct fault *why);

#endif
