/* SPDX-License-Identifier: GPL-2.0-or-later
 * test_submit_options.c - what users write in scripts and on sbatch's command line, down to the number of
 * GPUs. */
#include "tests/unit/suites.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/duration.h"
#include "lib/submit_options.h"
#include "tests/unit/cases.h"
#include "tests/unit/counts.h"

static struct case_table scripts, bad_scripts;

/* "a | b" as a script; \t is a tab. "hetjob" stands there without dashes, as in a script. */
static void script_text(const char *options, const char *separator, char *out, size_t size)
{
	size_t len = (size_t)snprintf(out, size, "#!/bin/bash\n");

	for (const char *p = options; *p; ) {
		const char *end = strstr(p, separator);
		size_t n = end ? (size_t)(end - p) : strlen(p);

		len += (size_t)snprintf(out + len, size - len, "#SBATCH ");
		for (size_t i = 0; i < n; i++) {
			bool tab = p[i] == '\\' && i + 1 < n && p[i + 1] == 't';

			ck_assert_uint_lt(len + 2, size);
			out[len++] = tab ? '\t' : p[i];
			i += tab;
		}
		len += (size_t)snprintf(out + len, size - len, "\n");
		p = end ? end + strlen(separator) : p + n;
	}
	snprintf(out + len, size - len, "srun ./train\n#SBATCH --gpus=99\n");
}

/* The sum over the components of a het job. */
static int request_of_all(const struct submit_options *s, struct gpu_request *sum, struct fault *why)
{
	*sum = (struct gpu_request){ .exact = true, .array_tasks = 1 };
	for (size_t i = 0; i < submit_options_components(s); i++) {
		struct gpu_request one;

		if (gpu_request_read(&submit_options_component(s, i)->gpus, NULL, &one, why) < 0)
			return -1;
		for (int t = 0; t < one.gpus.ntypes; t++)
			ck_assert_int_eq(
				gpu_count_add(&sum->gpus, one.gpus.types[t].type, one.gpus.types[t].count),
				0);
		sum->gpus.shards += one.gpus.shards;
		sum->gpus.mps += one.gpus.mps;
		sum->gpus_min += one.gpus_min;
		sum->gpus_max += one.gpus_max;
		sum->exact = sum->exact && one.exact;
		sum->at_least = sum->at_least || one.at_least;
		sum->array_tasks = one.array_tasks;
	}
	return 0;
}

static void check_script(
	const struct case_row *c, const struct submit_options *s, int rc, const struct gpu_request *got)
{
	int64_t limit = submit_options_component(s, 0)->time_limit_s;
	char types[COUNTS_TEXT_MAX], answer[64];

	ck_assert_int_eq(rc, 0);
	if (got->gpus_min == got->gpus_max)
		snprintf(answer, sizeof(answer), "%" PRId64 "%s", got->gpus_max,
			got->exact ? "" : got->at_least ? "?" : "??");
	else
		snprintf(answer, sizeof(answer), "%" PRId64 "..%" PRId64, got->gpus_min, got->gpus_max);
	ck_assert_msg(
		!strcmp(answer, c->col[1]), "%s: %s GPUs, the table says %s", c->col[0], answer, c->col[1]);
	counts_text(&got->gpus, types);
	ck_assert_msg(!strcmp(types, c->col[2]), "%s: %s, the table says %s", c->col[0], types, c->col[2]);
	ck_assert_msg(got->array_tasks == case_number(c, 3), "%s: %" PRId64 " array tasks, the table says %s",
		c->col[0], got->array_tasks, c->col[3]);
	ck_assert_msg(limit == (case_none(c, 4) ? TIME_LIMIT_UNSET : case_number(c, 4)),
		"%s: limit %" PRId64 " s, the table says %s", c->col[0], limit, c->col[4]);
}

