/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice_queue.h - notices that wait to be told, and what was told: a file of its own beside the books
 *
 * What was looked at and the notices that came of it are written in one transaction, so each crossing is
 * queued once, whenever the daemon is killed. A notice is marked as told after it was: killed in between it is
 * told again, with the same key. It is no part of the books: nobody who submits waits for it, and a queue that
 * is lost costs notices, never money.
 *
 * Unit     UTC epoch seconds
 * Threads  a connection belongs to one thread; several may be open, and wait for each other
 * Errors   -1 with errno and a text */
#ifndef BUDGETD_NOTICE_QUEUE_H
#define BUDGETD_NOTICE_QUEUE_H
#include "lib/budget.h"
#include "lib/notice.h"

struct notice_queue;

enum notice_way { NOTICE_BY_COMMAND, NOTICE_BY_WEBHOOK, NOTICE_WAYS };
const char *notice_way_name(enum notice_way w);		/* "command", "webhook" */

/* Of the books at `database`; made where it is not there. */
int notice_queue_open(const char *database, struct notice_queue **out, struct fault *why);
void notice_queue_close(struct notice_queue *q);	/* NULL is fine */

int notice_queue_begin(struct notice_queue *q, struct fault *why);
int notice_queue_commit(struct notice_queue *q, struct fault *why);	/* on failure all was rolled back */
void notice_queue_rollback(struct notice_queue *q);	/* keeps errno */

/* --- up to where was looked ------------------------------------------------------------------------ */

struct notice_seen {
	int64_t event, event_at;	/* the last one of the books, 0 = none */
	int64_t entry;			/* likewise of the journal */
};
int notice_seen_get(struct notice_queue *q, struct notice_seen *out, struct fault *why);	/* 1, 0 = never, -1 */
int notice_seen_set(struct notice_queue *q, const struct notice_seen *seen, struct fault *why);

/* What was told of a project; nothing is all zero. */
int notice_budget_get(struct notice_queue *q, int64_t project, struct notice_budget *out, struct fault *why);
int notice_budget_set(struct notice_queue *q, int64_t project, const struct notice_budget *b, struct fault *why);
/* The end of an allocation that was told of, 0 = none. */
int notice_expiry_get(struct notice_queue *q, int64_t allocation, int64_t *ends, struct fault *why);
int notice_expiry_set(struct notice_queue *q, int64_t allocation, int64_t ends, struct fault *why);

/* --- notices --------------------------------------------------------------------------------------- */

#define NOTICE_KEY_MAX 48
#define NOTICE_TO_MAX 1024
#define NOTICE_SUBJECT_MAX 256
struct notice {
	int64_t id, at;
	char key[NOTICE_KEY_MAX];	/* the same each time that it is told; no other notice has it */
	enum notice_kind kind;
	enum notice_severity severity;
	char project[PROJECT_NAME_MAX], job[64];	/* "" = of none */
	char to[NOTICE_TO_MAX];		/* user names with commas between */
	char subject[NOTICE_SUBJECT_MAX];
	char *text;			/* of a row that was read: freed by notice_clear */
};
void notice_clear(struct notice *n);

/* Queued for each of `ways`, a bit each. Wants a transaction. */
int notice_add(struct notice_queue *q, const struct notice *n, unsigned ways, struct fault *why);

/* One that is to be told that way at `now`, those first that were tried the least. 1, to be cleared; 0; -1. */
int notice_due(struct notice_queue *q, enum notice_way way, int64_t now, struct notice *out, int64_t *attempts,
	struct fault *why);
int notice_told(struct notice_queue *q, int64_t id, enum notice_way way, int64_t now, struct fault *why);
/* It is tried again at `next`. */
int notice_missed(struct notice_queue *q, int64_t id, enum notice_way way, int64_t next, const char *error,
	struct fault *why);
/* What waits for longer than keep_s, or for a way that is none of `ways` any more, has failed. How many; -1. */
int notice_give_up(struct notice_queue *q, int64_t keep_s, unsigned ways, int64_t now, struct fault *why);
/* What was told or has failed is forgotten after a month. */
int notice_forget(struct notice_queue *q, int64_t now, struct fault *why);

struct notice_counts {
	int64_t waiting, failed;
};
int notice_count(struct notice_queue *q, struct notice_counts *out, struct fault *why);

struct notice_delivery {
	struct notice notice;		/* without its text */
	const char *way, *state, *error;	/* waiting, told, failed */
	int64_t attempts, next_at, done_at;	/* 0 = not */
};
typedef int (*notice_fn)(const struct notice_delivery *d, void *arg);
/* Newest first, at most `limit`; state "" = all. */
int notice_walk(struct notice_queue *q, const char *state, int64_t limit, notice_fn each, void *arg,
	struct fault *why);

#endif
