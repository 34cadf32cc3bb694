/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_page.c - the page: texts of others stay texts, who is believed to look at it, and what each is shown.
 *
 * The real views over a real ledger; only HTTP is missing (test_rights.c stands in for it). */
#include "budgetd/cluster_state.h"
#include "budgetd/page.h"
#include "budgetd/people.h"
#include "budgetd/rates.h"
#include "lib/markup.h"
#include "lib/svg.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BAD "\xef\xbf\xbd"

/* --- texts ------------------------------------------------------------------------------------------ */

static const struct {
	const char *text, *markup, *query;
} texts[] = {
	{ "", "", "" },
	{ "vision", "vision", "vision" },
	{ "<script>alert(1)</script>", "&#60;script&#62;alert(1)&#60;/script&#62;", "%3Cscript%3Ealert%281%29%3C%2Fscript%3E" },
	{ "a&amp;b", "a&#38;amp;b", "a%26amp%3Bb" },
	{ "\" onload=\"x", "&#34; onload=&#34;x", "%22%20onload%3D%22x" },
	{ "' onload='x", "&#39; onload=&#39;x", "%27%20onload%3D%27x" },
	{ "1_[0-3]+2", "1_[0-3]+2", "1_%5B0-3%5D%2B2" },
	{ "tab\tline\nend", "tab\tline\nend", "tab%09line%0Aend" },
	{ "\x01\x1b[31m\x7f\r", BAD BAD "[31m" BAD BAD, "%01%1B%5B31m%7F%0D" },
	{ "J\xc3\xbcrgen \xf0\x9f\x8c\xb3", "J\xc3\xbcrgen \xf0\x9f\x8c\xb3", "J%C3%BCrgen%20%F0%9F%8C%B3" },
	{ "\xc2\x85", BAD, "%C2%85" },				/* a control character of the second row */
	{ "\xe2\x80\xaegnp", BAD "gnp", "%E2%80%AEgnp" },	/* what follows would be read from the right */
	{ "\xef\xbf\xbf", BAD, "%EF%BF%BF" },
	/* no UTF-8: cut, overlong, a surrogate, beyond the last, a stray byte */
	{ "a\xc3", "a" BAD, "a%C3" },
	{ "\xc0\xbc", BAD BAD, "%C0%BC" },
	{ "\xe0\x80\xbc", BAD BAD BAD, "%E0%80%BC" },
	{ "\xed\xa0\x80", BAD BAD BAD, "%ED%A0%80" },
	{ "\xf4\x90\x80\x80", BAD BAD BAD BAD, "%F4%90%80%80" },
	{ "\xff<", BAD "&#60;", "%FF%3C" },
};

/* What a function writes, to be freed. */
static char *written(void (*write)(FILE *to, const char *text), const char *text)
{
	char *out = NULL;
	size_t bytes;
	FILE *to = open_memstream(&out, &bytes);

	ck_assert_ptr_nonnull(to);
	write(to, text);
	ck_assert_int_eq(fclose(to), 0);
	return out;
}

START_TEST(what_others_wrote_stays_a_text)
{
	char *markup = written(markup_text, texts[_i].text), *query = written(markup_query, texts[_i].text);

	ck_assert_str_eq(markup, texts[_i].markup);
	ck_assert_str_eq(query, texts[_i].query);
	free(markup);
	free(query);
}
END_TEST

static void draw_text(FILE *to, const char *text)
{
	struct svg_path path;

	svg_begin(to, 10, 20, "class=\"wide\"", text);
	svg_rect_titled(to, 1, 2, 0, 4, "", text);
	svg_text(to, 5, 6, "class=\"a\"", text);
	path = svg_path_begin(to, "class=\"b\"");
	svg_path_to(&path, 1, 2);
	svg_path_to(&path, 3, 4);
	svg_path_end(&path);
	svg_end(to);
}

