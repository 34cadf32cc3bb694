/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_notices.c - notices out of real books, the queue that they wait in, and the ways that they leave by. */
#include "budgetd/budgetd.h"
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_project.h"
#include "budgetd/notice_tell.h"
#include "budgetd/notices.h"
#include "budgetd/people.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY (24 * HOUR)

static struct books books;
static struct budgetd b;
static struct settings *settings;
static struct notice_queue *queue;
static struct ledger *reader;
static char program[160], out[160];

static void program_write(const char *lines)
{
	FILE *to = fopen(program, "w");

	ck_assert_ptr_nonnull(to);
	fprintf(to, "#!/bin/sh\n%s\n", lines);
	ck_assert_int_eq(fclose(to), 0);
	ck_assert_int_eq(chmod(program, 0755), 0);
}

static void set(char **setting, const char *value)
{
	free(*setting);
	*setting = strdup(value);
	ck_assert_ptr_nonnull(*setting);
}

static void setup(void)
{
	books_open(&books);
	settings = settings_defaults();
	ck_assert_ptr_nonnull(settings);
	snprintf(program, sizeof(program), "%s/tell", books.folder);
	snprintf(out, sizeof(out), "%s/out", books.folder);
	set(&settings->notice_command, program);
	b = (struct budgetd){ .settings = settings, .people = people_new("", NULL) };
	ck_assert_ptr_nonnull(b.people);
	ck_assert_int_eq(notice_queue_open(books.path, &queue, NULL), 0);
	ck_assert_int_eq(ledger_open_reader(books.path, &reader, NULL), 0);
}

static void teardown(void)
{
	char path[200];

	ledger_close(reader);
	notice_queue_close(queue);
	people_free(b.people);
	settings_free(settings);
	snprintf(path, sizeof(path), "%s.notices", books.path);
	unlink(path);
	unlink(program);
	unlink(out);
	books_close(&books);
}

/* --- out of the books ------------------------------------------------------------------------------- */

static void look(int64_t now)
{
	struct fault why = { "" };

	ck_assert_msg(notice_look(&b, reader, queue, now, &why) == 0, "%s", why.text);
}

/* The newest that is due is told; its subject, or "" when there is none. Static until the next call. */
static const char *next_subject(struct notice *n)
{
	static char subject[NOTICE_SUBJECT_MAX];
	int64_t attempts;
	int rc = notice_due(queue, NOTICE_BY_COMMAND, NOON + 365 * DAY, n, &attempts, NULL);

	ck_assert_int_ge(rc, 0);
	if (rc == 0)
		return "";
	ck_assert_int_eq(notice_told(queue, n->id, NOTICE_BY_COMMAND, NOON, NULL), 0);
	snprintf(subject, sizeof(subject), "%s", n->subject);
	notice_clear(n);
	return subject;
}

static void assert_next(const char *subject)
{
	struct notice n = { 0 };

	ck_assert_str_eq(next_subject(&n), subject);
}

static int make_owner(struct ledger *l, void *arg, struct fault *why)
{
	return member_set(l, *(int64_t *)arg, "ada", ROLE_OWNER, why) < 0 ? -1
		: member_set(l, *(int64_t *)arg, "bob", ROLE_OWNER, why);
}

static int64_t owned_project(const char *name, int64_t parent)
{
	int64_t id = books_project(&books, name, parent);

	ck_assert_int_eq(books_do(&books, LEDGER_HOLDS, make_owner, &id), 0);
	return id;
}

START_TEST(a_budget_is_told_of_once_and_again_after_a_deposit)
{
	int64_t above = owned_project("above", 0), own = books_project(&books, "own", above);
	int64_t allocation = books_allot(&books, own, 10 * GPU_H, NOON - DAY, 0);
	struct submission s = { .project = own, .gpus = 8, .min_runtime_s = HOUR, .tasks = 1, .now = NOON };
	struct notice n = { 0 };

	look(NOON);
	assert_next("");
	ck_assert_int_eq(books_submit(&books, &s), 0);
	look(NOON + 1);
	look(NOON + 2);
	ck_assert_str_eq(next_subject(&n), "project own has used 80 % of its GPU-hours");
	ck_assert_str_eq(n.to, "ada,bob");		/* of the project above: this one has nobody */
	ck_assert_str_eq(n.project, "own");
	assert_next("");
	ck_assert_int_eq(books_deposit(&books, allocation, GPU_H, "more"), 0);
	s.gpus = 1;
	look(NOON + 3);
	assert_next("");
	ck_assert_int_eq(books_submit(&books, &s), 0);
	look(NOON + 4);
	assert_next("project own has used 81 % of its GPU-hours");
}
END_TEST

