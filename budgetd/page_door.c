/* SPDX-License-Identifier: GPL-2.0-or-later
 * page_door.c - where browsers ask: a TCP port with a thread and a reader of the books of its own (page.h).
 *
 * Only GET and HEAD, so that nothing that a browser can be made to send changes anything. The headers forbid
 * it all scripts, all that is not from here, and to be shown inside another page. */
#include "budgetd/ledger.h"
#include "budgetd/log.h"
#include "budgetd/page.h"
#include "budgetd/people.h"
#include "budgetd/socket.h"
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 128
#define IDLE_SECONDS 20
#define SECRET_HEADER "X-Gpubudget-Secret"
#define NOBODY ((uid_t)-1)		/* no user has it: POSIX */

struct page_door {
	const struct budgetd *b;
	struct ledger *reader;
	struct MHD_Daemon *daemon;
	char *secret;			/* NULL: nobody is believed */
};

static const struct {
	const char *name, *value;
} headers[] = {
	{ "Content-Security-Policy",
		"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },	/* for what is older than frame-ancestors */
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-store" },	/* the next one who uses the browser is somebody else */
};

/* `text` is given away when it is `own`, else it is forever. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
	const char *text, size_t bytes, bool own)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)text,
		own ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc = MHD_YES;

	if (!r) {
		if (own)
			free((void *)(uintptr_t)text);
		return MHD_NO;
	}
	rc = MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]) && rc == MHD_YES; i++)
		rc = MHD_add_response_header(r, headers[i].name, headers[i].value);
	if (rc == MHD_YES)
		rc = MHD_queue_response(connection, status, r);
	MHD_destroy_response(r);
	return rc;
}

/* --- who -------------------------------------------------------------------------------------------- */

struct header_count {
	const char *name;
	int count;
};

static enum MHD_Result count_header(void *arg, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct header_count *x = arg;

	(void)kind, (void)value;
	x->count += key && strcasecmp(key, x->name) == 0;
	return MHD_YES;
}

static const char *peer_text(struct MHD_Connection *connection, char buf[NI_MAXHOST])
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *a = info ? info->client_addr : NULL;
	socklen_t bytes = a && a->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);

	return a && getnameinfo(a, bytes, buf, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) == 0 ? buf : NULL;
}

/* Before any transaction: the directory can be slow. */
static int identify(const struct page_door *d, struct MHD_Connection *connection, struct page *p)
{
	const struct settings *s = d->b->settings;
	struct header_count user = { s->page_user_header, 0 };
	char peer[NI_MAXHOST], own_name[PERSON_NAME_MAX];
	const char *name;
	struct page_sender from = { .peer = peer_text(connection, peer),
		.user = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, s->page_user_header),
		.secret = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, SECRET_HEADER) };
	int64_t uid;
	int rc;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &user);
	from.headers = user.count;
	rc = page_user(s, d->secret, &from, &name, p->why);
	if (rc != 1)
		return rc;
	if (people_uid(name, &uid, p->why) < 0) {
		errno = errno == ENOENT ? EACCES : errno;
		return -1;
	}
	p->known = true;
	p->rq->uid = (uid_t)uid;
	p->rq->administrator = people_is_administrator(d->b->people, p->rq->uid);
	people_name(d->b->people, p->rq->uid, p->rq->now, own_name);
	return 0;
}

/* --- the page --------------------------------------------------------------------------------------- */

static unsigned status_of(int err)
{
	static const struct {
		int err;
		unsigned status;
	} table[] = { { EACCES, MHD_HTTP_FORBIDDEN }, { EPERM, MHD_HTTP_FORBIDDEN },
		{ ENOENT, MHD_HTTP_NOT_FOUND }, { EINVAL, MHD_HTTP_BAD_REQUEST },
		{ EAGAIN, MHD_HTTP_SERVICE_UNAVAILABLE } };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].err == err)
			return table[i].status;
	return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