START_TEST(a_picture_has_its_texts_escaped_and_nothing_without_a_size)
{
	char *out = written(draw_text, "<a \"b\">");

	ck_assert_str_eq(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"20\" viewBox=\"0 0 10 20\" role=\"img\" class=\"wide\">\n"
		"<title>&#60;a &#34;b&#34;&#62;</title>"
		"<rect x=\"1\" y=\"2\" width=\"1\" height=\"4\"><title>&#60;a &#34;b&#34;&#62;</title></rect>\n"
		"<text x=\"5\" y=\"6\" class=\"a\">&#60;a &#34;b&#34;&#62;</text>\n"
		"<path fill=\"none\" class=\"b\" d=\"M1 2L3 4\"/>\n"
		"</svg>\n");
	free(out);
}
END_TEST

/* --- who ---------------------------------------------------------------------------------------------- */

#define SECRET "0123456789abcdef"

static const struct {
	const char *proxies;
	struct page_sender from;
	int rc;
} senders[] = {
	/* nobody is believed */
	{ "", { "10.0.0.1", "ada", SECRET, 1 }, 0 },
	/* nobody says who asks */
	{ "10.0.0.1", { "10.0.0.1", NULL, SECRET, 0 }, 0 },
	{ "10.0.0.1", { "10.0.0.1", "", SECRET, 1 }, 0 },
	{ "10.0.0.1", { "10.0.0.2", NULL, NULL, 0 }, 0 },
	{ "10.0.0.1", { "10.0.0.1", "ada", SECRET, 1 }, 1 },
	{ "10.0.0.9, 10.0.0.1", { "10.0.0.1", "ada", SECRET, 1 }, 1 },
	{ "10.0.0.1", { "::ffff:10.0.0.1", "ada", SECRET, 1 }, 1 },
	{ "::1 fd00::2", { "fd00::2", "ada", SECRET, 1 }, 1 },
	/* of another address, also one that begins or ends like it */
	{ "10.0.0.1", { "10.0.0.2", "ada", SECRET, 1 }, -1 },
	{ "10.0.0.11", { "10.0.0.1", "ada", SECRET, 1 }, -1 },
	{ "10.0.0.1", { "10.0.0.11", "ada", SECRET, 1 }, -1 },
	{ "10.0.0.1", { NULL, "ada", SECRET, 1 }, -1 },
	/* without the secret, with a part of it, with more than it */
	{ "127.0.0.1", { "127.0.0.1", "ada", NULL, 1 }, -1 },
	{ "127.0.0.1", { "127.0.0.1", "ada", "", 1 }, -1 },
	{ "127.0.0.1", { "127.0.0.1", "ada", "0123456789abcde", 1 }, -1 },
	{ "127.0.0.1", { "127.0.0.1", "ada", SECRET SECRET, 1 }, -1 },
	{ "127.0.0.1", { "127.0.0.1", "ada", "0123456789abcdeg", 1 }, -1 },
	/* one of the user's own beside that of the proxy */
	{ "127.0.0.1", { "127.0.0.1", "ada", SECRET, 2 }, -1 },
};

START_TEST(a_name_is_believed_from_a_named_proxy_that_knows_the_secret)
{
	struct settings s = { .page_proxies = (char *)(uintptr_t)senders[_i].proxies,
		.page_user_header = (char *)(uintptr_t)"X-Remote-User" };
	const char *name = NULL;
	struct fault why = { "" };

	ck_assert_msg(page_user(&s, SECRET, &senders[_i].from, &name, &why) == senders[_i].rc, "%s", why.text);
	ck_assert(senders[_i].rc == 1 ? strcmp(name, "ada") == 0 : !name);
	if (senders[_i].rc < 0) {
		ck_assert_int_eq(errno, EACCES);
		ck_assert(why.text[0]);
	}
	if (senders[_i].rc == 1)
		ck_assert_int_eq(page_user(&s, NULL, &senders[_i].from, &name, NULL), -1);
}
END_TEST

