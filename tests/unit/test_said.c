/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_said.c - which write a request id stands for: the same one again, another, and which ids people may
 * give */
#include "budgetd/ledger_said.h"
#include "budgetd/routes.h"
#include "budgetd/said.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

static struct books b;
static struct budgetd d;

static void setup(void)
{
	books_open(&b);
	d.ledger = b.l;
}

static void teardown(void)
{
	books_close(&b);
}

#define SAME 1
#define NEW 0
#define OTHER (-EEXIST)
#define NO_ID (-EINVAL)

/* One after the other, in one file. */
static const struct saying {
	const char *method, *path, *body;
	int is;
} sayings[] = {
	{ "POST", "/v1/deposits", "{\"project\":\"vision\",\"amount_units\":5,\"reason\":\"a\",\"request_id\":\"K1\"}", NEW },
	{ "POST", "/v1/deposits", "{\"project\":\"vision\",\"amount_units\":5,\"reason\":\"a\",\"request_id\":\"K1\"}", SAME },
	{ "POST", "/v1/deposits", "{\"request_id\":\"K1\",\"amount_units\":5,\"project\":\"vision\",\"reason\":\"in other words\"}", SAME },
	{ "POST", "/v1/deposits", "{\"project\":\"vision\",\"amount_units\":6,\"reason\":\"a\",\"request_id\":\"K1\"}", OTHER },
	{ "POST", "/v1/deposits", "{\"project\":\"speech\",\"amount_units\":5,\"reason\":\"a\",\"request_id\":\"K1\"}", OTHER },
	{ "POST", "/v1/deposits", "{\"project\":\"vision\",\"amount_units\":5,\"allocation\":3,\"request_id\":\"K1\"}", OTHER },
	{ "POST", "/v1/withdrawals", "{\"project\":\"vision\",\"amount_units\":5,\"reason\":\"a\",\"request_id\":\"K1\"}", OTHER },
	{ "POST", "/v1/refunds", "{\"charge\":1,\"request_id\":\"K1\"}", OTHER },
	{ "POST", "/v1/rates", "{\"gpu_type\":\"h100\",\"thousandths\":5,\"request_id\":\"K1\"}", OTHER },
	{ "PATCH", "/v1/requests/1", "{\"decision\":\"approve\",\"request_id\":\"K2\"}", NEW },
	{ "PATCH", "/v1/requests/1", "{\"decision\":\"refuse\",\"request_id\":\"K2\"}", OTHER },
	{ "PATCH", "/v1/requests/2", "{\"decision\":\"approve\",\"request_id\":\"K2\"}", OTHER },
	{ "PATCH", "/v1/projects/vision", "{\"share\":3,\"request_id\":\"K3\"}", NEW },
	{ "PATCH", "/v1/projects/vision", "{\"share\":3,\"force\":true,\"request_id\":\"K3\"}", SAME },
	{ "PATCH", "/v1/projects/speech", "{\"share\":3,\"request_id\":\"K3\"}", OTHER },
	{ "DELETE", "/v1/projects/vision", "{\"request_id\":\"K3\"}", OTHER },
	{ "POST", "/v1/deposits", "{\"project\":\"vision\",\"amount_units\":6}", NEW },
	{ "POST", "/v1/deposits", "{\"project\":\"vision\",\"amount_units\":6,\"request_id\":\"\"}", NEW },
	{ "POST", "/v1/transfers", "{\"from\":\"a\",\"to\":\"b\",\"amount_units\":1,\"request_id\":\"budgetd:run-1-charge-1\"}", NO_ID },
	{ "POST", "/v1/corrections", "{\"kind\":\"end\",\"run\":1,\"request_id\":\"budgetd:run-1-charge-1\"}", NO_ID },
	{ "POST", "/v1/transfers", "{\"from\":\"a\",\"to\":\"b\",\"amount_units\":1,\"request_id\":\"check:1-2-end-0\"}", NO_ID },
	{ "POST", "/v1/corrections", "{\"kind\":\"end\",\"run\":1,\"request_id\":\"check:1-2-end-0\"}", NEW },
	{ "POST", "/v1/corrections", "{\"kind\":\"end\",\"run\":1,\"request_id\":\"check:1-2-end-0\"}", SAME },
	{ "POST", "/v1/transfers", "{\"from\":\"a\",\"to\":\"b\",\"amount_units\":1,\"request_id\":"
		"\"12345678901234567890123456789012345678901234567890123456789012345\"}", NO_ID },
};

static int say(struct ledger *l, void *arg, struct fault *why)
{
	const struct saying *x = arg;
	struct request rq = { .b = &d, .now = NOON, .body = json_tokener_parse(x->body) };
	int rc;

	(void)l;
	rq.route = route_find(x->method, x->path, &rq.name);
	ck_assert_msg(rq.route && rq.body, "%s", x->body);
	rc = request_said(&rq, why);
	json_object_put(rq.body);
	return rc < 0 ? rc : rq.said;
}

START_TEST(an_id_is_one_write_over_all_calls)
{
	for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++) {
		int rc = books_do(&b, LEDGER_MONEY, say, (void *)&sayings[i]);

		ck_assert_msg((rc < 0 ? -errno : rc) == sayings[i].is, "saying %zu, %s: %d %s", i,
			sayings[i].body, rc, b.why.text);
		if (sayings[i].is == OTHER)	/* it tells nothing of the other one */
			ck_assert_msg(!strstr(b.why.text, "vision") && !strstr(b.why.text, "deposit"), "%s",
				b.why.text);
	}
}
END_TEST

static int fails_later(struct ledger *l, void *arg, struct fault *why)
{
	return said_note(l, arg, "x", NOON, why) < 0 ? -1 : fault_errno(why, EEXIST, "too little");
}

static int note_other(struct ledger *l, void *arg, struct fault *why)
{
	return said_note(l, arg, "y", NOON, why);
}

START_TEST(what_was_refused_was_not_said)
{
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, fails_later, "K"), -1);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, note_other, "K"), 0);
	ck_assert_ptr_nonnull(books_try(&b, "UPDATE said SET write = 'z'"));
	ck_assert_ptr_nonnull(books_try(&b, "DELETE FROM said"));
}
END_TEST

Suite *said_suite(void)
{
	Suite *s = suite_create("said");
	TCase *t = tcase_create("ids");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, an_id_is_one_write_over_all_calls);
	tcase_add_test(t, what_was_refused_was_not_said);
	suite_add_tcase(s, t);
	return s;
}
