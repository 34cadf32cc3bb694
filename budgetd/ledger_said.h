/* SPDX-License-Identifier: GPL-2.0-or-later
 * ledger_said.h - which write a request id was said for
 *
 * One id is one write, over all calls, projects and people: said again for the same it is done once, said for
 * another it is refused, and the refusal tells neither whose nor what the first one was (doc/api.md).
 *
 * Ids that we make ourselves begin with one of two prefixes; money_entry takes none of them from people, so
 * that nobody can occupy one.
 *
 * All want an open transaction (ledger.h), that of the write: what is rolled back was not said. */
#ifndef BUDGETD_LEDGER_SAID_H
#define BUDGETD_LEDGER_SAID_H
#include <stdint.h>
#include "lib/fault.h"

struct ledger;

#define OWN_ID_PREFIX "budgetd:"	/* of writes that nobody asked for; no call takes it */
#define CHECK_ID_PREFIX "check:"	/* of `budgetctl check --repair`; only corrections take it */

/* `write` is a text that two writes have alike only when they are the same. 0 = new, and noted; 1 = said
 * before for the same;
 * -1 and EEXIST: for another. */
int said_note(struct ledger *l, const char *request_id, const char *write, int64_t now, struct fault *why);

#endif
