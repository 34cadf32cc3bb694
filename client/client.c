/* SPDX-License-Identifier: GPL-2.0-or-later
 * client.c - HTTP over a Unix socket or the network by libcurl, with kept connections
 *
 * An easy handle owns one connection. Idle handles stand in a list; a call takes one out, works with it alone
 * and puts it back, so the list's mutex is held for a few instructions and never over I/O. A connection that
 * the daemon has closed meanwhile is noticed by libcurl, which opens a new one within the same deadline.
 *
 * What must not happen inside slurmctld: a signal (NOSIGNAL), a proxy or anything else out of the
 * environment, a file descriptor that survives an exec, an answer without end. */
#include "client/client.h"
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define REPLY_BYTES_MAX (16u * 1024 * 1024)
#define REPLY_BYTES_FIRST 4096u		/* a verdict is a tenth of it */
#define REPLY_DEPTH_MAX 32
/* connections kept for the next burst; more than that are closed after use */
#define IDLE_MAX 16
#define PATH_BYTES_MAX 2048
#define URL_BYTES_MAX     512 /* of a server: a host has 255 */

struct handle {
	CURL *curl;
	struct curl_slist *headers; /* of its last request to a server; a socket's are those of the client */
	struct handle *next;
};

struct client {
	char *where;                 /* the path of a socket, or the URL of a server without the last "/" */
	struct client_server server; /* url NULL: a socket */
	long deadline_ms;
	struct curl_slist *headers;	/* only read once made: all handles share it */
	pthread_mutex_t lock;
	struct handle *idle;		/* under lock */
	int nidle;			/* under lock */
};

struct reply_buffer {
	char *data;
	size_t used, size;
	int err;			/* why the transfer was stopped by us, or 0 */
};

/* --- handles ------------------------------------------------------------------------------------- */

static curl_socket_t socket_open(void *data, curlsocktype purpose, struct curl_sockaddr *a)
{
	(void)data;
	(void)purpose;
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static size_t reply_more(char *data, size_t one, size_t n, void *to)
{
	struct reply_buffer *b = to;
	size_t bytes = one * n, size = b->size ? b->size : REPLY_BYTES_FIRST;
	char *grown;

	if (bytes > REPLY_BYTES_MAX - b->used) {
		b->err = EMSGSIZE;
		return 0;		/* a short count ends the transfer */
	}
	while (size < b->used + bytes)
		size *= 2;
	if (size != b->size) {
		grown = realloc(b->data, size);
		if (!grown) {
			b->err = ENOMEM;
			return 0;
		}
		b->data = grown;
		b->size = size;
	}
	memcpy(b->data + b->used, data, bytes);
	b->used += bytes;
	return bytes;
}

static void handle_free(struct handle *h)
{
	if (!h)
		return;
	curl_easy_cleanup(h->curl);
	curl_slist_free_all(h->headers);
	free(h);
}

/* The deadline is kept, not missed by a little: libcurl wakes up one to two milliseconds after its time is
 * over. */
static long timeout_ms(const struct client *c)
{
	return c->deadline_ms > 4 ? c->deadline_ms - 2 : c->deadline_ms;
}

static int handle_prepare(CURL *curl, const struct client *c)
{
	CURLcode rc = CURLE_OK;
#define SET(option, value) do { if (rc == CURLE_OK) rc = curl_easy_setopt(curl, option, value); } while (0)
	SET(CURLOPT_NOSIGNAL, 1L);
	if (!c->server.url)
		SET(CURLOPT_UNIX_SOCKET_PATH, c->where);
	else if (*c->server.ca)
		SET(CURLOPT_CAINFO, c->server.ca);
	SET(CURLOPT_TIMEOUT_MS, timeout_ms(c));
	SET(CURLOPT_CONNECTTIMEOUT_MS, timeout_ms(c));
	SET(CURLOPT_PROXY, "");		/* empty, not unset: unset means $http_proxy */
	SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_MAXCONNECTS, 1L);
	SET(CURLOPT_HTTPHEADER, c->headers);
	SET(CURLOPT_OPENSOCKETFUNCTION, socket_open);
	SET(CURLOPT_WRITEFUNCTION, reply_more);
#undef SET
	return rc == CURLE_OK ? 0 : -1;
}

