/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_moves.c - withdrawals, adjustments, transfers, refunds, voids: who may, and what the ledger made of
 * it. */
#include "budgetd/http_money.h"
#include "budgetd/ledger_moves.h"
#include <errno.h>

/* All entries of the write that began with `e`. */
static int reply_group(struct request *rq, const struct journal_entry *e, struct fault *why)
{
	struct json_object *rows = json_object_new_array(), *row;
	struct journal_entry next = {0};
	int rc;

	rq->reply = reply_rows(rows, false);
	while ((rc = journal_next_of(rq->b->ledger, e->first ? e->first : e->id, next.id, &next, why)) == 1) {
		if (journal_json(rq, rq->b->ledger, &next, &row, why) < 0)
			return -1;
		json_object_array_add(rows, row);
	}
	return rc;
}

/* Who takes from a project stands above it: its own owner got the GPU-hours to share them out, not to send
 * them back. */
static int may_take_from(struct request *rq, int64_t allocation, struct fault *why)
{
	struct allocation a;
	struct project p;

	if (allocation_by_id(rq->b->ledger, allocation, &a, why) != 1 ||
		project_by_id(rq->b->ledger, a.project, &p, why) != 1)
		return -1;
	return request_may_own(rq, rq->b->ledger, p.parent, why);
}

/* The right first: who has none learns nothing of a project's allocations. */
static int may_take_from_named(struct request *rq, struct fault *why)
{
	const char *name = NULL;
	struct project p;
	int rc = body_text(rq, "project", &name, why);

	if (rc != 1)
		return rc;
	return project_find(rq->b->ledger, name, &p, why) != 1 ? -1
		: request_may_own(rq, rq->b->ledger, p.parent, why);
}

static int withdraw(struct request *rq, struct fault *why)
{
	struct journal_entry e;

	if (may_take_from_named(rq, why) < 0 || money_entry(rq, "withdrawal", true, &e, why) < 0 ||
		money_units(rq, 1, &e.units, why) < 0 || money_allocation(rq, &e.allocation, why) < 0 ||
		may_take_from(rq, e.allocation, why) < 0)
		return -1;
	e.units = -e.units;
	return money_change(rq->b->ledger, &e, rq->now, why) < 0 ? -1
		: journal_json(rq, rq->b->ledger, &e, &rq->reply, why);
}

int withdrawal_post(struct request *rq, struct fault *why)
{
	return money_write(rq, withdraw, why);
}

static int adjust(struct request *rq, struct fault *why)
{
	struct journal_entry e;

	if (money_entry(rq, "adjustment", true, &e, why) < 0 ||
		money_units(rq, -AMOUNT_MAX, &e.units, why) < 0 ||
		money_allocation(rq, &e.allocation, why) < 0)
		return -1;
	if (e.units == 0)
		return fault_errno(why, EINVAL, "an adjustment of 0 GPU-h changes nothing");
	return money_change(rq->b->ledger, &e, rq->now, why) < 0 ? -1
		: journal_json(rq, rq->b->ledger, &e, &rq->reply, why);
}

int adjustment_post(struct request *rq, struct fault *why)
{
	return money_write(rq, adjust, why);
}

static int project_of_key(struct request *rq, const char *key, struct project *out, struct fault *why)
{
	const char *name = NULL;

	return body_need_text(rq, key, &name, why) < 0 ||
		project_find(rq->b->ledger, name, out, why) != 1 ? -1 : 0;
}

/* By the authority of the lowest project that is above both ends (doc/model.md, 4). */
static int transfer(struct request *rq, struct fault *why)
{
	struct journal_entry e;
	struct project from, to;
	struct transfer t = {0};
	int64_t common;

	if (money_entry(rq, "transfer", true, &e, why) < 0 || money_units(rq, 1, &t.units, why) < 0 ||
		body_int(rq, "from_allocation", 1, INT64_MAX, &t.from_allocation, why) < 0 ||
		body_int(rq, "to_allocation", 1, INT64_MAX, &t.to_allocation, why) < 0 ||
		project_of_key(rq, "from", &from, why) < 0 || project_of_key(rq, "to", &to, why) < 0 ||
		money_common_ancestor(rq->b->ledger, from.id, to.id, &common, why) < 0 ||
		request_may_own(rq, rq->b->ledger, common, why) < 0)
		return -1;
	t.from = from.id;
	t.to = to.id;
	return money_transfer(rq->b->ledger, &t, &e, rq->now, why) < 0 ? -1 : reply_group(rq, &e, why);
}

int transfer_post(struct request *rq, struct fault *why)
{
	return money_write(rq, transfer, why);
}

static int id_of_key(struct request *rq, const char *key, int64_t *out, struct fault *why)
{
	int rc = body_int(rq, key, 1, INT64_MAX, out, why);

	return rc == 0 ? fault_errno(why, EINVAL, "\"%s\" is missing", key) : rc < 0 ? -1 : 0;
}

static int refund(struct request *rq, struct fault *why)
{
	struct journal_entry e;
	int64_t charge;
	amount_t units = 0;		/* all that is left of it */

	if (money_entry(rq, "refund", true, &e, why) < 0 || id_of_key(rq, "charge", &charge, why) < 0 ||
		body_int(rq, "amount_units", 1, AMOUNT_MAX, &units, why) < 0 ||
		money_refund(rq->b->ledger, charge, units, &e, rq->now, why) < 0)
		return -1;
	return reply_group(rq, &e, why);
}

int refund_post(struct request *rq, struct fault *why)
{
	return money_write(rq, refund, why);
}

static int void_entry(struct request *rq, struct fault *why)
{
	struct journal_entry e;
	int64_t entry;

	if (money_entry(rq, "void", true, &e, why) < 0 || id_of_key(rq, "entry", &entry, why) < 0 ||
		money_void(rq->b->ledger, entry, &e, rq->now, why) < 0)
		return -1;
	return reply_group(rq, &e, why);
}

int void_post(struct request *rq, struct fault *why)
{
	return money_write(rq, void_entry, why);
}
