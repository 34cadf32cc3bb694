/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_metrics.c - /metrics: the table is what OpenMetrics and promtool want, and figures are exact */
#include "budgetd/metrics.h"
#include "budgetd/rates.h"
#include "budgetd/tally.h"
#include "tests/unit/books.h"
#include "tests/unit/suites.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct books b;
static struct budgetd d;
static struct settings *settings;
static int64_t lab, vision, speech;

/* lab has 1,000 GPU-hours and vision 100 of them; speech has a share only. */
static void setup(void)
{
	books_open(&b);
	settings = settings_defaults();
	d = (struct budgetd){ .settings = settings, .cluster = cluster_state_new(), .tally = tally_new() };
	lab = books_project(&b, "lab", 0);
	vision = books_project(&b, "vision", lab);
	speech = books_project(&b, "speech", lab);
	books_allot(&b, lab, 1000 * GPU_H, NOON - 10 * HOUR, 0);
	books_allot(&b, vision, 100 * GPU_H, NOON - 10 * HOUR, 0);
}

static void teardown(void)
{
	cluster_state_free(d.cluster);
	free(d.tally);
	settings_free(settings);
	books_close(&b);
}

/* 4 GPUs for an hour, of which 8 GPU-hours were set aside. */
static void run_one(void)
{
	struct submission s = { .project = vision, .gpus = 4, .min_runtime_s = HOUR, .tasks = 2,
		.now = NOON - 3 * HOUR };
	struct run r;

	ck_assert_int_eq(books_submit(&b, &s), 0);
	books_start(&b, &s, 7, NOON - 3 * HOUR, &r);
	ck_assert_int_eq(books_end(&b, &r, NOON - 2 * HOUR), 0);
}

struct read {
	size_t max;
	struct metrics_projects *out;
};

static int read_projects(struct ledger *l, void *arg, struct fault *why)
{
	struct read *x = arg;

	return metrics_projects_read(&d, l, x->max, NOON, x->out, why);
}

static char *text_of(size_t max, enum metrics_format f)
{
	struct metrics_view v = { .tally = d.tally, .books_read = true, .books_written = true };
	struct read x = { max, &v.projects };
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	ck_assert_msg(books_do(&b, LEDGER_READ, read_projects, &x) == 0, "%s", b.why.text);
	metrics_jobs_count(&d, NOON, &v.jobs);
	metrics_print(&v, f, to);
	ck_assert_int_eq(fclose(to), 0);
	free(v.projects.rows);
	return text;
}

/* Each of these lines stands in it. */
static void assert_lines(const char *text, const char *const *lines)
{
	for (; *lines; lines++) {
		const char *at = strstr(text, *lines);

		ck_assert_msg(at && (at == text || at[-1] == '\n') && at[strlen(*lines)] == '\n',
			"there is no line \"%s\" in:\n%s", *lines, text);
	}
}

/* The last word of a name is its unit, and a counter's `_total` is added by the writer. */
START_TEST(the_table_follows_the_rules_of_openmetrics)
{
	const struct metric_row *row;

	for (size_t i = 0; (row = metric_at(i)); i++) {
		size_t n = strlen(row->name), u = strlen(row->unit);

		for (const char *c = row->name; *c; c++)
			ck_assert_msg(islower(*c) || *c == '_', "%s", row->name);
		ck_assert_msg(!u || (n > u && row->name[n - u - 1] == '_' && !strcmp(row->name + n - u,
			row->unit)), "%s is not in %s", row->name, row->unit);
		ck_assert_msg(!strstr(row->name, "_total") && !strstr(row->name, "_count"), "%s", row->name);
		ck_assert_msg(*row->help && row->help[strlen(row->help) - 1] == '.' &&
			!strpbrk(row->help, "\"\\\n"), "%s", row->name);
		for (size_t j = 0; j < i; j++)
			ck_assert_msg(strcmp(metric_at(j)->name, row->name), "%s stands twice", row->name);
	}
}
END_TEST