START_TEST(an_end_is_told_of_to_its_owners_once)
{
	int64_t own = owned_project("own", 0);
	struct notice n = { 0 };

	books_allot(&books, own, 10 * GPU_H, NOON - DAY, NOON + 20 * DAY);
	books_allot(&books, own, 10 * GPU_H, NOON - DAY, 0);
	look(NOON);
	assert_next("");
	look(NOON + 7 * DAY);
	ck_assert_str_eq(next_subject(&n), "project own: 10.00 GPU-hours end at 2027-02-04T08:00:00Z");
	ck_assert_str_eq(n.to, "ada,bob");
	look(NOON + 8 * DAY);
	assert_next("");
}
END_TEST

struct happened {
	const struct run *run;
	enum event_what what;
	enum event_reason reason;
	int64_t at;
};

static int add_event(struct ledger *l, void *arg, struct fault *why)
{
	const struct happened *h = arg;

	return event_of_run(l, h->run, h->what, h->reason, 0, "because\nof it", h->at, why);
}

static void happens(const struct run *r, enum event_what what, enum event_reason reason, int64_t at)
{
	struct happened h = { r, what, reason, at };

	ck_assert_int_eq(books_do(&books, LEDGER_HOLDS, add_event, &h), 0);
}

START_TEST(what_happens_to_runs_is_told_to_their_user_and_what_was_before_is_not)
{
	int64_t own = owned_project("own", 0);
	struct submission s = { .project = own, .gpus = 1, .min_runtime_s = HOUR, .tasks = 1, .now = NOON };
	struct notice n = { 0 };
	struct run r;

	books_allot(&books, own, 1000 * GPU_H, NOON - DAY, 0);
	set(&settings->notice_copy, "watch, night");
	ck_assert_int_eq(books_submit(&books, &s), 0);
	books_start(&books, &s, 12, NOON, &r);
	happens(&r, EVENT_NOTED, REASON_IDLE, NOON);
	look(NOON + 1);
	assert_next("");
	happens(&r, EVENT_TOLD, REASON_ROTATED, NOON + 2);
	happens(&r, EVENT_WARNED, REASON_IDLE, NOON + 2);
	happens(&r, EVENT_DISPLACED, REASON_ROTATED, NOON + 3);
	look(NOON + 4);
	look(NOON + 5);
	ck_assert_str_eq(next_subject(&n), "job job still does not use its GPUs (IDLE)");
	ck_assert_ptr_nonnull(strstr(n.to, ",watch,night"));	/* behind its user's name, or "uid 1000" */
	ck_assert_str_eq(n.job, "job");
	assert_next("job job was displaced (ROTATED)");
	assert_next("");
	set(&settings->notice_kinds, "budget");
	happens(&r, EVENT_DISPLACED, REASON_ROTATED, NOON + 6);
	look(NOON + 7);
	set(&settings->notice_kinds, "displaced");
	look(NOON + 8);
	assert_next("");			/* nobody wanted it as it happened */
	happens(&r, EVENT_DISPLACED, REASON_ROTATED, NOON + 9);
	look(NOON + 9 + 4 * DAY);
	assert_next("");			/* that is too old to be told */
}
END_TEST

START_TEST(more_than_fits_into_one_look_is_told_by_the_next)
{
	int64_t own = owned_project("own", 0);
	struct submission s = { .project = own, .gpus = 1, .min_runtime_s = HOUR, .tasks = 1, .now = NOON };
	struct notice_counts counts;
	struct run r;

	books_allot(&books, own, 1000 * GPU_H, NOON - DAY, 0);
	ck_assert_int_eq(books_submit(&books, &s), 0);
	books_start(&books, &s, 12, NOON, &r);
	look(NOON);
	for (int i = 0; i < 105; i++)
		happens(&r, EVENT_WARNED, REASON_IDLE, NOON + 1);
	look(NOON + 2);
	ck_assert_int_eq(notice_count(queue, &counts, NULL), 0);
	ck_assert_int_eq(counts.waiting, 100);
	look(NOON + 3);
	look(NOON + 4);
	ck_assert_int_eq(notice_count(queue, &counts, NULL), 0);
	ck_assert_int_eq(counts.waiting, 105);
}
END_TEST

