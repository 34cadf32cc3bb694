/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_export.c - exports: CSV that is read back as it was written, times of zones, and months that are the same
 * whenever they are exported */
#include "budgetd/ledger_export.h"
#include "budgetd/ledger_moves.h"
#include "budgetd/ledger_period.h"
#include "lib/zone.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EDGE 1801440000			/* 2027-02-01T00:00:00Z */

static struct books b;

static void setup(void)
{
	books_open(&b);
}

static void teardown(void)
{
	books_close(&b);
}

/* --- CSV ---------------------------------------------------------------------------------------- */

static const char *const texts[] = { "", "plain", "a,b", "say \"so\"", "\"", "two\r\nlines", "\n", ",", "ü and 5 GPU", "\"\"," };
#define TEXTS (sizeof(texts) / sizeof(texts[0]))

struct reading {
	size_t rows, wrong;
};

static int same(char *const fields[], size_t n, void *arg)
{
	struct reading *r = arg;

	r->rows++;
	r->wrong += n != TEXTS + 1 || strcmp(fields[TEXTS], "-9223372036854775808") != 0;
	for (size_t i = 0; i < TEXTS; i++)
		r->wrong += n <= i || strcmp(fields[i], texts[i]) != 0;
	return 0;
}

START_TEST(rows_are_read_as_they_were_written_however_the_bytes_arrive)
{
	static struct export_reader in;
	char text[1024];
	struct export_writer w = { .text = text, .size = sizeof(text) };
	struct reading r = {0};
	size_t step = (size_t)_i + 1;

	memset(&in, 0, sizeof(in));
	for (int row = 0; row < 3; row++) {
		for (size_t i = 0; i < TEXTS; i++)
			export_put_text(&w, texts[i]);
		export_put_number(&w, INT64_MIN);
		export_end_row(&w);
	}
	ck_assert(!w.full);
	for (size_t at = 0; at < w.used; at += step)
		ck_assert_int_eq(export_read(&in, text + at, w.used - at < step ? w.used - at : step, same, &r), 0);
	ck_assert_uint_eq(r.rows, 3);
	ck_assert_uint_eq(r.wrong, 0);
}
END_TEST

START_TEST(what_has_no_room_is_told)
{
	char text[8];
	struct export_writer w = { .text = text, .size = sizeof(text) };

	export_put_text(&w, "1234567");
	ck_assert(!w.full);
	export_put_number(&w, 12);
	ck_assert(w.full);
}
END_TEST

static const struct {
	const char *tres, *types;
} types[] = {
	{ "cpu=4,gres/gpu=2,gres/gpu:h100=2,mem=4G", "h100" }, { "gres/gpu:a100=1,gres/gpu:h100=2", "a100+h100" },
	{ "gres/gpu=2", "" }, { "", "" }, { "gres/gpu:h100=1,gres/gpu:h100=1", "h100" }, { "gres/gpu:h=1,gres/gpu:h100=1", "h+h100" },
};

START_TEST(gpu_types_are_those_of_what_was_allocated)
{
	char buf[EXPORT_TYPES_MAX];

	ck_assert_str_eq(export_gpu_types(types[_i].tres, buf), types[_i].types);
}
END_TEST

/* --- times -------------------------------------------------------------------------------------- */

START_TEST(times_are_those_of_the_calendar)
{
	char ours[ZONE_TEXT_MAX], theirs[ZONE_TEXT_MAX];

	/* leap days, ends of years and centuries */
	for (int64_t at = 0; at < 4200000000; at += 86400 * 7 + 12345)
		ck_assert_str_eq(zone_local_text(NULL, at, ours), zone_utc_text(at, theirs));
	for (int64_t at = 1709164799; at < 1709337601; at++)	/* 2024-02-28 to 2024-03-02 */
		ck_assert_str_eq(zone_local_text(NULL, at, ours), zone_utc_text(at, theirs));
}
END_TEST

START_TEST(times_of_a_zone_have_their_offset_on_both_sides_of_a_change)
{
	struct fault why = {0};
	struct zone *z = zone_new("Europe/Berlin", &why);
	char text[ZONE_TEXT_MAX];

	if (!z)
		return;			/* a host without zones */
	ck_assert_str_eq(zone_local_text(z, 1792889999, text), "2026-10-25T02:59:59+02:00");
	ck_assert_str_eq(zone_local_text(z, 1792890000, text), "2026-10-25T02:00:00+01:00");
	ck_assert_str_eq(zone_local_text(z, 1774745999, text), "2026-03-29T01:59:59+01:00");
	ck_assert_str_eq(zone_local_text(z, 1774746000, text), "2026-03-29T03:00:00+02:00");
	zone_free(z);
}
END_TEST

