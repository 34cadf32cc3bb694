/* SPDX-License-Identifier: GPL-2.0-or-later
 * routes.h - every call there is: method, path, who may, how large, which handler
 *
 * The table in routes.c is the only list of routes; doc/api.md describes the same rows. */
#ifndef BUDGETD_ROUTES_H
#define BUDGETD_ROUTES_H
#include <stddef.h>
#include "budgetd/request.h"

struct route {
	const char *method;
	const char *path;	/* a last segment {name} matches one segment */
	enum who who;
	size_t body_max;	/* bytes; 0 = no body */
	/* that a body may have, with blanks between them; NULL = any, for callers older or newer than we
	 * are */
	const char *keys;
	handler_fn handle;
};

/* The row for method and path, with *name pointing into `path` at the {name} segment ("" when it has none).
 * NULL and errno ENOENT (no such path) or EOPNOTSUPP (the path exists with other methods). */
const struct route *route_find(const char *method, const char *path, const char **name);

/* The i-th row, for those who walk them all; NULL behind the last. */
const struct route *route_at(size_t i);

/* What can be said before the body is read: a caller who is no administrator, or not slurmctld at its own
 * socket, is refused here where the row says so; the rights on a project are the handler's to ask. 0, or -1
 * and EACCES. */
int route_allows(const struct route *r, bool administrator, bool slurm, struct fault *why);

/* --- handlers, one file a resource --- */
int verdict_post(struct request *rq, struct fault *why);
int quote_post(struct request *rq, struct fault *why);
int projects_get(struct request *rq, struct fault *why);
int project_post(struct request *rq, struct fault *why);
int project_patch(struct request *rq, struct fault *why);
int project_delete(struct request *rq, struct fault *why);
int allocations_get(struct request *rq, struct fault *why);
int allocation_post(struct request *rq, struct fault *why);
int deposit_post(struct request *rq, struct fault *why);
int withdrawal_post(struct request *rq, struct fault *why);
int adjustment_post(struct request *rq, struct fault *why);
int transfer_post(struct request *rq, struct fault *why);
int refund_post(struct request *rq, struct fault *why);
int void_post(struct request *rq, struct fault *why);
int allocation_patch(struct request *rq, struct fault *why);
int caps_get(struct request *rq, struct fault *why);
int cap_post(struct request *rq, struct fault *why);
int shares_get(struct request *rq, struct fault *why);
int share_post(struct request *rq, struct fault *why);
int slots_get(struct request *rq, struct fault *why);
int slot_post(struct request *rq, struct fault *why);
int slot_patch(struct request *rq, struct fault *why);
int changes_get(struct request *rq, struct fault *why);
int periods_get(struct request *rq, struct fault *why);
int period_post(struct request *rq, struct fault *why);
int rates_get(struct request *rq, struct fault *why);
int rate_post(struct request *rq, struct fault *why);
int requests_get(struct request *rq, struct fault *why);
int request_post(struct request *rq, struct fault *why);
int request_patch(struct request *rq, struct fault *why);
int import_post(struct request *rq, struct fault *why);
int balances_get(struct request *rq, struct fault *why);
int usage_get(struct request *rq, struct fault *why);
int forecast_get(struct request *rq, struct fault *why);
int tree_get(struct request *rq, struct fault *why);
int journal_get(struct request *rq, struct fault *why);
int statements_get(struct request *rq, struct fault *why);
int export_get(struct request *rq, struct fault *why);
int holds_get(struct request *rq, struct fault *why);
int charges_get(struct request *rq, struct fault *why);
int runs_get(struct request *rq, struct fault *why);
int run_patch(struct request *rq, struct fault *why);
int correction_post(struct request *rq, struct fault *why);
int job_get(struct request *rq, struct fault *why);
int series_get(struct request *rq, struct fault *why);
int queue_get(struct request *rq, struct fault *why);
int events_get(struct request *rq, struct fault *why);
int job_patch(struct request *rq, struct fault *why);
int shadow_get(struct request *rq, struct fault *why);
int drains_get(struct request *rq, struct fault *why);
int drain_post(struct request *rq, struct fault *why);
int drain_delete(struct request *rq, struct fault *why);
int notices_get(struct request *rq, struct fault *why);
int notice_post(struct request *rq, struct fault *why);
int health_get(struct request *rq, struct fault *why);

#endif
