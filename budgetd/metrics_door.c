/* SPDX-License-Identifier: GPL-2.0-or-later
 * metrics_door.c - where /metrics is asked: a TCP port with a thread and a reader of the books of its own.
 *
 * A text is made for at most one scrape in each second; what asks more often gets the same one, so nobody
 * can make the daemon work by asking. */
#include "budgetd/cluster_state.h"
#include "budgetd/gpu_watch.h"
#include "budgetd/ledger.h"
#include "budgetd/log.h"
#include "budgetd/metrics.h"
#include "budgetd/notices.h"
#include "budgetd/socket.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 16
#define IDLE_SECONDS 20

struct metrics_door {
	const struct budgetd *b;
	struct ledger *reader;
	struct MHD_Daemon *daemon;
	/* what was answered last, of each format; the thread's own */
	struct {
		char *text;		/* malloced; NULL = none */
		size_t bytes;
		int64_t at;
	} last[METRICS_TEXT + 1];
	bool told;			/* that the books cannot be read */
};

/* --- the text --------------------------------------------------------------------------------------- */

static int read_projects(struct metrics_door *d, int64_t now, struct metrics_projects *out, struct fault *why)
{
	const struct settings *s = d->b->settings;
	int rc;

	if (ledger_begin(d->reader, LEDGER_READ, why) < 0)
		return -1;
	rc = metrics_projects_read(d->b, d->reader, (size_t)s->metrics_projects, now, out, why);
	ledger_rollback(d->reader);
	return rc;
}

/* Trouble is said once, and its end too; the metrics of the loop are told all the same. */
static void look(struct metrics_door *d, int64_t now, struct metrics_view *v)
{
	const struct settings *s = d->b->settings;
	struct notices_state notices;
	struct fault why = { "" }, unwritten;

	*v = (struct metrics_view){ .tally = d->b->tally, .watches_gpus = *s->prometheus != '\0' };
	cluster_state_health(d->b->cluster, &v->health);
	metrics_jobs_count(d->b, now, &v->jobs);
	notices_state(d->b->notices, &notices);
	v->tells = notices.text[0] != '\0';
	v->notices_waiting = notices.counts.waiting;
	v->notices_failed = notices.counts.failed;
	v->books_written = ledger_writes(d->b->ledger, &unwritten) == 0;
	v->books_read = read_projects(d, now, &v->projects, &why) == 0;
	if (!v->books_read) {
		free(v->projects.rows);
		v->projects = (struct metrics_projects){ 0 };
	}
	if (!v->books_read && !d->told)
		log_warning("/metrics goes without projects: %s", why.text);
	else if (v->books_read && d->told)
		log_info("/metrics tells of projects again");
	d->told = !v->books_read;
}

static int print(struct metrics_door *d, enum metrics_format f, int64_t now)
{
	struct metrics_view v;
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = open_memstream(&text, &bytes);
	int bad;

	if (!to)
		return -1;
	look(d, now, &v);
	metrics_print(&v, f, to);
	free(v.projects.rows);
	bad = ferror(to);
	if (fclose(to) != 0 || bad) {
		free(text);
		return -1;
	}
	free(d->last[f].text);
	d->last[f].text = text;
	d->last[f].bytes = bytes;
	d->last[f].at = now;
	return 0;
}

/* --- HTTP --------------------------------------------------------------------------------------------- */

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
	const char *text, size_t bytes)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)text,
		MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc = MHD_NO;

	if (r && MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES)
		rc = MHD_queue_response(connection, status, r);
	if (r)
		MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result answer_line(struct MHD_Connection *connection, unsigned status, const char *line)
{
	return answer(connection, status, "text/plain; charset=utf-8", line, strlen(line));
}

static enum MHD_Result answer_metrics(struct metrics_door *d, struct MHD_Connection *connection)
{
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	enum metrics_format f = accept && strstr(accept, "application/openmetrics-text") ? METRICS_OPENMETRICS
		: METRICS_TEXT;
	int64_t now = time(NULL);

	if ((!d->last[f].text || d->last[f].at != now) && print(d, f, now) < 0)
		return answer_line(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	return answer(connection, MHD_HTTP_OK, metrics_content_type(f), d->last[f].text, d->last[f].bytes);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **state)
{
	struct metrics_door *d = arg;

	(void)version, (void)data;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_line(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are taken here\n");
	if (!*state) {			/* its headers; a body that a GET may have is read and dropped */
		*state = d;
		return MHD_YES;
	}
	if (*size) {
		*size = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/metrics"))
		return answer_line(connection, MHD_HTTP_NOT_FOUND, "there is only /metrics\n");
	return answer_metrics(d, connection);
}

/* --- start and stop ----------------------------------------------------------------------------------- */

static int listen_at(struct metrics_door *d, const char *address, struct fault *why)
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
	return fault_errno(why, EIO, "cannot start the HTTP server of metrics_listen");
}

int metrics_start(const struct budgetd *b, struct metrics_door **out, struct fault *why)
{
	const struct settings *s = b->settings;
	struct metrics_door *d;

	*out = NULL;
	if (!*s->metrics_listen)
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return fault_errno(why, ENOMEM, "out of memory");
	d->b = b;
	if (ledger_open_reader(s->database, &d->reader, why) < 0 ||
		listen_at(d, s->metrics_listen, why) < 0) {
		metrics_stop(d);
		return -1;
	}
	*out = d;
	return 0;
}

void metrics_stop(struct metrics_door *d)
{
	if (!d)
		return;
	if (d->daemon)
		MHD_stop_daemon(d->daemon);
	ledger_close(d->reader);
	for (int f = 0; f <= METRICS_TEXT; f++)
		free(d->last[f].text);
	free(d);
}
