/* SPDX-License-Identifier: GPL-2.0-or-later
 * client.h - the one way to talk to budgetd
 *
 * HTTP over budgetd's Unix socket by libcurl, JSON by json-c, a deadline for the whole call. Connections are
 * kept and reused. No proxy, no signal, no environment variable is honoured: this also runs inside slurmctld.
 *
 * Threads  client_new/free: one thread, before and after all others. client_call: any number at once, no
 *          lock is held over I/O. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H
#include <json-c/json.h>
#include "lib/fault.h"

struct client;

/* `socket_path` is copied. Nothing is connected yet. NULL and errno ENOMEM. curl_global_init is the
 * caller's, once per process. */
struct client *client_new(const char *socket_path, long deadline_ms);
void client_free(struct client *c);	/* NULL is fine; errno is kept */

/* One call. `body` may be NULL and stays the caller's. On 0, *status is the HTTP status and *reply the
 * JSON object, to be put by the caller (json_object_put). On -1 both are untouched; errno: ETIMEDOUT (the
 * deadline passed), ENOENT or ECONNREFUSED (no daemon), EACCES, EPROTO (the answer is not JSON or not
 * HTTP), EMSGSIZE (over 16 MiB); `why` says which socket and what was tried. */
int client_call(struct client *c, const char *method, const char *path, struct json_object *body, int *status,
	struct json_object **reply, struct fault *why);

/* The "error" of a reply, or a text for a status without one. Borrowed from `reply`, or static. */
const char *client_error(int status, struct json_object *reply);

#endif
