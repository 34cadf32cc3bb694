/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_routes.c - which handler a call finds, who may make it, and how it is refused */
#include "budgetd/routes.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <string.h>

static const struct {
	const char *method, *path;
	handler_fn handle;
	enum who who;
	const char *name;
} found[] = {
	{ "POST", "/v1/verdicts", verdict_post, WHO_SLURM, "" },
	{ "POST", "/v1/quotes", quote_post, WHO_ANYONE, "" },
	{ "GET", "/v1/projects", projects_get, WHO_LIST, "" },
	{ "POST", "/v1/projects", project_post, WHO_ADMINISTRATOR, "" },
	{ "PATCH", "/v1/projects/vision", project_patch, WHO_OWNER, "vision" },
	{ "DELETE", "/v1/projects/vision", project_delete, WHO_ADMINISTRATOR, "vision" },
	{ "GET", "/v1/allocations", allocations_get, WHO_LIST, "" },
	{ "POST", "/v1/allocations", allocation_post, WHO_ADMINISTRATOR, "" },
	{ "POST", "/v1/deposits", deposit_post, WHO_ADMINISTRATOR, "" },
	{ "PATCH", "/v1/allocations/7", allocation_patch, WHO_ADMINISTRATOR, "7" },
	{ "POST", "/v1/withdrawals", withdrawal_post, WHO_OWNER, "" },
	{ "POST", "/v1/adjustments", adjustment_post, WHO_ADMINISTRATOR, "" },
	{ "POST", "/v1/transfers", transfer_post, WHO_OWNER, "" },
	{ "POST", "/v1/refunds", refund_post, WHO_ADMINISTRATOR, "" },
	{ "POST", "/v1/voids", void_post, WHO_ADMINISTRATOR, "" },
	{ "GET", "/v1/caps", caps_get, WHO_LIST, "" },
	{ "POST", "/v1/caps", cap_post, WHO_OWNER, "" },
	{ "GET", "/v1/slots", slots_get, WHO_LIST, "" },
	{ "POST", "/v1/slots", slot_post, WHO_OWNER, "" },
	{ "PATCH", "/v1/slots/4", slot_patch, WHO_OWNER, "4" },
	{ "GET", "/v1/changes", changes_get, WHO_PROJECT, "" },
	{ "GET", "/v1/periods", periods_get, WHO_ANYONE, "" },
	{ "POST", "/v1/periods", period_post, WHO_ADMINISTRATOR, "" },
	{ "GET", "/v1/rates", rates_get, WHO_ANYONE, "" },
	{ "POST", "/v1/rates", rate_post, WHO_ADMINISTRATOR, "" },
	{ "GET", "/v1/requests", requests_get, WHO_LIST, "" },
	{ "POST", "/v1/requests", request_post, WHO_MEMBER, "" },
	{ "PATCH", "/v1/requests/3", request_patch, WHO_OWNER, "3" },
	{ "GET", "/v1/balances", balances_get, WHO_LIST, "" },
	{ "GET", "/v1/tree", tree_get, WHO_LIST, "" },
	{ "GET", "/v1/usage", usage_get, WHO_LIST, "" },
	{ "GET", "/v1/forecast", forecast_get, WHO_PROJECT, "" },
	{ "GET", "/v1/journal", journal_get, WHO_PROJECT, "" },
	{ "GET", "/v1/statements", statements_get, WHO_PROJECT, "" },
	{ "GET", "/v1/exports/jobs", export_get, WHO_PROJECT, "jobs" },
	{ "GET", "/v1/holds", holds_get, WHO_PROJECT, "" },
	{ "GET", "/v1/charges", charges_get, WHO_PROJECT, "" },
	{ "GET", "/v1/runs", runs_get, WHO_PROJECT, "" },
	{ "PATCH", "/v1/runs/9", run_patch, WHO_ADMINISTRATOR, "9" },
	{ "POST", "/v1/corrections", correction_post, WHO_ADMINISTRATOR, "" },
	{ "GET", "/v1/jobs/12_[0-3%2]", job_get, WHO_JOB, "12_[0-3%2]" },
	{ "GET", "/v1/series", series_get, WHO_PROJECT, "" },
	{ "GET", "/v1/queue", queue_get, WHO_LIST, "" },
	{ "GET", "/v1/shadow", shadow_get, WHO_PROJECT, "" },
	{ "GET", "/v1/health", health_get, WHO_ANYONE, "" },
};

START_TEST(a_call_finds_its_handler_and_who_may)
{
	const char *name = NULL;
	const struct route *r = route_find(found[_i].method, found[_i].path, &name);

	ck_assert_msg(r != NULL, "%s %s", found[_i].method, found[_i].path);
	ck_assert_msg(r->handle == found[_i].handle, "%s %s", found[_i].method, found[_i].path);
	ck_assert_msg(r->who == found[_i].who, "%s %s", found[_i].method, found[_i].path);
	ck_assert_str_eq(name, found[_i].name);
	/* Who writes is never just anybody (a quote changes nothing), and only what is sent something has a
	 * body. */
	ck_assert(strcmp(r->method, "GET") == 0 || r->who != WHO_ANYONE || r->handle == quote_post);
	ck_assert((r->body_max > 0) == (strcmp(r->method, "POST") == 0 || strcmp(r->method, "PATCH") == 0));
}
END_TEST

static const struct {
	const char *method, *path;
	int err;
} not_found[] = {
	{ "GET", "/", ENOENT }, { "GET", "", ENOENT }, { "GET", "/v1", ENOENT }, { "GET", "/v1/projects/", ENOENT },
	{ "PATCH", "/v1/projects/a/b", ENOENT }, { "GET", "/v2/projects", ENOENT }, { "GET", "/v1/Projects", ENOENT },
	{ "GET", "/v1/jobs", ENOENT }, { "GET", "/v1/projects/../health", ENOENT }, { "GET", "/v1/verdicts", EOPNOTSUPP },
	{ "GET", "/v1/projects/vision", EOPNOTSUPP }, { "PATCH", "/v1/projects", EOPNOTSUPP }, { "get", "/v1/health", EOPNOTSUPP },
	{ "HEAD", "/v1/health", EOPNOTSUPP }, { "DELETE", "/v1/journal", EOPNOTSUPP },
};

START_TEST(what_is_not_there_is_told_from_what_is_there_otherwise)
{
	const char *name = "before";

	errno = 0;
	ck_assert_ptr_null(route_find(not_found[_i].method, not_found[_i].path, &name));
	ck_assert_msg(errno == not_found[_i].err, "%s %s: %s", not_found[_i].method, not_found[_i].path,
		strerror(errno));
	ck_assert_str_eq(name, "before");
}
END_TEST

Suite *routes_suite(void)
{
	Suite *s = suite_create("routes");
	TCase *t = tcase_create("find");

	tcase_add_loop_test(t, a_call_finds_its_handler_and_who_may, 0, sizeof(found) / sizeof(found[0]));
	tcase_add_loop_test(t, what_is_not_there_is_told_from_what_is_there_otherwise, 0,
		sizeof(not_found) / sizeof(not_found[0]));
	suite_add_tcase(s, t);
	return s;
}