START_TEST(other_books_than_before_are_noticed)
{
	int64_t own = owned_project("own", 0);
	struct submission s = { .project = own, .gpus = 1, .min_runtime_s = HOUR, .tasks = 1, .now = NOON };
	struct notice_seen later = { .event = 77, .event_at = NOON + 5, .entry = 0 };
	struct run r;

	books_allot(&books, own, 1000 * GPU_H, NOON - DAY, 0);
	ck_assert_int_eq(books_submit(&books, &s), 0);
	books_start(&books, &s, 12, NOON, &r);
	happens(&r, EVENT_WARNED, REASON_IDLE, NOON + 4);
	happens(&r, EVENT_DISPLACED, REASON_ROTATED, NOON + 6);
	ck_assert_int_eq(notice_seen_set(queue, &later, NULL), 0);	/* the books were restored from a copy */
	look(NOON + 7);
	assert_next("job job was displaced (ROTATED)");
	assert_next("");
}
END_TEST

/* --- the queue --------------------------------------------------------------------------------------- */

static void add(const char *subject, unsigned ways, int64_t at)
{
	struct notice n = { .kind = NOTICE_TEST, .at = at, .text = (char[]){ "text\n" } };

	snprintf(n.subject, sizeof(n.subject), "%s", subject);
	ck_assert_int_eq(notice_queue_begin(queue, NULL), 0);
	ck_assert_int_eq(notice_add(queue, &n, ways, NULL), 0);
	ck_assert_int_eq(notice_queue_commit(queue, NULL), 0);
}

static bool due(enum notice_way w, int64_t now, struct notice *n)
{
	int64_t attempts;
	int rc = notice_due(queue, w, now, n, &attempts, NULL);

	ck_assert_int_ge(rc, 0);
	notice_clear(n);
	return rc == 1;
}

START_TEST(each_way_is_told_by_itself_and_keeps_its_key)
{
	struct notice n, again;

	add("one", 3, NOON);
	ck_assert(due(NOTICE_BY_COMMAND, NOON, &n));
	ck_assert_int_eq(notice_told(queue, n.id, NOTICE_BY_COMMAND, NOON, NULL), 0);
	ck_assert(!due(NOTICE_BY_COMMAND, NOON, &again));
	ck_assert(due(NOTICE_BY_WEBHOOK, NOON, &again));
	ck_assert_str_eq(again.key, n.key);
	ck_assert_int_eq(notice_missed(queue, n.id, NOTICE_BY_WEBHOOK, NOON + 10, "no", NULL), 0);
	ck_assert(!due(NOTICE_BY_WEBHOOK, NOON + 9, &again));
	notice_queue_close(queue);		/* the daemon ends and begins */
	ck_assert_int_eq(notice_queue_open(books.path, &queue, NULL), 0);
	ck_assert(due(NOTICE_BY_WEBHOOK, NOON + 10, &again));
	ck_assert_str_eq(again.key, n.key);
}
END_TEST

START_TEST(one_that_is_never_taken_keeps_no_other_waiting)
{
	struct notice n;

	add("poison", 2, NOON);
	add("good", 2, NOON);
	ck_assert(due(NOTICE_BY_WEBHOOK, NOON, &n));
	ck_assert_str_eq(n.subject, "poison");
	ck_assert_int_eq(notice_missed(queue, n.id, NOTICE_BY_WEBHOOK, NOON, "400", NULL), 0);
	ck_assert(due(NOTICE_BY_WEBHOOK, NOON, &n));
	ck_assert_str_eq(n.subject, "good");
}
END_TEST

static int count_failed(const struct notice_delivery *d, void *arg)
{
	ck_assert_str_eq(d->state, "failed");
	snprintf(arg, 80, "%s", d->error);
	return 0;
}

START_TEST(what_is_too_old_has_failed_and_is_forgotten_in_the_end)
{
	struct notice_counts counts;
	char error[80] = "";
	struct notice n;

	add("old", 2, NOON);
	add("young", 2, NOON + 100);
	ck_assert(due(NOTICE_BY_WEBHOOK, NOON, &n));
	ck_assert_int_eq(notice_missed(queue, n.id, NOTICE_BY_WEBHOOK, NOON, "HTTP 500", NULL), 0);
	ck_assert_int_eq(notice_give_up(queue, 60, 2, NOON + 60, NULL), 0);
	ck_assert_int_eq(notice_give_up(queue, 60, 2, NOON + 61, NULL), 1);
	ck_assert_int_eq(notice_give_up(queue, 60, 2, NOON + 62, NULL), 0);
	ck_assert_int_eq(notice_walk(queue, "failed", 10, count_failed, error, NULL), 0);
	ck_assert_str_eq(error, "HTTP 500");
	ck_assert_int_eq(notice_give_up(queue, 3600, 1, NOON + 101, NULL), 1);
	ck_assert_int_eq(notice_count(queue, &counts, NULL), 0);
	ck_assert_int_eq(counts.waiting, 0);
	ck_assert_int_eq(counts.failed, 2);
	ck_assert_int_eq(notice_forget(queue, NOON + 31 * DAY, NULL), 0);
	ck_assert_int_eq(notice_count(queue, &counts, NULL), 0);
	ck_assert_int_eq(counts.failed, 0);
}
END_TEST