static struct handle *handle_take(struct client *c)
{
	struct handle *h;

	pthread_mutex_lock(&c->lock);
	h = c->idle;
	if (h) {
		c->idle = h->next;
		c->nidle--;
	}
	pthread_mutex_unlock(&c->lock);
	if (h)
		return h;
	h = calloc(1, sizeof(*h));
	if (h)
		h->curl = curl_easy_init();
	if (!h || !h->curl || handle_prepare(h->curl, c) < 0) {
		if (h && h->curl)
			curl_easy_cleanup(h->curl);
		free(h);
		errno = ENOMEM;
		return NULL;
	}
	return h;
}

static void handle_put(struct client *c, struct handle *h)
{
	pthread_mutex_lock(&c->lock);
	if (c->nidle < IDLE_MAX) {
		h->next = c->idle;
		c->idle = h;
		c->nidle++;
		h = NULL;
	}
	pthread_mutex_unlock(&c->lock);
	handle_free(h);		/* closing a connection is I/O: outside the lock */
}

/* --- one call ------------------------------------------------------------------------------------ */

static int request_set(const struct client *c, CURL *curl, const char *method, const char *path,
	const char *body, size_t bytes, struct reply_buffer *reply)
{
	char url[PATH_BYTES_MAX + URL_BYTES_MAX];
	CURLcode rc;

	if (path[0] != '/' ||
		snprintf(url, sizeof(url), "%s%s", c->server.url ? c->where : "http://localhost", path) >=
			(int)sizeof(url))
		return -1;
	rc = curl_easy_setopt(curl, CURLOPT_URL, url);
	if (rc == CURLE_OK)
		rc = curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
	if (rc == CURLE_OK && body) {
		rc = curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)bytes);
		if (rc == CURLE_OK)
			rc = curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	} else if (rc == CURLE_OK) {
		rc = curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	}
	if (rc == CURLE_OK)
		rc = curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	return rc == CURLE_OK ? 0 : -1;
}

/* The headers of a request, the last one NULL for a socket. */
static struct curl_slist *headers_new(const char *last)
{
	/* "Expect:" takes out libcurl's wait for 100-continue before larger bodies. */
	static const char *const lines[] = {
		"Content-Type: application/json", "Accept: application/json", "Expect:"};
	const size_t count = sizeof(lines) / sizeof(lines[0]);
	struct curl_slist *list = NULL, *longer;

	for (size_t i = 0; i < count + (last != NULL); i++) {
		longer = curl_slist_append(list, i < count ? lines[i] : last);
		if (!longer) {
			curl_slist_free_all(list);
			return NULL;
		}
		list = longer;
	}
	return list;
}

/* Every request has a credential of its own; libcurl reads the list until the next one. */
static int authorize(const struct client *c, struct handle *h, const char *method, const char *path,
	const char *body, size_t bytes, struct fault *why)
{
	char *value = c->server.authorize(c->server.munge_socket, method, path, body, bytes, why),
	     *line = NULL;
	struct curl_slist *headers;

	if (!value)
		return -1;
	if (asprintf(&line, "Authorization: %s", value) < 0)
		line = NULL;
	headers = line ? headers_new(line) : NULL;
	free(line);
	free(value);
	if (!headers || curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers) != CURLE_OK) {
		curl_slist_free_all(headers);
		return fault_errno(why, ENOMEM, "%s %s: out of memory", method, path);
	}
	curl_slist_free_all(h->headers);
	h->headers = headers;
	return 0;
}

/* libcurl's code as an errno that a caller can act on. */
static int transfer_errno(CURLcode rc, CURL *curl, const struct reply_buffer *reply)
{
	long os_errno = 0;

	switch (rc) {
	case CURLE_OPERATION_TIMEDOUT:
		return ETIMEDOUT;
	case CURLE_COULDNT_RESOLVE_HOST:
		return EHOSTUNREACH;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return EKEYREJECTED;
	case CURLE_OUT_OF_MEMORY:
		return ENOMEM;
	case CURLE_WRITE_ERROR:
		return reply->err ? reply->err : EPROTO;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &os_errno);
		return os_errno ? (int)os_errno : ECONNREFUSED;
	default:
		return EPROTO;
	}
}

