/* SPDX-License-Identifier: GPL-2.0-or-later
 * routes.c - the one list of calls. */
#include "budgetd/routes.h"
#include <errno.h>
#include <string.h>

#define KIB 1024

#define WRITE_KEYS "reason request_id dry_run"
#define MONEY_KEYS WRITE_KEYS " project amount_units"
#define TERMS_KEYS " carry_over_percent vests burst_units"
#define PROJECT_KEYS WRITE_KEYS " parent share on_exhausted credit_units unmetered user_shares force"

static const struct route routes[] = {
	/* method   path                     who may            body at most  its keys, handler */
	{ "POST",   "/v1/verdicts",          WHO_SLURM,         64 * KIB,     NULL, verdict_post },
	{ "POST",   "/v1/quotes",            WHO_ANYONE,        256 * KIB,    NULL, quote_post },
	{ "GET",    "/v1/projects",          WHO_LIST,          0,            NULL, projects_get },
	{ "POST",   "/v1/projects",          WHO_ADMINISTRATOR, 64 * KIB,
		PROJECT_KEYS " name owners members", project_post },
	{ "PATCH",  "/v1/projects/{name}",   WHO_OWNER,         64 * KIB,
		PROJECT_KEYS " add_owners remove_owners add_members remove_members", project_patch },
	{ "DELETE", "/v1/projects/{name}",   WHO_ADMINISTRATOR, 0,            NULL, project_delete },
	{ "GET",    "/v1/allocations",       WHO_LIST,          0,            NULL, allocations_get },
	{ "POST",   "/v1/allocations",       WHO_ADMINISTRATOR, 4 * KIB,
		MONEY_KEYS TERMS_KEYS " starts ends", allocation_post },
	{ "PATCH",  "/v1/allocations/{name}", WHO_ADMINISTRATOR, 4 * KIB,
		WRITE_KEYS TERMS_KEYS " starts ends open comment", allocation_patch },
	{ "POST",   "/v1/deposits",          WHO_ADMINISTRATOR, 4 * KIB,
		MONEY_KEYS " allocation", deposit_post },
	{ "POST",   "/v1/withdrawals",       WHO_OWNER,         4 * KIB,
		MONEY_KEYS " allocation", withdrawal_post },
	{ "POST",   "/v1/adjustments",       WHO_ADMINISTRATOR, 4 * KIB,
		MONEY_KEYS " allocation", adjustment_post },
	{ "POST",   "/v1/transfers",         WHO_OWNER,         4 * KIB,
		WRITE_KEYS " from to amount_units from_allocation to_allocation", transfer_post },
	{ "POST",   "/v1/refunds",           WHO_ADMINISTRATOR, 4 * KIB,
		WRITE_KEYS " charge amount_units", refund_post },
	{ "POST",   "/v1/voids",             WHO_ADMINISTRATOR, 4 * KIB,
		WRITE_KEYS " entry", void_post },
	{ "GET",    "/v1/caps",              WHO_LIST,          0,            NULL, caps_get },
	{ "POST",   "/v1/caps",              WHO_OWNER,         4 * KIB,
		MONEY_KEYS " user none", cap_post },
	{ "GET",    "/v1/shares",            WHO_LIST,          0,            NULL, shares_get },
	{ "POST",   "/v1/shares",            WHO_OWNER,         4 * KIB,
		WRITE_KEYS " project user share", share_post },
	{ "GET",    "/v1/slots",             WHO_LIST,          0,            NULL, slots_get },
	{ "POST",   "/v1/slots",             WHO_OWNER,         4 * KIB,
		WRITE_KEYS " project starts_s length_s boosted_percent", slot_post },
	{ "PATCH",  "/v1/slots/{name}",      WHO_OWNER,         4 * KIB,
		WRITE_KEYS " removed", slot_patch },
	{ "GET",    "/v1/changes",           WHO_PROJECT,       0,            NULL, changes_get },
	{ "GET",    "/v1/rates",             WHO_ANYONE,        0,            NULL, rates_get },
	{ "POST",   "/v1/rates",             WHO_ADMINISTRATOR, 4 * KIB,
		WRITE_KEYS " gpu_type thousandths valid_from", rate_post },
	{ "GET",    "/v1/periods",           WHO_ANYONE,        0,            NULL, periods_get },
	{ "POST",   "/v1/periods",           WHO_ADMINISTRATOR, 4 * KIB,
		WRITE_KEYS " period force", period_post },
	{ "GET",    "/v1/requests",          WHO_LIST,          0,            NULL, requests_get },
	{ "POST",   "/v1/requests",          WHO_MEMBER,        4 * KIB,      MONEY_KEYS, request_post },
	{ "PATCH",  "/v1/requests/{name}",   WHO_OWNER,         4 * KIB,
		WRITE_KEYS " decision amount_units allocation", request_patch },
	{ "POST",   "/v1/imports",           WHO_ADMINISTRATOR, 1024 * KIB,
		"rows charge more dry_run", import_post },
	{ "GET",    "/v1/balances",          WHO_LIST,          0,            NULL, balances_get },
	{ "GET",    "/v1/tree",              WHO_LIST,          0,            NULL, tree_get },
	{ "GET",    "/v1/usage",             WHO_LIST,          0,            NULL, usage_get },
	{ "GET",    "/v1/forecast",          WHO_PROJECT,       0,            NULL, forecast_get },
	{ "GET",    "/v1/journal",           WHO_PROJECT,       0,            NULL, journal_get },
	{ "GET",    "/v1/statements",        WHO_PROJECT,       0,            NULL, statements_get },
	{ "GET",    "/v1/exports/{name}",    WHO_PROJECT,       0,            NULL, export_get },
	{ "GET",    "/v1/holds",             WHO_PROJECT,       0,            NULL, holds_get },
	{ "GET",    "/v1/charges",           WHO_PROJECT,       0,            NULL, charges_get },
	{ "GET",    "/v1/runs",              WHO_PROJECT,       0,            NULL, runs_get },
	{ "PATCH",  "/v1/runs/{name}",       WHO_ADMINISTRATOR, 4 * KIB,      WRITE_KEYS " end", run_patch },
	{ "POST",   "/v1/corrections",       WHO_ADMINISTRATOR, 256 * KIB,
		WRITE_KEYS " kind run cluster job submit start label uid account partition qos end state pieces", correction_post },
	{ "GET",    "/v1/series",            WHO_PROJECT,       0,            NULL, series_get },
	{ "GET",    "/v1/queue",             WHO_LIST,          0,            NULL, queue_get },
	{ "GET",    "/v1/jobs/{name}",       WHO_JOB,           0,            NULL, job_get },
	{ "GET",    "/v1/events/{name}",     WHO_JOB,           0,            NULL, events_get },
	{ "GET",    "/v1/shadow",            WHO_PROJECT,       0,            NULL, shadow_get },
	{ "PATCH",  "/v1/jobs/{name}",       WHO_JOB,           4 * KIB,
		"min_runtime tier team_rank request_id dry_run", job_patch },
	{ "GET",    "/v1/drains",            WHO_ADMINISTRATOR, 0,            NULL, drains_get },
	{ "POST",   "/v1/drains",            WHO_ADMINISTRATOR, 4 * KIB,
		WRITE_KEYS " node critical", drain_post },
	{ "DELETE", "/v1/drains/{name}",     WHO_ADMINISTRATOR, 0,            NULL, drain_delete },
	{ "GET",    "/v1/notices",           WHO_ADMINISTRATOR, 0,            NULL, notices_get },
	{ "POST",   "/v1/notices",           WHO_ADMINISTRATOR, 4 * KIB,
		WRITE_KEYS, notice_post },
	{ "GET",    "/v1/health",            WHO_ANYONE,        0,            NULL, health_get },
};

