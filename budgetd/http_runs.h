/* SPDX-License-Identifier: GPL-2.0-or-later
 * http_runs.h - a run as replies have it; shared by http_runs.c and http_corrections.c
 *
 * Threads  as a request */
#ifndef BUDGETD_HTTP_RUNS_H
#define BUDGETD_HTTP_RUNS_H
#include "budgetd/ledger_correction.h"
#include "budgetd/routes.h"

/* The row of GET /v1/runs, given away. Wants an open transaction on `l`. */
struct json_object *run_json(struct request *rq, struct ledger *l, const struct run_account *a);

#endif
