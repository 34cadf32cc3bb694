/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_request.c - a request of anybody who reaches budgetd's socket: path, query and body, over real books */
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include "budgetd/body.h"
#include "budgetd/cluster_state.h"
#include "budgetd/gpu_watch.h"
#include "budgetd/ledger.h"
#include "budgetd/ledger_project.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include "budgetd/rates.h"
#include "budgetd/routes.h"
#include "budgetd/tally.h"
#include "tests/fuzz/fuzz.h"

#define NOON 1800000000

/* A "connection" is the text behind the question mark. */
const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
	const char *key)
{
	static char value[512];
	const char *at = (const char *)connection;
	size_t n = strlen(key);

	(void)kind;
	while (at && (strncmp(at, key, n) != 0 || at[n] != '='))
		at = strchr(at, '&') ? strchr(at, '&') + 1 : NULL;
	if (!at)
		return NULL;
	snprintf(value, sizeof(value), "%.*s", (int)strcspn(at + n + 1, "&"), at + n + 1);
	return value;
}

void log_error(const char *fmt, ...) { (void)fmt; }
void log_warning(const char *fmt, ...) { (void)fmt; }
void log_info(const char *fmt, ...) { (void)fmt; }

static struct budgetd d;

/* A tree of two projects in a new file. */
static void world(void)
{
	struct fault why = {0};
	struct project p = { .name = "vision", .created_at = NOON - 3600 };
	char path[300];

	snprintf(path, sizeof(path), "%s/ledger.db", fuzz_folder_path());
	d = (struct budgetd){ .tally = tally_new(), .settings = settings_defaults(), .cluster = cluster_state_new(), .rates = rates_new(),
		.people = people_new("daemon", &why) };
	fuzz_must(d.settings && d.cluster && d.rates && d.people);
	fuzz_must(ledger_create(path, &why) == 0 && ledger_open(path, &d.ledger, &why) == 0 &&
		ledger_open_reader(path, &d.reader, &why) == 0);
	fuzz_must(ledger_begin(d.ledger, LEDGER_HOLDS, &why) == 0 && project_add(d.ledger, &p, NOON, &why) == 0 &&
		ledger_commit(d.ledger, &why) == 0 && gpu_watch_start(&d, &d.gpus, &why) == 0);
}

static void ask(const struct route *r, const char *name, char *query, const char *body, bool root)
{
	struct request rq = { .b = &d, .route = r, .who = r->who, .name = name, .now = NOON,
		.uid = root ? 0 : 65534, .administrator = root, .status = 200,
		.connection = (struct MHD_Connection *)query };
	struct fault why = {0};
	char piece[4096];
	int rv = route_allows(r, root, root, &why);

	if (rv == 0 && r->body_max)
		rv = strlen(body) <= r->body_max ? body_read(r, body, strlen(body), &rq.body, &why) : -2;
	if (rv == 0)
		rv = r->handle(&rq, &why);
	if (rv == -1)
		fuzz_refused(&why);
	while (rv == 0 && rq.stream && rq.stream->more(rq.stream, piece, sizeof(piece)) > 0)
		;
	if (rq.stream)
		rq.stream->free(rq.stream);
	json_object_put(rq.body);
	json_object_put(rq.reply);
}

/* "GET /v1/tree?project=vision", and the body behind the newline; with "!" in front it is an administrator
 * who asks. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line[2], *method, *path, *query;
	const struct route *r = NULL;
	const char *name = "";
	bool root;

	if (!d.ledger)
		world();
	fuzz_lines(data, size, 2, line);
	root = line[0][0] == '!';
	method = line[0] + root;
	path = strchr(method, ' ');
	if (path) {
		*path++ = '\0';
		query = strchr(path, '?');
		if (query)
			*query++ = '\0';
		r = route_find(method, path, &name);
		if (r)
			ask(r, name, query, line[1], root);
	}
	fuzz_lines_free(2, line);
	return 0;
}