static const struct {
	const char *content;
	mode_t mode;
	int err;
} secrets[] = {
	{ SECRET "\n", 0600, 0 }, { SECRET "\r\nmore\n", 0640, 0 }, { SECRET, 0400, 0 },
	{ SECRET "\n", 0644, EACCES }, { SECRET "\n", 0602, EACCES }, { SECRET "\n", 0660, EACCES },
	{ "", 0600, EINVAL }, { "short\n", 0600, EINVAL }, { "\n" SECRET "\n", 0600, EINVAL },
};

START_TEST(a_secret_is_long_and_nobody_elses)
{
	char path[] = "/tmp/page-secret.XXXXXX", *secret = NULL;
	int fd = mkstemp(path);
	struct fault why = { "" };
	size_t n = strlen(secrets[_i].content);
	int rc;

	ck_assert(fd >= 0 && write(fd, secrets[_i].content, n) == (ssize_t)n && fchmod(fd, secrets[_i].mode) == 0);
	close(fd);
	rc = page_secret_read(path, &secret, &why);
	ck_assert_msg(rc == (secrets[_i].err ? -1 : 0), "%s", why.text);
	if (secrets[_i].err)
		ck_assert_int_eq(errno, secrets[_i].err);
	else
		ck_assert_str_eq(secret, SECRET);
	unlink(path);
	free(secret);
	ck_assert_int_eq(page_secret_read(path, &secret, NULL), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* --- what each is shown ------------------------------------------------------------------------------- */

#define EVIL "<script>x</script>\x01"
enum { UID_OWNER = 70001, UID_STRANGER = 70002, UID_OF_JOB = 1000, JOB = 77 };

static struct books b;
static struct budgetd d;
static struct settings *settings;
static int64_t project[2];		/* vision, and below it the evil one */

static int appoint(struct ledger *l, void *arg, struct fault *why)
{
	char name[PERSON_NAME_MAX];

	return member_set(l, *(const int64_t *)arg, people_name(d.people, UID_OWNER, NOON, name), ROLE_OWNER, why);
}

/* Two projects, one of which has a name that nobody should have, and a job that ran in it. */
static void setup(void)
{
	static const char *const changes[] = {
		"UPDATE project SET name = '<script>x</script>' || char(1) WHERE name = 'evil'",
		"UPDATE admission SET job = 77",
		"INSERT INTO event (at, cluster, job, run, what, reason, detail) VALUES (1800003600, 'c', 77, 1, 'displaced', 'ROTATED', 'a <b>name</b>')",
	};
	struct submission s = { .gpus = 2, .min_runtime_s = HOUR };
	struct run run;

	books_open(&b);
	settings = settings_defaults();
	d = (struct budgetd){ .settings = settings, .ledger = b.l, .cluster = cluster_state_new(), .rates = rates_new(),
		.people = people_new("", &b.why) };
	ck_assert(settings && d.cluster && d.rates && d.people);
	people_set_slurm_uid(d.people, 0);
	ck_assert_int_eq(ledger_open_reader(b.path, &d.reader, &b.why), 0);
	project[0] = books_project(&b, "vision", 0);
	project[1] = books_project(&b, "evil", project[0]);
	ck_assert_int_eq(books_do(&b, LEDGER_MONEY, appoint, &project[1]), 0);
	books_allot(&b, project[0], 100 * GPU_H, NOON - HOUR, 0);
	s.project = project[1];
	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, JOB, NOON, &run);
	ck_assert_int_eq(books_end(&b, &run, NOON + HOUR), 0);
	/* names are checked where projects are made; the page does not rely on that */
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		ck_assert_msg(!books_try(&b, changes[i]), "%s", changes[i]);
}

static void teardown(void)
{
	ledger_close(d.reader);
	people_free(d.people);
	rates_free(d.rates);
	cluster_state_free(d.cluster);
	settings_free(settings);
	books_close(&b);
}

/* The document, to be freed; or NULL, errno and *why. uid -1: nobody knows who asks. */
static char *shown(const char *path, const char *query, int64_t uid, struct fault *why)
{
	struct request rq = { .b = &d, .connection = (struct MHD_Connection *)(uintptr_t)query, .uid = (uid_t)uid,
		.administrator = uid == 0, .now = NOON + 2 * HOUR, .name = "" };
	struct page p = { .rq = &rq, .known = uid >= 0, .why = why };
	char *out = NULL;
	size_t bytes;
	int rc, err;

	ck_assert_ptr_nonnull(page_view_find(path));
	p.to = open_memstream(&out, &bytes);
	ck_assert_ptr_nonnull(p.to);
	rc = page_write(&p, page_view_find(path));
	err = errno;
	ck_assert_int_eq(fclose(p.to), 0);
	if (rc == 0)
		return out;
	free(out);
	errno = err;
	return NULL;
}

static void assert_clean(const char *html)
{
	ck_assert(!strstr(html, "<script") && !strchr(html, '\x01') && !strstr(html, "style=") &&
		!strstr(html, "http://") == !strstr(html, "<svg"));	/* its name space, which nobody loads */
	ck_assert(strstr(html, "<html lang=\"en\">") && strstr(html, "</html>"));
}

START_TEST(the_tree_shows_each_what_is_theirs)
{
	static const struct {
		int64_t uid;
		bool vision, evil;
		const char *says;
	} looks[] = {
		{ 0, true, true, "As root, administrator" },
		{ UID_OWNER, false, true, "As uid 70001" },
		{ UID_STRANGER, false, false, "You are an owner or a member of no project" },
		{ -1, false, false, "Not signed in" },
	};

	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct fault why = { "" };
		char *html = shown("/", NULL, looks[i].uid, &why);

		ck_assert_msg(html, "%s", why.text);
		assert_clean(html);
		ck_assert_ptr_nonnull(strstr(html, looks[i].says));
		ck_assert((strstr(html, "\">vision<") != NULL) == looks[i].vision);
		ck_assert((strstr(html, "&#60;script&#62;x&#60;/script&#62;" BAD) != NULL) == looks[i].evil);
		ck_assert((strstr(html, "98.00") != NULL) == looks[i].vision);	/* available */
		free(html);
	}
}
END_TEST

