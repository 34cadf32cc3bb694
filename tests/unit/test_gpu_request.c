/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_gpu_request.c - what was asked, from the raw fields of a job description in both syntaxes of Slurm. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/gpu_request.h"
#include "tests/unit/cases.h"
#include "tests/unit/counts.h"

static struct case_table good, bad, arrays;

/* The fields and numbers of a row; the words are cut in place in `words`. */
struct raw {
	char words[1024];
	struct gpu_request_input in;
	struct gpu_request_cluster cluster;
};

static bool raw_text(struct gpu_request_input *in, const char *name, const char *value)
{
	if (!strcmp(name, "job"))
		in->tres_per_job = value;
	else if (!strcmp(name, "node"))
		in->tres_per_node = value;
	else if (!strcmp(name, "socket"))
		in->tres_per_socket = value;
	else if (!strcmp(name, "task"))
		in->tres_per_task = value;
	else if (!strcmp(name, "array"))
		in->array = value;
	else
		return false;
	return true;
}

static bool raw_number(struct raw *r, const char *name, const char *value)
{
	uint32_t n = (uint32_t)strtoul(value, NULL, 10);

	if (!strcmp(name, "n"))
		r->in.num_tasks = n;
	else if (!strcmp(name, "npn"))
		r->in.ntasks_per_node = n;
	else if (!strcmp(name, "nps"))
		r->in.ntasks_per_socket = n;
	else if (!strcmp(name, "spn"))
		r->in.sockets_per_node = n;
	else if (!strcmp(name, "npt"))
		r->in.ntasks_per_tres = n;
	else if (!strcmp(name, "g"))
		r->cluster.gpus_per_node = n;
	else if (!strcmp(name, "whole"))
		r->in.exclusive = true;
	else
		return false;
	return true;
}

static void raw_nodes(struct gpu_request_input *in, const char *value)
{
	const char *dash = strchr(value, '-');

	in->min_nodes = (uint32_t)strtoul(value, NULL, 10);
	if (dash)
		in->max_nodes = (uint32_t)strtoul(dash + 1, NULL, 10);
}

static void raw_read(struct raw *r, const struct case_row *c)
{
	char *save = NULL;

	*r = (struct raw){ .words = "" };
	gpu_request_input_init(&r->in);
	snprintf(r->words, sizeof(r->words), "%s %s", c->col[1], c->col[2]);
	for (char *w = strtok_r(r->words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');

		if (!strcmp(w, "-"))
			continue;
		if (value)
			*value++ = '\0';
		if (!strcmp(w, "N"))
			raw_nodes(&r->in, value);
		else
			ck_assert_msg(raw_text(&r->in, w, value) || raw_number(r, w, value ? value : ""),
				"%s: what is %s?", c->col[0], w);
	}
}

static void answer_text(const struct gpu_request *g, char buf[64])
{
	if (g->gpus_min == g->gpus_max)
		snprintf(buf, 64, "%" PRId64 "%s", g->gpus_max, g->exact ? "" : g->at_least ? "?" : "??");
	else
		snprintf(buf, 64, "%" PRId64 "..%" PRId64, g->gpus_min, g->gpus_max);
}

START_TEST(raw_fields_give_the_gpus_of_one_task_with_honest_bounds)
{
	const struct case_row *c = &good.row[_i];
	struct fault why = { "" };
	struct gpu_request got;
	char buf[COUNTS_TEXT_MAX], answer[64];
	struct raw r;

	raw_read(&r, c);
	ck_assert_msg(gpu_request_read(&r.in, &r.cluster, &got, &why) == 0, "%s: %s", c->col[0], why.text);
	answer_text(&got, answer);
	ck_assert_msg(!strcmp(answer, c->col[3]), "%s: %s, the table says %s (%s)", c->col[0], answer,
		c->col[3], got.rule);
	ck_assert_msg(!strcmp(counts_text(&got.gpus, buf), c->col[4]), "%s: %s, the table says %s", c->col[0],
		buf, c->col[4]);
	ck_assert(counts_sum_up(&got.gpus) && got.gpus.total == got.gpus_max);
	ck_assert_msg(!got.exact || got.gpus_min == got.gpus_max, "%s: exact, but a span", c->col[0]);
	ck_assert_int_eq(got.array_tasks, 1);
	ck_assert(got.rule[0] != '\0');
	if (got.gpus_max > 0 || got.gpus.shards > 0 || got.gpus.mps > 0)
		ck_assert_msg(gpu_request_concerns(&r.in), "%s: said to be none of our business", c->col[0]);
}
END_TEST

START_TEST(raw_fields_that_make_no_sense_are_refused_with_their_position)
{
	const struct case_row *c = &bad.row[_i];
	struct gpu_request got = { .gpus_min = -7 };
	struct fault why = { "" };
	struct raw r;

	raw_read(&r, c);
	ck_assert_msg(gpu_request_read(&r.in, NULL, &got, &why) == -1 || r.cluster.gpus_per_node,
		"%s: %" PRId64 " GPUs", c->col[0], got.gpus_max);
	if (r.cluster.gpus_per_node) {
		got.gpus_min = -7;
		ck_assert_int_eq(gpu_request_read(&r.in, &r.cluster, &got, &why), -1);
	}
	ck_assert(errno == EINVAL || errno == EOVERFLOW);
	ck_assert_msg(strstr(why.text, c->col[3]), "%s: the text has no \"%s\": %s", c->col[0], c->col[3],
		why.text);
	ck_assert_int_eq(got.gpus_min, -7);
}
END_TEST

START_TEST(tasks_of_an_array_are_counted_once_each)
{
	const struct case_row *c = &arrays.row[_i];
	int64_t tasks = -7, throttle = -7;
	struct fault why = { "" };
	int rc = gpu_request_array_tasks(c->col[0], &tasks, &throttle, &why);

	if (case_none(c, 1)) {
		ck_assert_msg(rc == -1, "%s was taken for %" PRId64 " tasks", c->col[0], tasks);
		ck_assert_msg(strstr(why.text, c->col[2]), "%s: the text has no \"%s\": %s", c->col[0],
			c->col[2], why.text);
		ck_assert(tasks == -7 && throttle == -7);
		return;
	}
	ck_assert_msg(rc == 0, "%s: %s", c->col[0], why.text);
	ck_assert_msg(tasks == case_number(c, 1), "%s: %" PRId64 " tasks, the table says %s", c->col[0],
		tasks, c->col[1]);
	ck_assert_msg(throttle == case_number(c, 2), "%s: throttle %" PRId64 ", the table says %s", c->col[0],
		throttle, c->col[2]);
}
END_TEST

START_TEST(the_first_tasks_of_an_array_are_named_as_slurm_names_them)
{
	static const struct { const char *array; int64_t most; const char *first; int64_t n; } rows[] = {
		{ "3-6,8-9%2", 5, "3-6,8", 5 },
		{ "3-6,8-9%2", 3, "3-5", 3 },
		{ "3-6,8-9", 9, "3-6,8-9", 6 },
		{ "[0-9%2]", 1, "0", 1 },
		{ "0-10:2,20", 3, "0-4:2", 3 },
		{ "7", 1, "7", 1 },
		{ "7", 0, "", 0 },
		{ "x", 1, "", 0 },
		/* what the buffer has room for */
		{ "1,3,5,7,9,11,13,15,17,19", 10, "1,3,5,7,9,11,13,15", 8 },
	};
	char buf[20];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_int_eq(gpu_request_array_first(rows[i].array, rows[i].most, buf, sizeof(buf)),
			rows[i].n);
		ck_assert_str_eq(buf, rows[i].first);
	}
}
END_TEST