static int write_view(const struct page_door *d, struct MHD_Connection *connection, struct page *p,
	const char *url)
{
	const struct page_view *v = page_view_find(url);

	if (identify(d, connection, p) < 0)
		return -1;
	if (!v)
		return fault_errno(p->why, ENOENT, "There is nothing at %.80s.", url);
	return page_write(p, v);
}

/* Ends a text in memory: malloced, or NULL. */
static char *finish(FILE *to, char **text)
{
	bool bad = ferror(to);

	if (fclose(to) == 0 && !bad)
		return *text;
	free(*text);
	return NULL;
}

/* What went wrong as a text of its own: what was begun before is thrown away. */
static char *make_fault(struct page *p, int err, size_t *bytes, unsigned *status)
{
	char *text = NULL;

	*status = status_of(err);
	if (*status == MHD_HTTP_INTERNAL_SERVER_ERROR)
		log_error("a page failed: %s", p->why->text);
	p->to = open_memstream(&text, bytes);
	if (!p->to)
		return NULL;
	page_write_fault(p, p->why->text[0] ? p->why->text : strerror(err));
	return finish(p->to, &text);
}

/* The text, malloced, or NULL. */
static char *make(const struct page_door *d, struct MHD_Connection *connection, const char *url, size_t *bytes,
	unsigned *status)
{
	struct budgetd b = *d->b;
	struct request rq = { .b = &b, .connection = connection, .uid = NOBODY, .now = time(NULL), .name = "" };
	struct fault why = { "" };
	struct page p = { .rq = &rq, .why = &why };
	char *text = NULL;
	int rc, err;

	b.reader = d->reader;
	p.to = open_memstream(&text, bytes);
	if (!p.to)
		return NULL;
	*status = MHD_HTTP_OK;
	rc = write_view(d, connection, &p, url);
	err = errno;
	text = finish(p.to, &text);
	if (rc == 0)
		return text;
	free(text);
	return make_fault(&p, err, bytes, status);
}

static enum MHD_Result answer_view(const struct page_door *d, struct MHD_Connection *connection, const char *url)
{
	size_t bytes = 0;
	unsigned status;
	char *text = make(d, connection, url, &bytes, &status);

	return text ? answer(connection, status, "text/html; charset=utf-8", text, bytes, true) : MHD_NO;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **state)
{
	static const char refused[] = "only GET and HEAD are taken here\n";
	struct page_door *d = arg;
	const struct page_file *f;

	(void)version, (void)data;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", refused,
			sizeof(refused) - 1, false);
	if (!*state) {			/* its headers; a body that a GET may have is read and dropped */
		*state = d;
		return MHD_YES;
	}
	if (*size) {
		*size = 0;
		return MHD_YES;
	}
	f = page_file_find(url);
	return f ? answer(connection, MHD_HTTP_OK, f->type, f->text, strlen(f->text), false)
		: answer_view(d, connection, url);
}

/* --- start and stop --------------------------------------------------------------------------------- */

static int listen_at(struct page_door *d, const char *address, struct fault *why)
{
	int fd = socket_listen_at(address, why);

	if (fd < 0)
		return -1;
	d->daemon = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, d,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
	if (d->daemon)
		return 0;
	close(fd);
	return fault_errno(why, EIO, "cannot start the HTTP server of page_listen");
}

int page_start(const struct budgetd *b, struct page_door **out, struct fault *why)
{
	const struct settings *s = b->settings;
	struct page_door *d;

	*out = NULL;
	if (!*s->page_listen)
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return fault_errno(why, ENOMEM, "out of memory");
	d->b = b;
	if ((*s->page_secret_file && page_secret_read(s->page_secret_file, &d->secret, why) < 0) ||
		ledger_open_reader(s->database, &d->reader, why) < 0 || listen_at(d, s->page_listen, why) < 0) {
		page_stop(d);
		return -1;
	}
	*out = d;
	return 0;
}

void page_stop(struct page_door *d)
{
	if (!d)
		return;
	if (d->daemon)
		MHD_stop_daemon(d->daemon);
	ledger_close(d->reader);
	free(d->secret);
	free(d);
}