START_TEST(a_real_script_asks_for_what_its_manual_says)
{
	const struct case_row *c = &scripts.row[_i];
	struct submit_options *s = submit_options_new();
	struct fault why = { "" };
	struct gpu_request got;
	char text[4096];
	int rc;

	ck_assert_ptr_nonnull(s);
	script_text(c->col[5], " | ", text, sizeof(text));
	rc = submit_options_script(s, text, &why);
	if (rc == 0)
		rc = request_of_all(s, &got, &why);
	if (!strcmp(c->col[1], "error")) {
		ck_assert_msg(rc == -1 && errno == EINVAL, "%s: not refused", c->col[0]);
		ck_assert_msg(strstr(why.text, c->col[2]), "%s: the text has no \"%s\": %s", c->col[0],
			c->col[2], why.text);
		ck_assert_msg(strstr(why.text, "at character"), "%s: no position: %s", c->col[0], why.text);
	} else {
		ck_assert_msg(rc == 0, "%s: %s", c->col[0], why.text);
		check_script(c, s, rc, &got);
	}
	submit_options_free(s);
}
END_TEST

START_TEST(a_line_that_sbatch_refuses_is_refused_with_its_number)
{
	const struct case_row *c = &bad_scripts.row[_i];
	struct submit_options *s = submit_options_new();
	struct fault why = { "" };
	char text[4096];

	script_text(c->col[0], " / ", text, sizeof(text));
	/* the value of a last option must really be missing */
	text[strstr(text, "srun") - text] = '\0';
	ck_assert_msg(submit_options_script(s, text, &why) == -1, "%s: not refused", c->col[0]);
	ck_assert_msg(strstr(why.text, c->col[1]), "%s: the text has no \"%s\": %s", c->col[0], c->col[1],
		why.text);
	ck_assert_msg(!strncmp(why.text, "script line ", 12), "%s: no line: %s", c->col[0], why.text);
	submit_options_free(s);
}
END_TEST

static const struct submit_component *first_of(struct submit_options *s, const char *script)
{
	struct fault why = { "" };

	ck_assert_msg(submit_options_script(s, script, &why) == 0, "%s", why.text);
	return submit_options_component(s, 0);
}

START_TEST(only_lines_before_the_first_command_count)
{
	struct submit_options *s = submit_options_new();
	const struct submit_component *c =
		first_of(s, "#!/bin/sh\n\n# --gpus=1\n #SBATCH --gpus=2\n##SBATCH --gpus=3\n#SBATCH-N5\n  "
			    "\nexport A=1\n#SBATCH --gpus=4\n");

	ck_assert_ptr_null(c->gpus.tres_per_job);
	ck_assert_uint_eq(c->gpus.min_nodes, 5);
	submit_options_free(s);
}
END_TEST

START_TEST(quotes_comments_and_lines_are_read_as_sbatch_reads_them)
{
	struct submit_options *s = submit_options_new();
	const struct submit_component *c = first_of(s, "#SBATCH --comment=\"a # 'b'\" -A ai#rest\n#SBATCH "
						       "--qos='x \"y'z -p\n#SBATCH gpu\\\"s # --gpus=9\n");

	ck_assert_str_eq(c->comment, "a # 'b'");
	ck_assert_str_eq(c->account, "ai");
	ck_assert_str_eq(c->qos, "x \"yz");
	ck_assert_str_eq(c->partition, "gpu\"s");
	ck_assert_ptr_null(c->gpus.tres_per_job);
	submit_options_free(s);
}
END_TEST

START_TEST(options_of_other_plugins_are_stepped_over)
{
	struct submit_options *s = submit_options_new();
	const struct submit_component *c = first_of(s, "#SBATCH --container-image=img:1 --container-mounts "
						       "/a:/b --no-such-flag\n#SBATCH --gpus=2\n");

	ck_assert_str_eq(c->gpus.tres_per_job, "gres/gpu:2");
	submit_options_free(s);
}
END_TEST

START_TEST(dos_line_breaks_are_refused)
{
	struct submit_options *s = submit_options_new();
	struct fault why = { "" };

	ck_assert_int_eq(submit_options_script(s, "#!/bin/sh\r\n#SBATCH --gpus=1\r\n", &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "DOS line break"));
	submit_options_free(s);
}
END_TEST

