/* SPDX-License-Identifier: GPL-2.0-or-later
 * session.c - one run of budgetctl (session.h) */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "budgetctl/request.h"
#include "budgetctl/say.h"
#include "budgetctl/session.h"
#include "client/munge.h"
#include "lib/address.h"
#include "settings/settings.h"

#define DEADLINE_MS 10000L		/* a person waits; budgetd answers in milliseconds or is in trouble */
#define PAGE_MAX 1000			/* rows: what the API gives at once */
#define LIMIT_DEFAULT 1000

int out_of_memory(void)
{
	return complain(REFUSED, "out of memory");
}

const char *session_option(const struct session *s, enum command_option o)
{
	return s->arguments->value[o];
}

const char *session_word(const struct session *s, int i)
{
	return i < s->arguments->nwords ? s->arguments->words[i] : NULL;
}

/* --- opening ---------------------------------------------------------------------------------------- */

/* An option whose value is one of a few words. *out is untouched when it is not given. */
static int choice_read(
	const struct session *s, enum command_option o, const char *const *choices, int count, int *out)
{
	const char *value = session_option(s, o);
	char hint[HINT_MAX];

	for (int i = 0; value && i < count; i++) {
		if (!strcmp(value, choices[i])) {
			*out = i;
			return DONE;
		}
	}
	if (!value)
		return DONE;
	return complain(USAGE, "--%s %s: there is no such %s.%s See budgetctl --help", option_table[o].name,
		value, o == OPT_OUTPUT ? "format" : "unit",
		nearest_hint(value, "", choices, (size_t)count, hint));
}

static int style_read(struct session *s)
{
	int format = FORMAT_TABLE, unit = IN_HOURS;
	int rv = choice_read(s, OPT_OUTPUT, format_name, FORMATS, &format);

	if (rv == DONE)
		rv = choice_read(s, OPT_AMOUNTS, amount_unit_name, AMOUNT_UNITS, &unit);
	s->style = (struct style){ .format = (enum format)format, .unit = (enum amount_unit)unit,
		.headings = !session_option(s, OPT_NOHEADER), .detail = session_option(s, OPT_ALL) };
	return rv;
}