/* --- lists -------------------------------------------------------------------------------------- */

static const char *nobody(int64_t uid, void *arg)
{
	(void)uid, (void)arg;
	return "ada";
}

/* All of it, in pieces of `size` bytes. Static. */
static const char *exported(bool jobs, int64_t project, int64_t from, int64_t to, size_t size)
{
	static char all[1 << 18], piece[1 << 17];
	struct export_list x = { .jobs = jobs, .project = project, .from = from, .to = to };
	size_t used = 0;
	int rc;

	ck_assert_int_eq(ledger_begin(b.l, LEDGER_READ, &b.why), 0);
	ck_assert_int_eq(export_begin(b.l, &x, &b.why), 0);
	ledger_rollback(b.l);
	do {
		struct export_writer w = { .text = piece, .size = size };

		rc = export_more(b.l, &x, &w, nobody, NULL, &b.why);
		ck_assert_msg(rc >= 0 && !w.full, "%s", b.why.text);
		memcpy(all + used, piece, w.used);
		used += w.used;
	} while (rc == 1);
	all[used] = '\0';
	return all;
}

struct column_sum {
	size_t column, rows;
	int64_t sum;
};

static int add_column(char *const fields[], size_t n, void *arg)
{
	struct column_sum *s = arg;

	ck_assert_uint_gt(n, s->column);
	s->sum += strtoll(fields[s->column], NULL, 10);
	s->rows++;
	return 0;
}

static struct column_sum sum_of(const char *text, const char *table, const char *column)
{
	static struct export_reader in;
	const struct export_table *t = export_table_find(table);
	struct column_sum s = {0};

	while (s.column < t->count && strcmp(t->columns[s.column].name, column))
		s.column++;
	memset(&in, 0, sizeof(in));
	ck_assert_int_eq(export_read(&in, text, strlen(text), add_column, &s), 0);
	return s;
}

struct step {
	struct run *run;
	int64_t end, now, charge;
};

static int interim(struct ledger *l, void *arg, struct fault *why)
{
	return run_interim(l, arg, EDGE, EDGE + 90, why);
}

static int settle(struct ledger *l, void *arg, struct fault *why)
{
	struct step *x = arg;

	return run_end(l, x->run, x->end, "COMPLETED", x->now, why);
}

static int refund(struct ledger *l, void *arg, struct fault *why)
{
	struct step *x = arg;
	struct journal_entry e = { .at = x->now, .uid = -1, .kind = "refund", .actor = "ada", .reason = "slow, \"disk\"" };

	return money_refund(l, x->charge, GPU_H / 4, &e, x->now, why);
}

static int close_january(struct ledger *l, void *arg, struct fault *why)
{
	struct period p;

	(void)arg;
	if (period_parse("2027-01", &p, why) < 0)
		return -1;
	p.closed_at = EDGE + 3600;
	snprintf(p.actor, sizeof(p.actor), "ada");
	return period_close(l, &p, true, why);
}

static void must(books_step step, void *arg)
{
	ck_assert_msg(books_do(&b, LEDGER_MONEY, step, arg) >= 0, "%s", b.why.text);
}

START_TEST(a_closed_month_is_the_same_whenever_it_is_exported)
{
	int64_t p = books_project(&b, "p", 0), january = EDGE - 31 * 86400, february = EDGE + 28 * 86400;
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR, .now = EDGE - HOUR / 2 };
	struct run r;
	char *jobs, *journal;
	const char *later;

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, EDGE - HOUR / 2, &r);
	must(interim, &r);
	must(close_january, NULL);
	jobs = strdup(exported(true, 0, january, EDGE, 1 << 17));
	journal = strdup(exported(false, 0, january, EDGE, 1 << 17));
	must(settle, &(struct step){ .run = &r, .end = EDGE + HOUR / 4, .now = EDGE + 7200 });
	must(refund, &(struct step){ .charge = 1, .now = EDGE + 7300 });
	ck_assert_str_eq(exported(true, 0, january, EDGE, 1 << 17), jobs);
	ck_assert_str_eq(exported(false, 0, january, EDGE, 1 << 17), journal);
	ck_assert_int_eq(sum_of(jobs, "jobs", "charged_units").sum, GPU_H / 2);
	later = exported(true, 0, EDGE, february, 1 << 17);
	ck_assert_ptr_nonnull(strstr(later, "COMPLETED"));
	ck_assert_ptr_nonnull(strstr(later, "\"slow, \"\"disk\"\"\""));
	ck_assert_int_eq(sum_of(later, "jobs", "charged_units").sum, 0);	/* a quarter charged, a quarter back */
	ck_assert_uint_eq(sum_of(later, "jobs", "charged_units").rows, 2);
	free(jobs);
	free(journal);
}
END_TEST

