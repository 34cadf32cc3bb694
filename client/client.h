/* SPDX-License-Identifier: GPL-2.0-or-later
 * client.h - the one way to talk to budgetd
 *
 * HTTP over budgetd's Unix socket or over the network by libcurl, JSON by json-c, a deadline for the whole
 * call. Connections are kept and reused. No proxy, no signal, no environment variable is honoured: this also
 * runs inside slurmctld.
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

/* A budgetd that is asked over the network. Everything is borrowed and outlives the client. */
struct client_server {
	const char *url; /* as address_check_server takes it */
	const char *ca;  /* file with the certificates of an https server; "" = those that the host trusts */
	const char *munge_socket; /* "" = libmunge's own */
	/* The Authorization of one request, to be freed: munge_authorization (client/munge.h), or a test's
	 * own. */
	char *(*authorize)(const char *munge_socket, const char *method, const char *path, const void *body,
		size_t bytes, struct fault *why);
};
struct client *client_new_server(
	const struct client_server *server, long deadline_ms); /* as client_new; for https a curl_global_init
								* with CURL_GLOBAL_SSL */
void client_free(struct client *c);	/* NULL is fine; errno is kept */

/* One call. `body` may be NULL and stays the caller's. On 0, *status is the HTTP status and *reply the
 * JSON object, to be put by the caller (json_object_put). On -1 both are untouched; errno: ETIMEDOUT (the
 * deadline passed), ENOENT or ECONNREFUSED (no daemon), EACCES, EPROTO (the answer is not JSON or not
 * HTTP), EMSGSIZE (over 16 MiB); over the network also EHOSTUNREACH, EKEYREJECTED (a certificate that is not
 * trusted) and what `authorize` set; `why` says where and what was tried. */
int client_call(struct client *c, const char *method, const char *path, struct json_object *body, int *status,
	struct json_object **reply, struct fault *why);

/* A piece of an answer; -1 stops the transfer. */
typedef int (*client_piece)(const char *data, size_t n, void *arg);

/* A GET whose answer may be of any length: on status 200 `each` gets it while it arrives, and the deadline is
 * for the time in which nothing arrives. Another status has its *reply, as above; it is NULL on 200 and on -1. Beside
 * what client_call sets: ECANCELED when `each` stopped it. */
int client_stream(struct client *c, const char *path, client_piece each, void *arg, int *status,
	struct json_object **reply, struct fault *why);

/* The "error" of a reply, or a text for a status without one. Borrowed from `reply`, or static. */
const char *client_error(int status, struct json_object *reply);

#endif