/* Random, so that two writes are never taken for one. */
static int request_id_make(struct session *s)
{
	const char *given = session_option(s, OPT_REQUEST_ID);
	unsigned char random[16];

	if (given && (!*given || strlen(given) >= sizeof(s->request_id)))
		return complain(USAGE, "--request-id is 1 to %d bytes long", REQUEST_ID_MAX - 1);
	if (given) {
		strcpy(s->request_id, given);
		return DONE;
	}
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return complain(REFUSED, "no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(s->request_id + 2 * i, 3, "%02x", random[i]);
	return DONE;
}

int session_settings(struct session *s, struct settings **out, struct fault *why)
{
	const char *path = settings_default_path(), *named = getenv("GPUBUDGET_CONF");

	if (access(path, R_OK) == 0)
		return settings_load(path, out, why) == 0 ? DONE : REFUSED;
	if (named && *named) {
		fault_set(why, "GPUBUDGET_CONF names %s, which cannot be read: %s", path, strerror(errno));
		return USAGE;
	}
	s->hidden = errno == EACCES ? path : NULL;
	*out = settings_defaults();
	if (*out)
		return DONE;
	fault_set(why, "out of memory");
	return REFUSED;
}

/* The first that is named: the option, the environment (for scripts on a host whose budgetd.conf is not
 * theirs), budgetd.conf. "": a socket. */
static const char *server_named(const struct session *s, const struct settings *settings)
{
	const char *option = session_option(s, OPT_SERVER), *environment = getenv("GPUBUDGET_SERVER");

	return option ? option : environment && *environment ? environment : settings->server;
}

static int server_open(struct session *s, const char *url)
{
	const struct client_server server = {.url = url,
		.ca = s->settings->server_ca,
		.munge_socket = s->settings->munge_socket,
		.authorize = munge_authorization};
	struct fault why = {""};

	if (address_check_server(url, &why) < 0)
		return complain(USAGE, "%s: %s",
			session_option(s, OPT_SERVER) ? "--server" : "GPUBUDGET_SERVER", why.text);
	s->client = client_new_server(&server, s->deadline_ms ? s->deadline_ms : DEADLINE_MS);
	return s->client ? DONE : out_of_memory();
}

static int client_open(struct session *s)
{
	const char *socket = session_option(s, OPT_SOCKET), *server;
	struct fault why = { "" };

	if (socket && session_option(s, OPT_SERVER))
		return complain(USAGE, "--socket and --server: budgetd is asked in one way");
	if (!socket) {
		int rv = session_settings(s, &s->settings, &why);

		if (rv != DONE)
			return complain(rv == USAGE ? USAGE : UNREACHABLE,
				"%s. To go on without budgetd.conf, name the socket with --socket PATH",
				why.text);
		server = server_named(s, s->settings);
		if (*server)
			return server_open(s, server);
		socket = s->settings->socket;
	}
	s->client = client_new(socket, s->deadline_ms ? s->deadline_ms : DEADLINE_MS);
	return s->client ? DONE : out_of_memory();
}

int session_open(struct session *s, const struct arguments *a)
{
	int rv;

	*s = (struct session){ .arguments = a };
	rv = style_read(s);
	if (rv == DONE)
		rv = request_id_make(s);
	return rv;
}

void session_close(struct session *s)
{
	client_free(s->client);
	settings_free(s->settings);
}

/* --- options of several commands -------------------------------------------------------------------- */

static int project_read(const struct session *s, const char **out)
{
	const char *word = session_word(s, 0), *option = session_option(s, OPT_PROJECT);

	if (word && option)
		return complain(USAGE, "\"%s\" and --project %s: name the project once", word, option);
	*out = word ? word : option;
	return DONE;
}

static int limit_read(const struct session *s, int64_t *out)
{
	const char *text = session_option(s, OPT_LIMIT);
	long long limit;
	char *end;

	if (!text) {
		*out = LIMIT_DEFAULT;
		return DONE;
	}
	errno = 0;
	limit = strtoll(text, &end, 10);
	if (errno || end == text || *end || limit < 0)
		return complain(USAGE, "--limit %s: give a number of rows, 0 for all", text);
	*out = limit;
	return DONE;
}

/* --- talking ---------------------------------------------------------------------------------------- */

/* The exit code of a call that got no answer. */
static int call_failed(const struct session *s, int err, const struct fault *why, const char *again)
{
	if (err == ENOMEM)
		return out_of_memory();
	if (again && (err == ETIMEDOUT || err == EPROTO))
		return complain(UNREACHABLE,
			"%s. Whether it was done is not known; the same command with --request-id %s does it "
			"once only",
			why->text, again);
	if (s->hidden && s->settings && !*server_named(s, s->settings))
		return complain(UNREACHABLE,
			"%s. The socket is the built-in one: you may not read %s, which may name another",
			why->text, s->hidden);
	if ((err == ENOENT || err == ECONNREFUSED) && s->settings && !*server_named(s, s->settings))
		return complain(UNREACHABLE,
			"%s. `systemctl start budgetd` starts it on its own host; on a login node name that host in "
			"budgetd.conf (server), or with --server URL", why->text);
	return complain(UNREACHABLE, "%s", why->text);
}

/* `refusal` NULL: a refusal is said. */
static int call(struct session *s, const char *method, const char *path, struct json_object *body,
	const char *again, struct json_object **reply, struct fault *refusal)
{
	struct json_object *answer = NULL;
	struct fault why = { "" };
	int status = 0;
	int rv = s->client ? DONE : client_open(s);

	if (rv != DONE)
		return rv;
	if (client_call(s->client, method, path, body, &status, &answer, &why) < 0)
		return call_failed(s, errno, &why, again);
	if (status >= 200 && status < 300) {
		*reply = answer;
		return DONE;
	}
	rv = status == 401 || status == 403 ? FORBIDDEN : status == 503 ? AGAIN : REFUSED;
	if (refusal)
		fault_set(refusal, "%s", client_error(status, answer));
	else
		complain(rv, "%s", client_error(status, answer));
	json_object_put(answer);
	return rv;
}

int session_call(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply)
{
	return call(s, method, path, body, NULL, reply, NULL);
}

int session_ask(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply, struct fault *refusal)
{
	return call(s, method, path, body, NULL, reply, refusal);
}

int session_stream(struct session *s, const char *path, client_piece each, void *arg)
{
	struct json_object *answer = NULL;
	struct fault why = { "" };
	int status = 0, rv = s->client ? DONE : client_open(s);

	if (rv != DONE)
		return rv;
	if (client_stream(s->client, path, each, arg, &status, &answer, &why) < 0)
		return errno == ECANCELED ? REFUSED : call_failed(s, errno, &why, NULL);
	if (status != 200) {
		rv = status == 401 || status == 403 ? FORBIDDEN : status == 503 ? AGAIN : REFUSED;
		complain(rv, "%s", client_error(status, answer));
	}
	json_object_put(answer);
	return rv;
}

int session_write(struct session *s, const char *method, const char *path, struct json_object *body,
	struct json_object **reply)
{
	int rv;

	bool dry_run = session_option(s, OPT_DRY_RUN);

	if (!body || !path || request_text(body, "request_id", s->request_id) < 0 ||
		(dry_run && json_object_object_add(body, "dry_run", json_object_new_boolean(true)) < 0))
		rv = out_of_memory();
	else
		rv = call(s, method, path, body, s->request_id, reply, NULL);
	if (rv == DONE && dry_run)
		complain(DONE, "nothing was written, this is what it would be (--dry-run)");
	json_object_put(body);
	return rv;
}

/* --- lists ------------------------------------------------------------------------------------------ */

/* The array "rows" of a reply, borrowed; NULL after a complaint. */
static struct json_object *rows_of(struct json_object *reply, const char *path)
{
	struct json_object *rows = NULL;

	if (json_object_object_get_ex(reply, "rows", &rows) && json_object_is_type(rows, json_type_array))
		return rows;
	complain(UNREACHABLE, "budgetd's answer to GET %s has no rows: is it of another version?", path);
	return NULL;
}

/* Where the next page begins: the id of the last row. False when the list is at its end. */
static bool page_next(struct json_object *reply, struct json_object *rows, int64_t *before)
{
	size_t n = json_object_array_length(rows);
	struct json_object *more = NULL, *id = NULL;

	if (!json_object_object_get_ex(reply, "more", &more) || !json_object_get_boolean(more) || !n)
		return false;
	if (!json_object_object_get_ex(json_object_array_get_idx(rows, n - 1), "id", &id))
		return false;
	*before = json_object_get_int64(id);
	return true;
}

static char *page_path(const char *path, int64_t before, int64_t rows)
{
	char before_text[24], rows_text[24];

	snprintf(before_text, sizeof(before_text), "%" PRId64, before);
	snprintf(rows_text, sizeof(rows_text), "%" PRId64, rows);
	return request_query(path, "before", before ? before_text : NULL, "limit", rows_text, (char *)NULL);
}

/* One page. *before goes in as 0 for the newest and comes out as 0 when there is no more. */
static int page_add(struct session *s, const char *path, struct table *t, int64_t *before)
{
	struct json_object *reply = NULL;
	struct json_object *rows;
	int64_t next = 0;
	int rv = path ? session_call(s, "GET", path, NULL, &reply) : out_of_memory();

	if (rv != DONE)
		return rv;
	rows = rows_of(reply, path);
	if (!rows)
		rv = UNREACHABLE;
	else if (table_add(t, rows) < 0)
		rv = out_of_memory();
	else if (page_next(reply, rows, &next) && *before && next >= *before)
		rv = complain(UNREACHABLE, "budgetd gave one page of GET %s twice: is it of another version?",
			path);
	*before = next;
	json_object_put(reply);
	return rv;
}

/* Pages up to `limit` rows (0 = all). A reader of stdout who went away ends it too. *more: rows were left
 * out. */
static int pages_add(struct session *s, const char *path, int64_t limit, struct table *t, bool *more)
{
	int64_t before = 0, left = PAGE_MAX;
	int rv;

	do {
		char *page;

		if (limit > 0)
			left = limit - (int64_t)table_rows(t);
		page = page_path(path, before, left < PAGE_MAX ? left : PAGE_MAX);
		rv = page_add(s, page, t, &before);
		free(page);
	} while (rv == DONE && before && (limit == 0 || (int64_t)table_rows(t) < limit) && !ferror(stdout));
	*more = before && !ferror(stdout);
	return rv;
}

int session_rows(struct session *s, const struct list *l, const char *project, struct table *t)
{
	char *path = request_query(l->path, "project", project, (char *)NULL);
	int64_t before = 0;
	int rv = page_add(s, path, t, &before);

	free(path);
	return rv;
}

int session_print(struct session *s, const struct list *l, struct table *t)
{
	if (table_print(t) < 0)
		return out_of_memory();
	if (s->style.format == FORMAT_TABLE && !table_rows(t))
		complain(DONE, "there are no %s", l->what);
	return DONE;
}

int session_list(struct session *s, const struct list *l, const char *key, const char *value)
{
	const char *project = NULL;
	struct table *t = NULL;
	char *path = NULL;
	int64_t limit = 0;
	bool more = false;
	int rv = project_read(s, &project);

	if (rv == DONE)
		rv = limit_read(s, &limit);
	if (rv != DONE)
		return rv;
	path = request_query(l->path, "project", project, key, value, (char *)NULL);
	t = table_new(l->columns, l->count, &s->style, l->tree);
	if (!path || !t)
		rv = out_of_memory();
	else
		rv = l->paged ? pages_add(s, path, limit, t, &more) : session_rows(s, l, project, t);
	if (rv == DONE)
		rv = session_print(s, l, t);
	if (rv == DONE && more)
		complain(DONE, "there are more rows than these; --limit 0 gives all");
	table_free(t);
	free(path);
	return rv;
}

static int page_keep(struct session *s, const char *path, struct json_object *all, int64_t *before)
{
	struct json_object *reply = NULL, *rows;
	int rv = path ? session_call(s, "GET", path, NULL, &reply) : out_of_memory();

	if (rv != DONE)
		return rv;
	rows = rows_of(reply, path);
	for (size_t i = 0; rows && rv == DONE && i < json_object_array_length(rows); i++)
		if (json_object_array_add(all, json_object_get(json_object_array_get_idx(rows, i))) < 0)
			rv = out_of_memory();
	if (!rows || !page_next(reply, rows, before))
		*before = 0;
	json_object_put(reply);
	return rows ? rv : UNREACHABLE;
}

int session_fetch(struct session *s, const char *path, struct json_object **rows)
{
	struct json_object *all = json_object_new_array();
	int rv = path && all ? DONE : out_of_memory();
	int64_t before = 0;

	while (rv == DONE) {
		char *page = page_path(path, before, PAGE_MAX);

		rv = page_keep(s, page, all, &before);
		free(page);
		if (!before)
			break;
	}
	if (rv == DONE)
		*rows = all;
	else
		json_object_put(all);
	return rv;
}

/* Borrowed from `rows`; NULL when there is none. */
static struct json_object *row_of(struct json_object *rows, const char *key, const char *value)
{
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i), *held = NULL;
		const char *text;

		json_object_object_get_ex(row, key, &held);
		text = held ? json_object_get_string(held) : NULL;
		if (text && !strcmp(text, value))
			return row;
	}
	return NULL;
}

int session_find(struct session *s, const char *path, const char *key, const char *value, const char *noun,
	struct json_object **row)
{
	struct json_object *reply = NULL, *found = NULL;
	struct json_object *rows;
	int rv = path ? session_call(s, "GET", path, NULL, &reply) : out_of_memory();

	if (rv != DONE)
		return rv;
	rows = rows_of(reply, path);
	found = rows ? row_of(rows, key, value) : NULL;
	if (found)
		*row = json_object_get(found);
	else if (rows)
		rv = complain(REFUSED, "there is no %s %s that you may see; budgetctl %s list shows them",
			noun, value, noun);
	else
		rv = UNREACHABLE;
	json_object_put(reply);
	return rv;
}