START_TEST(the_command_line_wins_over_the_script)
{
	static const char *const words[] = { "-HN2-4", "-n", "6", "--gres=none", "--gpus-per-n", "h100:2",
		"-t0", "--exclusive", "--gpu-min-runtime=2h", "--gpu-tier", "funded", "job.sh", "--gpus=7" };
	struct submit_options *s = submit_options_new();
	struct fault why = { "" };
	const struct submit_component *c =
		first_of(s, "#SBATCH -N1 --gres=gpu:8 -t 10 -A vision --gpu-min-runtime=1h\n");
	int script = -1;

	ck_assert_msg(submit_options_words(s, 13, words, &script, &why) == 0, "%s", why.text);
	ck_assert_int_eq(script, 11);
	ck_assert_str_eq(c->gpus.tres_per_node, "gres/gpu:h100:2");
	ck_assert_uint_eq(c->gpus.min_nodes, 2);
	ck_assert_uint_eq(c->gpus.max_nodes, 4);
	ck_assert_uint_eq(c->gpus.num_tasks, 6);
	ck_assert(c->gpus.exclusive);
	ck_assert_int_eq(c->time_limit_s, DURATION_UNLIMITED);
	ck_assert_str_eq(c->account, "vision");
	ck_assert_int_eq(c->options.min_runtime_s, 7200);
	ck_assert_int_eq(c->options.tier, TIER_FUNDED);
	submit_options_free(s);
}
END_TEST

START_TEST(what_changes_the_answer_beside_gpus_is_kept)
{
	static const char *const words[] = { "--requeue", "--no-requeue", "-Hn2", "-d", "afterok:5" };
	struct submit_options *s = submit_options_new();
	const struct submit_component *c = first_of(s, "#SBATCH --gpus=1\n");

	ck_assert(!c->held && !c->no_requeue && !c->dependency && !c->signal);
	ck_assert_int_eq(submit_options_words(s, 5, words, NULL, NULL), 0);
	ck_assert(c->held && c->no_requeue);
	ck_assert_uint_eq(c->gpus.num_tasks, 2);
	ck_assert_str_eq(c->dependency, "afterok:5");
	submit_options_free(s);
}
END_TEST

static const struct {
	const char *word;
	int signal;		/* 0: refused */
	bool script;
} signals[] = {
	{ "--signal=USR1", SIGUSR1, false }, { "--signal=B:USR1@120", SIGUSR1, true },
	{ "--signal=SIGTERM@60", SIGTERM, false }, { "--signal=R:10", 10, false },
	{ "--signal=rb:usr2", SIGUSR2, true }, { "--signal=b:12@5", 12, true },
	{ "--signal=FOO", 0, false }, { "--signal=0", 0, false }, { "--signal=10x", 0, false },
	{ "--signal=B:", 0, false }, { "--signal=", 0, false },
};

START_TEST(the_signal_is_read_as_sbatch_reads_it)
{
	const char *const word[] = { signals[_i].word };
	struct submit_options *s = submit_options_new();
	const struct submit_component *c = submit_options_component(s, 0);
	int rv = submit_options_words(s, 1, word, NULL, NULL);

	ck_assert_msg(rv == (signals[_i].signal ? 0 : -1), "%s", word[0]);
	ck_assert_msg(c->signal == signals[_i].signal && c->signal_script == signals[_i].script, "%s: %d",
		word[0], c->signal);
	submit_options_free(s);
}
END_TEST

START_TEST(components_of_a_het_job_take_over_who_pays_and_how_long)
{
	static const char *const words[] = { "-A", "speech", ":", "--gpus=8", "job.sh" };
	struct submit_options *s = submit_options_new();
	const struct submit_component *c;
	int script;

	first_of(s, "#SBATCH -A vision -t 30 -p cpu -n2\n#SBATCH hetjob\n#SBATCH -N3 --gpus=6\n#SBATCH "
		    "packjob\n#SBATCH -t 5\n");
	ck_assert_uint_eq(submit_options_components(s), 3);
	ck_assert_int_eq(submit_options_words(s, 5, words, &script, NULL), 0);
	ck_assert_int_eq(script, 4);
	c = submit_options_component(s, 1);
	ck_assert_str_eq(c->account, "speech");
	ck_assert_int_eq(c->time_limit_s, 1800);
	ck_assert_ptr_null(c->partition);
	ck_assert_uint_eq(c->gpus.num_tasks, GPU_REQUEST_UNSET);
	ck_assert_uint_eq(c->gpus.min_nodes, 3);
	ck_assert_str_eq(c->gpus.tres_per_job, "gres/gpu:8");
	ck_assert_int_eq(submit_options_component(s, 2)->time_limit_s, 300);
	submit_options_free(s);
}
END_TEST

