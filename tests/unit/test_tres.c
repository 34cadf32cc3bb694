/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_tres.c - what was given: strings of slurmctld and of slurmdbd. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <string.h>
#include "lib/tres.h"
#include "tests/unit/cases.h"
#include "tests/unit/counts.h"

static struct case_table names, numbers;

static void check(const struct case_row *c, int rc, const struct gpu_count *got, const struct fault *why)
{
	char buf[COUNTS_TEXT_MAX];

	if (!strcmp(c->col[1], "error")) {
		ck_assert_msg(rc == -1 && (errno == EINVAL || errno == EOVERFLOW), "\"%s\" was taken for %s",
			c->col[0], counts_text(got, buf));
		ck_assert_msg(strstr(why->text, c->col[2]), "\"%s\": the text has no \"%s\": %s", c->col[0],
			c->col[2], why->text);
		ck_assert_int_eq(got->total, -7);
		return;
	}
	ck_assert_msg(rc == 0, "\"%s\": %s", c->col[0], why->text);
	ck_assert_msg(got->total == case_number(c, 1) && counts_sum_up(got),
		"\"%s\": %ld GPUs, the table says %s", c->col[0], (long)got->total, c->col[1]);
	ck_assert_msg(!strcmp(counts_text(got, buf), c->col[2]), "\"%s\": %s, the table says %s", c->col[0],
		buf, c->col[2]);
}

START_TEST(a_string_of_names_tells_the_gpus_or_is_refused)
{
	struct gpu_count got = { .total = -7 };
	struct fault why = { "" };
	int rc = tres_read(names.row[_i].col[0], &got, &why);

	check(&names.row[_i], rc, &got, &why);
}
END_TEST

START_TEST(a_string_of_numbers_tells_the_gpus_or_is_refused)
{
	static const struct tres_id ids[] = {
		{ 1, "cpu" },
		{ 2, "mem" },
		{ 3, "energy" },
		{ 4, "node" },
		{ 5, "billing" },
		{ 6, "fs/disk" },
		{ 7, "vmem" },
		{ 8, "pages" },
		{ 1001, "gres/gpu" },
		{ 1002, "gres/gpu:h100" },
		{ 1003, "gres/shard" },
	};
	struct gpu_count got = { .total = -7 };
	struct fault why = { "" };
	int rc = tres_read_ids(numbers.row[_i].col[0], ids, sizeof(ids) / sizeof(ids[0]), &got, &why);

	check(&numbers.row[_i], rc, &got, &why);
}
END_TEST

START_TEST(no_string_is_no_gpu)
{
	struct gpu_count got = { .total = -7 };

	ck_assert_int_eq(tres_read(NULL, &got, NULL), 0);
	ck_assert_int_eq(got.total, 0);
	got.total = -7;
	ck_assert_int_eq(tres_read_ids(NULL, NULL, 0, &got, NULL), 0);
	ck_assert_int_eq(got.total, 0);
}
END_TEST

Suite *tres_suite(void)
{
	Suite *s = suite_create("tres");
	TCase *t = tcase_create("tres");

	names = cases_load("tres.tsv", 4);
	numbers = cases_load("tres_ids.tsv", 4);
	tcase_add_loop_test(t, a_string_of_names_tells_the_gpus_or_is_refused, 0, names.rows);
	tcase_add_loop_test(t, a_string_of_numbers_tells_the_gpus_or_is_refused, 0, numbers.rows);
	tcase_add_test(t, no_string_is_no_gpu);
	suite_add_tcase(s, t);
	return s;
}