static int transfer_fault(
	const struct client *c, const char *method, const char *path, CURLcode rc, int err, struct fault *why)
{
	const char *s = c->where;

	switch (err) {
	case EHOSTUNREACH:
		return fault_errno(why, err, "budgetd cannot be asked: the host of %s is not known", s);
	case EKEYREJECTED:
		return fault_errno(why, err,
			"%s is not trusted: %s; server_ca in budgetd.conf names the certificates of your "
			"site",
			s, curl_easy_strerror(rc));
	case ETIMEDOUT:
		return fault_errno(why, err, "budgetd did not answer %s %s on %s within %ld ms", method, path,
			s, c->deadline_ms);
	case ENOENT:
		return fault_errno(why, err, "budgetd is not running: there is no socket %s", s);
	case ECONNREFUSED:
		return fault_errno(why, err, "budgetd is not running: nobody listens on %s", s);
	case EACCES:
		return fault_errno(why, err, "%s: permission denied", s);
	case EMSGSIZE:
		return fault_errno(why, err, "budgetd's answer to %s %s on %s is over %u MiB", method, path,
			s, REPLY_BYTES_MAX >> 20);
	default:
		return fault_errno(why, err, "%s %s on %s: %s", method, path, s, curl_easy_strerror(rc));
	}
}

/* The JSON object that is the whole of the buffer, or NULL. */
static struct json_object *reply_parse(const struct reply_buffer *b)
{
	struct json_tokener *tok = json_tokener_new_ex(REPLY_DEPTH_MAX);
	struct json_object *o;
	size_t used;

	if (!tok)
		return NULL;
	o = b->used ? json_tokener_parse_ex(tok, b->data, (int)b->used) : NULL;
	used = json_tokener_get_parse_end(tok);
	if (json_tokener_get_error(tok) != json_tokener_success ||
		!json_object_is_type(o, json_type_object) ||
		used + strspn(b->data + used, " \t\r\n") < b->used) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	return o;
}

static int transfer(struct client *c, CURL *curl, const char *method, const char *path,
	struct reply_buffer *b, struct fault *why)
{
	CURLcode rc = curl_easy_perform(curl);

	if (rc != CURLE_OK)
		return transfer_fault(c, method, path, rc, transfer_errno(rc, curl, b), why);
	if (reply_more((char[]){ '\0' }, 1, 1, b) != 1)		/* an end for strspn */
		return transfer_fault(c, method, path, rc, b->err, why);
	b->used--;
	return 0;
}

int client_call(struct client *c, const char *method, const char *path, struct json_object *body, int *status,
	struct json_object **reply, struct fault *why)
{
	struct reply_buffer b = { 0 };
	struct json_object *o = NULL;
	struct handle *h = NULL;
	const char *text = NULL;
	size_t bytes = 0;
	long code = 0;
	int saved, rv = -1;

	if (body) {
		text = json_object_to_json_string_length(body, JSON_C_TO_STRING_PLAIN, &bytes);
		if (!text)
			return fault_errno(why, ENOMEM, "%s %s: out of memory", method, path);
	}
	h = handle_take(c);
	if (!h)
		return fault_errno(why, ENOMEM, "%s %s: out of memory", method, path);
	if (request_set(c, h->curl, method, path, text, bytes, &b) < 0) {
		fault_errno(why, EINVAL, "%s %s: not a request that libcurl can make", method, path);
		goto out;
	}
	if (c->server.url && authorize(c, h, method, path, text, bytes, why) < 0)
		goto out;
	if (transfer(c, h->curl, method, path, &b, why) < 0)
		goto out;
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &code);
	o = reply_parse(&b);
	if (!o) {
		fault_errno(why, EPROTO, "%s %s on %s: HTTP %ld with %zu bytes that are not a JSON object",
			method, path, c->where, code, b.used);
		goto out;
	}
	*status = (int)code;
	*reply = o;
	rv = 0;
out:
	saved = errno;
	handle_put(c, h);
	free(b.data);
	errno = saved;
	return rv;
}

struct streaming {
	CURL *curl;
	client_piece each;
	void *arg;
	struct reply_buffer refusal;	/* what is no 200 */
};

