/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_gpu_table.c - series of Prometheus become GPUs that are idle, or not. */
#include "budgetd/gpu_table.h"
#include "tests/unit/suites.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP  60
#define BEGAN ((int64_t)1767571200)	/* a whole number of steps */

static const struct gpu_labels names = { .name = { "Hostname", "device", "UUID", "hpc_job" } };
static struct gpu_table table;
static char text[65536];		/* of the series that are being written */

static void nothing_known(void)
{
	table = (struct gpu_table){0};
	text[0] = '\0';
}

static void table_gone(void)
{
	gpu_table_clear(&table);
}

/* One more series: its values, one a step from BEGAN on, "-" where there is none. */
static void series(const char *node, int index, const char *job, const char *values)
{
	char *copy = strdup(values), *save = NULL, *to = text + strlen(text);
	int at = 0, written = 0;

	to += sprintf(to,
		"%s{\"metric\":{\"Hostname\":\"%s\",\"device\":\"nvidia%d\",\"UUID\":\"GPU-%s-%d\",\"hpc_job\":\"%s\"},\"values\":[",
		text[0] ? "," : "", node, index, node, index, job);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save), at++)
		if (strcmp(word, "-"))
			to += sprintf(to, "%s[%jd,\"%s\"]", written++ ? "," : "",
				(intmax_t)(BEGAN + at * STEP), word);
	strcpy(to, "]}");
	free(copy);
}

static struct json_object *answer(void)
{
	char *whole = NULL;
	struct json_object *o;

	ck_assert_int_gt(asprintf(&whole, "[%s]", text), 0);
	o = json_tokener_parse(whole);
	ck_assert_ptr_nonnull(o);
	free(whole);
	text[0] = '\0';
	return o;
}

/* The samples of steps first to last; memory NULL = not asked. */
static int add(struct json_object *utilization, struct json_object *memory, int first, int last,
	struct fault *why)
{
	struct json_object *all[QUERIES] = { utilization, memory, NULL };
	int rc = gpu_table_add(&table, &names, all, BEGAN + first * STEP, BEGAN + last * STEP, STEP, why);

	json_object_put(utilization);
	json_object_put(memory);
	return rc;
}

static void added(struct json_object *utilization, struct json_object *memory, int first, int last)
{
	struct fault why = { "" };

	ck_assert_msg(add(utilization, memory, first, last, &why) == 0, "%s", why.text);
}

/* Since which step a job with so many GPUs is idle; -1: it is not. */
static int idle_step(int64_t job, const char *places, int gpus)
{
	const struct idle_gpu *found[GPU_FOUND_MAX];
	size_t n = gpu_table_of_job(&table, job, places, found);
	int64_t since = idle_since(found, n, gpus, BEGAN, table.until);

	return since ? (int)((since - BEGAN) / STEP) : -1;
}

START_TEST(a_gpu_is_found_by_node_and_index)
{
	series("g1", 0, "", "0 0 0 0");
	series("g1", 1, "", "90 0 0 0");
	series("g2", 0, "", "0 0 0 7");
	added(answer(), NULL, 0, 3);
	ck_assert_int_eq(idle_step(17, "g1=0", 1), 0);
	ck_assert_int_eq(idle_step(17, "g1=0-1", 2), 1);
	ck_assert_int_eq(idle_step(17, "g1=0;g2=0", 2), -1);
	ck_assert_int_eq(idle_step(17, "g1=0;g3=0", 2), -1);	/* of g3 nothing is known */
	ck_assert_int_eq(idle_step(17, NULL, 1), -1);
}
END_TEST

START_TEST(a_gpu_is_found_by_the_job_that_the_exporter_tells)
{
	series("g1", 0, "17", "0 0");
	series("g1", 1, "18", "0 5");
	added(answer(), NULL, 0, 1);
	ck_assert_int_eq(idle_step(17, "g9=3", 1), 0);		/* whatever Slurm's places are */
	ck_assert_int_eq(idle_step(18, NULL, 1), -1);
	ck_assert_int_eq(idle_step(19, "g1=0", 1), -1);		/* that is job 17's */
	ck_assert_int_eq(idle_step(17, NULL, 2), -1);		/* its second GPU is not told of */
}
END_TEST

START_TEST(another_job_on_the_same_gpu_begins_anew)
{
	series("g1", 0, "17", "0 0 - -");
	series("g1", 0, "18", "- - 0 0");
	added(answer(), NULL, 0, 3);
	ck_assert_int_eq(idle_step(18, NULL, 1), 2);
	ck_assert_int_eq(idle_step(17, NULL, 1), -1);		/* its samples have ended */
}
END_TEST

START_TEST(pieces_go_on_where_the_last_one_ended)
{
	series("g1", 0, "", "9 0 0");
	added(answer(), NULL, 0, 2);
	series("g1", 0, "", "- - - 0 0");
	added(answer(), NULL, 3, 4);
	ck_assert_int_eq(idle_step(1, "g1=0", 1), 1);
	series("g1", 0, "", "- - - - - - 0");			/* step 5 is missing */
	added(answer(), NULL, 5, 6);
	ck_assert_int_eq(idle_step(1, "g1=0", 1), 6);
}
END_TEST

