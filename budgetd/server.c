/* SPDX-License-Identifier: GPL-2.0-or-later
 * server.c - HTTP on two Unix sockets and, where wished, over the network: who calls, how large, which
 * handler, and errno as a status.
 *
 * libmicrohttpd calls on_request several times for one request: first with the headers, then with pieces of
 * the body, last with none left. What is refused by its headers is answered at once, without reading the
 * body. */
#include "budgetd/server.h"
#include "budgetd/body.h"
#include "budgetd/caller.h"
#include "budgetd/ledger.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "budgetd/socket.h"
#include "lib/credential.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IDLE_SECONDS 300	/* a kept connection of the plugin; slow senders are cut by it too */
#define USER_IDLE_SECONDS 20
#define CONNECTIONS_MAX 512	/* of each door */
/* over the network, from one host: it may keep itself waiting, not the others */
#define HOST_CONNECTIONS_MAX 64

/* Each has a thread of its own, so that none can keep another waiting. In the order of opening. */
enum door { DOOR_SLURM, DOOR_PEOPLE, DOOR_NETWORK, DOORS };

struct listener {
	struct budgetd *b;
	enum door door;
	struct MHD_Daemon *daemon;	/* NULL: closed */
};

struct server {
	struct listener doors[DOORS];
};

/* One request while its pieces arrive. */
struct exchange {
	char *path;		/* as it was sent, with its query: what a credential is for */
	bool begun;		/* its headers were read */
	const struct route *route;
	const char *name;
	struct caller caller;
	char *body;
	size_t used;
	/* more came than its headers said: read on, keep nothing, refuse at the end */
	bool too_large;
};

/* --- answers ------------------------------------------------------------------------------------ */

static const struct {
	int err;
	unsigned status;
} status_table[] = {
	{ EKEYREJECTED, MHD_HTTP_UNAUTHORIZED },
	{ EINVAL, MHD_HTTP_BAD_REQUEST },
	{ EOVERFLOW, MHD_HTTP_BAD_REQUEST },
	{ E2BIG, MHD_HTTP_BAD_REQUEST },
	{ EPERM, MHD_HTTP_FORBIDDEN },
	{ EACCES, MHD_HTTP_FORBIDDEN },
	{ ENOENT, MHD_HTTP_NOT_FOUND },
	{ EOPNOTSUPP, MHD_HTTP_METHOD_NOT_ALLOWED },
	{ EEXIST, MHD_HTTP_CONFLICT },
	{ EMSGSIZE, MHD_HTTP_CONTENT_TOO_LARGE },
	{ EAGAIN, MHD_HTTP_SERVICE_UNAVAILABLE },
};

static unsigned status_of(int err)
{
	for (size_t i = 0; i < sizeof(status_table) / sizeof(*status_table); i++)
		if (status_table[i].err == err)
			return status_table[i].status;
	return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, struct json_object *reply)
{
	size_t length = 0;
	const char *text = json_object_to_json_string_length(reply,
		JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
	struct MHD_Response *response =
		text ? MHD_create_response_from_buffer(length, (void *)text, MHD_RESPMEM_MUST_COPY) : NULL;
	enum MHD_Result rc = MHD_NO;

	if (response) {
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
		if (status == MHD_HTTP_UNAUTHORIZED)
			MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				CREDENTIAL_SCHEME);
		rc = MHD_queue_response(connection, status, response);
		MHD_destroy_response(response);
	}
	json_object_put(reply);
	return rc;
}

#define STREAM_BLOCK (64 * 1024)

