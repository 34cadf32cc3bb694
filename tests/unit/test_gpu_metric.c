/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_gpu_metric.c - what exporters call things, and where Slurm says that a job's GPUs are. */
#include "lib/gpu_metric.h"
#include "lib/gpu_places.h"
#include "tests/unit/cases.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct case_table indices, nodes, labels, places;

/* A column; "" is written so. */
static const char *text(const struct case_row *c, int column)
{
	return strcmp(c->col[column], "\"\"") ? c->col[column] : "";
}

START_TEST(device_has_the_number_of_the_table)
{
	const struct case_row *c = &indices.row[_i];

	ck_assert_msg(gpu_label_index(text(c, 0)) == case_number(c, 1), "%s: %jd", c->col[0],
		(intmax_t)gpu_label_index(text(c, 0)));
}
END_TEST

START_TEST(node_is_as_the_table_says)
{
	const struct case_row *c = &nodes.row[_i];
	char node[GPU_NODE_MAX] = "-";

	ck_assert_int_eq(gpu_label_node(text(c, 0), node, sizeof(node)), case_none(c, 1) ? -1 : 0);
	ck_assert_str_eq(node, c->col[1]);
}
END_TEST

START_TEST(labels_are_as_the_table_says)
{
	const struct case_row *c = &labels.row[_i];
	struct gpu_labels l = { .name = { "untouched" } };
	struct fault why = { "" };
	int rc = gpu_labels_parse(text(c, 0), &l, &why);

	if (!case_none(c, 5)) {
		ck_assert_int_eq(rc, -1);
		ck_assert_str_eq(why.text, c->col[5]);
		ck_assert_str_eq(l.name[0], "untouched");
		return;
	}
	ck_assert_msg(rc == 0, "%s", why.text);
	for (int i = 0; i < LABELS; i++)
		ck_assert_str_eq(l.name[i], text(c, 1 + i));
}
END_TEST

START_TEST(job_is_a_whole_number_or_none)
{
	ck_assert_int_eq(gpu_label_job("17"), 17);
	ck_assert_int_eq(gpu_label_job(""), 0);
	ck_assert_int_eq(gpu_label_job("17_3"), 0);
	ck_assert_int_eq(gpu_label_job("job1"), 0);
}
END_TEST

START_TEST(every_preset_can_be_asked_and_says_whose_a_gpu_is)
{
	char query[GPU_QUERY_MAX];
	struct gpu_labels l;

	for (enum gpu_exporter e = EXPORTER_NVIDIA; e < EXPORTERS; e++) {
		const struct gpu_preset *p = gpu_preset(e);

		ck_assert_int_eq(gpu_labels_parse(p->labels, &l, NULL), 0);
		ck_assert_int_eq(gpu_query_text(p->query[QUERY_UTILIZATION], 60, query, NULL), 0);
		ck_assert_ptr_nonnull(strstr(query, "[60s]"));
		ck_assert_int_eq(gpu_query_text(p->query[QUERY_MEMORY], 60, query, NULL), 0);
		ck_assert_ptr_nonnull(strstr(query, "[60s]"));
		for (int i = 0; i < LABELS; i++)	/* aggregation keeps what is looked at */
			ck_assert_ptr_nonnull(strstr(query, l.name[i]));
	}
}
END_TEST

START_TEST(query_that_is_too_long_is_refused)
{
	char long_one[GPU_QUERY_MAX + 8], query[GPU_QUERY_MAX];

	memset(long_one, 'x', sizeof(long_one));
	long_one[GPU_QUERY_MAX - 1] = '\0';
	ck_assert_int_eq(gpu_query_text(long_one, 60, query, NULL), 0);
	strcpy(long_one + GPU_QUERY_MAX - 4, "STEP");
	ck_assert_int_eq(gpu_query_text(long_one, 600, query, NULL), -1);
	ck_assert_int_eq(errno, EMSGSIZE);
}
END_TEST

/* --- places ---------------------------------------------------------------------------------------- */

static void places_write(const struct case_row *c, char *buf, size_t size)
{
	char *copy = strdup(c->col[0]), *save = NULL, node[16];
	int n = 0;

	for (char *detail = strtok_r(copy, " ", &save); detail; detail = strtok_r(NULL, " ", &save)) {
		snprintf(node, sizeof(node), "g%d", ++n);
		ck_assert_int_eq(gpu_places_add(buf, size, node, strcmp(detail, "\"\"") ? detail : ""), 0);
	}
	free(copy);
}

START_TEST(places_are_as_the_table_says)
{
	const struct case_row *c = &places.row[_i];
	char buf[256] = "", devices[256] = "", one[80];
	struct gpu_places p = { .text = buf };

	places_write(c, buf, sizeof(buf));
	ck_assert_str_eq(buf, text(c, 1));
	while (gpu_places_next(&p)) {
		snprintf(one, sizeof(one), "%s%s:%jd", devices[0] ? " " : "", p.node, (intmax_t)p.index);
		strcat(devices, one);
	}
	ck_assert_str_eq(devices, text(c, 2));
}
END_TEST

START_TEST(places_that_do_not_fit_leave_what_is_there)
{
	char buf[12] = "g1=0-1";

	ck_assert_int_eq(gpu_places_add(buf, sizeof(buf), "g2", "gpu:2(IDX:0-1)"), -1);
	ck_assert_int_eq(errno, EMSGSIZE);
	ck_assert_str_eq(buf, "g1=0-1");
}
END_TEST

START_TEST(what_is_no_place_ends_the_reading)
{
	static const char *const bad[] = { "g1", "g1=", "g1=x", "=0", "g1=3-1", "g1=0 g2=1" };
	int read = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gpu_places p = { .text = bad[i] };

		while (gpu_places_next(&p))
			read++;
	}
	ck_assert_int_eq(read, 1);	/* the first of the last one */
}
END_TEST

Suite *gpu_metric_suite(void)
{
	TCase *t = tcase_create("gpu_metric");
	Suite *s = suite_create("gpu_metric");

	indices = cases_load("gpu_index.cases", 2);
	cases_check_number(&indices, 1);
	nodes = cases_load("gpu_node.cases", 2);
	labels = cases_load("gpu_labels.cases", 6);
	places = cases_load("gpu_places.cases", 3);
	tcase_add_loop_test(t, device_has_the_number_of_the_table, 0, indices.rows);
	tcase_add_loop_test(t, node_is_as_the_table_says, 0, nodes.rows);
	tcase_add_loop_test(t, labels_are_as_the_table_says, 0, labels.rows);
	tcase_add_test(t, job_is_a_whole_number_or_none);
	tcase_add_test(t, every_preset_can_be_asked_and_says_whose_a_gpu_is);
	tcase_add_test(t, query_that_is_too_long_is_refused);
	tcase_add_loop_test(t, places_are_as_the_table_says, 0, places.rows);
	tcase_add_test(t, places_that_do_not_fit_leave_what_is_there);
	tcase_add_test(t, what_is_no_place_ends_the_reading);
	suite_add_tcase(s, t);
	return s;
}
