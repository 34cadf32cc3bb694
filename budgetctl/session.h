/* SPDX-License-Identifier: GPL-2.0-or-later
 * session.h - one run of budgetctl: its arguments, its style, its line to budgetd
 *
 * Every function that returns an exit code has said by itself what went wrong.
 *
 * Unit     amounts in units, times in epoch seconds
 * Threads  one */
#ifndef BUDGETCTL_SESSION_H
#define BUDGETCTL_SESSION_H
#include <json-c/json.h>
#include <stdint.h>
#include "budgetctl/arguments.h"
#include "budgetctl/cell.h"
#include "budgetctl/table.h"
#include "client/client.h"

#define REQUEST_ID_MAX 65		/* 64 bytes and the NUL: what budgetd takes */

struct session {
	const struct arguments *arguments;
	struct style style;
	struct client *client;
	char request_id[REQUEST_ID_MAX];
};

/* Reads the options of every command, finds the socket, makes the request id. The exit code; *s is to be
 * closed on DONE only. */
int session_open(struct session *s, const struct arguments *a);
void session_close(struct session *s);

const char *session_option(const struct session *s, enum command_option o);	/* NULL = not given */
const char *session_word(const struct session *s, int i);	/* NULL = there are fewer */

/* The project of a list: its word or --project, *out NULL when neither is given. Both: USAGE. */
int session_project(const struct session *s, const char **out);

/* One call. DONE and *reply, to be put by the caller; else *reply is untouched. */
int session_call(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply);

/* A write: the body gets the request id, and is put in any case. NULL is out of memory (and is said). After
 * a timeout the complaint tells how to say the same once more. */
int session_write(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply);

/* Rows of GET `path` (which may have a query) added to `t`, page after page up to `limit` (0 = all;
 * PAGE_NONE: this list has no pages). *more (may be NULL) tells whether rows were left out. */
#define PAGE_NONE (-1)
int session_rows(struct session *s, const char *path, int64_t limit, struct table *t, bool *more);

/* --limit, or its default. */
int session_limit(const struct session *s, int64_t *out);

/* A whole list command: columns, pages, print. `what` is the plural for "there are no ...". */
int session_list(struct session *s, const char *path, int64_t limit, const struct column *columns,
	size_t count, bool tree, const char *what);

/* The row of GET `path` whose `key` is `value` (a text or a number as text); *row is to be put by the
 * caller. REFUSED, without a complaint, when there is none: the caller knows what it looked for. `path`
 * NULL: out of memory. */
int session_find(
	struct session *s, const char *path, const char *key, const char *value, struct json_object **row);

int out_of_memory(void);	/* complains, returns REFUSED */

#endif