START_TEST(what_a_project_has_is_told_to_the_unit)
{
	static const char *const lines[] = {
		"gpubudget_project_amount_gpu_seconds{project=\"lab\"} 3600000",
		"gpubudget_project_charged_gpu_seconds{project=\"lab\"} 14400",
		"gpubudget_project_held_gpu_seconds{project=\"lab\"} 14400",
		"gpubudget_project_balance_gpu_seconds{project=\"vision\"} 345600",
		"gpubudget_project_available_gpu_seconds{project=\"vision\"} 331200",
		"gpubudget_project_occupied_gpu_seconds{project=\"vision\"} 14400",
		"gpubudget_project_share_ratio{project=\"speech\"} 0.500000",
		"gpubudget_projects 3", "gpubudget_books_readable 1", "gpubudget_books_writable 1", NULL };
	char *text;

	run_one();
	text = text_of(500, METRICS_OPENMETRICS);
	assert_lines(text, lines);
	/* speech has no budget: no figure of one, rather than a 0 */
	ck_assert_ptr_null(strstr(text, "gpubudget_project_amount_gpu_seconds{project=\"speech\"}"));
	ck_assert_ptr_null(strstr(text, "project=\"" METRICS_OTHERS));
	free(text);
}
END_TEST

/* With room for none, lab stands for vision too: what is charged below is in what it was charged. */
START_TEST(the_others_are_summed_up_and_nothing_is_counted_twice)
{
	static const char *const none[] = {
		"gpubudget_project_amount_gpu_seconds{project=\"(others)\"} 3600000",
		"gpubudget_project_charged_gpu_seconds{project=\"(others)\"} 14400",
		"gpubudget_project_share_ratio{project=\"(others)\"} 1", "gpubudget_projects 3", NULL };
	static const char *const one[] = {
		"gpubudget_project_amount_gpu_seconds{project=\"lab\"} 3600000",
		"gpubudget_project_amount_gpu_seconds{project=\"(others)\"} 360000",
		"gpubudget_project_occupied_gpu_seconds{project=\"(others)\"} 14400",
		"gpubudget_project_share_ratio{project=\"(others)\"} 1", NULL };
	char *text;

	run_one();
	text = text_of(0, METRICS_OPENMETRICS);
	assert_lines(text, none);
	free(text);
	text = text_of(1, METRICS_OPENMETRICS);
	assert_lines(text, one);
	free(text);
}
END_TEST

START_TEST(counters_and_histograms_are_named_as_each_format_wants)
{
	static const char *const both[] = {
		"gpubudget_decisions_total{decision=\"funded\"} 2",
		"gpubudget_decision_duration_seconds_bucket{le=\"0.0001\"} 1",
		"gpubudget_decision_duration_seconds_bucket{le=\"0.05\"} 1",
		"gpubudget_decision_duration_seconds_bucket{le=\"0.1\"} 2",
		"gpubudget_decision_duration_seconds_bucket{le=\"+Inf\"} 2",
		"gpubudget_decision_duration_seconds_sum 0.060100",
		"gpubudget_decision_duration_seconds_count 2",
		"gpubudget_unanswered_questions_total{cause=\"breaker\"} 5",
		"gpubudget_wait_seconds_bucket{tier=\"free\",le=\"10.0\"} 0",
		"gpubudget_wait_seconds_bucket{tier=\"free\",le=\"+Inf\"} 1", NULL };
	char *om, *text;

	tally_decided(d.tally, DECIDED_FUNDED, 100);
	tally_decided(d.tally, DECIDED_FUNDED, 60000);
	tally_not_answered(d.tally, UNANSWERED_BREAKER, 5);
	tally_waited(d.tally, TALLY_FREE, INT64_C(11000000));
	om = text_of(500, METRICS_OPENMETRICS);
	text = text_of(500, METRICS_TEXT);
	assert_lines(om, both);
	assert_lines(text, both);
	assert_lines(om, (const char *const[]){ "# TYPE gpubudget_decisions counter",
		"# UNIT gpubudget_wait_seconds seconds", NULL });
	assert_lines(text, (const char *const[]){ "# TYPE gpubudget_decisions_total counter", NULL });
	ck_assert_str_eq(om + strlen(om) - 6, "# EOF\n");
	ck_assert_ptr_null(strstr(text, "# EOF"));
	free(om);
	free(text);
}
END_TEST

Suite *metrics_suite(void)
{
	Suite *s = suite_create("metrics");
	TCase *t = tcase_create("metrics");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_table_follows_the_rules_of_openmetrics);
	tcase_add_test(t, what_a_project_has_is_told_to_the_unit);
	tcase_add_test(t, the_others_are_summed_up_and_nothing_is_counted_twice);
	tcase_add_test(t, counters_and_histograms_are_named_as_each_format_wants);
	suite_add_tcase(s, t);
	return s;
}