START_TEST(a_job_is_shown_to_its_user_and_to_people_of_its_project)
{
	static const struct {
		const char *query;
		int64_t uid;
		int err;
	} looks[] = {
		{ "id=77", 0, 0 }, { "id=77", UID_OWNER, 0 }, { "id=77", UID_OF_JOB, 0 },
		{ "id=77", UID_STRANGER, EACCES }, { "id=77", -1, EACCES }, { "id=78", -1, EACCES },
		{ "id=x", 0, EINVAL }, { "id=", 0, EINVAL }, { NULL, 0, EINVAL }, { "id=77/../x", 0, EINVAL },
	};

	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct fault why = { "" };
		char *html = shown("/job", looks[i].query, looks[i].uid, &why);

		ck_assert_msg((html != NULL) == !looks[i].err, "%s: %s", looks[i].query, why.text);
		if (!html) {
			ck_assert_int_eq(errno, looks[i].err);
			ck_assert(why.text[0]);
			continue;
		}
		assert_clean(html);
		ck_assert(strstr(html, "<h1>Job 77</h1>") && strstr(html, "class=\"funded\"") && strstr(html, "2.00"));
		ck_assert(strstr(html, "a &#60;b&#62;name&#60;/b&#62;") && strstr(html, "ROTATED") && strstr(html, "class=\"marked\""));
		free(html);
	}
}
END_TEST