static const char *path_matches(const char *pattern, const char *path)
{
	size_t fixed = strcspn(pattern, "{");

	if (!pattern[fixed])
		return strcmp(pattern, path) == 0 ? "" : NULL;
	if (strncmp(pattern, path, fixed) != 0 || !path[fixed] || strchr(path + fixed, '/'))
		return NULL;
	return path + fixed;
}

const struct route *route_find(const char *method, const char *path, const char **name)
{
	errno = ENOENT;
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++) {
		const char *segment = path_matches(routes[i].path, path);

		if (!segment)
			continue;
		if (strcmp(routes[i].method, method) == 0) {
			*name = segment;
			return &routes[i];
		}
		errno = EOPNOTSUPP;
	}
	return NULL;
}

const struct route *route_at(size_t i)
{
	return i < sizeof(routes) / sizeof(*routes) ? &routes[i] : NULL;
}

int route_allows(const struct route *r, bool administrator, bool slurm, struct fault *why)
{
	if (r->who == WHO_ADMINISTRATOR && !administrator)
		return fault_errno(why, EACCES,
			"only an administrator may do this: root, SlurmUser, or a user named in `administrators`");
	if (r->who == WHO_SLURM && !slurm)
		return fault_errno(why, EACCES, "verdicts are given to slurmctld only");
	return 0;
}
