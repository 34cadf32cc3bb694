/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_quotes.c - POST /v1/quotes: what a submission would be told now, without submitting it.
 *
 * The same decision as a verdict's, over the reader: nothing is written, and a queue of quotes delays no
 * submission. The user is the one who calls, whatever the body says. As at submission, Slurm must know the
 * user in the account: otherwise it would refuse the job, and what a project has left is no business of
 * strangers. */
#include "budgetd/admit.h"
#include "budgetd/cluster_state.h"
#include "budgetd/people.h"
#include "budgetd/routes.h"
#include "lib/quote_json.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENTS_MAX 128		/* Slurm's own limit for a het job */

struct quoting {
	struct request *rq;
	struct quote quote;
	struct set_aside aside;
	struct verdict verdict;		/* of the whole: the first refusal, else the least tier */
	char default_account[PROJECT_NAME_MAX];
	char user[PERSON_NAME_MAX];
	struct fault *why;
};

/* Members of the tree may quote where Slurm's accounts are not known (yet). */
static bool may_submit(const struct quoting *x, const char *account)
{
	struct cluster_state *cluster = x->rq->b->cluster;
	struct project p;

	if (x->rq->administrator || !account || !*account || cluster_state_may_use(cluster, x->user, account))
		return true;
	return project_find(x->rq->b->reader, account, &p, NULL) != 1 ||
		request_may_see(x->rq, x->rq->b->reader, p.id, NULL) == 0;
}

static void refuse_stranger(const struct quoting *x, const char *account, struct verdict *v)
{
	*v = (struct verdict){0};
	snprintf(v->text, sizeof(v->text),
		"refused: Slurm does not know %.64s in account %.64s, it would refuse the job; "
		"`sacctmgr show assoc user=%.64s` lists the accounts there are", x->user, account, x->user);
}

static void merge(struct verdict *all, const struct verdict *one)
{
	bool first = !all->text[0] && all->accepted && all->tier == TIER_UNSET;

	if (first || (all->accepted && (!one->accepted || one->tier == TIER_FREE)))
		*all = *one;
}

static int quote_question(struct quoting *x, struct question *q, struct fault *why)
{
	struct request *rq = x->rq;
	struct quote_part part;
	struct priced priced;
	struct verdict v;

	if (!q->account && x->default_account[0])
		q->account = x->default_account;
	if (admit_quote(rq->b, rq->b->reader, q, &x->aside, rq->now, &priced, &v, why) < 0)
		return -1;
	if (!priced.valid)
		return fault_errno(why, EINVAL, "%s", v.text);
	if (priced.price > 0 && !may_submit(x, q->account))
		refuse_stranger(x, q->account, &v);
	merge(&x->verdict, &v);
	part = (struct quote_part){ .request = &priced.request, .options = &priced.options,
		.time_limit_s = priced.time_limit_s, .price = priced.price };
	return quote_add(&x->quote, &part, &priced.rules, why);
}

static int quote_component(struct quoting *x, struct json_object *body, bool het)
{
	struct question q;

	if (!json_object_is_type(body, json_type_object))
		return fault_errno(x->why, EINVAL, "\"components\" must be a list of objects");
	json_object_object_add(body, "uid", json_object_new_int64(x->rq->uid));
	if (question_from_json(body, &q, x->why) < 0)
		return -1;
	q.het = q.het || het;
	return quote_question(x, &q, x->why);
}

static int quote_all(struct quoting *x)
{
	struct json_object *list;
	size_t n;

	if (!json_object_object_get_ex(x->rq->body, "components", &list))
		return quote_component(x, x->rq->body, false);
	if (!json_object_is_type(list, json_type_array))
		return fault_errno(x->why, EINVAL, "\"components\" must be a list of objects");
	n = json_object_array_length(list);
	if (n < 1 || n > COMPONENTS_MAX)
		return fault_errno(x->why, EINVAL, "a job has 1 to %d components, not %zu", COMPONENTS_MAX,
			n);
	for (size_t i = 0; i < n; i++)
		if (quote_component(x, json_object_array_get_idx(list, i), n > 1) < 0)
			return -1;
	return 0;
}

static struct json_object *answer(const struct quoting *x)
{
	struct json_object *o = quote_json(&x->quote);
	const struct verdict *v = &x->verdict;

	if (!o)
		return NULL;
	put_bool(o, "accepted", v->accepted);
	put_text(o, "tier", !v->accepted ? NULL : v->tier == TIER_UNSET ? "none" : job_tier_name(v->tier));
	put_text(o, "account", v->account[0] ? v->account : NULL);
	put_text(o, "reason", v->text[0] ? v->text : "the job asks for no GPU: the budget leaves it alone");
	return o;
}

int quote_post(struct request *rq, struct fault *why)
{
	struct quoting *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return fault_errno(why, ENOMEM, "out of memory");
	x->rq = rq;
	x->why = why;
	x->verdict.accepted = true;
	quote_init(&x->quote);
	people_name(rq->b->people, rq->uid, rq->now, x->user);
	cluster_state_default_account(rq->b->cluster, x->user, x->default_account,
		sizeof(x->default_account));
	rc = ledger_begin(rq->b->reader, LEDGER_READ, why);
	if (rc == 0) {
		rc = quote_all(x);
		ledger_rollback(rq->b->reader);
	}
	if (rc == 0 && !(rq->reply = answer(x)))
		rc = fault_errno(why, ENOMEM, "out of memory");
	free(x);
	return rc;
}
