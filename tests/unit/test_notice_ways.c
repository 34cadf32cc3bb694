/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_notice_ways.c - the ways that notices leave by: a command of the site, and a webhook. */
#include "budgetd/notice_tell.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], program[160], out[160];

static void program_write(const char *lines)
{
	FILE *to = fopen(program, "w");

	ck_assert_ptr_nonnull(to);
	fprintf(to, "#!/bin/sh\n%s\n", lines);
	ck_assert_int_eq(fclose(to), 0);
	ck_assert_int_eq(chmod(program, 0755), 0);
}

static void setup(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/ways-XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(program, sizeof(program), "%s/tell", folder);
	snprintf(out, sizeof(out), "%s/out", folder);
}

static void teardown(void)
{
	unlink(program);
	unlink(out);
	ck_assert_int_eq(rmdir(folder), 0);
}

/* --- the command ------------------------------------------------------------------------------------- */

static const struct notice sample = { .id = 1, .at = NOON, .key = "abc-1", .kind = NOTICE_BUDGET,
	.severity = NOTICE_WARNING, .project = "vision", .to = "ada,bob",
	.subject = "a \"subject\"\nBcc: x; $(touch /x)",
	.text = (char[]){ "line one\nline two\n" } };

static int run_for(int64_t deadline_ms, struct fault *why)
{
	static atomic_bool stop;
	struct notice_patience p = { deadline_ms, &stop };

	why->text[0] = '\0';
	return notice_command_run(program, &sample, &p, why);
}

START_TEST(the_command_is_given_the_text_and_its_words)
{
	struct fault why;
	char lines[400], text[1000];
	FILE *from;
	size_t n;

	snprintf(lines, sizeof(lines), "{ echo \"$#$1\"; env | grep -c .; echo \"$GPUBUDGET_NOTICE_SUBJECT|"
		"$GPUBUDGET_NOTICE_TO|$GPUBUDGET_NOTICE_ID|$GPUBUDGET_NOTICE_KIND|$GPUBUDGET_NOTICE_SEVERITY|"
		"$GPUBUDGET_NOTICE_PROJECT\"; cat; } >%s", out);
	program_write(lines);
	ck_assert_msg(run_for(20000, &why) == 0, "%s", why.text);
	from = fopen(out, "r");
	ck_assert_ptr_nonnull(from);
	n = fread(text, 1, sizeof(text) - 1, from);
	fclose(from);
	text[n] = '\0';
	ck_assert_ptr_nonnull(strstr(text, "1budget\n"));
	ck_assert_ptr_nonnull(strstr(text, "a \"subject\"?Bcc: x; $(touch /x)|ada,bob|abc-1|budget|warning|vision\n"
		"line one\nline two\n"));
}
END_TEST

