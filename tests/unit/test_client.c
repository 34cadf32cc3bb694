/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_client.c - asking a daemon that answers, hangs, talks nonsense or is not there
 *
 * The daemon is a thread of this test on a Unix socket in a folder of its own: it reads one request at a
 * time and sends the bytes it was given. */
#include "client/client.h"
#include "tests/unit/suites.h"
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"a\": \"b\"}\n"

struct daemon {
	int listener;
	const char *reply;		/* NULL: never answer */
	size_t repeat;			/* bytes of 'x' in front of the end, for an answer without end */
	bool close_after;		/* close the connection after each answer */
	int connections, requests;
	pthread_t thread;
};

static char folder[64], path[80];

static void folder_make(void)
{
	strcpy(folder, "/tmp/client.XXXXXX");
	ck_assert(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/sock", folder);
	ck_assert_int_eq(curl_global_init(CURL_GLOBAL_NOTHING), CURLE_OK);
}

static void folder_remove(void)
{
	unlink(path);
	rmdir(folder);
	curl_global_cleanup();
}

/* One request: up to the empty line, then Content-Length bytes. false: the client has gone. */
static bool request_read(int fd)
{
	char buf[65536];
	size_t used = 0;
	char *end = NULL, *length;

	do {
		ssize_t n = recv(fd, buf + used, sizeof(buf) - 1 - used, 0);

		if (n <= 0)
			return false;
		used += (size_t)n;
		buf[used] = '\0';
		end = strstr(buf, "\r\n\r\n");
		length = strstr(buf, "Content-Length: ");
	} while (!end || (length && used < (size_t)(end + 4 - buf) + strtoul(length + 16, NULL, 10)));
	return true;
}

static void reply_send(const struct daemon *d, int fd)
{
	static const char filler[65536] = { 'x' };

	send(fd, d->reply, strlen(d->reply), MSG_NOSIGNAL);
	for (size_t sent = 0; sent < d->repeat; sent += sizeof(filler))
		if (send(fd, filler, sizeof(filler), MSG_NOSIGNAL) < 0)
			return;
}

static void *daemon_run(void *arg)
{
	struct daemon *d = arg;
	int fd;

	while ((fd = accept(d->listener, NULL, NULL)) >= 0) {
		d->connections++;
		while (request_read(fd)) {
			d->requests++;
			if (d->reply)
				reply_send(d, fd);
			if (d->reply && (d->close_after || d->repeat))
				break;
		}
		close(fd);
	}
	return NULL;
}

static void daemon_start(struct daemon *d)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	strcpy(a.sun_path, path);
	unlink(path);
	d->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(d->listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(d->listener, 16), 0);
	ck_assert_int_eq(pthread_create(&d->thread, NULL, daemon_run, d), 0);
}

/* The client's connections are closed before: the thread is then in accept(). */
static void daemon_stop(struct daemon *d)
{
	shutdown(d->listener, SHUT_RDWR);
	pthread_join(d->thread, NULL);
	close(d->listener);
}

static int ask(struct client *c, const char *method, struct fault *why)
{
	struct json_object *body = json_object_new_object(), *reply = NULL;
	int status = -1, rv;

	json_object_object_add(body, "question", json_object_new_string("?"));
	rv = client_call(c, method, "/v1/x", strcmp(method, "GET") ? body : NULL, &status, &reply, why);
	if (rv == 0)
		ck_assert_int_eq(status, 200);
	else
		ck_assert(status == -1 && !reply);
	json_object_put(reply);
	json_object_put(body);
	return rv;
}

static int64_t ms_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

START_TEST(one_connection_serves_many_calls_of_any_method)
{
	struct daemon d = { .reply = OK_REPLY };
	struct client *c = client_new(path, 5000);
	struct fault why = { "" };

	daemon_start(&d);
	for (int i = 0; i < 10; i++)
		ck_assert_msg(ask(c,
				      i % 3 == 0   ? "GET"
				      : i % 3 == 1 ? "POST"
						   : "PATCH",
				      &why) == 0,
			"%s", why.text);
	client_free(c);
	daemon_stop(&d);
	ck_assert_int_eq(d.connections, 1);
	ck_assert_int_eq(d.requests, 10);
}
END_TEST

START_TEST(a_connection_that_the_daemon_closed_is_made_anew)
{
	struct daemon d = { .reply = OK_REPLY, .close_after = true };
	struct client *c = client_new(path, 5000);
	struct fault why = { "" };

	daemon_start(&d);
	for (int i = 0; i < 5; i++)
		ck_assert_msg(ask(c, "POST", &why) == 0, "%s", why.text);
	client_free(c);
	daemon_stop(&d);
	ck_assert_int_eq(d.requests, 5);
}
END_TEST

