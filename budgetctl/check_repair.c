/* SPDX-License-Identifier: GPL-2.0-or-later
 * check_repair.c - put differences right: one correction a run, with the facts as slurmdbd has them (check.h)
 *
 * The request id is made of the run, the difference and the correction before it: said twice, or by two at
 * once, it is done once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "budgetctl/check.h"
#include "budgetctl/request.h"
#include "budgetctl/say.h"

/* The first that can be repaired: its correction has all facts of the run, so that it repairs the others as
 * well. */
static enum difference repairable(unsigned set)
{
	for (int d = 0; d < DIFFERENCES; d++)
		if ((set & 1u << d) && difference_table[d].repair)
			return (enum difference)d;
	return DIFFERENCES;
}

static int pieces_put(struct json_object *body, const struct check_run *r)
{
	struct json_object *pieces = json_object_new_array();

	if (!pieces || json_object_object_add(body, "pieces", pieces) < 0)
		return -1;
	for (size_t i = 0; i < r->nrows; i++) {
		const struct run_row *row = &r->rows[i];
		struct json_object *piece = json_object_new_object();

		if (!piece || json_object_array_add(pieces, piece) < 0)
			return -1;
		if (request_number(piece, "from", row->effective_start) < 0 ||
			request_number(piece, "to", row->end) < 0 ||
			request_number(piece, "suspended_s", check_unpaid_pause(r, row)) < 0 ||
			request_text(piece, "tres", row->tres_alloc ? row->tres_alloc : "") < 0)
			return -1;
	}
	return 0;
}

/* What slurmdbd says; of a run that it does not know, that it was none. */
static int facts_put(struct json_object *body, const struct check_run *r)
{
	const struct run_row *last = r->nrows ? &r->rows[r->nrows - 1] : NULL;

	if (request_text(body, "account", last ? last->account : r->project) < 0 ||
		request_text(body, "qos", last ? last->qos : NULL) < 0 ||
			request_text(body, "state", last ? last->state : NULL) < 0 ||
		request_text(body, "partition", last ? last->partition : NULL) < 0 ||
		request_number(body, "end", last ? last->end : r->a.books.end) < 0 ||
		request_number(body, "uid", last ? (int64_t)last->uid : 0) < 0)
		return -1;
	return pieces_put(body, r);
}

static int key_put(struct json_object *body, const struct check *c, const struct check_run *r)
{
	return request_text(body, "cluster", c->cluster) < 0 || request_number(body, "job", r->job) < 0 ||
			       request_number(body, "submit", r->submit) < 0 ||
			       request_number(body, "start", r->start) < 0 ||
			       request_text(body, "label", r->label) < 0 ||
			       (r->run && request_number(body, "run", r->run) < 0) ?
		       -1 : 0;
}

static int how_put(struct json_object *body, const struct check *c, const struct check_run *r,
	enum difference d)
{
	const char *reason = session_option(c->s, OPT_REASON);
	struct json_object *last = NULL;
	char id[REQUEST_ID_MAX], text[128];

	if (r->row)
		json_object_object_get_ex(r->row, "correction", &last);
	snprintf(id, sizeof(id), "check:%jd-%jd-%s-%jd", (intmax_t)r->job, (intmax_t)r->start,
		difference_table[d].id, (intmax_t)(last ? row_number(last, "id") : 0));
	snprintf(text, sizeof(text), "check --repair: %s", difference_table[d].about);
	if (request_text(body, "kind", difference_table[d].id) < 0 ||
		request_text(body, "reason", reason ? reason : text) < 0 ||
		request_text(body, "request_id", id) < 0)
		return -1;
	return session_option(c->s, OPT_DRY_RUN)
		? json_object_object_add(body, "dry_run", json_object_new_boolean(true)) : 0;
}

/* A refusal is said with the job that it is about, and the others go on. */
static int correct(struct check *c, struct check_run *r, enum difference d)
{
	struct json_object *body = json_object_new_object(), *reply = NULL;
	struct fault refusal = { "" };
	int rv;

	if (!body || how_put(body, c, r, d) < 0 || key_put(body, c, r) < 0 || facts_put(body, r) < 0)
		rv = out_of_memory();
	else
		rv = session_ask(c->s, "POST", "/v1/corrections", body, &reply, &refusal);
	json_object_put(body);
	if (rv == DONE) {
		r->refunded = row_number(reply, "refunded_units") - (r->row
			? row_number(r->row, "refunded_units") : 0);
		r->repaired = true;
	} else if (refusal.text[0]) {
		complain(rv, "job %s: %s", r->label, refusal.text);
		rv = DONE;
	}
	json_object_put(reply);
	return rv;
}

int check_repair(struct check *c)
{
	int rv = DONE;

	for (size_t i = 0; i < c->count && rv == DONE; i++) {
		enum difference d = c->runs[i].judged ? repairable(agreement_of(&c->runs[i].a)) : DIFFERENCES;

		if (d < DIFFERENCES)
			rv = correct(c, &c->runs[i], d);
	}
	return rv;
}
