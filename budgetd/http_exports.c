/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_exports.c - long lists as CSV, sent while they are read. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_export.h"
#include "budgetd/ledger_statement.h"
#include "budgetd/log.h"
#include "budgetd/people.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (256 * 1024)

struct export_stream {
	struct reply_stream stream;	/* first: it is what the server has */
	struct budgetd *b;
	const struct export_table *table;
	struct export_list list;
	int64_t now;
	bool begun, over;
	size_t sent;
	char name[PERSON_NAME_MAX];	/* of the last user */
	struct export_writer w;
	char text[PIECE_BYTES];
};

static const char *user_name(int64_t uid, void *arg)
{
	struct export_stream *x = arg;

	return people_name(x->b->people, (uid_t)uid, x->now, x->name);
}

static int next_piece(struct export_stream *x)
{
	struct fault why = {0};
	int rc;

	x->w = (struct export_writer){ .text = x->text, .size = sizeof(x->text) };
	x->sent = 0;
	if (!x->begun)
		export_put_header(&x->w, x->table);
	x->begun = true;
	rc = export_more(x->b->reader, &x->list, &x->w, user_name, x, &why);
	if (rc < 0 || x->w.full) {
		log_error("an export ends early: %s", rc < 0 ? why.text : "a row has no room");
		return -1;
	}
	x->over = rc == 0;
	return 0;
}

static ssize_t more(struct reply_stream *s, char *to, size_t max)
{
	struct export_stream *x = (struct export_stream *)s;
	size_t n;

	while (x->sent == x->w.used)
		if (x->over || next_piece(x) < 0)
			return x->over ? 0 : -1;
	n = x->w.used - x->sent < max ? x->w.used - x->sent : max;
	memcpy(to, x->text + x->sent, n);
	x->sent += n;
	return (ssize_t)n;
}

static void stream_free(struct reply_stream *s)
{
	free(s);
}

static int begin(struct request *rq, struct export_stream *x, struct fault *why)
{
	struct statement_range range;
	struct project p;
	int rc = -1;

	x->table = export_table_find(rq->name);
	if (!x->table || strcmp(rq->name, "statement") == 0)
		return fault_errno(why, ENOENT, "there is no export \"%.40s\"; there is jobs and journal", rq->name);
	if (request_range(rq, &range, why) < 0 || ledger_begin(rq->b->reader, LEDGER_READ, why) < 0)
		return -1;
	x->list = (struct export_list){ .jobs = strcmp(rq->name, "jobs") == 0, .from = range.from, .to = range.to };
	if (request_project(rq, rq->b->reader, &p, why) == 0) {
		x->list.project = p.id;
		rc = export_begin(rq->b->reader, &x->list, why);
	}
	ledger_rollback(rq->b->reader);
	return rc;
}

int export_get(struct request *rq, struct fault *why)
{
	struct export_stream *x = calloc(1, sizeof(*x));

	if (!x)
		return fault_errno(why, ENOMEM, "out of memory");
	x->stream = (struct reply_stream){ .more = more, .free = stream_free };
	x->b = rq->b;
	x->now = rq->now;
	if (begin(rq, x, why) < 0) {
		free(x);
		return -1;
	}
	rq->stream = &x->stream;
	return 0;
}
