/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_network.c - addresses as people write them, and what a credential is for */
#include "lib/address.h"
#include "lib/credential.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text, *host, *port; /* host NULL: refused */
} addresses[] = {
	{"head:6830", "head", "6830"},
	{"*:6830", "", "6830"},
	{"10.1.2.3:1", "10.1.2.3", "1"},
	{"[::1]:65535", "::1", "65535"},
	{"[fe80::1%eth0]:80", NULL, NULL},
	{"a.b-c_d.e:07", "a.b-c_d.e", "07"},
	{"head", NULL, NULL},
	{"head:", NULL, NULL},
	{"head:0", NULL, NULL},
	{"head:65536", NULL, NULL},
	{"head:-1", NULL, NULL},
	{"head:6830x", NULL, NULL},
	{":6830", NULL, NULL},
	{"::1:6830", NULL, NULL},
	{"[]:6830", NULL, NULL},
	{"[head]:6830", NULL, NULL},
	{"**:6830", NULL, NULL},
	{"-h:6830", NULL, NULL},
	{"a b:6830", NULL, NULL},
	{"", NULL, NULL},
};

START_TEST(an_address_is_a_host_and_a_port)
{
	struct address a = {.host = "before"};
	int rv = address_parse(addresses[_i].text, &a, NULL);

	ck_assert_msg((rv == 0) == (addresses[_i].host != NULL), "\"%s\"", addresses[_i].text);
	if (rv < 0) {
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_str_eq(a.host, "before");
	} else {
		ck_assert_str_eq(a.host, addresses[_i].host);
		ck_assert_str_eq(a.port, addresses[_i].port);
	}
}
END_TEST

static const struct {
	const char *url;
	int good;
} servers[] = {
	{"http://head:6830", 1},
	{"https://budget.example.org", 1},
	{"https://budget.example.org/", 1},
	{"https://[fd00::1]", 1},
	{"http://[::1]:6830/", 1},
	{"http://10.0.0.1:1", 1},
	{"head:6830", 0},
	{"ftp://head:6830", 0},
	{"HTTP://head:6830", 0},
	{"http://", 0},
	{"http:///", 0},
	{"http://*:6830", 0},
	{"http://head:6830/v1", 0},
	{"http://head:6830//", 0},
	{"http://head:6830?a=b", 0},
	{"http://root@head:6830", 0},
	{"http://head:99999", 0},
	{"http://he ad", 0},
	{"/run/budgetd.sock", 0},
};

START_TEST(a_server_is_named_by_its_host_alone)
{
	struct fault why = {""};

	ck_assert_msg((address_check_server(servers[_i].url, &why) == 0) == servers[_i].good, "\"%s\": %s",
		servers[_i].url, why.text);
}
END_TEST

START_TEST(a_host_name_without_end_is_refused)
{
	char url[2048] = "http://";

	memset(url + 7, 'a', sizeof(url) - 8);
	url[sizeof(url) - 1] = '\0';
	ck_assert_int_eq(address_check_server(url, NULL), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* The sums are sha256sum's. */
START_TEST(a_credential_is_for_a_method_a_path_and_a_body)
{
	char *none = credential_payload("GET", "/v1/balances?project=vision", NULL, 0),
	     *some = credential_payload("POST", "/v1/x", "{}", 2);

	ck_assert_str_eq(none, "gpubudget-1 GET /v1/balances?project=vision "
			       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	ck_assert_str_eq(some,
		"gpubudget-1 POST /v1/x 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
	free(none);
	free(some);
}
END_TEST

Suite *network_suite(void)
{
	Suite *s = suite_create("network");
	TCase *t = tcase_create("words");

	tcase_add_loop_test(t, an_address_is_a_host_and_a_port, 0, sizeof(addresses) / sizeof(addresses[0]));
	tcase_add_loop_test(t, a_server_is_named_by_its_host_alone, 0, sizeof(servers) / sizeof(servers[0]));
	tcase_add_test(t, a_host_name_without_end_is_refused);
	tcase_add_test(t, a_credential_is_for_a_method_a_path_and_a_body);
	suite_add_tcase(s, t);
	return s;
}