static size_t stream_piece(char *data, size_t one, size_t n, void *to)
{
	struct streaming *s = to;
	long code = 0;

	curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &code);
	if (code != 200)
		return reply_more(data, one, n, &s->refusal);
	if (s->each(data, one * n, s->arg) == 0)
		return one * n;
	s->refusal.err = ECANCELED;
	return 0;
}

/* Silence for as long as the deadline ends it, not the time that it takes. */
static int stream_set(const struct client *c, struct streaming *s)
{
	CURLcode rc = curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, stream_piece);

	rc = rc ? rc : curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, s);
	rc = rc ? rc : curl_easy_setopt(s->curl, CURLOPT_TIMEOUT_MS, 0L);
	rc = rc ? rc : curl_easy_setopt(s->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	rc = rc ? rc : curl_easy_setopt(s->curl, CURLOPT_LOW_SPEED_TIME, c->deadline_ms / 1000 + 1);
	return rc == CURLE_OK ? 0 : -1;
}

int client_stream(struct client *c, const char *path, client_piece each, void *arg, int *status,
	struct json_object **reply, struct fault *why)
{
	struct handle *h = handle_take(c);
	struct streaming s = { .curl = h ? h->curl : NULL, .each = each, .arg = arg };
	long code = 0;
	int saved, rv = -1;

	*reply = NULL;
	if (!h)
		return fault_errno(why, ENOMEM, "GET %s: out of memory", path);
	if (request_set(c, h->curl, "GET", path, NULL, 0, &s.refusal) < 0 || stream_set(c, &s) < 0)
		fault_errno(why, EINVAL, "GET %s: not a request that libcurl can make", path);
	else if (!c->server.url || authorize(c, h, "GET", path, NULL, 0, why) == 0)
		rv = transfer(c, h->curl, "GET", path, &s.refusal, why);
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &code);
	if (rv == 0 && code != 200 && !(*reply = reply_parse(&s.refusal)))
		rv = fault_errno(why, EPROTO, "GET %s on %s: HTTP %ld without a JSON object", path, c->where, code);
	saved = errno;
	handle_free(h);	/* its settings are others: it is not kept */
	free(s.refusal.data);
	*status = (int)code;
	errno = saved;
	return rv;
}

const char *client_error(int status, struct json_object *reply)
{
	static const struct { int status; const char *text;
	} texts[] = {
		{400, "budgetd could not read the request"},
		{401, "budgetd does not know who asks"},
		{403, "not allowed"},
		{404, "no such thing"},
		{409, "it conflicts with what is there"},
		{413, "the request is too large"},
		{503, "budgetd cannot do this now; try again"},
	};
	struct json_object *error;

	if (json_object_object_get_ex(reply, "error", &error) && json_object_is_type(error, json_type_string))
		return json_object_get_string(error);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return status < 400 ? "no error" : "budgetd failed without saying why";
}

/* --- life ---------------------------------------------------------------------------------------- */

static struct client *client_make(
	const char *where, size_t length, const struct client_server *server, long deadline_ms)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->deadline_ms = deadline_ms;
	c->server = *server;
	c->where = strndup(where, length);
	c->headers = headers_new(NULL);
	if (!c->where || !c->headers || pthread_mutex_init(&c->lock, NULL)) {
		curl_slist_free_all(c->headers);
		free(c->where);
		free(c);
		errno = ENOMEM;
		return NULL;
	}
	return c;
}

struct client *client_new(const char *socket_path, long deadline_ms)
{
	return client_make(socket_path, strlen(socket_path), &(struct client_server){0}, deadline_ms);
}

struct client *client_new_server(const struct client_server *server, long deadline_ms)
{
	size_t n = strlen(server->url);

	return client_make(server->url, n && server->url[n - 1] == '/' ? n - 1 : n, server, deadline_ms);
}

void client_free(struct client *c)
{
	int saved = errno;

	if (!c)
		return;
	while (c->idle) {
		struct handle *h = c->idle;

		c->idle = h->next;
		handle_free(h);
	}
	pthread_mutex_destroy(&c->lock);
	curl_slist_free_all(c->headers);
	free(c->where);
	free(c);
	errno = saved;
}