START_TEST(fewer_tasks_than_nodes_take_fewer_nodes)
{
	static const char *const words[] = { "-n8" };
	struct submit_options *s = submit_options_new();
	const struct submit_component *c = first_of(s, "#SBATCH -N4 -n2\n");

	ck_assert_uint_eq(c->gpus.min_nodes, 2);
	ck_assert_uint_eq(c->gpus.max_nodes, 2);
	ck_assert_int_eq(submit_options_words(s, 1, words, NULL, NULL), 0);
	ck_assert_uint_eq(c->gpus.min_nodes, 4);
	submit_options_free(s);
}
END_TEST

START_TEST(a_command_line_that_cannot_be_understood_names_its_argument)
{
	static const struct { const char *words[3]; const char *text; } bad[] = {
		{ { "-N2", "--gpus=x:", NULL }, "argument 2: --gpus: \"gres/gpu:x:\"" },
		{ { "-n2", "--frobnicate", "job.sh" }, "argument 2: --frobnicate: not an option of sbatch" },
		{ { "-n2", "-t", NULL }, "argument 2: -t: the value is missing" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct submit_options *s = submit_options_new();
		struct fault why = { "" };

		ck_assert_int_eq(
			submit_options_words(s, bad[i].words[2] ? 3 : 2, bad[i].words, NULL, &why), -1);
		ck_assert_msg(!strncmp(why.text, bad[i].text, strlen(bad[i].text)), "%s", why.text);
		submit_options_free(s);
	}
}
END_TEST

START_TEST(more_components_than_slurm_takes_are_refused)
{
	struct submit_options *s = submit_options_new();
	struct fault why = { "" };
	char *text = calloc(1, 200 * 20);

	for (int i = 0; i < 150; i++)
		strcat(text, "#SBATCH hetjob\n");
	ck_assert_int_eq(submit_options_script(s, text, &why), -1);
	ck_assert_ptr_nonnull(strstr(why.text, "at most 128 components"));
	free(text);
	submit_options_free(s);
}
END_TEST

Suite *submit_options_suite(void)
{
	Suite *s = suite_create("submit_options");
	TCase *t = tcase_create("submit_options");

	scripts = cases_load("gpu_scripts.tsv", 6);
	cases_check_number(&scripts, 3);
	cases_check_number(&scripts, 4);
	bad_scripts = cases_load("submit_script_bad.cases", 2);
	tcase_add_loop_test(t, a_real_script_asks_for_what_its_manual_says, 0, scripts.rows);
	tcase_add_loop_test(t, a_line_that_sbatch_refuses_is_refused_with_its_number, 0, bad_scripts.rows);
	tcase_add_test(t, only_lines_before_the_first_command_count);
	tcase_add_test(t, quotes_comments_and_lines_are_read_as_sbatch_reads_them);
	tcase_add_test(t, options_of_other_plugins_are_stepped_over);
	tcase_add_test(t, dos_line_breaks_are_refused);
	tcase_add_test(t, the_command_line_wins_over_the_script);
	tcase_add_test(t, what_changes_the_answer_beside_gpus_is_kept);
	tcase_add_loop_test(t, the_signal_is_read_as_sbatch_reads_it, 0, sizeof(signals) / sizeof(*signals));
	tcase_add_test(t, components_of_a_het_job_take_over_who_pays_and_how_long);
	tcase_add_test(t, fewer_tasks_than_nodes_take_fewer_nodes);
	tcase_add_test(t, a_command_line_that_cannot_be_understood_names_its_argument);
	tcase_add_test(t, more_components_than_slurm_takes_are_refused);
	suite_add_tcase(s, t);
	return s;
}