START_TEST(a_command_that_fails_says_why)
{
	struct fault why;

	program_write("echo 'no such\033[1m list' >&2; exit 3");
	ck_assert_int_eq(run_for(20000, &why), -1);
	ck_assert_str_eq(why.text, "it ended with status 3: no such?[1m list?");
	program_write("kill -TERM $$");
	ck_assert_int_eq(run_for(20000, &why), -1);
	ck_assert_str_eq(why.text, "it ended with signal 15");
	ck_assert_int_eq(unlink(program), 0);
	ck_assert_int_eq(run_for(20000, &why), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(a_command_that_hangs_is_killed_with_its_children)
{
	char lines[300];
	struct fault why;
	struct stat st;

	snprintf(lines, sizeof(lines), "exec >/dev/null 2>&1\nsh -c 'sleep 1000; echo late >%s' &\nwait", out);
	program_write(lines);
	ck_assert_int_eq(run_for(300, &why), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
	ck_assert_str_eq(why.text, "it did not end within 300 ms and was killed");
	ck_assert_int_eq(stat(out, &st), -1);
	program_write("while :; do echo yes; done");	/* more than anybody reads */
	ck_assert_int_eq(run_for(300, &why), -1);
	ck_assert_int_eq(errno, ETIMEDOUT);
}
END_TEST

START_TEST(only_what_others_cannot_write_is_run)
{
	struct fault why = { "" };
	char path[200];

	program_write("exit 0");
	ck_assert_msg(notice_command_check(program, &why) == 0, "%s", why.text);
	ck_assert_int_eq(chmod(program, 0775), 0);
	ck_assert_int_eq(notice_command_check(program, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "others can change"));
	ck_assert_int_eq(chmod(program, 0644), 0);
	ck_assert_int_eq(notice_command_check(program, NULL), -1);
	ck_assert_int_eq(chmod(program, 0755), 0);
	ck_assert_int_eq(chmod(folder, 0777), 0);
	why.text[0] = '\0';
	ck_assert_int_eq(notice_command_check(program, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "others can change what is in"));
	ck_assert_int_eq(chmod(folder, 0700), 0);
	snprintf(path, sizeof(path), "%s/nowhere", folder);
	ck_assert_int_eq(notice_command_check(path, NULL), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(notice_command_check(folder, NULL), -1);
}
END_TEST

/* --- the webhook ------------------------------------------------------------------------------------- */

/* One answer for one request, which is kept. */
struct receiver {
	int fd, port;
	const char *answer;
	char got[8192];
	pthread_t thread;
};

static void *receive(void *arg)
{
	struct receiver *r = arg;
	int peer = accept(r->fd, NULL, NULL);
	size_t used = 0;
	ssize_t n = 1;

	while (peer >= 0 && n > 0 && !strstr(r->got, "\"text\"") && used < sizeof(r->got) - 1) {
		n = read(peer, r->got + used, sizeof(r->got) - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	}
	if (write(peer, r->answer, strlen(r->answer)) < 0)
		perror("the receiver");
	close(peer);
	return NULL;
}

static void receiver_start(struct receiver *r, const char *answer)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(a);

	*r = (struct receiver){ .fd = socket(AF_INET, SOCK_STREAM, 0), .answer = answer };
	ck_assert_int_eq(bind(r->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(r->fd, 4), 0);
	ck_assert_int_eq(getsockname(r->fd, (struct sockaddr *)&a, &bytes), 0);
	r->port = ntohs(a.sin_port);
	ck_assert_int_eq(pthread_create(&r->thread, NULL, receive, r), 0);
}

static void receiver_end(struct receiver *r)
{
	pthread_join(r->thread, NULL);
	close(r->fd);
}

static void url_write(int port)
{
	FILE *to = fopen(out, "w");

	ck_assert_ptr_nonnull(to);
	fprintf(to, "http://127.0.0.1:%d/hook/SECRET\n", port);
	ck_assert_int_eq(fclose(to), 0);
	ck_assert_int_eq(chmod(out, 0600), 0);
}

static int post(struct fault *why)
{
	static atomic_bool stop;
	struct notice_patience p = { 20000, &stop };
	struct notice_webhook *w = notice_webhook_new();
	int rc;

	ck_assert_ptr_nonnull(w);
	why->text[0] = '\0';
	rc = notice_webhook_post(w, out, "", &sample, &p, why);
	notice_webhook_free(w);
	return rc;
}

START_TEST(a_webhook_gets_json_with_a_key)
{
	struct receiver r;
	struct fault why;
	struct json_object *o;

	receiver_start(&r, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
	url_write(r.port);
	ck_assert_msg(post(&why) == 0, "%s", why.text);
	receiver_end(&r);
	ck_assert_ptr_nonnull(strstr(r.got, "POST /hook/SECRET HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(r.got, "Idempotency-Key: abc-1\r\n"));
	o = json_tokener_parse(strstr(r.got, "\r\n\r\n") + 4);
	ck_assert_ptr_nonnull(o);
	ck_assert_str_eq(json_object_get_string(json_object_object_get(o, "id")), "abc-1");
	ck_assert_str_eq(json_object_get_string(json_object_object_get(o, "kind")), "budget");
	ck_assert_str_eq(json_object_get_string(json_object_object_get(o, "subject")), sample.subject);
	ck_assert_uint_eq(json_object_array_length(json_object_object_get(o, "to")), 2);
	ck_assert_ptr_null(json_object_object_get(o, "job"));
	json_object_put(o);
}
END_TEST

START_TEST(what_a_webhook_refuses_is_told_without_its_secret)
{
	struct receiver r;
	struct fault why;

	receiver_start(&r, "HTTP/1.1 500 SECRET\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	url_write(r.port);
	ck_assert_int_eq(post(&why), -1);
	receiver_end(&r);
	ck_assert_ptr_nonnull(strstr(why.text, "answered HTTP 500"));
	ck_assert_ptr_null(strstr(why.text, "SECRET"));
	ck_assert_int_eq(post(&why), -1);	/* nobody listens any more */
	ck_assert_int_eq(errno, ECONNREFUSED);
	ck_assert_ptr_null(strstr(why.text, "SECRET"));
	ck_assert_int_eq(chmod(out, 0644), 0);
	ck_assert_int_eq(post(&why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "others can read or write"));
}
END_TEST

Suite *notice_ways_suite(void)
{
	TCase *t = tcase_create("notice_ways");
	Suite *s = suite_create("notice_ways");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_command_is_given_the_text_and_its_words);
	tcase_add_test(t, a_command_that_fails_says_why);
	tcase_add_test(t, a_command_that_hangs_is_killed_with_its_children);
	tcase_add_test(t, only_what_others_cannot_write_is_run);
	tcase_add_test(t, a_webhook_gets_json_with_a_key);
	tcase_add_test(t, what_a_webhook_refuses_is_told_without_its_secret);
	suite_add_tcase(s, t);
	return s;
}
