/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_sacct_text.c - rows out of the text of sacct -P: what is whole, what is joined, what is set aside.
 *
 * The round trip writes random files of runs in a random order of columns, with names that hold bars and
 * newlines, or with rows cut short and rubbish between them, and wants every GPU-second of the good rows
 * back, by month. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/run_set.h"
#include "lib/sacct_text.h"
#include "lib/usage.h"

#define HEADER         "JobIDRaw|JobName|Account|User|Submit|Start|End|AllocTRES\n"
#define ROW(job, name) job "|" name "|vision|ada|100|200|300|gres/gpu=1\n"

/* What is read, as "line:job" for rows and "line!" for those set aside. */
static const struct {
	const char *title, *text, *wanted;
} samples[] = {
	{"rows", HEADER ROW("1", "a") ROW("2", "b"), "2:1 3:2"},
	{"no newline at the end", HEADER "1|a|vision|ada|100|200|300|gres/gpu=1", "2:1"},
	{"no rows", HEADER, ""},
	{"lines of a DOS file", "JobID|Account|User|Submit|Start|End|AllocTRES\r\n1|v|a|1|2|3|gres/gpu=1\r\n",
		"2:1"},
	{"sacct -p: a bar at the end",
		"JobID|Account|User|Submit|Start|End|AllocTRES|\n1|v|a|1|2|3|gres/gpu=1|\n", "2:1"},
	{"a byte order mark", "\xef\xbb\xbfJobID|Account|User|Submit|Start|End|AllocTRES\n1|v|a|1|2|3|\n",
		"2:1"},
	{"the header in any case", "jobid|ACCOUNT|user|submit|start|end|alloctres\n1|v|a|1|2|3|\n", "2:1"},
	{"two files in one", HEADER ROW("1", "a") HEADER ROW("2", "b"), "2:1 4:2"},
	{"empty lines", HEADER "\n\n" ROW("1", "a") "\n" ROW("2", "b"), "4:1 6:2"},
	{"a newline in the name", HEADER ROW("1", "a\nb") ROW("2", "c"), "2:1 4:2"},
	{"more of them, and empty lines", HEADER ROW("1", "\n\na\n\nb\n") ROW("2", "c"), "2:1 8:2"},
	{"a name that goes on like the number of a job", HEADER ROW("1", "a\n5") ROW("2", "c"), "2:1 4:2"},
	{"a bar in the name", HEADER ROW("1", "a|b") ROW("2", "||"), "2:1 3:2"},
	{"bars and newlines", HEADER ROW("1", "a|b\nc|d\n|e") ROW("2", "f"), "2:1 5:2"},
	{"cut short", HEADER "1|a|vis\n" ROW("2", "b"), "2! 3:2"},
	{"cut short, and the next has a newline in its name", HEADER "1|a|vision|ada\n" ROW("2", "b\nc"),
		"2! 3:2"},
	{"cut short at the end of the file", HEADER ROW("1", "a") "2|b|vis", "2:1 3!"},
	{"rubbish", HEADER "sacct: error\n" ROW("1", "a") "x\n" ROW("2", "b"), "2! 3:1 4! 5:2"},
	{"a bar too many, and no column of free text",
		"JobID|Account|User|Submit|Start|End|AllocTRES\n1|v|a|b|1|2|3|\n2|v|a|1|2|3|\n", "2! 3:2"},
	{"bars in the first of two columns of free text, or in the second",
		"JobID|JobName|User|Account|Submit|Start|End|AllocTRES|Comment\n1|a|b|u|v|1|2|3||c\n"
		"2|a|u|v|1|2|3||b|c|d\n",
		"2:1 3:2"},
	{"a bar too many between two columns of free text",
		"JobID|JobName|User|Comment|Account|Submit|Start|End|AllocTRES\n1|a|b|u|c|v|1|2|3|\n2|a|u|c|"
		"v|1|2|3|\n",
		"2! 3:2"},
	{"free texts side by side",
		"JobID|JobName|Comment|User|Account|Submit|Start|End|AllocTRES\n1|a|b|c\n|d|u|v|1|2|3|\n",
		"2:1"},
	{"a comment of several lines at the end",
		"JobID|User|Account|Submit|Start|End|AllocTRES|Comment\n1|u|v|1|2|3||a\nb\nc|d\n2|u|v|1|2|3||"
		"e|f\n",
		"2:1 5:2"},
	{"the name before the number",
		"User|JobName|JobID|Account|Submit|Start|End|AllocTRES\nu|a\nb|1|v|1|2|3|\nu|c|d|2|v|1|2|3|"
		"\n",
		"2:1 4:2"},
	{"the name in front: what a newline leaves is told, and the row counts",
		"JobName|JobID|User|Account|Submit|Start|End|AllocTRES\na\nb|1|u|v|1|2|3|\nc|d|2|u|v|1|2|3|"
		"\n",
		"2! 3:1 4:2"},
	{"bars enough on the first line, and the rest on the next",
		"JobID|JobName|User|Account|Submit|Start|AllocTRES|End\n1|||||||a\nb|u|v|1|2||3\n2|a|u|v|1|2|"
		"|3\n",
		"2:1 4:2"},
	{"columns enough, and none is what it must be",
		HEADER "x|a|vision|ada|100|200|300|gres/gpu=1\n"
		       "1|a|vision|ada|100|noon|300|gres/gpu=1\n" ROW("2", "b"),
		"2:x 3:1 4:2"},
};