struct kept {
	size_t column;
	char text[64];
};

static int keep_field(char *const fields[], size_t n, void *arg)
{
	struct kept *k = arg;

	ck_assert_uint_gt(n, k->column);
	snprintf(k->text, sizeof(k->text), "%s", fields[k->column]);
	return 0;
}

/* What column `name` has in the last row. Static. */
static const char *field_of(const char *text, const char *name)
{
	static struct export_reader in;
	static struct kept k;

	k = (struct kept){0};
	while (strcmp(export_table_find("jobs")->columns[k.column].name, name))
		k.column++;
	memset(&in, 0, sizeof(in));
	ck_assert_int_eq(export_read(&in, text, strlen(text), keep_field, &k), 0);
	return k.text;
}

static int update(struct ledger *l, void *arg, struct fault *why)
{
	return run_update(l, arg, why);
}

static int grow(struct ledger *l, void *arg, struct fault *why)
{
	return run_resize(l, arg, EDGE + HOUR, 2, 4 * AMOUNT_RATE_ONE, "cpu=2,gres/gpu=2,gres/gpu:h100=2", EDGE + 7200,
		why);
}

START_TEST(a_closed_month_keeps_the_type_of_a_run_that_changed_it_later)
{
	int64_t p = books_project(&b, "p", 0), january = EDGE - 31 * 86400, february = EDGE + 28 * 86400;
	struct submission s = { .project = p, .gpus = 1, .min_runtime_s = HOUR, .now = EDGE - HOUR / 2 };
	struct run r;
	char *jobs;
	const char *later;

	books_allot(&b, p, 10 * GPU_H, 0, 0);
	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, EDGE - HOUR / 2, &r);
	snprintf(r.tres, sizeof(r.tres), "cpu=1,gres/gpu=1,gres/gpu:a100=1");
	must(update, &r);
	must(interim, &r);
	must(close_january, NULL);
	jobs = strdup(exported(true, 0, january, EDGE, 1 << 17));
	ck_assert_str_eq(field_of(jobs, "gpu_type"), "a100");
	must(grow, &r);
	ck_assert_str_eq(exported(true, 0, january, EDGE, 1 << 17), jobs);
	must(settle, &(struct step){ .run = &r, .end = EDGE + 2 * HOUR, .now = EDGE + 10000 });
	ck_assert_str_eq(exported(true, 0, january, EDGE, 1 << 17), jobs);
	later = exported(true, 0, EDGE, february, 1 << 17);
	ck_assert_ptr_nonnull(strstr(later, ",a100,1,1800,"));	/* up to the change */
	ck_assert_str_eq(field_of(later, "gpu_type"), "h100");
	free(jobs);
}
END_TEST

START_TEST(pieces_of_an_import_have_each_its_own_type)
{
	struct import_run r = { .cluster = "c", .label = "7", .partition = "gpu", .state = "COMPLETED",
		.job = 7, .start = NOON - 3 * HOUR, .project = books_project(&b, "p", 0), .uid = 1000,
		.tier = TIER_FUNDED, .npieces = 2, .pieces = {
		{ .submit = NOON - 4 * HOUR, .from = NOON - 3 * HOUR, .end = NOON - 2 * HOUR, .gpus = 1,
			.price = AMOUNT_RATE_ONE, .tres = "gres/gpu=1,gres/gpu:a100=1" },
		{ .submit = NOON - 2 * HOUR, .from = NOON - 2 * HOUR, .end = NOON - HOUR, .gpus = 2,
			.price = 2 * AMOUNT_RATE_ONE, .tres = "gres/gpu=2,gres/gpu:h100=2" } } };
	const char *rows;

	books_import(&b, &r, false);
	rows = exported(true, 0, NOON - 86400, NOON + 86400, 1 << 17);
	ck_assert_ptr_nonnull(strstr(rows, ",a100,1,3600,"));
	ck_assert_str_eq(field_of(rows, "gpu_type"), "h100");
}
END_TEST

static const struct {
	const char *label, *array_job, *task, *het_job, *offset;
} labels[] = {
	{ "12", "", "", "", "" }, { "12_0", "12", "0", "", "" }, { "12_3", "12", "3", "", "" }, { "12+1", "", "", "12", "1" },
};

