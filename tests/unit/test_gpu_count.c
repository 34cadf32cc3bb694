/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_gpu_count.c - how many GPUs of which type, added up and said in words. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "lib/gpu_count.h"
#include "tests/unit/counts.h"

START_TEST(equal_types_are_merged)
{
	struct gpu_count c = { 0 };
	char buf[COUNTS_TEXT_MAX];

	ck_assert_int_eq(gpu_count_add(&c, "h100", 2), 0);
	ck_assert_int_eq(gpu_count_add(&c, "", 1), 0);
	ck_assert_int_eq(gpu_count_add(&c, "h100", 3), 0);
	ck_assert_int_eq(gpu_count_add(&c, "h200", 0), 0);
	ck_assert_int_eq(c.total, 6);
	ck_assert_str_eq(counts_text(&c, buf), "h100=5,untyped=1");
}
END_TEST

START_TEST(what_does_not_fit_is_refused_and_nothing_changes)
{
	char longest[GPU_TYPE_MAX + 1], name[16];
	struct gpu_count c = { 0 }, before;

	memset(longest, 'x', GPU_TYPE_MAX);
	longest[GPU_TYPE_MAX] = '\0';
	for (int i = 0; i < GPU_TYPES_MAX; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		ck_assert_int_eq(gpu_count_add(&c, name, 1), 0);
	}
	before = c;
	ck_assert_int_eq(gpu_count_add(&c, "one_more", 1), -1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(gpu_count_add(&c, longest, 1), -1);
	ck_assert_int_eq(errno, E2BIG);
	ck_assert_int_eq(gpu_count_add(&c, "t0", -1), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(gpu_count_add(&c, "t0", INT64_MAX), -1);
	ck_assert_int_eq(errno, EOVERFLOW);
	ck_assert_mem_eq(&c, &before, sizeof(c));
}
END_TEST

static const struct {
	struct gpu_count count;
	const char *text;
} texts[] = {
	{ { 0 }, "0 GPUs" },
	{ { .total = 1, .ntypes = 1, .types = { { "", 1 } } }, "1 GPU" },
	{ { .total = 2, .ntypes = 1, .types = { { "", 2 } } }, "2 GPUs" },
	{ { .total = 1, .ntypes = 1, .types = { { "h100", 1 } } }, "1 h100 GPU" },
	{ { .total = 8, .ntypes = 2, .types = { { "h100", 2 }, { "h200", 6 } } }, "2 h100 and 6 h200 GPUs" },
	{ { .total = 4, .ntypes = 3, .types = { { "a", 2 }, { "b", 1 }, { "", 1 } } },
		"2 a, 1 b and 1 untyped GPUs" },
	{ { .shards = 40 }, "40 shards" },
	{ { .shards = 1, .mps = 50 }, "1 shard and 50 mps" },
	{ { .total = 2, .ntypes = 1, .types = { { "", 2 } }, .shards = 3, .mps = 5 },
		"2 GPUs, 3 shards and 5 mps" },
};

START_TEST(a_count_is_said_in_words)
{
	char buf[GPU_COUNT_TEXT_MAX];

	ck_assert_str_eq(gpu_count_text(&texts[_i].count, buf), texts[_i].text);
}
END_TEST

START_TEST(words_that_do_not_fit_are_cut)
{
	struct gpu_count c = { 0 };
	char buf[GPU_COUNT_TEXT_MAX], name[GPU_TYPE_MAX];

	memset(name, 'x', sizeof(name));
	name[GPU_TYPE_MAX - 1] = '\0';
	for (int i = 0; i < GPU_TYPES_MAX; i++) {
		name[0] = (char)('a' + i);
		ck_assert_int_eq(gpu_count_add(&c, name, 1), 0);
	}
	ck_assert_uint_eq(strlen(gpu_count_text(&c, buf)), GPU_COUNT_TEXT_MAX - 1);
}
END_TEST

Suite *gpu_count_suite(void)
{
	Suite *s = suite_create("gpu_count");
	TCase *t = tcase_create("gpu_count");

	tcase_add_test(t, equal_types_are_merged);
	tcase_add_test(t, what_does_not_fit_is_refused_and_nothing_changes);
	tcase_add_loop_test(t, a_count_is_said_in_words, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_test(t, words_that_do_not_fit_are_cut);
	suite_add_tcase(s, t);
	return s;
}