START_TEST(what_was_not_committed_was_not_queued)
{
	struct notice n = { .kind = NOTICE_TEST, .at = NOON, .text = (char[]){ "text\n" } };

	ck_assert_int_eq(notice_queue_begin(queue, NULL), 0);
	ck_assert_int_eq(notice_add(queue, &n, 1, NULL), 0);
	notice_queue_close(queue);
	ck_assert_int_eq(notice_queue_open(books.path, &queue, NULL), 0);
	ck_assert(!due(NOTICE_BY_COMMAND, NOON, &n));
}
END_TEST

/* --- the command ------------------------------------------------------------------------------------- */

static const struct notice sample = { .id = 1, .at = NOON, .key = "abc-1", .kind = NOTICE_BUDGET,
	.severity = NOTICE_WARNING, .project = "vision", .to = "ada,bob", .subject = "a \"subject\"\nBcc: x; $(touch /x)",
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

	snprintf(lines, sizeof(lines), "{ echo \"$#$1\"; env | grep -c .; echo \"$GPUBUDGET_NOTICE_SUBJECT|$GPUBUDGET_NOTICE_TO|"
		"$GPUBUDGET_NOTICE_ID|$GPUBUDGET_NOTICE_KIND|$GPUBUDGET_NOTICE_SEVERITY|$GPUBUDGET_NOTICE_PROJECT\"; cat; } >%s", out);
	program_write(lines);
	ck_assert_msg(run_for(20000, &why) == 0, "%s", why.text);
	from = fopen(out, "r");
	ck_assert_ptr_nonnull(from);
	n = fread(text, 1, sizeof(text) - 1, from);
	fclose(from);
	text[n] = '\0';
	ck_assert_ptr_nonnull(strstr(text, "1budget\n"));
	ck_assert_ptr_nonnull(strstr(text, "a \"subject\"?Bcc: x; $(touch /x)|ada,bob|abc-1|budget|warning|vision\nline one\nline two\n"));
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
	ck_assert_int_eq(chmod(books.folder, 0777), 0);
	why.text[0] = '\0';
	ck_assert_int_eq(notice_command_check(program, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "others can change what is in"));
	ck_assert_int_eq(chmod(books.folder, 0700), 0);
	snprintf(path, sizeof(path), "%s/nowhere", books.folder);
	ck_assert_int_eq(notice_command_check(path, NULL), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(notice_command_check(books.folder, NULL), -1);
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

Suite *notices_suite(void)
{
	TCase *t = tcase_create("notices");
	Suite *s = suite_create("notices");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_budget_is_told_of_once_and_again_after_a_deposit);
	tcase_add_test(t, an_end_is_told_of_to_its_owners_once);
	tcase_add_test(t, what_happens_to_runs_is_told_to_their_user_and_what_was_before_is_not);
	tcase_add_test(t, more_than_fits_into_one_look_is_told_by_the_next);
	tcase_add_test(t, other_books_than_before_are_noticed);
	tcase_add_test(t, each_way_is_told_by_itself_and_keeps_its_key);
	tcase_add_test(t, one_that_is_never_taken_keeps_no_other_waiting);
	tcase_add_test(t, what_is_too_old_has_failed_and_is_forgotten_in_the_end);
	tcase_add_test(t, what_was_not_committed_was_not_queued);
	tcase_add_test(t, the_command_is_given_the_text_and_its_words);
	tcase_add_test(t, a_command_that_fails_says_why);
	tcase_add_test(t, a_command_that_hangs_is_killed_with_its_children);
	tcase_add_test(t, only_what_others_cannot_write_is_run);
	tcase_add_test(t, a_webhook_gets_json_with_a_key);
	tcase_add_test(t, what_a_webhook_refuses_is_told_without_its_secret);
	suite_add_tcase(s, t);
	return s;
}
