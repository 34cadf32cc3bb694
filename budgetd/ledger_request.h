/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_request.h - GPU-hours that a project asks for, and what was answered
 *
 * A request is decided once, with its words; neither is ever changed. An approval is a deposit of the journal
 * in the same transaction.
 *
 * All functions want an open transaction (ledger.h), the writing ones LEDGER_MONEY. Amounts in units, times
 * UTC epoch seconds. */
#ifndef BUDGETD_LEDGER_REQUEST_H
#define BUDGETD_LEDGER_REQUEST_H
#include "budgetd/ledger_money.h"

struct budget_request {
	int64_t id, at, project;
	amount_t units;
	char actor[USER_NAME_MAX], reason[512], request_id[72];
	char decision[12];		/* "", "approved", "refused" */
	int64_t decided_at;
	char decided_by[USER_NAME_MAX], answer[512], decision_id[72];
	int64_t entry;			/* the deposit; 0 = none */
	amount_t granted;		/* read only */
};

/* r->id is set. 1 and *r the first one when its request id was said before; else 0; -1. EEXIST: too many are
 * open. */
int budget_request_add(struct ledger *l, struct budget_request *r, struct fault *why);
/* 1, 0, -1 */
int budget_request_by_id(struct ledger *l, int64_t id, struct budget_request *out, struct fault *why);

/* Write decision, decided_at, decided_by, answer, decision_id and entry. EEXIST: it was decided before. */
int budget_request_decide(struct ledger *l, const struct budget_request *r, struct fault *why);

typedef int (*budget_request_fn)(const struct budget_request *r, void *arg);
/* Newest first, at most `limit`; project 0 = all, with what is below it; `all` = decided ones too; before 0 =
 * from the newest. */
int budget_request_walk(struct ledger *l, int64_t project, bool all, int64_t before, int64_t limit,
	budget_request_fn each, void *arg, struct fault *why);

#endif