static ssize_t stream_more(void *arg, uint64_t at, char *to, size_t max)
{
	struct reply_stream *s = arg;
	ssize_t n = s->more(s, to, max);

	(void)at;
	/* cut off: whoever reads sees that the last chunk is missing */
	return n > 0 ? n : n == 0 ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void stream_end(void *arg)
{
	struct reply_stream *s = arg;

	s->free(s);
}

/* In chunks, as fast as the caller reads; others are served between two of them. */
static enum MHD_Result answer_stream(struct MHD_Connection *connection, struct reply_stream *s)
{
	struct MHD_Response *response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
		stream_more, s, stream_end);
	enum MHD_Result rc;

	if (!response) {
		s->free(s);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/csv; charset=utf-8; header=present");
	rc = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return rc;
}

static enum MHD_Result answer_fault(struct MHD_Connection *connection, int err, const struct fault *why)
{
	struct json_object *o = json_object_new_object();

	put_text(o, "error", why->text[0] ? why->text : strerror(err));
	if (status_of(err) == MHD_HTTP_INTERNAL_SERVER_ERROR)
		log_error("a call failed: %s", why->text[0] ? why->text : strerror(err));
	return answer(connection, status_of(err), o);
}

/* --- what the headers decide -------------------------------------------------------------------- */

static int check_who(const struct listener *at, const struct exchange *x, struct fault *why)
{
	struct people *p = at->b->people;
	bool slurm = at->door == DOOR_SLURM && people_is_slurm(p, x->caller.uid);

	return route_allows(x->route, people_is_administrator(p, x->caller.uid), slurm, why);
}

static int check_size(const struct exchange *x, struct MHD_Connection *connection, struct fault *why)
{
	const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
		MHD_HTTP_HEADER_CONTENT_LENGTH);

	if (length && strtoull(length, NULL, 10) > x->route->body_max)
		return fault_errno(why, EMSGSIZE, "the body has %s bytes, at most %zu are taken here", length,
			x->route->body_max);
	return 0;
}

/* Over the network by a credential, else by the kernel's word for the peer. Nothing else in a request tells
 * who it is. */
static int identify(const struct listener *at, struct exchange *x, struct MHD_Connection *connection,
	struct fault *why)
{
	const struct settings *s = at->b->settings;
	const union MHD_ConnectionInfo *info;
	char name[PERSON_NAME_MAX];

	if (at->door == DOOR_NETWORK) {
		if (caller_read(MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
			MHD_HTTP_HEADER_AUTHORIZATION), s->munge_socket, s->credential_age_s,
			&x->caller, why) < 0)
			return -1;
		return people_known(at->b->people, x->caller.uid, time(NULL), name, why) == 1 ? 0 : -1;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (!info || socket_peer(info->connect_fd, &x->caller.uid) < 0)
		return fault_errno(why, EACCES, "the caller cannot be identified");
	/* while no transaction is open: handlers find the name at hand, however slow the directory is */
	if (at->door == DOOR_PEOPLE)
		people_name(at->b->people, x->caller.uid, time(NULL), name);
	return 0;
}

static int read_headers(const struct listener *at, struct exchange *x, struct MHD_Connection *connection,
	const char *method, const char *url, struct fault *why)
{
	if (identify(at, x, connection, why) < 0)
		return -1;
	x->route = route_find(method, url, &x->name);
	if (!x->route)
		return fault_set(why,
			errno == ENOENT ? "there is nothing at %s; doc/api.md lists what there is"
			: "%s does not take this method", url);
	if (check_who(at, x, why) < 0 || check_size(x, connection, why) < 0)
		return -1;
	x->body = malloc(x->route->body_max + 1);
	return x->body ? 0 : fault_errno(why, ENOMEM, "out of memory");
}

/* --- the call itself ---------------------------------------------------------------------------- */

static int run_handler(const struct listener *at, const struct exchange *x, struct request *rq,
	struct fault *why)
{
	*rq = (struct request){ .b = at->b, .connection = rq->connection, .uid = x->caller.uid,
		.now = time(NULL), .name = x->name,
		.administrator = people_is_administrator(at->b->people, x->caller.uid), .who = x->route->who,
		.route = x->route, .status = MHD_HTTP_OK };
	if (x->too_large)
		return fault_errno(why, EMSGSIZE, "the body has more than the %zu bytes that are taken here",
			x->route->body_max);
	if (at->door == DOOR_NETWORK &&
		caller_check(&x->caller, x->route->method, x->path, x->body, x->used, why) < 0)
		return -1;
	if (x->route->body_max && body_read(x->route, x->body, x->used, &rq->body, why) < 0)
		return -1;
	return x->route->handle(rq, why);
}

