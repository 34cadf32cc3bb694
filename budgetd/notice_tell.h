/* SPDX-License-Identifier: GPL-2.0-or-later
 * notice_tell.h - the two ways in which a notice leaves: the site's command, and a webhook
 *
 * Each has an end in time, and each can be told twice: the key of a notice tells its receiver. No secret and
 * no word of a user is in an argument list, no shell is asked, and no text of a failure shows the path of a
 * URL.
 *
 * Threads  any, one webhook in one thread at a time */
#ifndef BUDGETD_NOTICE_TELL_H
#define BUDGETD_NOTICE_TELL_H
#include <stdatomic.h>
#include "budgetd/notice_queue.h"

/* How long one may take, and what ends it before that: budgetd is to stop. */
struct notice_patience {
	int64_t deadline_ms;
	const atomic_bool *stop;
};

/* Can `path` be the command? A program that root or our own user has and nobody else can write, nor the folders
 * above it. 0; or -1 and a text that says what to do. */
int notice_command_check(const char *path, struct fault *why);

/* Run it: the text on stdin; argv is its name and the kind; the rest is in its environment, which has nothing
 * else but PATH (budgetd(8)). 0 when it ended with 0. Else -1: EPROTO (it failed: `why` has its first words),
 * ETIMEDOUT (it and its process group were killed), ECANCELED (told to stop), what exec says. */
int notice_command_run(const char *path, const struct notice *n, const struct notice_patience *p,
	struct fault *why);

/* The URL that `path` has, to be freed, and the part of it that may be shown. */
int notice_url_read(const char *path, char **url, char place[static NOTICE_PLACE_MAX], struct fault *why);

struct notice_webhook;
struct notice_webhook *notice_webhook_new(void);	/* NULL and ENOMEM. curl_global_init is the caller's */
void notice_webhook_free(struct notice_webhook *w);	/* NULL is fine */

/* POST it as JSON to the URL in the file; `ca` "" = the certificates that the host trusts. 0 when the answer is
 * 2xx. Else -1: EPROTO, ETIMEDOUT, ECONNREFUSED, ECANCELED, and what is wrong with the file. */
int notice_webhook_post(struct notice_webhook *w, const char *url_file, const char *ca, const struct notice *n,
	const struct notice_patience *p, struct fault *why);

/* What is posted: malloced, or NULL and ENOMEM. */
char *notice_json(const struct notice *n);

#endif