static void note(char **out, long long line, char mark, const char *job)
{
	char *before = *out;

	ck_assert_int_gt(asprintf(out, "%s%s%lld%c%s", before, *before ? " " : "", line, mark, job), -1);
	free(before);
}

START_TEST(a_text_is_taken_apart_as_the_table_says)
{
	FILE *f = fmemopen((void *)samples[_i].text, strlen(samples[_i].text), "r");
	struct fault why = {""};
	struct sacct_text *t = sacct_text_new(f, &why);
	char *got = strdup("");
	enum sacct_got rv;
	struct sacct_row row;

	ck_assert_msg(t, "%s: %s", samples[_i].title, why.text);
	while ((rv = sacct_text_next(t, &row, &why)) != SACCT_END_OF_FILE) {
		const char *job = rv == SACCT_ROW
					  ? row.field[row.field[SACCT_JOB_RAW] ? SACCT_JOB_RAW : SACCT_JOB]
					  : "";

		ck_assert_int_ne(rv, SACCT_FAILED);
		ck_assert((rv == SACCT_BROKEN) == (why.text[0] != '\0'));
		note(&got, row.line, rv == SACCT_ROW ? ':' : '!', job);
		why.text[0] = '\0';
	}
	ck_assert_msg(!strcmp(got, samples[_i].wanted), "%s: %s, not %s", samples[_i].title, got,
		samples[_i].wanted);
	free(got);
	sacct_text_free(t);
	fclose(f);
}
END_TEST

START_TEST(a_file_without_a_header_is_refused)
{
	static const char *const texts[] = {
		"\n", "1|a|v|u|1|2|3|gres/gpu=1\n", "hello", "JobID,User,Account\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		FILE *f = fmemopen((void *)texts[i], strlen(texts[i]), "r");
		struct fault why = {""};

		ck_assert(!sacct_text_new(f, &why));
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_msg(strstr(why.text, "columns are missing: JobIDRaw or JobID"), "%s", why.text);
		fclose(f);
	}
}
END_TEST

START_TEST(a_line_without_end_and_a_nul_byte_cost_one_row)
{
	FILE *f = tmpfile();
	struct fault why = {""};
	struct sacct_text *t;
	struct sacct_row row;

	fputs(HEADER "1|", f);
	for (int i = 0; i < 3 * SACCT_ROW_MAX; i++)
		putc('x', f);
	fputs("|vision|ada|100|200|300|gres/gpu=1\n2|b", f);
	putc('\0', f);
	fputs("|vision|ada|100|200|300|gres/gpu=1\n" ROW("3", "c"), f);
	rewind(f);
	t = sacct_text_new(f, &why);
	ck_assert_int_eq(sacct_text_next(t, &row, &why), SACCT_BROKEN);
	ck_assert_msg(strstr(why.text, "longer than"), "%s", why.text);
	why.text[0] = '\0';
	ck_assert_int_eq(sacct_text_next(t, &row, &why), SACCT_BROKEN);
	ck_assert_msg(strstr(why.text, "NUL"), "%s", why.text);
	ck_assert_int_eq(sacct_text_next(t, &row, &why), SACCT_ROW);
	ck_assert_int_eq(row.line, 4);
	ck_assert_int_eq(sacct_text_next(t, &row, &why), SACCT_END_OF_FILE);
	sacct_text_free(t);
	fclose(f);
}
END_TEST

/* --- the round trip --------------------------------------------------------------------------------- */

#define COLUMNS     12
#define MONTHS      64
#define FIRST_MONTH (2024 * 12)

static const char *const columns[COLUMNS] = {"JobIDRaw", "JobName", "Account", "User", "State", "Submit",
	"Start", "End", "ElapsedRaw", "AllocTRES", "NodeList", "Comment"};

struct trip {
	uint64_t seed;
	int order[COLUMNS];
	bool rubbish;               /* else bars and newlines in the free texts */
	const char *newline, *last; /* "|" with sacct -p */
	bool local;                 /* ISO times, else epoch seconds */
	FILE *file;
	long runs, twice, aside, steps;
	int64_t month[MONTHS];
};

static unsigned pick(struct trip *t, unsigned n)
{
	t->seed = t->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(t->seed >> 33) % n;
}