/* The queue as a pass would publish it: jobs of both projects by turns, the last tenth in the free tier. */
static void publish_queue(size_t jobs)
{
	static const enum order_because reasons[] = { ORDER_BECAUSE_RATIO, ORDER_BECAUSE_TIME, ORDER_BECAUSE_TEAM };
	struct turn_table t = { .nturns = jobs, .nnodes = 2, .at = NOON };
	size_t funded = jobs - jobs / 10;

	t.turns = calloc(jobs, sizeof(*t.turns));
	t.nodes = calloc(2, sizeof(*t.nodes));
	ck_assert(t.turns && t.nodes);
	for (int n = 0; n < 2; n++)
		t.nodes[n] = (struct turn_node){ .parent = n - 1, .project = project[n], .uid = -1,
			.funded_ppm = 250000 * (n + 1), .free_ppm = n ? 30000 : 20000 };
	for (size_t i = 0; i < jobs; i++) {
		bool free = i >= funded;

		t.turns[i] = (struct job_turn){ .job = (uint32_t)(1000 + i), .project = project[i % 2], .uid = UID_OF_JOB,
			.front = free ? ORDER_FREE : ORDER_BY_SHARE, .position = free ? i - funded + 1 : i + 1,
			.of = free ? jobs - funded : funded, .gpus = 8, .tasks = 1, .asked_at = NOON - 60,
			.node = (int)(i % 2), .team_rank = (int)(i % 5), .because = reasons[i % 3],
			.own_at = (int)(i % 2), .ahead_at = 1 - (int)(i % 2) };
	}
	cluster_state_publish_turns(d.cluster, &t);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

START_TEST(the_queue_stands_in_its_order_and_what_others_have_in_it_is_a_gap)
{
	struct fault why = { "" };
	const char *at;
	char *html;

	publish_queue(10);
	html = shown("/queue", NULL, 0, &why);
	ck_assert_msg(html, "%s", why.text);
	assert_clean(html);
	ck_assert_uint_eq(count(html, "<th scope=\"row\"><a href=\"job?id=1"), 10);
	for (int i = 0; i < 10; i++) {
		char job[40];

		snprintf(job, sizeof(job), ">%d</a>", 1000 + i);
		at = strstr(i ? at : html, job);
		ck_assert_msg(at, "%s", job);
	}
	ck_assert(strstr(html, "Funded: 9</h2>") && strstr(html, "In the free tier: 1</h2>"));
	ck_assert(strstr(html, "vision <b>0.25</b> / ") && strstr(html, "vision has 0.25, &#60;script"));
	free(html);
	html = shown("/queue", NULL, UID_OWNER, &why);	/* of the lower one alone */
	ck_assert_msg(html, "%s", why.text);
	assert_clean(html);
	ck_assert_uint_eq(count(html, "job?id=1"), 5);
	ck_assert_uint_eq(count(html, "1 job of projects that you do not see"), 5);
	ck_assert(!strstr(html, "vision has 0.25") && strstr(html, "vision has had less of its share"));
	free(html);
	html = shown("/queue", NULL, UID_STRANGER, &why);
	ck_assert(html && !strstr(html, "job?id=") && !strstr(html, "vision") && strstr(html, "9 jobs of projects that you do not see"));
	free(html);
	html = shown("/queue", NULL, -1, &why);
	ck_assert(html && !strstr(html, "job?id=") && !strstr(html, "vision"));
	free(html);
}
END_TEST

/* PAGE_OUT keeps the document, to be looked at in a browser. */
START_TEST(ten_thousand_jobs_are_one_view)
{
	struct fault why = { "" };
	const char *keep = getenv("PAGE_OUT");
	FILE *to = keep ? fopen(keep, "w") : NULL;
	char *html;

	publish_queue(10000);
	html = shown("/queue", NULL, 0, &why);
	ck_assert_msg(html, "%s", why.text);
	ck_assert_uint_eq(count(html, "job?id="), 10000);
	ck_assert_uint_lt(strlen(html), 8 << 20);
	if (to) {
		fputs(html, to);
		fclose(to);
	}
	free(html);
}
END_TEST

/* A figure of the last row of the answer. */
static int64_t last_of(const char *path, const char *rows, const char *key)
{
	struct request rq = { .b = &d, .connection = (struct MHD_Connection *)(uintptr_t)"project=vision",
		.administrator = true, .now = NOON + 2 * HOUR, .name = "" };
	struct fault why = { "" };
	struct page p = { .rq = &rq, .known = true, .why = &why };
	struct json_object *o = page_ask(&p, path), *list;
	int64_t found;

	ck_assert_msg(o, "%s", why.text);
	list = page_rows(o, rows);
	ck_assert_uint_gt(page_count(list), 0);
	/* the tree begins with the project itself */
	found = page_int(json_object_array_get_idx(list, strcmp(path, "/v1/series") ? 0 : page_count(list) - 1), key);
	json_object_put(o);
	return found;
}

START_TEST(a_project_over_time_ends_where_the_tree_and_its_balance_are)
{
	static const char *const keys[] = { "occupied_units", "owed_units", "delivered_units" };
	struct fault why = { "" };
	char *html = shown("/project", "project=vision", 0, &why);

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
		ck_assert_int_eq(last_of("/v1/series", "rows", keys[k]), last_of("/v1/tree", "rows", keys[k]));
	ck_assert_int_eq(last_of("/v1/series", "rows", "occupied_units"), 2 * GPU_H);
	ck_assert_int_eq(last_of("/v1/series", "balance", "balance_units"), 98 * GPU_H);
	ck_assert_int_eq(last_of("/v1/balances", "rows", "balance_units"), 98 * GPU_H);

	ck_assert_msg(html, "%s", why.text);
	assert_clean(html);
	ck_assert(strstr(html, "<h1>Project vision</h1>") && strstr(html, "<td class=\"number\">98.00</td></tr>\n</tbody>"));
	free(html);
	html = shown("/project", "project=vision", UID_OWNER, &why);
	ck_assert(!html && errno == EACCES);
	html = shown("/project", "project=vision", -1, &why);
	ck_assert(!html && errno == EACCES);
	html = shown("/project", NULL, 0, &why);
	ck_assert(!html && errno == EINVAL);
}
END_TEST

START_TEST(a_fault_is_a_page_of_its_own)
{
	struct request rq = { .b = &d, .now = NOON };
	struct fault why = { "" };
	struct page p = { .rq = &rq, .why = &why };
	char *out = NULL;
	size_t bytes;

	p.to = open_memstream(&out, &bytes);
	ck_assert_ptr_nonnull(p.to);
	page_write_fault(&p, "no \"" EVIL "\"");
	ck_assert_int_eq(fclose(p.to), 0);
	assert_clean(out);
	ck_assert_ptr_nonnull(strstr(out, "no &#34;&#60;script&#62;x"));
	free(out);
}
END_TEST

Suite *page_suite(void)
{
	Suite *s = suite_create("page");
	TCase *t = tcase_create("texts"), *w = tcase_create("views");

	tcase_add_loop_test(t, what_others_wrote_stays_a_text, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(t, a_picture_has_its_texts_escaped_and_nothing_without_a_size);
	tcase_add_loop_test(t, a_name_is_believed_from_a_named_proxy_that_knows_the_secret, 0,
		sizeof(senders) / sizeof(senders[0]));
	tcase_add_loop_test(t, a_secret_is_long_and_nobody_elses, 0, sizeof(secrets) / sizeof(secrets[0]));
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(w, setup, teardown);
	tcase_add_test(w, the_tree_shows_each_what_is_theirs);
	tcase_add_test(w, a_job_is_shown_to_its_user_and_to_people_of_its_project);
	tcase_add_test(w, the_queue_stands_in_its_order_and_what_others_have_in_it_is_a_gap);
	tcase_add_test(w, ten_thousand_jobs_are_one_view);
	tcase_add_test(w, a_project_over_time_ends_where_the_tree_and_its_balance_are);
	tcase_add_test(w, a_fault_is_a_page_of_its_own);
	suite_add_tcase(s, w);
	return s;
}
