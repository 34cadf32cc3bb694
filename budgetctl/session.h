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

struct settings;

#define REQUEST_ID_MAX 65		/* 64 bytes and the NUL: what budgetd takes */

struct session {
	const struct arguments *arguments;
	struct style style;
	struct client *client;		/* NULL before the first call: some commands ask nobody */
	/* what the client borrows its words from; NULL before the first call */
	struct settings *settings;
	/* budgetd.conf when it is there and closed to this user, else NULL; borrowed */
	const char *hidden;
	char request_id[REQUEST_ID_MAX];
	long deadline_ms;		/* of each call; before the first one: 0 = as always */
};

/* Reads the options of every command, finds the socket, makes the request id. The exit code; *s is to be
 * closed on DONE only. */
int session_open(struct session *s, const struct arguments *a);
void session_close(struct session *s);

const char *session_option(const struct session *s, enum command_option o);	/* NULL = not given */
const char *session_word(const struct session *s, int i);	/* NULL = there are fewer */

/* One call. DONE and *reply, to be put by the caller; else *reply is untouched. */
int session_call(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply);

/* The same, but a refusal of budgetd is not said: REFUSED or FORBIDDEN, and *refusal has its text. */
int session_ask(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply, struct fault *refusal);

/* GET `path` whose answer is sent while it is read; `each` as in client/client.h. A refusal is said, and so is an
 * answer that broke off. */
int session_stream(struct session *s, const char *path, client_piece each, void *arg);

/* budgetd.conf, or the defaults where the built-in one is missing or hidden from users. DONE and *out, to be
 * freed by settings_free(); else a text in *why: USAGE when GPUBUDGET_CONF names a file that cannot be read,
 * REFUSED for one that makes no sense. */
int session_settings(struct session *s, struct settings **out, struct fault *why);

/* A write: the body gets the request id, and is put in any case. NULL is out of memory (and is said). After
 * a timeout the complaint tells how to say the same once more. */
int session_write(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply);

/* A command that prints a list is a row of its file. */
struct list {
	const char *path;		/* "/v1/journal" */
	const struct column *columns;
	size_t count;
	bool tree;			/* rows have a "path" and are drawn as a tree */
	bool paged;			/* the API gives it page by page: --limit */
	const char *what;		/* the plural, for "there are no ..." */
};

/* The whole command: the rows of the project (a word or --project; neither: all that one may see), and
 * those whose `key` is `value` (NULL: any). Tells on stderr when rows were left out, and when there are
 * none. */
int session_list(struct session *s, const struct list *l, const char *key, const char *value);

/* The rows of one project (NULL: all) into `t`; no pages. */
int session_rows(struct session *s, const struct list *l, const char *project, struct table *t);

/* Print `t`; say so when it is empty. */
int session_print(struct session *s, const struct list *l, struct table *t);

/* All rows of GET `path`, page by page, in one array; *rows is to be put by the caller. `path` NULL: out of
 * memory. */
int session_fetch(struct session *s, const char *path, struct json_object **rows);

/* The row of GET `path` whose `key` is `value` (a text or a number as text); *row is to be put by the
 * caller. `noun` says what was looked for when there is none. `path` NULL: out of memory. */
int session_find(struct session *s, const char *path, const char *key, const char *value, const char *noun,
	struct json_object **row);

int out_of_memory(void);	/* complains, returns REFUSED */

#endif
