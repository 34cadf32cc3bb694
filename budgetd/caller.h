/* SPDX-License-Identifier: GPL-2.0-or-later
 * caller.h - who asks over the network: the uid in a MUNGE credential that was made for this very request
 *
 * A credential is decoded once, when the headers are there: munged remembers it and refuses it from then on
 * (replay). That it is for this request is known when the body is there too (lib/credential.h).
 *
 * Errors   EKEYREJECTED (401: none, forged, replayed, too old, for another request), EAGAIN (503: munged does
 * not answer), ENOMEM Threads  any; a struct caller belongs to its request. caller_read waits for munged:
 * never on the thread of the plugin */
#ifndef BUDGETD_CALLER_H
#define BUDGETD_CALLER_H
#include <stdint.h>
#include <sys/types.h>
#include "lib/fault.h"

struct caller {
	uid_t uid;
	char *payload; /* what the credential is for; NULL: a caller of a socket */
	size_t bytes;
};

/* `authorization`: the value of the header, or NULL. `munge_socket` "" is libmunge's own. Times of both hosts
 * may differ by `age_max_s`, either way. 0 and *out, to be given to caller_free; or -1, *out untouched. */
int caller_read(const char *authorization, const char *munge_socket, int64_t age_max_s, struct caller *out,
	struct fault *why);
/* Is the credential for this request? `path` is the target as it was sent, with its query. 0 or -1. */
int caller_check(const struct caller *c, const char *method, const char *path, const char *body, size_t bytes,
	struct fault *why);
void caller_free(struct caller *c); /* an empty one is fine */

#endif
