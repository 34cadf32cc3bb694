/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_notices.c - notices out of real books, and the queue that they wait in. */
#include "budgetd/budgetd.h"
#include "budgetd/ledger_event.h"
#include "budgetd/ledger_project.h"
#include "budgetd/notices.h"
#include "budgetd/people.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DAY (24 * HOUR)

static struct books books;
static struct budgetd b;
static struct settings *settings;
static struct notice_queue *queue;
static struct ledger *reader;

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
	set(&settings->notice_command, "/never/run");
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
	suite_add_tcase(s, t);
	return s;
}
