/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_gpu_lines.c - the report of a helper goes through its lines unchanged, and nothing else is taken for
 * one */
#include "gpu_check/lines.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct case_table bad;

/* Reads all that was written. How many lines were taken; -1 at the first that was not. */
static int read_all(int fd, struct report *r)
{
	static char text[65536];
	ssize_t n = read(fd, text, sizeof(text) - 1);
	char *rest = text, *line;
	int lines = 0;

	ck_assert(n > 0);
	text[n] = '\0';
	while ((line = strsep(&rest, "\n")) && rest)
		if (line_read(r, line) < 0)
			return -1;
		else
			lines++;
	return lines;
}

static void write_device(int fd)
{
	struct device_report d = { .kind = DEVICE_GPU, .bus_id = "10000:c1:00.0", .uuid = "GPU-1",
		.name = "-a \033[1m 100% GPU" };

	line_begin(fd, STAGE_IDENTITY, 0);
	line_end(fd, STAGE_IDENTITY, 0, 7);
	line_device(fd, 0, &d);
	line_rate(fd, 0, 25000, 24000);
	line_no_kernel(fd);
}

START_TEST(a_report_comes_out_as_it_went_in)
{
	struct report *r = malloc(sizeof(*r));
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	report_init(r);
	line_hello(fd[1], "cuda");
	line_begin(fd[1], STAGE_LOAD, REPORT_NONE);
	line_library(fd[1], "/opt/a b/libcuda.so.1");
	line_version(fd[1], "");
	line_end(fd[1], STAGE_LOAD, REPORT_NONE, 1234567);
	line_count(fd[1], 1);
	write_device(fd[1]);
	line_begin(fd[1], STAGE_KERNEL, 0);
	line_fail(fd[1], STAGE_KERNEL, 0, CAUSE_WRONG_KERNEL, "1 of 2");
	line_done(fd[1]);
	ck_assert_int_eq(read_all(fd[0], r), 14);
	ck_assert_str_eq(r->backend, "cuda");
	ck_assert_str_eq(r->library, "/opt/a b/libcuda.so.1");
	ck_assert_str_eq(r->version, "");
	ck_assert_str_eq(r->device[0].bus_id, "10000:c1:00.0");
	/* what a terminal would obey is gone */
	ck_assert_str_eq(r->device[0].name, "-a ?[1m 100% GPU");
	ck_assert_int_eq(r->us[STAGE_LOAD], 1234567);
	ck_assert_int_eq(report_stage_us(r, STAGE_IDENTITY), 7);
	ck_assert_int_eq(r->device[0].down_mb_s, 24000);
	ck_assert(r->done && r->no_kernel && !r->within);
	ck_assert(r->cause == CAUSE_WRONG_KERNEL && r->failed_stage == STAGE_KERNEL && r->failed_device == 0);
	ck_assert_str_eq(r->text, "1 of 2");
	free(r);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(the_longest_texts_still_make_a_line)
{
	struct report *r = malloc(sizeof(*r));
	char text[4 * REPORT_TEXT_MAX];
	int fd[2];

	memset(text, '\n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(pipe(fd), 0);
	report_init(r);
	line_hello(fd[1], "cuda");
	line_library(fd[1], text);
	line_fail(fd[1], STAGE_INIT, REPORT_NONE, CAUSE_KERNEL_UNSUITED, text);
	ck_assert_int_eq(read_all(fd[0], r), 3);
	ck_assert_uint_eq(strlen(r->text), REPORT_TEXT_MAX - 1);
	ck_assert_uint_eq(strspn(r->library, "?"), REPORT_TEXT_MAX - 1);
	free(r);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(what_is_no_report_is_refused_at_the_line_where_it_ceases_to_be_one)
{
	const struct case_row *c = &bad.row[_i];
	char *lines = strdup(c->col[1]), *rest = lines, *line;
	struct report *r = malloc(sizeof(*r));
	int at = 0;

	report_init(r);
	while ((line = strsep(&rest, ";")) && line_read(r, line) == 0)
		at++;
	ck_assert_msg(line && at + 1 == case_number(c, 0), "line %d: %d lines of \"%s\" were taken", c->line,
		at, c->col[1]);
	free(lines);
	free(r);
}
END_TEST

/* Words of the protocol and other bytes in any order: nothing is read that is not there (the sanitizers
 * look). */
START_TEST(nothing_that_comes_breaks_the_reader)
{
	static const char *const word[] = { "gpu-check", "1", "cuda", "begin", "end", "load", "kernel", "-",
		"0", "63", "64", "count", "device",
		"gpu", "0000:c1:00.0", "fail", "lost", "done", "%", "%4", "%41", "\377", "", "rate",
		"99999999999999999999" };
	struct report *r = malloc(sizeof(*r));
	char line[LINE_LENGTH_MAX];

	report_init(r);
	srandom(7);
	for (int i = 0; i < 20000; i++) {
		size_t n = 0;

		if (i % 50 == 0)
			report_init(r);
		for (long words = random() % 8; words >= 0; words--)
			n += (size_t)snprintf(line + n, sizeof(line) - n, n ? " %s" : "%s",
				word[random() % 25]);
		line_read(r, line);
		ck_assert(r->devices >= 0 && r->devices <= REPORT_DEVICES_MAX);
	}
	free(r);
}
END_TEST

Suite *gpu_lines_suite(void)
{
	Suite *s = suite_create("gpu_lines");
	TCase *t = tcase_create("lines");

	bad = cases_load("gpu_lines_bad.cases", 2);
	cases_check_number(&bad, 0);
	tcase_add_test(t, a_report_comes_out_as_it_went_in);
	tcase_add_test(t, the_longest_texts_still_make_a_line);
	tcase_add_loop_test(t, what_is_no_report_is_refused_at_the_line_where_it_ceases_to_be_one, 0,
		bad.rows);
	tcase_add_test(t, nothing_that_comes_breaks_the_reader);
	suite_add_tcase(s, t);
	return s;
}
