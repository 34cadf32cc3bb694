/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_money.h - what the calls that write money share; private to the http_*.c of such calls
 *
 * Threads  as a request */
#ifndef BUDGETD_HTTP_MONEY_H
#define BUDGETD_HTTP_MONEY_H
#include "budgetd/ledger_change.h"
#include "budgetd/ledger_money.h"
#include "budgetd/routes.h"

/* Kind, time, actor, reason and request id of a write; the rest of *e is empty. */
int money_entry(struct request *rq, const char *kind, bool need_reason, struct journal_entry *e,
	struct fault *why);
/* The same for a change of a setting: the reason can be left out. */
int money_words(struct request *rq, struct change_words *out, struct fault *why);
/* "amount_units", at least `min`; absent is an error. */
int money_units(struct request *rq, int64_t min, amount_t *out, struct fault *why);
/* "allocation"; without it the only live one of "project". Wants a transaction. */
int money_allocation(struct request *rq, int64_t *allocation, struct fault *why);
/* The same when the project is not a key of the body. */
int money_allocation_of(struct request *rq, int64_t project, int64_t *allocation, struct fault *why);

/* A DELETE has no body: what its query says of reason, request_id, dry_run and force becomes one. */
void money_body_of_query(struct request *rq);

/* `apply` in a LEDGER_MONEY transaction, after what has ended has expired. 201 and written; or, with
 * "dry_run" in the body, 200, the same answer with "dry_run": true, and nothing written. */
int money_write(struct request *rq, handler_fn apply, struct fault *why);
/* The same in a transaction that is not on the disk as it is answered, where `d` is LEDGER_HOLDS. */
int money_write_lasting(struct request *rq, enum ledger_durability d, handler_fn apply, struct fault *why);

/* The same for what is set about the "user" of the body: "uid" is added to the body where the host knows the
 * name. 200, since nothing new is made. */
int money_write_of_user(struct request *rq, handler_fn apply, struct fault *why);

/* ?period=YYYY-MM, or ?from= and ?to=; what there is without either is an error. */
struct statement_range;
int request_range(struct request *rq, struct statement_range *out, struct fault *why);

/* Rows of replies, given away. */
struct json_object *allocation_json(const struct allocation *a, const char *project, int64_t now);
int journal_json(struct request *rq, struct ledger *l, const struct journal_entry *e,
	struct json_object **out, struct fault *why);

#endif