START_TEST(memory_is_beside_each_sample_or_the_sample_is_missing)
{
	struct json_object *utilization;

	series("g1", 0, "", "0 0 0 0");
	series("g1", 1, "", "0 0 0 0");
	utilization = answer();
	series("g1", 0, "", "500 500 700 700");
	series("g1", 1, "", "500 - 500 500");
	series("g7", 0, "", "500 500 500 500");			/* nobody asked about it */
	added(utilization, answer(), 0, 3);
	ck_assert_int_eq(idle_step(1, "g1=0", 1), 2);
	ck_assert_int_eq(idle_step(1, "g1=1", 1), 2);
	ck_assert_uint_eq(table.count, 2);
}
END_TEST

START_TEST(two_series_of_one_gpu_are_busy_together)
{
	series("g1", 0, "", "0 5 0 0");
	series("g1", 0, "", "- 0 0 -");
	added(answer(), NULL, 0, 3);
	ck_assert_uint_eq(table.count, 1);
	ck_assert_int_eq(idle_step(1, "g1=0", 1), 2);
}
END_TEST

START_TEST(gpus_without_news_are_forgotten)
{
	series("g1", 0, "17", "0 0 -");
	series("g1", 1, "", "0 0 0");
	added(answer(), NULL, 0, 2);
	gpu_table_forget(&table, BEGAN + 2 * STEP);
	ck_assert_uint_eq(table.count, 1);
	ck_assert_int_eq(table.rows[0].index, 1);
}
END_TEST

START_TEST(series_that_say_nothing_of_whose_they_are_are_told_so)
{
	struct json_object *o =
		json_tokener_parse("[{\"metric\":{\"gpu\":\"0\"},\"values\":[[1767571200,\"0\"]]}]");
	struct fault why = { "" };

	ck_assert_int_eq(add(o, NULL, 0, 0, &why), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(why.text,
		"the query for utilisation has 1 series, and none says whose GPU it is: neither hpc_job nor Hostname and "
		"device are labels of them");
	ck_assert_uint_eq(table.count, 0);
	ck_assert_int_eq(table.until, 0);
}
END_TEST

START_TEST(memory_of_other_labels_is_told)
{
	struct json_object *utilization;
	struct fault why = { "" };

	series("g1", 0, "", "0");
	utilization = answer();
	series("g1.other", 4, "", "500");
	ck_assert_int_eq(add(utilization, answer(), 0, 0, &why), -1);
	ck_assert_str_eq(why.text,
		"the query for memory has 1 series, none with the labels of one for utilisation");
}
END_TEST

/* What is no series of Prometheus must do no harm. */
START_TEST(strange_answers_are_no_samples)
{
	static const char *const strange[] = {
		"[1, null, \"x\", [], {}]",
		"[{\"metric\":{\"Hostname\":\"g1\",\"device\":\"nvidia0\"}}]",
		"[{\"metric\":{\"Hostname\":\"g1\",\"device\":\"nvidia0\"},\"values\":7}]",
		"[{\"metric\":{\"Hostname\":\"g1\",\"device\":\"nvidia0\"},\"values\":[1,[],[1],[1,2],[\"a\",\"0\"],[1767571200,0],[-9e99,\"0\"]]}]",
		"[{\"metric\":{\"Hostname\":\"g1\",\"device\":\"nvidia0\"},\"values\":[[1767571200,\"NaN\"],[9e99,\"0\"]]}]",
		"[{\"metric\":7,\"values\":[[1767571200,\"0\"]]}]",
	};

	add(json_tokener_parse(strange[_i]), NULL, 0, 0, NULL);
	ck_assert_int_eq(idle_step(1, "g1=0", 1), -1);
}
END_TEST

Suite *gpu_table_suite(void)
{
	TCase *t = tcase_create("gpu_table");
	Suite *s = suite_create("gpu_table");

	tcase_add_checked_fixture(t, nothing_known, table_gone);
	tcase_add_test(t, a_gpu_is_found_by_node_and_index);
	tcase_add_test(t, a_gpu_is_found_by_the_job_that_the_exporter_tells);
	tcase_add_test(t, another_job_on_the_same_gpu_begins_anew);
	tcase_add_test(t, pieces_go_on_where_the_last_one_ended);
	tcase_add_test(t, memory_is_beside_each_sample_or_the_sample_is_missing);
	tcase_add_test(t, two_series_of_one_gpu_are_busy_together);
	tcase_add_test(t, gpus_without_news_are_forgotten);
	tcase_add_test(t, series_that_say_nothing_of_whose_they_are_are_told_so);
	tcase_add_test(t, memory_of_other_labels_is_told);
	tcase_add_loop_test(t, strange_answers_are_no_samples, 0, 6);
	suite_add_tcase(s, t);
	return s;
}