START_TEST(a_daemon_that_hangs_costs_the_deadline_and_no_more)
{
	struct daemon d = { .reply = NULL };
	struct client *c = client_new(path, 100);
	struct fault why = { "" };
	int64_t start, took;

	daemon_start(&d);
	start = ms_now();
	ck_assert_int_eq(ask(c, "POST", &why), -1);
	took = ms_now() - start;
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_msg(took >= 90 && took < 10000, "it took %jd ms", (intmax_t)took);
	ck_assert(strstr(why.text, "within 100 ms") != NULL);
	client_free(c);
	daemon_stop(&d);
}
END_TEST

START_TEST(a_proxy_in_the_environment_is_not_asked)
{
	struct daemon d = { .reply = OK_REPLY };
	struct client *c = client_new(path, 5000);

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	daemon_start(&d);
	ck_assert_int_eq(ask(c, "POST", NULL), 0);
	client_free(c);
	daemon_stop(&d);
}
END_TEST

static const struct { const char *reply; size_t repeat; int err; } nonsense[] = {
	{ "SSH-2.0-hello\r\n", 0, EPROTO },
	{ "", 0, EPROTO },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", 0, EPROTO },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, EPROTO },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n[{}]", 0, EPROTO },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n{} x", 0, EPROTO },
	{ "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{", 0, EPROTO },
	{ "HTTP/1.1 200 OK\r\n\r\n", 17 << 20, EMSGSIZE },
};

START_TEST(nonsense_is_an_error_and_not_an_answer)
{
	struct daemon d = { .reply = nonsense[_i].reply, .repeat = nonsense[_i].repeat, .close_after = true };
	struct client *c = client_new(path, 20000);
	struct fault why = { "" };

	daemon_start(&d);
	ck_assert_int_eq(ask(c, "POST", &why), -1);
	ck_assert_msg(errno == nonsense[_i].err, "row %d: %s (%s)", _i, strerror(errno), why.text);
	client_free(c);
	daemon_stop(&d);
}
END_TEST

START_TEST(who_is_not_there_is_named)
{
	struct client *c = client_new(path, 5000);
	struct fault none = { "" }, dead = { "" };
	struct daemon d = { .reply = OK_REPLY };

	ck_assert_int_eq(ask(c, "POST", &none), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert(strstr(none.text, path) != NULL);
	daemon_start(&d);
	daemon_stop(&d);		/* the socket stays behind */
	ck_assert_int_eq(ask(c, "POST", &dead), -1);
	ck_assert_int_eq(errno, ECONNREFUSED);
	client_free(c);
}
END_TEST

static char *no_credential(const char *munge_socket, const char *method, const char *target, const void *body,
	size_t bytes, struct fault *why)
{
	ck_assert_str_eq(munge_socket, "/run/m");
	ck_assert_str_eq(method, "POST");
	ck_assert_str_eq(target, "/v1/x");
	ck_assert_int_eq(bytes, strlen("{\"question\":\"?\"}"));
	ck_assert_mem_eq(body, "{\"question\":\"?\"}", bytes);
	fault_errno(why, ENOTCONN, "munged sleeps");
	return NULL;
}

START_TEST(a_server_is_not_asked_without_a_credential)
{
	const struct client_server server = { .url = "http://127.0.0.1:1/", .ca = "",
		.munge_socket = "/run/m", .authorize = no_credential };
	struct client *c = client_new_server(&server, 5000);
	struct fault why = { "" };

	ck_assert_int_eq(ask(c, "POST", &why), -1);
	ck_assert_int_eq(errno, ENOTCONN);
	ck_assert_str_eq(why.text, "munged sleeps");
	client_free(c);
}
END_TEST

START_TEST(the_text_of_a_failure_is_the_daemons_or_one_by_status)
{
	struct json_object *told = json_tokener_parse("{\"error\": \"vision has 2 GPU-h\"}"),
			   *silent = json_object_new_object();

	ck_assert_str_eq(client_error(409, told), "vision has 2 GPU-h");
	ck_assert_str_eq(client_error(403, silent), "not allowed");
	ck_assert(client_error(599, silent)[0]);
	json_object_put(told);
	json_object_put(silent);
}
END_TEST

Suite *client_suite(void)
{
	Suite *s = suite_create("client");
	TCase *t = tcase_create("calls");

	tcase_add_checked_fixture(t, folder_make, folder_remove);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, one_connection_serves_many_calls_of_any_method);
	tcase_add_test(t, a_connection_that_the_daemon_closed_is_made_anew);
	tcase_add_test(t, a_daemon_that_hangs_costs_the_deadline_and_no_more);
	tcase_add_test(t, a_proxy_in_the_environment_is_not_asked);
	tcase_add_loop_test(
		t, nonsense_is_an_error_and_not_an_answer, 0, sizeof(nonsense) / sizeof(nonsense[0]));
	tcase_add_test(t, who_is_not_there_is_named);
	tcase_add_test(t, a_server_is_not_asked_without_a_credential);
	tcase_add_test(t, the_text_of_a_failure_is_the_daemons_or_one_by_status);
	suite_add_tcase(s, t);
	return s;
}