static enum MHD_Result call(const struct listener *at, const struct exchange *x,
	struct MHD_Connection *connection)
{
	struct request rq = { .connection = connection };
	struct fault why = {0};
	int rc = run_handler(at, x, &rq, &why), err = errno;

	json_object_put(rq.body);
	if (rc == 0 && rq.stream)
		return answer_stream(connection, rq.stream);
	if (rc == 0)
		return answer(connection, rq.status, rq.reply);
	json_object_put(rq.reply);
	return answer_fault(connection, err, &why);
}

static enum MHD_Result take_piece(struct exchange *x, const char *data, size_t *size)
{
	if (*size > x->route->body_max - x->used)
		x->too_large = true;
	if (!x->too_large) {
		memcpy(x->body + x->used, data, *size);
		x->used += *size;
	}
	*size = 0;
	return MHD_YES;
}

/* The first that is heard of a request; what is returned is its *state from then on. */
static void *on_path(void *arg, const char *path, struct MHD_Connection *connection)
{
	struct exchange *x = calloc(1, sizeof(*x));

	(void)arg, (void)connection;
	if (x && !(x->path = strdup(path))) {
		free(x);
		x = NULL;
	}
	return x;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **state)
{
	const struct listener *at = arg;
	struct exchange *x = *state;
	struct fault why = {0};

	(void)version;
	if (!x)
		return MHD_NO;		/* on_path had no memory */
	if (!x->begun) {
		x->begun = true;
		return read_headers(at, x, connection, method, url, &why) < 0
			? answer_fault(connection, errno, &why) : MHD_YES;
	}
	if (*size)
		return take_piece(x, data, size);
	return call(at, x, connection);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode code)
{
	const struct listener *at = arg;
	struct exchange *x = *state;
	struct fault why = {0};

	(void)connection, (void)code;
	/* The verdict is out; slurmctld, which held its locks for it, does not wait for what follows. */
	if (at->door == DOOR_SLURM && ledger_write(at->b->ledger, &why) < 0)
		log_error("an answer could not be written down, its job will be met as one without: %s",
			why.text);
	if (x) {
		caller_free(&x->caller);
		free(x->path);
		free(x->body);
	}
	free(x);
	*state = NULL;
}

/* --- start and stop ----------------------------------------------------------------------------- */

static int door_socket(const struct settings *s, enum door door, struct fault *why)
{
	if (door == DOOR_NETWORK)
		return socket_listen_at(s->listen, why);
	return door == DOOR_SLURM ? socket_listen(s->slurm_socket, 0600, why)
		: socket_listen(s->socket, 0666, why);
}

static int listener_start(struct listener *at, struct budgetd *b, enum door door, struct fault *why)
{
	int fd = door_socket(b->settings, door, why);

	if (fd < 0)
		return -1;
	at->b = b;
	at->door = door;
	at->daemon = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, at,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, on_completed, at,
		MHD_OPTION_URI_LOG_CALLBACK, on_path, at,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned)(door == DOOR_NETWORK ? HOST_CONNECTIONS_MAX : 0), MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)(door == DOOR_SLURM ? IDLE_SECONDS : USER_IDLE_SECONDS), MHD_OPTION_END);
	if (!at->daemon) {
		close(fd);
		return fault_errno(why, EIO, "cannot start the HTTP server");
	}
	return 0;
}

int server_start(struct budgetd *b, struct server **out, struct fault *why)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return fault_errno(why, ENOMEM, "out of memory");
	for (enum door d = 0; d < DOORS; d++) {
		if (d == DOOR_NETWORK && !*b->settings->listen)
			continue;
		if (listener_start(&s->doors[d], b, d, why) < 0) {
			server_stop(s);
			return -1;
		}
	}
	*out = s;
	return 0;
}

void server_stop(struct server *s)
{
	for (int d = DOORS - 1; s && d >= 0; d--) {
		struct listener *at = &s->doors[d];

		if (!at->daemon)
			continue;
		if (d != DOOR_NETWORK)
			unlink(d == DOOR_SLURM ? at->b->settings->slurm_socket : at->b->settings->socket);
		MHD_stop_daemon(at->daemon);
	}
	free(s);
}