static void swap(int *a, int *b)
{
	int kept = *a;

	*a = *b;
	*b = kept;
}

static int place_of(const struct trip *t, int column)
{
	int i = 0;

	while (t->order[i] != column)
		i++;
	return i;
}

/* Free texts stand side by side, or what is too many could not be told apart; not in front, where a line of a
 * text is no different from rubbish; and a time stands behind them, or, without rubbish, nothing. */
static void order_shuffle(struct trip *t)
{
	int at;

	for (int i = 0; i < COLUMNS; i++)
		t->order[i] = i;
	for (int i = COLUMNS - 2; i > 0; i--)
		swap(&t->order[i], &t->order[pick(t, (unsigned)i + 1)]);
	if (t->order[0] == 1)
		swap(&t->order[0], &t->order[1]);
	for (at = COLUMNS - 1; t->order[at - 1] != 1; at--)
		swap(&t->order[at], &t->order[at - 1]);
	if (at == COLUMNS - 1 && t->rubbish) {
		swap(&t->order[at - 1], &t->order[at - 2]);
		swap(&t->order[at], &t->order[at - 1]);
		at--;
	}
	if (at < COLUMNS - 1)
		swap(&t->order[COLUMNS - 1], &t->order[place_of(t, 7)]);
}

struct run {
	int64_t submit, start, end;
	char text[COLUMNS][80];
};

static void time_put(struct trip *t, char text[80], int64_t at)
{
	time_t when = (time_t)at;
	struct tm tm;

	if (t->local)
		strftime(text, 80, "%Y-%m-%dT%H:%M:%S", gmtime_r(&when, &tm));
	else
		snprintf(text, 80, "%lld", (long long)at);
}

/* Texts of a row: with bars, with newlines, or one that has both. */
static void free_text(struct trip *t, struct run *r)
{
	static const char *const tame[] = {"train", "a b", "\xff", ""},
				 *const bars[] = {"a|b", "||", "|", "x"},
				 *const lines[] = {"x\ny", "a\n\nb", "\n", "tr\xe4in"};
	const char *const *from = t->rubbish ? tame : pick(t, 2) ? bars : lines;

	snprintf(r->text[1], 80, "%s", from[pick(t, 4)]);
	snprintf(r->text[COLUMNS - 1], 80, "%s", from[pick(t, 4)]);
	if (t->rubbish || pick(t, 4) || place_of(t, 0) > place_of(t, 1))
		return; /* behind such a text, with the number to come, the next line is a row of its own */
	snprintf(r->text[1], 80, "a|b\nc|d");
	snprintf(r->text[COLUMNS - 1], 80, "e");
}

static void run_text(struct trip *t, struct run *r, int job, int gpus)
{
	snprintf(r->text[0], 80, "%d", job);
	snprintf(r->text[2], 80, "acct%u", pick(t, 3));
	snprintf(r->text[3], 80, "user%u", pick(t, 5));
	snprintf(r->text[4], 80, "%s", pick(t, 2) ? "COMPLETED" : "CANCELLED by 1000");
	time_put(t, r->text[5], r->submit);
	time_put(t, r->text[6], r->start);
	time_put(t, r->text[7], r->end);
	snprintf(r->text[8], 80, "%lld", (long long)(r->end - r->start));
	snprintf(r->text[9], 80, "%s=%d", pick(t, 2) ? "cpu=8,gres/gpu" : "gres/gpu:h100", gpus);
	snprintf(r->text[10], 80, "n[1-4]");
	free_text(t, r);
}

/* The first `n` columns; all of them: a whole row. */
static void row_write(struct trip *t, const struct run *r, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(t->file, "%s%s", i ? "|" : "", r ? r->text[t->order[i]] : columns[t->order[i]]);
	fprintf(t->file, "%s%s", n == COLUMNS ? t->last : "", t->newline);
}

static void month_count(struct trip *t, int64_t from, int64_t end, int gpus)
{
	for (int64_t next; from < end; from = next) {
		time_t when = (time_t)from;
		struct tm tm;

		gmtime_r(&when, &tm);
		tm = (struct tm){.tm_year = tm.tm_year, .tm_mon = tm.tm_mon + 1, .tm_mday = 1};
		next = timegm(&tm);
		next = next < end ? next : end;
		ck_assert_int_lt((tm.tm_year + 1900) * 12 + tm.tm_mon - 1 - FIRST_MONTH, MONTHS);
		t->month[(tm.tm_year + 1900) * 12 + tm.tm_mon - 1 - FIRST_MONTH] += (next - from) * gpus;
	}
}

static void rubbish_write(struct trip *t, const struct run *r)
{
	if (!t->rubbish || pick(t, 8))
		return;
	if (pick(t, 2))
		row_write(t, r, 1 + (int)pick(t, COLUMNS - 2));
	else
		fprintf(t->file, "slurmdbd is away%s", t->newline);
	t->aside++;
}

