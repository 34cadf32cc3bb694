/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_job_drain.h - of a run on a node that is to be empty: which node, and by when the run has left it
 *
 * Threads  one, the caller's; rq->b->cluster is looked at under its lock */
#ifndef BUDGETD_HTTP_JOB_DRAIN_H
#define BUDGETD_HTTP_JOB_DRAIN_H
#include "budgetd/ledger_run.h"
#include "budgetd/request.h"

/* `run` gets the key "draining": NULL, or the node, its reason, from when on the run is told to go and when
 * it is gone then; `lines` (may be NULL) gets that in words. Nothing is said of a run that was told already.
 * `l` is in a transaction. 0, -1. */
int job_drain_tell(struct request *rq, struct ledger *l, const struct run *r, struct json_object *run,
	struct json_object *lines, struct fault *why);

#endif