START_TEST(of_an_array_or_a_het_job_the_row_tells_which)
{
	struct import_run r = { .cluster = "c", .label = labels[_i].label, .partition = "gpu", .state = "COMPLETED",
		.job = 7, .start = NOON - 2 * HOUR, .project = books_project(&b, "p", 0), .uid = 1000,
		.tier = TIER_FUNDED, .npieces = 1, .pieces = { { .submit = NOON - 3 * HOUR, .from = NOON - 2 * HOUR,
		.end = NOON - HOUR, .gpus = 1, .price = AMOUNT_RATE_ONE, .tres = "gres/gpu=1" } } };
	const char *row;

	books_import(&b, &r, false);
	row = exported(true, 0, NOON - 86400, NOON + 86400, 1 << 17);
	ck_assert_str_eq(field_of(row, "job"), labels[_i].label);
	ck_assert_str_eq(field_of(row, "array_job_id"), labels[_i].array_job);
	ck_assert_str_eq(field_of(row, "array_task_id"), labels[_i].task);
	ck_assert_str_eq(field_of(row, "het_job_id"), labels[_i].het_job);
	ck_assert_str_eq(field_of(row, "het_offset"), labels[_i].offset);
	ck_assert_str_eq(field_of(row, "partition"), "gpu");
}
END_TEST

START_TEST(a_list_is_the_same_in_pieces_and_has_what_the_books_have)
{
	int64_t top = books_project(&b, "top", 0), p = books_project(&b, "p", top), q = books_project(&b, "q", top);
	char *whole;

	books_allot(&b, top, 1000 * GPU_H, 0, 0);
	books_allot(&b, p, 1000 * GPU_H, 0, 0);
	for (int i = 0; i < 40; i++) {
		struct submission s = { .project = i % 4 ? p : q, .gpus = 1, .min_runtime_s = HOUR, .now = NOON + i };
		struct run r;

		ck_assert_int_eq(books_submit(&b, &s), 0);
		books_start(&b, &s, 100 + i, NOON + i, &r);
		must(settle, &(struct step){ .run = &r, .end = NOON + i + 600, .now = NOON + i + 600 });
	}
	whole = strdup(exported(true, 0, NOON, NOON + 86400, 1 << 17));
	ck_assert_str_eq(exported(true, 0, NOON, NOON + 86400, 4200), whole);
	ck_assert_uint_eq(sum_of(whole, "jobs", "elapsed_s").rows, 40);
	ck_assert_int_eq(sum_of(whole, "jobs", "charged_units").sum, books_ask(&b, "SELECT sum(units) FROM charge"));
	ck_assert_uint_eq(sum_of(exported(true, q, NOON, NOON + 86400, 4200), "jobs", "uid").rows, 10);
	ck_assert_uint_eq(sum_of(exported(true, top, NOON, NOON + 86400, 4200), "jobs", "uid").rows, 40);
	ck_assert_int_eq(sum_of(exported(false, top, 0, NOON + 86400, 1 << 17), "journal", "amount_units").sum,
		books_ask(&b, "SELECT sum(units) FROM journal"));
	ck_assert_uint_eq(sum_of(exported(true, 0, NOON + 605, NOON + 610, 4200), "jobs", "uid").rows, 5);
	ck_assert_str_eq(exported(true, 0, NOON - 86400, NOON, 4200), "");
	free(whole);
}
END_TEST

Suite *export_rows_suite(void)
{
	Suite *s = suite_create("export_rows");
	TCase *t = tcase_create("export");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, rows_are_read_as_they_were_written_however_the_bytes_arrive, 0, 9);
	tcase_add_test(t, what_has_no_room_is_told);
	tcase_add_loop_test(t, gpu_types_are_those_of_what_was_allocated, 0, (int)(sizeof(types) / sizeof(types[0])));
	tcase_add_test(t, times_are_those_of_the_calendar);
	tcase_add_test(t, times_of_a_zone_have_their_offset_on_both_sides_of_a_change);
	tcase_add_test(t, a_closed_month_is_the_same_whenever_it_is_exported);
	tcase_add_test(t, a_closed_month_keeps_the_type_of_a_run_that_changed_it_later);
	tcase_add_test(t, pieces_of_an_import_have_each_its_own_type);
	tcase_add_loop_test(t, of_an_array_or_a_het_job_the_row_tells_which, 0,
		(int)(sizeof(labels) / sizeof(labels[0])));
	tcase_add_test(t, a_list_is_the_same_in_pieces_and_has_what_the_books_have);
	suite_add_tcase(s, t);
	return s;
}