/* One run in one to three pieces, perhaps more than once, perhaps with a step. */
static void run_write(struct trip *t, int job)
{
	int pieces = pick(t, 6) ? 1 : 2 + (int)pick(t, 2);
	int64_t start = 1704067200 + (int64_t)pick(t, 60000000), at = start;
	struct run r;

	for (int i = 0; i < pieces; i++) {
		int gpus = 1 + (int)pick(t, 8);

		r.submit = i ? at : start - (int64_t)pick(t, 5000);
		r.start = start;
		r.end = at + (int64_t)pick(t, 4000000);
		run_text(t, &r, job, gpus);
		row_write(t, &r, COLUMNS);
		month_count(t, at, r.end, gpus);
		if (!pick(t, 9)) {
			row_write(t, &r, COLUMNS);
			t->twice++;
		}
		at = r.end + 1 + (int64_t)pick(t, 2);
	}
	t->runs++;
	if (!pick(t, 3)) {
		snprintf(r.text[0], 80, "%d.batch", job);
		row_write(t, &r, COLUMNS);
		t->steps++;
	}
	rubbish_write(t, &r);
}

struct sums {
	long runs, twice, aside, steps;
};

static void row_count(const struct sacct_row *row, const struct zone *z, struct run_set *set, struct usage *u,
	struct sums *n)
{
	struct fault why = {""};
	struct sacct_run run;
	enum sacct_kind kind = sacct_run_read(row, z, &run, &why);
	enum run_seen seen;

	n->steps += kind == SACCT_STEP;
	n->aside += kind == SACCT_ASIDE;
	if (kind != SACCT_RUN)
		return;
	seen = run_set_add(set, run.cluster, run.job, run.submit, run.start, run.end);
	n->runs += seen == RUN_NEW;
	n->twice += seen == RUN_TWICE;
	if (seen != RUN_TWICE)
		ck_assert_int_eq(usage_add(u, run.account, run.user, &run.gpus, run.from, run.end), 0);
}

static void trip_compare(const struct trip *t, const struct sums *n, struct usage *u)
{
	const struct usage_row *rows;
	int64_t month[MONTHS] = {0};
	size_t count;

	ck_assert_int_eq(n->runs, t->runs);
	ck_assert_int_eq(n->twice, t->twice);
	ck_assert_int_eq(n->steps, t->steps);
	ck_assert_int_eq(n->aside, t->aside);
	rows = usage_rows(u, &count);
	for (size_t i = 0; i < count; i++)
		month[rows[i].month - FIRST_MONTH] += rows[i].gpu_seconds;
	for (int i = 0; i < MONTHS; i++)
		ck_assert_msg(month[i] == t->month[i], "month %d: %lld, not %lld", i, (long long)month[i],
			(long long)t->month[i]);
}

START_TEST(every_gpu_second_of_a_random_file_comes_back)
{
	struct trip t = {.seed = (uint64_t)_i + 1,
		.rubbish = _i % 2,
		.local = _i / 2 % 2,
		.newline = _i % 3 ? "\n" : "\r\n",
		.last = _i % 5 ? "" : "|",
		.file = tmpfile()};
	struct zone *z = zone_new("UTC", NULL);
	struct run_set *set = run_set_new();
	struct usage *u = usage_new(z);
	struct sums n = {0};
	struct sacct_text *text;
	struct sacct_row row;
	enum sacct_got rv;

	order_shuffle(&t);
	row_write(&t, NULL, COLUMNS);
	for (int i = 0; i < 100; i++)
		run_write(&t, 1000 + i);
	rewind(t.file);
	text = sacct_text_new(t.file, NULL);
	ck_assert(text);
	while ((rv = sacct_text_next(text, &row, NULL)) > 0) {
		if (rv == SACCT_ROW)
			row_count(&row, z, set, u, &n);
		else
			n.aside++;
	}
	ck_assert_int_eq(rv, SACCT_END_OF_FILE);
	trip_compare(&t, &n, u);
	sacct_text_free(text);
	usage_free(u);
	run_set_free(set);
	zone_free(z);
	fclose(t.file);
}
END_TEST

Suite *sacct_text_suite(void)
{
	Suite *s = suite_create("sacct_text");
	TCase *t = tcase_create("sacct_text");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(
		t, a_text_is_taken_apart_as_the_table_says, 0, (int)(sizeof(samples) / sizeof(samples[0])));
	tcase_add_test(t, a_file_without_a_header_is_refused);
	tcase_add_test(t, a_line_without_end_and_a_nul_byte_cost_one_row);
	tcase_add_loop_test(t, every_gpu_second_of_a_random_file_comes_back, 0, 120);
	suite_add_tcase(s, t);
	return s;
}
