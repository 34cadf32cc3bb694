/* SPDX-License-Identifier: GPL-2.0-or-later
 * said.h - was this write said before? By its request id, and by what it asks for
 *
 * Two requests are the same write when method, path and all keys of the body are the same but those that
 * change nothing of what is written: reason, request_id, dry_run, force (doc/api.md).
 *
 * Threads  as a request */
#ifndef BUDGETD_SAID_H
#define BUDGETD_SAID_H
#include "budgetd/request.h"

/* Sets rq->said. 0; or -1: EEXIST when its id was used for another write, EINVAL. Wants a transaction on
 * rq->b->ledger that writes. */
int request_said(struct request *rq, struct fault *why);

/* May people give a write such an id? 0, or -1 and EINVAL: it is too long, or of those that we make
 * ourselves. */
int request_id_check(const struct request *rq, const char *request_id, struct fault *why);

#endif