START_TEST(a_task_is_named_by_a_list_a_range_or_a_step)
{
	ck_assert(gpu_request_array_names("5", 5) && !gpu_request_array_names("5", 6));
	ck_assert(gpu_request_array_names("[1-3,8%2]", 8) && !gpu_request_array_names("[1-3,8%2]", 4));
	ck_assert(gpu_request_array_names("1-9:4", 5) && !gpu_request_array_names("1-9:4", 6));
	ck_assert(!gpu_request_array_names("*", 0) && !gpu_request_array_names("", 0));
}
END_TEST

START_TEST(a_job_without_gpus_is_none_of_our_business)
{
	struct gpu_request_input in;

	gpu_request_input_init(&in);
	ck_assert(!gpu_request_concerns(&in));
	in.tres_per_node = "gres:nvme:100";
	in.num_tasks = 4;
	ck_assert(!gpu_request_concerns(&in));
	in.exclusive = true;
	ck_assert(gpu_request_concerns(&in));
	in.exclusive = false;
	in.ntasks_per_tres = 2;
	ck_assert(gpu_request_concerns(&in));
}
END_TEST

START_TEST(more_types_than_can_be_told_apart_are_refused_never_cut)
{
	struct gpu_request_input in;
	struct gpu_request got;
	struct fault why = { "" };
	char list[1024] = "";

	for (int i = 0; i <= GPU_TYPES_MAX; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%sgres/gpu:t%d:1", i ? "," : "",
			i);
	gpu_request_input_init(&in);
	in.tres_per_job = list;
	ck_assert_int_eq(gpu_request_read(&in, NULL, &got, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "types"));
}
END_TEST

Suite *gpu_request_suite(void)
{
	Suite *s = suite_create("gpu_request");
	TCase *t = tcase_create("gpu_request");

	good = cases_load("gpu_request.cases", 5);
	bad = cases_load("gpu_request_bad.cases", 4);
	arrays = cases_load("array.cases", 3);
	cases_check_number(&arrays, 1);
	tcase_add_loop_test(t, raw_fields_give_the_gpus_of_one_task_with_honest_bounds, 0, good.rows);
	tcase_add_loop_test(t, raw_fields_that_make_no_sense_are_refused_with_their_position, 0, bad.rows);
	tcase_add_loop_test(t, tasks_of_an_array_are_counted_once_each, 0, arrays.rows);
	tcase_add_test(t, the_first_tasks_of_an_array_are_named_as_slurm_names_them);
	tcase_add_test(t, a_task_is_named_by_a_list_a_range_or_a_step);
	tcase_add_test(t, a_job_without_gpus_is_none_of_our_business);
	tcase_add_test(t, more_types_than_can_be_told_apart_are_refused_never_cut);
	suite_add_tcase(s, t);
	return s;
}
