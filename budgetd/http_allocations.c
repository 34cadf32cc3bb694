/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_allocations.c - allocations: add, set their terms. */
#include "budgetd/http_money.h"
#include "budgetd/log.h"
#include "lib/number.h"
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- add ---------------------------------------------------------------------------------------- */

/* How an allocation is carried over and vests; what is not said stays. */
static int read_terms(struct request *rq, struct allocation *a, struct fault *why)
{
	return body_int(rq, "carry_over_percent", 0, 100, &a->carry_over_percent, why) < 0 ||
		body_flag(rq, "vests", &a->vests, why) < 0 ||
		body_int(rq, "burst_units", 0, AMOUNT_MAX, &a->burst, why) < 0 ? -1 : 0;
}

/* An allocation and its first deposit. Said twice with the same request id it is there once. */
static int add_allocation(struct request *rq, struct fault *why)
{
	struct allocation a = { .starts = rq->now };
	struct journal_entry e, first;
	struct change_words w;
	const char *name = NULL;
	struct project p;
	int known;

	if (money_entry(rq, "deposit", false, &e, why) < 0 || money_words(rq, &w, why) < 0 ||
		money_units(rq, 0, &e.units, why) < 0 || read_terms(rq, &a, why) < 0 ||
		body_need_text(rq, "project", &name, why) < 0 ||
		project_find(rq->b->ledger, name, &p, why) != 1 ||
		body_int(rq, "starts", 0, INT64_MAX / 4, &a.starts, why) < 0 ||
		body_int(rq, "ends", 1, INT64_MAX / 4, &a.ends, why) < 0)
		return -1;
	first = e;
	known = journal_known(rq->b->ledger, &first, why);
	if (known < 0)
		return -1;
	if (!known) {
		a.project = p.id;
		snprintf(a.comment, sizeof(a.comment), "%.*s", (int)sizeof(a.comment) - 1, e.reason);
		if (allocation_add(rq->b->ledger, &a, rq->now, why) < 0)
			return -1;
		e.allocation = a.id;
		if (journal_post(rq->b->ledger, &e, why) < 0 ||
			change_allocation(rq->b->ledger, &w, NULL, &a, why) < 0)
			return -1;
	}
	if (allocation_by_id(rq->b->ledger, known ? first.allocation : a.id, &a, why) != 1)
		return -1;
	rq->reply = allocation_json(&a, p.name, rq->now);
	return 0;
}

int allocation_post(struct request *rq, struct fault *why)
{
	return money_write(rq, add_allocation, why);
}

/* --- set ---------------------------------------------------------------------------------------- */

static int read_dates(struct request *rq, struct allocation *a, struct fault *why)
{
	bool open = false;
	int ends = body_int(rq, "ends", 1, INT64_MAX / 4, &a->ends, why);

	if (ends < 0 || body_flag(rq, "open", &open, why) < 0 ||
		body_int(rq, "starts", 0, INT64_MAX / 4, &a->starts, why) < 0)
		return -1;
	if (open && ends)
		return fault_errno(why, EINVAL, "say \"ends\", or \"open\": true");
	if (open)
		a->ends = 0;
	return 0;
}

static int read_comment(struct request *rq, struct allocation *a, struct fault *why)
{
	const char *text = NULL;
	int rc = body_text(rq, "comment", &text, why);

	if (rc != 1)
		return rc;
	if (strlen(text) >= sizeof(a->comment))
		return fault_errno(why, EINVAL, "a comment has at most %zu bytes", sizeof(a->comment) - 1);
	snprintf(a->comment, sizeof(a->comment), "%s", text);
	return 0;
}

/* Said twice with the same request id it is done once, and answered with what is there now. */
static int set_terms(struct request *rq, struct allocation *a, struct change_words *w, struct fault *why)
{
	struct allocation was = *a;

	if (rq->said)
		return 0;
	if (read_terms(rq, a, why) < 0 || read_dates(rq, a, why) < 0 || read_comment(rq, a, why) < 0 ||
		allocation_set(rq->b->ledger, a, rq->now, why) < 0 ||
		change_allocation(rq->b->ledger, w, &was, a, why) < 0)
		return -1;
	log_info("allocation %jd: its terms were changed by %s%s%s", (intmax_t)a->id, w->actor,
		*w->reason ? ": " : "", w->reason);
	return 0;
}

static int set_allocation(struct request *rq, struct fault *why)
{
	int64_t id;
	struct change_words w;
	struct allocation a;
	struct project p;
	int rc = number_parse(rq->name, INT64_MAX, &id) < 0 ? 0
		: allocation_by_id(rq->b->ledger, id, &a, why);

	if (rc != 1)
		return rc < 0 ? -1 : fault_errno(why, ENOENT, "there is no allocation %s", rq->name);
	if (money_words(rq, &w, why) < 0 || set_terms(rq, &a, &w, why) < 0 ||
		project_by_id(rq->b->ledger, a.project, &p, why) != 1)
		return -1;
	rq->reply = allocation_json(&a, p.name, rq->now);
	return 0;
}

int allocation_patch(struct request *rq, struct fault *why)
{
	if (money_write(rq, set_allocation, why) < 0)
		return -1;
	rq->status = MHD_HTTP_OK;
	return 0;
}
